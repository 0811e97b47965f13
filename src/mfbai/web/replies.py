"""What the API gives, as /openapi.json describes it."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

from mfbai.web.bodies import ListState, State

Table = list[list[float | None]]


class Deleted(BaseModel):
    deleted: bool


class LabelBody(BaseModel):
    """What people keep of a study beside its journal."""

    name: str
    paused: bool
    note: str
    tags: list[str]
    events: int = Field(description="Of its journal.")
    key: str | None = Field(description="The study's own key; null if its first event was damaged.")


class Created(BaseModel):
    name: str


class Done(BaseModel):
    state: State


class PartBody(BaseModel):
    fidelity: str
    fidelity_index: int
    cost: float
    seed: int


class TrialBody(BaseModel):
    id: str
    arm: str
    arm_index: int
    fidelity: str
    fidelity_index: int
    cost: float
    seed: int
    lease_until: str
    parts: list[PartBody] = Field(
        [], description="At a controlled fidelity: the evaluations to make. Tell their `values` in this order."
    )


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
    state: ListState | Literal["opening"] | None = None
    paused: bool | None = None
    tags: list[str] | None = None
    noted: bool | None = Field(None, description="Whether there is a note.")
    created: float | None = Field(None, description="When, in seconds since 1970.")
    active: float | None = Field(None, description="When the last event happened.")
    leader: str | None = None
    risk: float | None = None
    delta: float | None = None
    cost: float | None = None
    told: int | None = None
    pending: int | None = None
    progress: float | None = None
    alarms: int | None = None
    variance_alarms: int | None = None
    arms: int | None = None
    fidelities: int | None = None


class Studies(BaseModel):
    studies: list[Summary]
    total: int = Field(description="How many match.")
    tags: list[str] = Field([], description="All tags that studies have.")


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
    seeds: str = Field("progression", description="How seeds are drawn. Whether arms share them, the problem says.")
    audit: float = 0.0
    on_alarm: Literal["stop", "continue"] = "continue"
    reopens: dict[str, str | int] | None = Field(
        None, description="The study that it goes on with: its name, its last hash, and how many values it had."
    )


class Alarm(BaseModel):
    arm: str
    fidelity: str
    level: float
    certain: bool


class VarianceAlarmBody(BaseModel):
    arm: str | None = Field(description="null: the results of all cells, taken together.")
    fidelity: str | None
    level: float
    ratio: float = Field(description="An estimate of how many times as large as stated the variance is.")


class VerdictBody(BaseModel):
    state: Literal["decided", "undecided", "alarm"]
    arm: str | None
    arm_index: int | None
    risk: float
    delta: float
    stopping: str
    cost: float
    told: int
    alarms: list[Alarm]
    variance_alarms: list[VarianceAlarmBody]
    tolerance: float
    breakdown: float | Literal["any"] | None = Field(
        description="How many times as wide all bias bounds may be; any: it rests on none; null: nobody can say."
    )
    untrusted: float | None = Field(description="The risk without trust in any bias bound.")
    charged: float = Field(description="The risk that what is stated is wrong, if it came from a pilot.")


class ResultBody(BaseModel):
    state: State
    result: VerdictBody | None = Field(description="The verdict; null while there is none.")


class StatusBody(BaseModel):
    """Where a study stands. What is infinite or unknown is null."""

    name: str
    state: State
    strategy: str
    stopping: str
    delta: float
    tolerance: float
    max_cost: float | None
    leader: str | None
    leader_index: int | None
    risk: float = Field(description="The risk of answering the leader now: 1 if nothing is proven.")
    evidence: list[float | None] = Field(
        description="The evidence that each arm is not better than the leader; null for the leader."
    )
    needed: float = Field(description="What the evidence of each arm must reach.")
    untrusted: float = Field(description="The risk of answering the leader now, without trust in any bias bound.")
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
    intervals: Table = Field(
        description="Of the top means: all true at all times with probability 1 - delta. Unknown with common seeds."
    )
    differences: Table = Field(
        description="Of the leader's top mean minus each other's: all true at all times with probability 1 - delta."
    )
    seeds: Literal["independent", "common"]
    alarms: list[Alarm]
    variance_alarms: list[VarianceAlarmBody]
    result: VerdictBody | None
    arms: list[str]
    fidelities: list[str]
    direction: Literal["maximise", "minimise"]
    paused: bool = Field(description="It is running, but hands out nothing.")


class HistoryBody(BaseModel):
    cost: list[float]
    risk: list[float]
    evidence: list[float | None]
    leader: list[int | None]
    spent: list[list[float]] | None = Field(
        description="For each arm shown, what was spent on it at each point; null for more than 200 arms."
    )


class RecentEvent(BaseModel):
    n: int
    at: float
    kind: str
    text: str


class PartUnderWay(BaseModel):
    fidelity: str
    seed: int


class UnderWay(BaseModel):
    id: str
    arm: str
    fidelity: str
    cost: float
    seed: int
    parts: list[PartUnderWay] = Field([], description="At a controlled fidelity: the evaluations to make.")


class FidelityBody(BaseModel):
    """A fidelity, over all arms."""

    name: str
    costs: list[float] = Field(description="The least and the largest of an evaluation.")
    off: list[float | None] = Field(description="How far it may be off: for some arm, and for all. Null if unknown.")
    bias: list[float] | None = Field(description="The bounds that all arms have; null if they differ, or are unknown.")
    results: int = Field(description="That count.")
    spent: float


class Found(BaseModel):
    """Some arms: a row of each table for each of them."""

    shown: list[int] = Field(description="Their indices.")
    arms: list[str]
    evidence: list[float | None]
    spent: Table
    counts: list[list[int]]
    means: Table
    intervals: Table
    differences: Table
    costs: list[list[float]]
    biases: list[list[list[float | None]]] = Field(description="Null where none is stated.")
    optimal: list[list[float]] | None
    total: int = Field(description="How many arms were found.")
    n_arms: int = Field(description="How many there are.")


class View(BaseModel):
    """What the page shows of a study: of many arms, the 20 that matter most."""

    status: StatusBody = Field(description="With rows, and names, of the arms in `shown` alone.")
    shown: list[int] = Field(
        description="The arms that have rows: all of up to 20, or the leader and the rivals with the least evidence."
    )
    n_arms: int = Field(description="How many arms there are.")
    ruled_out: int = Field(description="Rivals against which the evidence is what is needed.")
    match: float | None = Field(description="The part of the money that went where the optimal shares would have it.")
    fidelities: list[FidelityBody]
    forecasts: bool = Field(description="Whether optimal shares are computed: not for more than 10,000 arms.")
    sentence: str = Field(description="The verdict, or how far from it the study is.")
    alarms: list[str] = Field(description="A sentence on each bias alarm of the status, of 100 at most.")
    variance_alarms: list[str] = Field(description="A sentence on each of its variance alarms, of 100 at most.")
    rule: str = Field(description="What decides when the study ends, within a sentence.")
    proof_decides: bool = Field(description="Whether the study ends when the evidence reaches what is needed.")
    progress: float = Field(description="The part of the proof that there is, from 0 to 1.")
    events: int
    key: str = Field(description="The study's own, which no other has: give it as `?key=` to mean this study.")
    paused: bool
    note: str = Field(description="Markdown.")
    tags: list[str]
    created: float = Field(description="When, in seconds since 1970.")
    costs: list[list[float]]
    biases: list[list[list[float | None]]] = Field(description="Null where none is stated.")
    history: HistoryBody
    optimal: list[list[float]] | None = Field(
        description="Shares of the cost that are optimal at the current estimate."
    )
    remaining: float | None = Field(description="The cost until the verdict if the money is spent in these shares.")
    recent: list[RecentEvent]
    open: list[UnderWay]


class Journal(BaseModel):
    events: list[dict[str, Any]]
    next: int | None = Field(description="The first event of the next page; null at the end.")


class OptionBody(BaseModel):
    name: str
    default: float | None = Field(description="null: the caller must give it.")


class StrategyBody(BaseModel):
    name: str
    summary: str
    options: list[OptionBody]
    needs_truth: bool = Field(description="It knows the true means: it can be simulated, but no study can use it.")
    own_rule: bool = Field(description="It decides by itself when to stop: the stopping rule is not used.")
    top_only: bool = Field(description="It evaluates at the top fidelity alone.")


class RuleBody(BaseModel):
    name: str
    summary: str
    options: list[OptionBody]


class FamilyField(BaseModel):
    name: str
    required: bool


class FamilyBody(BaseModel):
    name: str
    summary: str
    fields: list[FamilyField] = Field(description="The entries of the [family] table, beside its name.")


class DefaultsBody(BaseModel):
    """What a study has that does not say; null if it is chosen for the problem."""

    strategy: str | None
    stopping: str | None


class LimitsBody(BaseModel):
    name: int = Field(description="Characters of a study's name.")
    arms: int
    cells: int = Field(description="Arms times fidelities.")
    asked: int = Field(description="Trials in one `ask`.")
    told: int = Field(description="Results in one `tell-many`.")
    added: int = Field(description="Values in one `add`.")
    lease: float = Field(description="Seconds.")
    reason: int = Field(description="Characters of the reason for a failure.")
    note: int = Field(description="Characters.")
    tags: int = Field(description="Of a study.")
    tag: int = Field(description="Characters.")
    worker: int = Field(description="Characters of a worker's name.")


class ListBody(BaseModel):
    """What a list of studies can be filtered and sorted by."""

    states: list[str]
    sorts: list[str]


class Choices(BaseModel):
    """What a new study can be made of."""

    strategies: list[StrategyBody]
    rules: list[RuleBody]
    families: list[FamilyBody]
    directions: list[str]
    seeds: list[str]
    on_alarm: list[str] = Field(description="What an alarm does; the first is the default.")
    list: ListBody
    defaults: DefaultsBody
    limits: LimitsBody


class FaultBody(BaseModel):
    field: str
    message: str


class ErrorBody(BaseModel):
    """An error (RFC 9457). Its type ends in the name of the library's exception."""

    type: str
    title: str
    status: int
    detail: str
    faults: list[FaultBody] | None = None
    state: State | None = Field(None, description="Of a study that is over.")
    renamed_to: str | None = Field(None, description="Of a study that was renamed: what it is called now.")
