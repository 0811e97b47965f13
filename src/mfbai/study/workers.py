"""Workers: evaluate what a study asks for until it has its verdict, in threads of this process."""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar

from mfbai.errors import EvaluationFailed, InvalidInput, NothingToAsk, StorageError, StudyOver, TrialClosed
from mfbai.study.signals import Flag, Interrupted, caught
from mfbai.study.status import Part, Trial

RENEWED_LEASE = 60.0  # seconds; renewed while the worker lives, so that a crash is noticed soon
LONGEST_OUTAGE = 60.0  # seconds that a storage may be away
GIVE_UP = 3  # trials of a cell in a row that may fail
LOOK = 0.1  # seconds between two looks at whether all is done
GRACE = 1.0  # seconds that evaluations have to end, once nothing new is begun

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818
    """The evaluation was given up because all work ends: its trial goes to another worker."""


class Agenda(Protocol):
    """What has trials to evaluate: a study, or a pilot."""

    @property
    def state(self) -> str: ...
    def ask(self, *, lease: float) -> Trial: ...
    def check_value(self, value: Any, fidelity: int | None = None) -> float: ...
    def tell(self, trial: Trial, value: Any, /) -> None: ...
    def fail(self, trial: Trial, reason: str, /) -> None: ...
    def release(self, trial: Trial, /) -> None: ...
    def renew(self, trial: Trial, *, lease: float) -> Any: ...


@dataclass(eq=False)
class Job:
    """A trial under way: the evaluations that it is made of, and the values that are back."""

    trial: Trial
    left: deque[int] = field(init=False)  # evaluations that no thread has begun
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


