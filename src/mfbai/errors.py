"""What mfbai raises, and the collector that lets every fault of an input be told at once.

    MfbaiError
    ├── CompilerError       the processes that compile ended without a result, as when memory runs out
    ├── EvaluationFailed    raised by your own code: a trial has no value, and is not tried again
    ├── ExecutorError       an executor that is shut down, broken or out of reach
    │   └── WorkerLost      workers died again and again while they made one and the same evaluation
    ├── InvalidInput        also a ValueError; `.faults` lists what is wrong, field by field
    │   ├── LabelChanged    a note, or tags, that somebody else has changed since they were read
    │   ├── TrialClosed     a trial that was told another value already, or has failed
    │   └── UnknownName     a name that is in no list, with the nearest one suggested
    ├── NothingToAsk        a study has nothing to hand out before results are back
    │   └── StudyPaused     a study hands out nothing until it is resumed
    ├── StorageError        a database that cannot be reached, or is not what it should be
    ├── StudyGone           a study was deleted while it was in use
    ├── StudyOver           a study that has its verdict has nothing more to ask
    ├── StudyRenamed        a server's study has another name now: `RemoteStudy` goes on with that
    ├── StudyUnreadable     a study whose journal was damaged, or needs a newer mfbai
    └── TimedOut            also a TimeoutError; a call ended by its `timeout`, before there is a verdict

A message says what is wrong, where, and what to do:

    costs[1] is -0.5: a cost must be positive; check the [[fidelity]] "coarse" entry
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

MOST_KNOWN = 30  # names listed for someone who gave another
LONGEST_KNOWN = 300  # characters of these, so that long ones do not bury the rest
MOST_COMPARED = 10_000  # names among which to look for one like it: that takes some 20 us each


class Fault(NamedTuple):
    """One thing that is wrong: reads as the sentence "field message"."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field} {self.message}"

    def at(self, place: str) -> Fault:
        """The same fault, pointing the reader at `place` instead.

        >>> print(Fault("costs[0]", "is -1.0: a cost must be positive; check fidelity 'coarse'").at("line 3"))
        costs[0] is -1.0: a cost must be positive; check line 3
        """
        what, _, _ = self.message.partition("; check ")
        return self._replace(message=f"{what}; check {place}")


class MfbaiError(Exception):
    """Everything that mfbai raises on purpose."""


class InvalidInput(MfbaiError, ValueError):  # noqa: N818 - says what the matter is, as httpx names them
    """An input that cannot be used; `.faults` holds every reason."""

    def __init__(self, faults: Iterable[Fault], what: str = "input") -> None:
        self.faults = tuple(faults)
        self.what = what
        super().__init__(self.faults, what)  # both, so that the exception can be pickled between processes

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = [f"{len(self.faults)} faults in the {self.what}:", *map(str, self.faults)]
        return "\n  ".join(lines)


class LabelChanged(InvalidInput):
    """A note, or tags, that somebody else has changed since they were read."""


class TrialClosed(InvalidInput):
    """A trial that was told another value already, or has failed."""


class UnknownName(InvalidInput):
    """A name that is in no list."""


class CompilerError(MfbaiError):
    """The processes that compile ended without a result."""


class EvaluationFailed(MfbaiError):  # noqa: N818
    """A trial has no value, for the reason given: it counts as failed, and the study goes on."""


class ExecutorError(MfbaiError):
    """An executor that is shut down, broken or out of reach. The study is kept: call again with another one."""


class WorkerLost(ExecutorError):  # noqa: N818
    """Workers died again and again while they made one and the same evaluation. It has not failed: it is given back."""


class NothingToAsk(MfbaiError):  # noqa: N818
    """A study has nothing to hand out before results are back: wait for them, then ask again."""


class StudyPaused(NothingToAsk):
    """A study hands out nothing until it is resumed. Results of what is under way are still accepted."""


class StorageError(MfbaiError):
    """A database that cannot be reached, or is not what it should be. What was acknowledged is safe: try again."""


class StudyGone(MfbaiError):  # noqa: N818
    """A study was deleted while it was in use: nothing of it is left."""


class StudyRenamed(MfbaiError):  # noqa: N818
    """A study on a server has another name now, `.name`."""

    def __init__(self, told: str, name: str | None = None) -> None:
        super().__init__(told)
        self.name = name


class StudyUnreadable(MfbaiError):  # noqa: N818
    """A study whose journal was damaged, or needs a newer mfbai. It can be deleted."""


class StudyOver(MfbaiError):  # noqa: N818
    """The study has its verdict: there is nothing more to evaluate. `.state` is that of the study, if it is known."""

    def __init__(self, told: str, state: str | None = None) -> None:
        super().__init__(told)
        self.state = state


class TimedOut(MfbaiError, TimeoutError):  # noqa: N818
    """A call was ended by its `timeout` before there is a verdict. What was told is kept; `.status` is that of the
    study by then, if its storage answered."""

    def __init__(self, told: str, status: Any = None) -> None:
        super().__init__(told)
        self.status = status


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to write instead.

    >>> suggestion("mf-gard", ["mf-grad", "uniform"])
    "did you mean 'mf-grad'? known: mf-grad, uniform"
    """
    known = list(known)
    if not known:
        return "there are none"
    near = difflib.get_close_matches(name, known, n=1) if len(known) <= MOST_COMPARED else []
    hint = f"did you mean {near[0]!r}? " if near else ""
    listed = known[:MOST_KNOWN]
    while len(listed) > 1 and len(", ".join(listed)) > LONGEST_KNOWN:
        listed.pop()
    others = f" and {len(known) - len(listed)} more" if len(known) > len(listed) else ""
    return f"{hint}known: {', '.join(listed)}{others}"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The exception for a `kind` of thing that has no such name; for the caller to raise."""
    return UnknownName([Fault(f"unknown {kind}", f"{name!r}: {suggestion(name, known)}")], kind)


class Faults:
    """Collects what is wrong, so that one exception tells all of it."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def __len__(self) -> int:
        return len(self._found)

    def first(self, count: int) -> list[Fault]:
        """The first of them."""
        return self._found[:count]

    def add(self, field: str, message: str) -> None:
        self._found.append(Fault(field, message))

    @contextmanager
    def absorb(self, relocate: Callable[[Fault], Fault] = lambda fault: fault) -> Iterator[None]:
        """Collect the faults of an InvalidInput raised inside the block, instead of stopping there."""
        try:
            yield
        except InvalidInput as error:
            self._found += map(relocate, error.faults)

    def raise_if_any(self, what: str) -> None:
        if self._found:
            raise InvalidInput(dict.fromkeys(self._found), what)  # each told once
