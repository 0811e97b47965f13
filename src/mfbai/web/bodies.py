"""What the API takes and gives, as /openapi.json describes it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from mfbai.stopping import DEFAULT as DEFAULT_RULE
from mfbai.strategies import DEFAULT as DEFAULT_STRATEGY
from mfbai.study import limits
from mfbai.study.limits import LARGEST, LEASE, LONGEST_LEASE, LONGEST_NAME, LONGEST_REASON, MOST_AT_ONCE

MOST_VALUES = 1000  # that can be added at once
MOST_EVENTS = 1000  # of a journal, in one answer

TrialId = Annotated[str, Field(pattern=f"^{limits.TRIAL_ID}$", examples=["1-45a367aa"])]
Value = Annotated[float, Field(gt=-LARGEST, lt=LARGEST, allow_inf_nan=False)]
Lease = Annotated[
    float, Field(gt=0, le=LONGEST_LEASE, allow_inf_nan=False, description="Seconds that the worker will take, at most.")
]
State = Literal["running", "decided", "undecided"]
Table = list[list[float | None]]


class Body(BaseModel):
    """What is sent must be exactly what is asked for."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewStudy(Body):
    spec: str | dict[str, Any] = Field(
        description="The problem: the text of a TOML spec, or the same tables as JSON. Never the name of a file."
    )
    delta: float = Field(gt=0, lt=1, description="The risk of a wrong answer that is accepted.", examples=[0.05])
    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    strategy: str = DEFAULT_STRATEGY
    stopping: str = DEFAULT_RULE
    tolerance: float = Field(0.0, ge=0, allow_inf_nan=False)
    max_cost: float | None = Field(None, gt=0, allow_inf_nan=False)
    direction: Literal["maximise", "minimise"] | None = None
    options: dict[str, float] | None = None


class Ask(Body):
    n: int = Field(1, ge=1, le=MOST_AT_ONCE, description="How many evaluations, at most.")
    lease: Lease = LEASE
    request: str | None = Field(
        None,
        pattern=f"^{limits.REQUEST}$",
        description="A name for this very request: if it is sent again, the answer is the same.",
    )


class Tell(Body):
    trial: TrialId
    value: Value


class Fail(Body):
    trial: TrialId
    reason: str = Field("", max_length=LONGEST_REASON)


class Renew(Body):
    trial: TrialId
    lease: Lease = LEASE


class Release(Body):
    trial: TrialId


class Add(Body):
    arm: str | int
    fidelity: str | int
    values: list[Value] = Field(min_length=1, max_length=MOST_VALUES)


class Created(BaseModel):
    name: str


class Done(BaseModel):
    state: State


class TrialBody(BaseModel):
    id: str
    arm: str
    arm_index: int
    fidelity: str
    fidelity_index: int
    cost: float
    seed: int
    lease_until: str


class Trials(BaseModel):
    trials: list[TrialBody]


class OpenTrial(BaseModel):
    id: str
    arm_index: int
    fidelity_index: int


class OpenTrials(BaseModel):
    trials: list[OpenTrial]


class Summary(BaseModel):
    name: str
    state: Literal["running", "decided", "undecided", "opening"] | None = None
    leader: str | None = None
    risk: float | None = None
    delta: float | None = None
    cost: float | None = None
    told: int | None = None
    progress: float | None = None
    alarms: int | None = None
    arms: int | None = None
    fidelities: int | None = None


class Studies(BaseModel):
    studies: list[Summary]
    total: int


class SettingsBody(BaseModel):
    name: str
    key: str
    problem: dict[str, Any]
    delta: float
    strategy: str
    stopping: str
    tolerance: float
    max_cost: float | None
    options: dict[str, float]
    seeds: str = "progression"  # or "hash"; studies of mfbai 0.1.0 do not say


class Alarm(BaseModel):
    arm: str
    fidelity: str
    level: float
    certain: bool


class VerdictBody(BaseModel):
    state: Literal["decided", "undecided"]
    arm: str | None
    arm_index: int | None
    risk: float
    delta: float
    stopping: str
    cost: float
    told: int
    alarms: list[Alarm]
    tolerance: float


class StatusBody(BaseModel):
    """Where a study stands. What is infinite, or not known, is null."""

    name: str
    state: State
    strategy: str
    stopping: str
    delta: float
    tolerance: float
    max_cost: float | None
    leader: str | None
    leader_index: int | None
    risk: float = Field(description="Of answering the leader now: 1 if nothing is proven.")
    evidence: list[float | None] = Field(description="That each arm is not better than the leader; null for itself.")
    needed: float = Field(description="What each of these must reach.")
    cost: float
    told: int
    waiting: int
    pending: int
    failed: int
    imported: int
    late: int
    spent: Table
    counts: list[list[int]]
    means: Table
    intervals: Table = Field(description="Of the top means: all true at all times with probability 1 - delta.")
    alarms: list[Alarm]
    result: VerdictBody | None
    arms: list[str]
    fidelities: list[str]
    direction: Literal["maximise", "minimise"]


class HistoryBody(BaseModel):
    cost: list[float]
    risk: list[float]
    evidence: list[float | None]
    leader: list[int | None]


class RecentEvent(BaseModel):
    n: int
    at: float
    kind: str
    text: str


class UnderWay(BaseModel):
    id: str
    arm: str
    fidelity: str
    cost: float
    seed: int


class View(BaseModel):
    """What the page shows of a study."""

    status: StatusBody
    sentence: str
    progress: float
    events: int
    costs: list[list[float]]
    biases: list[list[list[float | None]]]
    history: HistoryBody
    optimal: list[list[float]] | None = Field(
        description="Shares of the cost that are optimal at the current estimate."
    )
    remaining: float | None = Field(description="The cost until the verdict, if these shares are kept.")
    recent: list[RecentEvent]
    open: list[UnderWay]


class Journal(BaseModel):
    events: list[dict[str, Any]]
    next: int | None = Field(description="Where to go on; null at the end.")


class FaultBody(BaseModel):
    field: str
    message: str


class Problem(BaseModel):
    """An error, as RFC 9457 has it. The type ends in the name of the library's exception."""

    type: str
    title: str
    status: int
    detail: str
    faults: list[FaultBody] | None = None
