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
    """The base class of all exceptions that mfbai raises on purpose.

    >>> from mfbai import MfbaiError, load
    >>> try:
    ...     load("paper-5x3")
    ... except MfbaiError as error:
    ...     print(type(error).__name__)
    UnknownName
    """


class InvalidInput(MfbaiError, ValueError):  # noqa: N818 - says what the matter is, as httpx names them
    """An input that cannot be used; also a `ValueError`. All that is wrong is reported at once.

    faults  every reason, each with its `field` and `message`
    what    names the input

    >>> from mfbai import Bernoulli, InvalidInput, Problem
    >>> try:
    ...     Problem(["old", "new"], costs=-1, biases=0, family=Bernoulli(), direction="up")
    ... except InvalidInput as error:
    ...     print(error)
    2 faults in the problem:
      costs is -1.0: a cost must be positive
      direction is 'up': known: maximise, minimise
    """

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
    """Somebody else has changed the note, or the tags, since they were read.

    >>> from mfbai import Bernoulli, LabelChanged, Problem, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> before = study.note
    >>> study.set_note("Started by the night shift.")
    >>> try:
    ...     study.set_note("Started by the day shift.", before=before)
    ... except LabelChanged:
    ...     print(study.note)
    Started by the night shift.
    """


class TrialClosed(InvalidInput):
    """The trial already has another value, or has failed.

    >>> from mfbai import Bernoulli, Problem, TrialClosed, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> trial = study.ask()
    >>> study.tell(trial, 1)
    >>> try:
    ...     study.tell(trial, 0)
    ... except TrialClosed as error:
    ...     print(str(error).partition("' ")[2])
    was told 1.0 already, now 0.0: a value that was told cannot be changed
    """


class UnknownName(InvalidInput):
    """A name that is in no list: of an instance, a strategy, a study, ... The message suggests the nearest one.

    >>> from mfbai import UnknownName, load
    >>> try:
    ...     load("paper-5x3")
    ... except UnknownName as error:
    ...     print(str(error).partition("?")[0])
    unknown instance 'paper-5x3': did you mean 'paper-5x2'
    """


class CompilerError(MfbaiError):
    """The processes that compile ended without a result."""


class EvaluationFailed(MfbaiError):  # noqa: N818
    """For your own `evaluate` to raise: a trial has no value, for the reason given. It is reported as failed, and the
    study goes on; three failures in a row of one cell end the call. Failures must not depend on the value that there
    would have been.

    >>> from mfbai import Bernoulli, EvaluationFailed, Problem, identify
    >>> crashes = iter([True])
    >>> def evaluate(arm, fidelity, seed):
    ...     if next(crashes, False):
    ...         raise EvaluationFailed("the program crashed")
    ...     return 1 if arm == "new" else 0
    >>> identify(evaluate, Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), delta=0.01).arm
    'new'
    """


class ExecutorError(MfbaiError):
    """The executor is shut down, broken or out of reach. All trials are given back, and a study with a name is kept:
    call again with another executor.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> from mfbai import Bernoulli, ExecutorError, Problem, identify
    >>> executor = ThreadPoolExecutor(2)
    >>> executor.shutdown()
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> try:
    ...     identify(lambda arm, fidelity, seed: 1, problem, delta=0.05, executor=executor, workers=2)
    ... except ExecutorError as error:
    ...     print(str(error).partition(" (")[0])
    the executor takes no calls
    """


class WorkerLost(ExecutorError):  # noqa: N818
    """Five workers died, one after the other, on the same evaluation: it needs too much memory, perhaps, or its program
    ends the process. The message names the trial, which is given back and has not failed. As an `ExecutorError` it can
    be caught with those:

    >>> from mfbai import ExecutorError, WorkerLost
    >>> try:
    ...     raise WorkerLost("5 workers died, one after the other, on 'new' at 'full' with seed 7")
    ... except ExecutorError as error:
    ...     print(error)
    5 workers died, one after the other, on 'new' at 'full' with seed 7
    """