class Crew:
    """Threads that ask, evaluate and tell. They share the parts of a trial, and begin no other before all are begun."""

    def __init__(
        self, study: Agenda, evaluate: Callable[[Trial | Part], float], workers: int, lease: float = RENEWED_LEASE
    ) -> None:
        self.study = study
        self.evaluate = evaluate
        self.workers = workers
        self.lease = lease
        self.stop = threading.Event()  # set: finish, and begin nothing new
        self.busy: dict[int, tuple[Trial | Part, float]] = {}  # what each thread evaluates, and since when
        self.failures: list[tuple[Trial, str]] = []  # trials that failed for good
        self._jobs: list[Job] = []  # trials that are not closed
        self._lock = threading.Lock()  # of the jobs
        self._choosing = threading.Lock()  # one thread at a time chooses what to evaluate
        self._in_a_row: Counter[tuple[int, int]] = Counter()  # of each cell
        self._error: BaseException | None = None
        self._interrupted = Flag()

    def work(self, show: Callable[[], None] = lambda: None, cancel: Callable[[], None] = lambda: None) -> None:
        """Evaluate until the verdict, or until something goes wrong; SIGINT and SIGTERM raise `Interrupted`.

        `show` is called every moment; `cancel` must end the evaluations under way, if it can.
        """
        threads = [threading.Thread(target=self._thread, daemon=True) for _ in range(self.workers)]
        with caught() as self._interrupted:
            try:
                for thread in (*threads, threading.Thread(target=self._keep_leases, daemon=True)):
                    thread.start()
                while not self._interrupted and (alive := [thread for thread in threads if thread.is_alive()]):
                    show()
                    alive[0].join(LOOK)
            finally:
                self.stop.set()
                cancel()
                if not self._interrupted.again:
                    self._leave(threads)
        show()
        if self._error is not None:
            raise self._error

    def _leave(self, threads: list[threading.Thread]) -> None:
        """Wait a moment for evaluations to end, and release the trials of the others."""
        until = time.monotonic() + GRACE
        for thread in threads:
            thread.join(max(until - time.monotonic(), 0.0))
        release = threading.Thread(target=self._release_all, daemon=True)
        release.start()  # a database may be locked, and a second signal could not interrupt this thread in a query
        while release.is_alive():
            release.join(LOOK)

    def _thread(self) -> None:
        try:
            while not self.stop.is_set() and self._one():
                pass
        except BaseException as error:
            self._error = self._error or error
            self.stop.set()

    def _one(self) -> bool:
        """Make one evaluation; false if the study is over."""
        try:
            with self._choosing:
                job, k = self._choose()
        except StudyOver:
            return False
        except NothingToAsk:
            self.stop.wait(LOOK)
            return True
        what = job.evaluations[k]
        self.busy[threading.get_ident()] = what, time.time()
        try:
            if self._interrupted:  # since we asked
                raise Cancelled
            value = self._checked(what, self.evaluate(what))
            with self._lock:
                job.values[k] = value
                complete = len(job.values) == len(job.evaluations)
            if complete:
                self._tell(job)
        except EvaluationFailed as failure:
            self._fail(job, str(failure))
        except Cancelled:
            self._close(job, self.study.release)
        except BaseException:
            self._close(job, self.study.release)
            raise
        finally:
            self.busy.pop(threading.get_ident(), None)
        return True

    def _checked(self, what: Trial | Part, given: Any) -> float:
        try:
            return self.study.check_value(given, what.fidelity_index)
        except InvalidInput as wrong:
            cell = f"the value of {what.arm!r} at {what.fidelity!r} with seed {what.seed}"
            raise InvalidInput([fault._replace(field=cell) for fault in wrong.faults]) from None

    def _choose(self) -> tuple[Job, int]:
        """An evaluation to make: a part of a trial that was begun or, if none is left, of the next trial."""
        begun = [job for job in list(self._jobs) if job.left and not job.closed]
        if begun and self.study.state != "running":
            for job in begun:
                self._close(job, self.study.release)  # its value would come too late to count
            begun = []
        if not begun:
            begun = [Job(self._patiently(lambda: self.study.ask(lease=self.lease)))]
            with self._lock:
                self._jobs += begun
        return begun[0], begun[0].left.popleft()

    def _tell(self, job: Job) -> None:
        if self._close(job, self.study.tell, job.told):
            self._in_a_row[job.trial.arm_index, job.trial.fidelity_index] = 0

    def _fail(self, job: Job, reason: str) -> None:
        trial = job.trial
        if not self._close(job, self.study.fail, reason):
            return
        self.failures.append((trial, reason))
        cell = trial.arm_index, trial.fidelity_index
        self._in_a_row[cell] += 1
        if self._in_a_row[cell] >= GIVE_UP:
            self.stop.set()

    def _close(self, job: Job, call: Callable[..., None], *more: Any) -> bool:
        """End a trial by a call of the study; false if it has ended otherwise."""
        with self._lock:
            if job.closed:
                return False
            job.closed = True
        done = True
        try:
            self._patiently(lambda: call(job.trial, *more))
        except TrialClosed:
            done = False  # the lease ran out, and another worker has told a value since
        except BaseException:
            job.closed = False
            raise
        with self._lock:
            self._jobs.remove(job)
        return done

    def _patiently(self, call: Callable[[], T]) -> T:
        """Call again while the storage is away: a server may be restarting."""
        until = time.monotonic() + LONGEST_OUTAGE
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
            for job in list(self._jobs):
                try:
                    self.study.renew(job.trial, lease=self.lease)
                except StorageError:
                    break  # try again next time; a lease that ends meanwhile costs a second evaluation, no more

    def _release_all(self) -> None:
        for job in list(self._jobs):
            try:
                self.study.release(job.trial)
            except StorageError:
                return


def work(crew: Crew, show: Callable[[], None]) -> None:
    """Let the crew work as a part of someone's program: a signal goes on to the caller's own handler."""
    number = None
    try:
        crew.work(show)
    except Interrupted as interrupted:
        number = interrupted.number
    if number is not None:
        signal.raise_signal(number)  # by default, that of SIGINT raises KeyboardInterrupt
        raise KeyboardInterrupt
