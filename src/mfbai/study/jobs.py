"""What a crew deals with: an agenda that has trials, jobs that are trials under way, and reports of what is back."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from mfbai.model.problem import Problem
from mfbai.study.status import Part, Trial


class Cancelled(Exception):  # noqa: N818
    """The evaluation was given up because all work ends: its trial goes to another worker."""


class Agenda(Protocol):
    """What has trials to evaluate: a study, here or on a server, or a pilot. If it has a method `together`, the calls
    of such a block are kept or lost as one."""

    @property
    def name(self) -> str: ...
    @property
    def problem(self) -> Problem: ...
    @property
    def state(self) -> str: ...
    def ask(self, *, lease: float) -> Trial: ...
    def check_value(self, value: Any, fidelity: int | None = None) -> float: ...
    def tell(self, trial: Trial, value: Any, /) -> None: ...
    def fail(self, trial: Trial, reason: str, /) -> None: ...
    def release(self, trial: Trial, /) -> None: ...
    def renew(self, trial: Trial, *, lease: float) -> Any: ...


class Function:
    """A function of an arm, a fidelity and a seed, as crews call it."""

    def __init__(self, function: Callable[[str, str, int], float]) -> None:
        self.function = function
        self.__qualname__ = getattr(function, "__qualname__", type(function).__qualname__)

    def __call__(self, what: Trial | Part) -> float:
        try:
            return self.function(what.arm, what.fidelity, what.seed)
        except Exception as error:
            error.add_note(f"while evaluating {what.arm!r} at {what.fidelity!r} with seed {what.seed}")
            raise


@dataclass(eq=False)
class Job:
    """A trial under way: the evaluations that it is made of, and the values that are back."""

    trial: Trial
    left: deque[int] = field(init=False)  # evaluations that were not begun
    values: dict[int, float] = field(default_factory=dict)
    closed: bool = False  # told, failed or given back: what comes back now is not needed

    def __post_init__(self) -> None:
        self.left = deque(range(len(self.evaluations)))

    @property
    def evaluations(self) -> tuple[Trial | Part, ...]:
        return self.trial.parts or (self.trial,)

    @property
    def told(self) -> float | list[float]:
        """What to tell of the trial, once all values are back."""
        values = [self.values[k] for k in range(len(self.evaluations))]
        return values if self.trial.parts else values[0]


class Call(NamedTuple):
    """An evaluation of a job that is under way."""

    job: Job
    k: int
    since: float

    @property
    def what(self) -> Trial | Part:
        return self.job.evaluations[self.k]


class Report(NamedTuple):
    """What an evaluation that is back means for its trial."""

    job: Job
    method: str | None = None  # of the study: tell, fail or release; None while parts are missing
    given: tuple[Any, ...] = ()  # to that method


def one_for_each_job(reports: list[Report]) -> list[Report]:
    """The first: several parts of a trial may fail at once."""
    return list({id(report.job): report for report in reversed(reports)}.values())[::-1]