class NothingToAsk(MfbaiError):  # noqa: N818
    """The study has nothing to hand out before results are back. Wait for them, then ask again.

    >>> from mfbai import Bernoulli, NothingToAsk, Problem, create_study
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = create_study(problem, delta=0.05, max_cost=1, name="short", storage="sqlite://")
    >>> trial = study.ask()
    >>> try:
    ...     study.ask()
    ... except NothingToAsk as error:
    ...     print(str(error).partition(": ")[2])
    1 evaluation is under way and the budget allows no more; tell the results, and ask again
    """


class StudyPaused(NothingToAsk):
    """The study hands out nothing until it is resumed. Results of what is under way are accepted.

    >>> from mfbai import Bernoulli, Problem, StudyPaused, create_study
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = create_study(problem, delta=0.05, name="short", storage="sqlite://")
    >>> study.pause()
    >>> try:
    ...     study.ask()
    ... except StudyPaused as error:
    ...     print(error)
    study 'short' is paused: it hands out nothing until somebody resumes it
    """


class StorageError(MfbaiError):
    """The database cannot be reached, or is not one of mfbai's. What was acknowledged is safe: try again.

    >>> from pathlib import Path
    >>> from mfbai import StorageError, list_studies
    >>> _ = Path("notes.db").write_text("This is a note, and no database.")
    >>> try:
    ...     list_studies(storage="sqlite:///notes.db")
    ... except StorageError as error:
    ...     print(str(error).partition(";")[0])
    sqlite:///notes.db cannot be used: file is not a database
    """


class StudyGone(MfbaiError):  # noqa: N818
    """The study was deleted while it was in use: nothing of it is left.

    >>> from mfbai import Bernoulli, Problem, StudyGone, create_study
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> study.delete()
    >>> try:
    ...     study.ask()
    ... except StudyGone:
    ...     print("deleted")
    deleted
    """


class StudyRenamed(MfbaiError):  # noqa: N818
    """A study on a server has another name now, `.name`."""

    def __init__(self, told: str, name: str | None = None) -> None:
        super().__init__(told)
        self.name = name


class StudyUnreadable(MfbaiError):  # noqa: N818
    """The journal of the study was damaged, or needs a newer mfbai. The study can still be renamed and deleted.

    >>> import sqlite3
    >>> from mfbai import Bernoulli, Problem, StudyUnreadable, create_study, load_study
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = create_study(problem, delta=0.05, name="worn", storage="sqlite:///worn.db")
    >>> with sqlite3.connect("worn.db") as database:
    ...     _ = database.execute("UPDATE mfbai_events SET body = 'worn'")
    >>> try:
    ...     load_study("worn", storage="sqlite:///worn.db").status()
    ... except StudyUnreadable as error:
    ...     print(str(error).partition(":")[0])
    study 'worn' cannot be read
    """


class StudyOver(MfbaiError):  # noqa: N818
    """The study has its verdict: there is nothing more to evaluate.

    state  that of the study: "decided", "undecided" or "alarm"; None if it is not known

    >>> from mfbai import Bernoulli, Problem, StudyOver, create_study
    >>> problem = Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    >>> study = create_study(problem, delta=0.05, max_cost=1, storage="sqlite://")
    >>> study.tell(study.ask(), 1)
    >>> try:
    ...     study.ask()
    ... except StudyOver as error:
    ...     print(error.state)
    undecided
    """

    def __init__(self, told: str, state: str | None = None) -> None:
        super().__init__(told)
        self.state = state


class TimedOut(MfbaiError, TimeoutError):  # noqa: N818
    """A call of `identify` ended by its `timeout`, before there is a verdict; also a `TimeoutError`. A study with a
    name is kept: the same call resumes it.

    status  the `Status` of the study by then; None if its storage did not answer

    >>> import time
    >>> from mfbai import Bernoulli, Problem, TimedOut, identify
    >>> def evaluate(arm, fidelity, seed):
    ...     time.sleep(0.01)
    ...     return 0
    >>> try:
    ...     identify(evaluate, Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), delta=0.01, timeout=0.1)
    ... except TimedOut as error:
    ...     print(error.status.state)
    running
    """

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
