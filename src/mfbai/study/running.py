"""Workers: evaluate what a study asks for until it has its verdict, in threads of this process."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from mfbai.errors import (
    EvaluationFailed,
    Fault,
    Faults,
    InvalidInput,
    NothingToAsk,
    StorageError,
    StudyOver,
    TrialClosed,
    UnknownName,
)
from mfbai.problem import Instance, Problem
from mfbai.simulation.setup import check_integers
from mfbai.study.fold import Verdict
from mfbai.study.records import Status, Trial
from mfbai.study.storage import DEFAULT, IN_MEMORY, NameTaken
from mfbai.study.study import Study, create_study, load_study

LEASE = 60.0  # seconds; renewed while we live, so that a crash is noticed soon
PATIENCE = 60.0  # seconds that a storage may be away
GIVE_UP = 3  # trials of a cell in a row that may fail
LOOK = 0.1  # seconds between two looks at whether all is done

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818
    """The evaluation was given up because all work ends: another worker may have the trial."""


def identify(
    evaluate: Callable[[str, str, int], float],
    problem: Problem | Instance | str | Path,
    delta: float,
    *,
    workers: int = 1,
    name: str | None = None,
    storage: str | None = None,
    strategy: str = "frugal",
    stopping: str = "e-process",
    tolerance: float = 0.0,
    max_cost: float | None = None,
    direction: str | None = None,
    options: Mapping[str, float] | None = None,
) -> Verdict:
    """Find the best arm: call `evaluate(arm, fidelity, seed)` until there is a verdict, in so many threads at once.

    With a `name` the study is kept in a `storage` (mfbai.db, if none is given), and outlives this process: call again,
    and it goes on where it was. An exception of `evaluate` ends the call, and its trial is evaluated again the next
    time; but `EvaluationFailed` counts the trial as failed, and the study goes on, until three of a cell fail in a row.
    The rest is as in `create_study`.

    >>> import random
    >>> from mfbai import Gaussian, Problem, identify
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> def evaluate(arm, fidelity, seed):
    ...     return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)
    >>> identify(evaluate, problem, delta=0.05).arm
    'wide'
    """
    faults = Faults()
    given: Any = evaluate
    if not callable(given):
        faults.add("evaluate", f"is {given!r:.60}: give a function of an arm, a fidelity and a seed")
    check_integers(faults, {"workers": workers if workers is not None else 0})
    faults.raise_if_any("call")
    asked: dict[str, Any] = {"strategy": strategy, "stopping": stopping, "tolerance": tolerance, "max_cost": max_cost}
    asked |= {"direction": direction, "options": options}
    if storage is None:
        storage = IN_MEMORY if name is None else DEFAULT
    study = _resume(problem, delta, name, storage, asked)
    study.warm_up()
    crew = Crew(study, lambda trial: evaluate(trial.arm, trial.fidelity, trial.seed), workers)
    with _progress(study) as show:
        crew.work(show)
    verdict = study.result
    if verdict is None:
        trial, reason = crew.failures[-1]
        raise EvaluationFailed(f"{GIVE_UP} trials of {trial.arm!r} at {trial.fidelity!r} failed in a row: {reason}")
    return verdict


def _resume(problem: Any, delta: Any, name: str | None, storage: str, asked: dict[str, Any]) -> Study:
    """The study of that name, if there is one and it is the same; else a new one."""
    if name is None:
        return create_study(problem, delta, storage=storage, **asked)
    try:
        found = load_study(name, storage=storage)
    except UnknownName:
        try:
            return create_study(problem, delta, name=name, storage=storage, **asked)
        except NameTaken:  # by another process, this very moment
            found = load_study(name, storage=storage)
    wanted = create_study(problem, delta, name=name, storage=IN_MEMORY, **asked)
    differing = wanted.settings.differences(found.settings)
    if differing:
        told = f"exists with another {', '.join(differing)}: choose another name, or give the same"
        raise InvalidInput([Fault(f"study {name!r}", told)])
    return found


class Crew:
    """Threads that ask, evaluate and tell."""

    def __init__(self, study: Study, evaluate: Callable[[Trial], float], workers: int, lease: float = LEASE) -> None:
        self.study = study
        self.evaluate = evaluate
        self.workers = workers
        self.lease = lease
        self.stop = threading.Event()  # set: finish, and begin nothing new
        self.busy: dict[int, tuple[Trial, float]] = {}  # what each thread evaluates, and since when
        self.failures: list[tuple[Trial, str]] = []  # trials that failed for good
        self._in_a_row: Counter[tuple[int, int]] = Counter()  # of each cell
        self._error: BaseException | None = None

    def work(self, show: Callable[[], None] = lambda: None, cancel: Callable[[], None] = lambda: None) -> None:
        """Until the verdict, or until something goes wrong; `show` is called every moment, `cancel` if all must end."""
        threads = [threading.Thread(target=self._thread, daemon=True) for _ in range(self.workers)]
        threads.append(threading.Thread(target=self._keep_leases, daemon=True))
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads[:-1]):
                show()
                threads[0].join(LOOK)
                if not threads[0].is_alive():
                    time.sleep(LOOK / 10)
        except BaseException:
            self.stop.set()
            cancel()
            for thread in threads[:-1]:
                thread.join(1.0)
            self._release_all()
            raise
        finally:
            self.stop.set()
        show()
        if self._error is not None:
            raise self._error

    def _thread(self) -> None:
        try:
            while not self.stop.is_set() and self._one():
                pass
        except BaseException as error:
            self._error = self._error or error
            self.stop.set()

    def _one(self) -> bool:
        """Evaluate one trial; false if the study is over."""
        try:
            trial = self._patiently(lambda: self.study.ask(lease=self.lease))
        except StudyOver:
            return False
        except NothingToAsk:
            self.stop.wait(LOOK)
            return True
        self.busy[threading.get_ident()] = trial, time.time()
        try:
            value = self.study.check_value(self.evaluate(trial))
            self._patiently(lambda: self.study.tell(trial, value))
            self._in_a_row[trial.arm_index, trial.fidelity_index] = 0
        except TrialClosed:
            pass  # our lease ran out, and another worker has told a value since
        except EvaluationFailed as failure:
            self._fail(trial, str(failure))
        except Cancelled:
            self._patiently(lambda: self.study.release(trial))
        except BaseException:
            self._patiently(lambda: self.study.release(trial))
            raise
        finally:
            self.busy.pop(threading.get_ident(), None)
        return True

    def _fail(self, trial: Trial, reason: str) -> None:
        self._patiently(lambda: self.study.fail(trial, reason))
        self.failures.append((trial, reason))
        cell = trial.arm_index, trial.fidelity_index
        self._in_a_row[cell] += 1
        if self._in_a_row[cell] >= GIVE_UP:
            self.stop.set()

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call again while the storage is away: a server may be restarting."""
        until = time.monotonic() + PATIENCE
        pause = 0.05
        while True:
            try:
                return call()
            except StorageError:
                if time.monotonic() > until or self.stop.is_set():
                    raise
                time.sleep(pause)
                pause = min(2 * pause, 2.0)

    def _keep_leases(self) -> None:
        while not self.stop.wait(self.lease / 3):
            for trial, _ in list(self.busy.values()):
                try:
                    self.study.renew(trial, lease=self.lease)
                except StorageError:
                    break  # the next time, or never: the trial is handed out again then

    def _release_all(self) -> None:
        for trial, _ in list(self.busy.values()):
            try:
                self.study.release(trial)
            except StorageError:
                return


@contextmanager
def _progress(study: Study) -> Iterator[Callable[[], None]]:
    """How far the proof is, on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield lambda: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("proof"), BarColumn(), TextColumn("{task.description}", markup=False))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=1.0)

        def show() -> None:
            status = study.status()
            bar.update(task, completed=proven(status), description=line(status))

        yield show


def proven(status: Status) -> float:
    """The part of the proof that there is, from 0 to 1."""
    if status.state == "decided":
        return 1.0
    return float(min(max(status.evidence.min() / status.needed, 0.0), 1.0)) if status.needed > 0 else 0.0


def line(status: Status) -> str:
    leads = "no data yet" if status.leader is None else f"{status.leader!r} leads"
    return f"{leads}, {status.told} evaluations, cost {status.cost:g}"
