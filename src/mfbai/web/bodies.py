"""What the API takes, as /openapi.json describes it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, FailFast, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from mfbai.study import limits
from mfbai.study.catalogue import SORTS, STATES
from mfbai.study.limits import (
    LARGEST,
    LEASE,
    LONGEST_LEASE,
    LONGEST_NAME,
    LONGEST_NOTE,
    LONGEST_REASON,
    LONGEST_WORKER,
    MOST_AT_ONCE,
    MOST_PARTS,
    MOST_TAGS,
)

MOST_VALUES = 1000  # that can be added at once
MOST_EVENTS = 1000  # of a journal, in one answer
MOST_RESULTS = 1000  # told at once: other callers wait while they are written
MOST_FOUND = 100  # arms, in one answer


def _one_of(names: Sequence[str]) -> Any:
    """What a text must be to be one of these."""
    return WithJsonSchema({"type": "string", "enum": list(names)}), AfterValidator(partial(_check_name, names))


def _check_name(names: Sequence[str], given: str) -> str:
    if given not in names:
        raise PydanticCustomError("name", "give {names}", {"names": ", ".join(names)})
    return given


TrialId = Annotated[str, Field(pattern=f"^{limits.TRIAL_ID}$", examples=["1-45a367aa"])]
Value = Annotated[float, Field(gt=-LARGEST, lt=LARGEST, allow_inf_nan=False)]
Lease = Annotated[
    float, Field(gt=0, le=LONGEST_LEASE, allow_inf_nan=False, description="Seconds that the worker may take.")
]
State = Literal["running", "decided", "undecided", "alarm"]
ListState = Annotated[str, *_one_of(STATES)]
Sort = Annotated[str, *_one_of(tuple(SORTS))]


def as_json(value: Any) -> bytes:
    """The form of everything that leaves the server: ASCII, so that any text can be sent."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


class Body(BaseModel):
    """A caller sends these entries and no others."""

    model_config = ConfigDict(extra="forbid", strict=True)


class NewStudy(Body):
    spec: str | dict[str, Any] = Field(
        description="The problem: the text of a TOML spec, or the same tables as JSON. Never the name of a file."
    )
    delta: float = Field(gt=0, lt=1, description="The accepted risk of a wrong answer.", examples=[0.05])
    name: str | None = Field(None, min_length=1, max_length=LONGEST_NAME)
    strategy: str | None = Field(None, description="Left out, it is chosen for the problem.")
    stopping: str | None = Field(None, description="Left out, it is the proven rule that goes with the strategy.")
    tolerance: float = Field(0.0, ge=0, allow_inf_nan=False)
    max_cost: float | None = Field(None, gt=0, allow_inf_nan=False)
    direction: Literal["maximise", "minimise"] | None = None
    seeds: Literal["independent", "common"] | None = Field(
        None, description="Whether arms are evaluated with the same seeds, to override the spec."
    )
    options: dict[str, float] | None = Field(None, max_length=100)
    audit: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="The share of the cost for unbiased evaluations of the leader and its closest rival.",
    )
    on_alarm: Literal["stop", "continue"] = Field("stop", description="Whether an alarm ends the study.")


class Reopen(Body):
    name: str = Field(min_length=1, max_length=LONGEST_NAME, description="Of the new study.")
    bias: dict[str, Value | Annotated[list[Value], Field(min_length=2, max_length=2)]] = Field(
        min_length=1,
        description="The bounds that change, by fidelity: 0.2, or [-0.1, 0.3].",
        examples=[{"coarse": 0.2}],
    )
    max_cost: float | None = Field(
        None, gt=0, allow_inf_nan=False, description="Left out, it is what is left of the old study's budget."
    )


class Ask(Body):
    n: int = Field(1, ge=1, le=MOST_AT_ONCE, description="How many evaluations to hand out, at most.")
    lease: Lease = LEASE
    request: str | None = Field(
        None,
        pattern=f"^{limits.REQUEST}$",
        description="An idempotency key: repeating it returns the same trials.",
    )
    worker: str | None = Field(
        None, max_length=LONGEST_WORKER, description="The caller's name, for tables; left out, it is not known."
    )


def _missing() -> Any:
    """Of an entry that may be left out, but not null."""


class Tell(Body):
    model_config = ConfigDict(json_schema_extra={"oneOf": [{"required": ["value"]}, {"required": ["values"]}]})

    trial: TrialId
    value: Value = Field(default_factory=_missing, description="What the evaluation returned.")
    values: list[Value] = Field(
        default_factory=_missing,
        min_length=1,
        max_length=MOST_PARTS,
        description="Of a trial with parts: what each of them returned, in their order.",
    )

    @model_validator(mode="after")
    def _check_one(self) -> Tell:
        if len(self.model_fields_set & {"value", "values"}) != 1:
            raise PydanticCustomError("value", "give `value`, or `values` for a trial with parts")
        return self

    @property
    def told(self) -> float | list[float]:
        return self.values if "values" in self.model_fields_set else self.value


class TellMany(Body):
    # At the first fault no more are looked for: there may be millions.
    results: Annotated[list[Tell], FailFast()] = Field(
        min_length=1, max_length=MOST_RESULTS, description="All of them are kept, or none."
    )


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


class Nothing(Body):
    """An empty object."""


class Rename(Body):
    name: str = Field(min_length=1, max_length=LONGEST_NAME, description="The new name.")


class Note(Body):
    text: str = Field(max_length=LONGEST_NOTE, description="Markdown.")
    before: str | None = Field(
        None, description="The note that the editor began with: if somebody else has changed it since, that is refused."
    )


class Tags(Body):
    tags: list[str] = Field(max_length=MOST_TAGS, description="All tags that the study is to have.")
    before: list[str] | None = Field(
        None,
        max_length=MOST_TAGS,
        description="The tags that the editor began with: if somebody else has changed them since, that is refused.",
    )


class Delete(Body):
    name: str = Field(description="The study's name again, as a confirmation.")
