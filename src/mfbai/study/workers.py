"""A crew: has evaluated what a study asks for until it has its verdict, in threads of this process or on an executor.

One thread, the coordinator, asks and tells; evaluations are made elsewhere (`mfbai.engines`), and no worker ever sees
the storage. So a worker that dies takes nothing with it: its evaluation is made again, with the same seed, by another.
"""

from __future__ import annotations

import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import AbstractContextManager, nullcontext, suppress
from math import inf
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from mfbai.engines import Back, Engine
from mfbai.engines.interface import MOST_LOSSES
from mfbai.engines.local import Threads
from mfbai.engines.shipping import RemoteError, error_of
from mfbai.engines.waiting import Waiting
from mfbai.errors import (
    EvaluationFailed,
    ExecutorError,
    Fault,
    InvalidInput,
    NothingToAsk,
    StorageError,
    StudyGone,
    StudyOver,
    StudyPaused,
    TrialClosed,
    WorkerLost,
)
from mfbai.study import sameness
from mfbai.study.jobs import Agenda, Call, Cancelled, Job, Report, one_for_each_job
from mfbai.study.signals import Flag, Interrupted, caught
from mfbai.study.status import Part, Trial

RENEWED_LEASE = 60.0  # seconds; renewed while the coordinator lives, so that a crash is noticed soon
LONGEST_OUTAGE = 60.0  # seconds that a storage may be away
GIVE_UP = 3  # trials of a cell in a row that may fail
LOOK = 0.1  # seconds between two looks at whether all is done
LOOK_PAUSED = 1.0  # seconds between two looks at whether a paused study was resumed
GRACE = 1.0  # seconds that evaluations have to end, once nothing new is begun
LONGEST_GOODBYE = 5.0  # seconds for giving trials back when the time is over: if they are not, their leases end
LARGE = 1_000_000  # bytes of a function that is worth a word
MOST_AHEAD = 8  # evaluations that wait for each worker
FEW = 0.05  # part of the evaluations so far that may wait: they were chosen without the latest values

T = TypeVar("T")


class Crew:
    """Workers for what a study asks for. They share the parts of a trial, and begin no other before all are begun."""

    def __init__(
        self,
        study: Agenda,
        evaluate: Callable[[Trial | Part], float],
        workers: int | None = 1,
        lease: float = RENEWED_LEASE,
        engine: Engine | None = None,
        until: float = inf,
    ) -> None:
        """`workers` is how many evaluations to have under way; None: as many as the engine makes at a time. `until` is
        when to stop, on the monotonic clock."""
        self.study = study
        self.evaluate = evaluate
        self.workers = workers
        self.lease = lease
        self.engine = engine or Threads(workers or 1)
        self.until = until
        self.timed_out = False  # whether the time was over before the work
        self.stop = threading.Event()  # set: finish, and begin nothing new
        self.failures: list[tuple[Trial, str]] = []  # trials that failed for good
        self.say: Callable[[str], None] = lambda text: print(text, file=sys.stderr)
        self._waiting = Waiting(self.engine, lambda text: self.say(self._with_trials(text, "Under way")))
        self._own = engine is None
        self._atomic = hasattr(study, "together")
        self._jobs: list[Job] = []  # trials that are not closed
        self._calls: dict[Future[Back], Call] = {}
        self._returned: SimpleQueue[Future[Back]] = SimpleQueue()
        self._over = False  # the study has its verdict
        self._paused = False
        self._name = study.name
        self._ask_at = 0.0  # the time at which to ask again, if nothing could be handed out
        self._seconds = 1.0  # that an evaluation takes, about
        self._evaluated = 0
        self._losses: Counter[tuple[str, int]] = Counter()  # workers that died on each evaluation
        self._in_a_row: Counter[tuple[int, int]] = Counter()  # failures of each cell
        self._sameness = sameness.Sameness(study.problem)
        self._error: BaseException | None = None
        self._interrupted = Flag()

    @property
    def busy(self) -> list[tuple[Trial | Part, float]]:
        """What is being evaluated, and since when."""
        return [(call.what, call.since) for call in list(self._calls.values())]

    def work(self, show: Callable[[], None] = lambda: None, cancel: Callable[[], None] = lambda: None) -> None:
        """Evaluate until the verdict, or until something goes wrong; SIGINT and SIGTERM raise `Interrupted`.

        `show` is called every moment; `cancel` must end the evaluations under way, if it can.
        """
        coordinator = threading.Thread(target=self._coordinate, daemon=True)
        with caught() as self._interrupted:
            try:
                for thread in (coordinator, threading.Thread(target=self._keep_leases, daemon=True)):
                    thread.start()
                while not self._interrupted and coordinator.is_alive() and not self._is_late():
                    show()
                    coordinator.join(max(min(LOOK, self.until - time.monotonic()), 0.0))
            finally:
                self.stop.set()
                cancel()
                if not self._interrupted.again:
                    self._leave(coordinator)
                if self._own:
                    self.engine.close()
        show()
        if self._error is not None:
            raise self._error

    def _leave(self, coordinator: threading.Thread) -> None:
        """Wait a moment for evaluations to end, and release the trials of the others."""
        coordinator.join(GRACE)
        release = threading.Thread(target=self._release_all, daemon=True)
        release.start()  # a database may be locked, and a second signal could not interrupt this thread in a query
        latest = time.monotonic() + LONGEST_GOODBYE if self.timed_out else inf
        while release.is_alive() and time.monotonic() < latest:
            release.join(LOOK)

    def _is_late(self) -> bool:
        self.timed_out = time.monotonic() >= self.until
        return self.timed_out

    # --- the coordinator

    def _coordinate(self) -> None:
        try:
            shipped = self._ship()
            while not self.stop.is_set() and (self._calls or not self._over):
                reports = self._read_all(self._collect(LOOK))
                self._exchange(reports)
                self._begin(shipped)
        except BaseException as error:
            self._error = self._error or error
            self.stop.set()
        with suppress(Exception):  # the first error counts
            self._drain()

    def _ship(self) -> Any:
        """Send the function to a first worker: it must be known to arrive before anything is asked for."""
        shipped = self.engine.ship(self.evaluate, "evaluate")
        if isinstance(shipped, bytes) and len(shipped) > LARGE:
            size = f"{len(shipped) / 1e6:.0f} MB"
            self.say(f"{_name_of(self.evaluate)} carries {size}, sent with each evaluation: load data inside it")
        arrival = self.engine.probe(shipped)
        while not arrival.done() and not self.stop.wait(LOOK / 20):
            self._waiting.look()
        if self.stop.is_set():
            self.engine.cancel(arrival)
            return shipped
        error = error_of(self._result(arrival))
        if error is not None:
            told = f"is {_name_of(self.evaluate)}, which the workers cannot load ({type(error).__name__}: {error})"
            raise InvalidInput([Fault("evaluate", f"{told}: install there what it imports")]) from error
        return shipped

    def _collect(self, seconds: float) -> list[Future[Back]]:
        """What is back; waits for the first, for so long at most, unless there is something to ask for."""
        found = []
        with suppress(Empty):
            found.append(self._returned.get_nowait() if self._may_ask() else self._returned.get(timeout=seconds))
            while True:
                found.append(self._returned.get_nowait())
        if self._calls and not found:
            self._waiting.look()
        return found

    def _may_ask(self) -> bool:
        return not (self._over or self.stop.is_set()) and time.monotonic() >= self._ask_at and self._room() > 0

    def _room(self) -> int:
        """How many more evaluations may be asked for: those of trials that were begun come first."""
        return self._places() - sum(len(job.left) for job in self._jobs if not job.closed)

    def _places(self) -> int:
        """How many more evaluations may be under way. Some clusters start workers for what waits: there, one more than
        there are workers."""
        workers = self.workers if self.workers is not None else max((self.engine.size or 0) + self.engine.grows, 1)
        return workers + self._queued(workers) - len(self._calls)

    def _queued(self, workers: int) -> int:
        """How many evaluations may wait for a worker, where they are short. One worker has none: its values come back
        one by one, so that the course of a study is the same on every engine."""
        if workers == 1:
            return 0
        each = min(int(self.engine.ahead / self._seconds), MOST_AHEAD)
        return min(workers * each, int(FEW * self._evaluated))

    # --- what comes back

    def _read_all(self, returned: list[Future[Back]]) -> list[Report]:
        return [self._read(future, self._calls.pop(future)) for future in returned]

    def _read(self, future: Future[Back], call: Call) -> Report:
        job, k, _ = call
        try:
            back = self._result(future)
            self._evaluated += 1
            self._seconds += 0.1 * (max(back.seconds, 1e-4) - self._seconds)
            error = error_of(back)
            if isinstance(error, SystemExit):
                raise RemoteError(f"the function ended with sys.exit({error})") from error
            if error is not None:
                raise error
            job.values[k] = self._checked(call.what, back.value)
            if self._sameness.notices(call.what, job.values[k]):
                self.say(f"{call.what.fidelity!r} {sameness.TOLD}")
        except EvaluationFailed as failure:
            return Report(job, "fail", (str(failure),))
        except Cancelled:
            return Report(job, "release")
        except BaseException as error:
            if self.engine.is_lost(error) and self._is_worth_another(call, error):
                job.left.appendleft(k)
                return Report(job)
            self._end(error)
            return Report(job, "release")
        return Report(job, "tell", (job.told,)) if len(job.values) == len(job.evaluations) else Report(job)

    def _result(self, future: Future[Back]) -> Back:
        try:
            return future.result()
        except BaseException as error:
            if self.stop.is_set() or (self._over and future.cancelled()):
                raise Cancelled from None
            gone = self.engine.gone(error)
            if gone is None:
                raise
            raise ExecutorError(self._with_trials(gone)) from None

    def _with_trials(self, told: str, what: str = "Given back") -> str:
        names = ", ".join(repr(job.trial.id) for job in self._jobs[:8])
        return f"{told}. {what}: {names}" if names else told

    def _checked(self, what: Trial | Part, given: Any) -> float:
        try:
            return self.study.check_value(given, what.fidelity_index)
        except InvalidInput as wrong:
            if getattr(self.evaluate, "is_program", False):
                raise EvaluationFailed(f"the program printed a number that cannot be: the {wrong}") from None
            cell = f"the value of {what.arm!r} at {what.fidelity!r} with seed {what.seed}"
            raise InvalidInput([fault._replace(field=cell) for fault in wrong.faults]) from None

    def _is_worth_another(self, call: Call, error: BaseException) -> bool:
        """Whether to evaluate what a worker died on once more. That it died is no failure of the trial, as running out
        of memory may depend on the value; but it must end somewhere."""
        what, trial = call.what, call.job.trial
        self._losses[trial.id, call.k] += self.engine.deaths(error)
        why = f"{error}".strip().partition("\n")[0].partition(". ")[0]
        named = f"trial {trial.id!r} ({what.arm!r} at {what.fidelity!r}, seed {what.seed})"
        if self._losses[trial.id, call.k] < MOST_LOSSES:
            self.say(f"a worker died on {named}: another one evaluates it again ({why})")
            return True
        why = f"{self._losses[trial.id, call.k]} workers died, one after the other, on {named} ({why})"
        told = "The trial was given back and is not counted as failed. See whether the workers have enough memory"
        self._end(WorkerLost(f"{why}. {told}; then call again to resume"))
        return False

    def _end(self, error: BaseException) -> None:
        self._error = self._error or error
        self.stop.set()

    # --- the study

    def _exchange(self, reports: list[Report]) -> None:
        """Tell what is back and ask for more after each, in one turn."""
        reports = one_for_each_job([report for report in reports if report.method and not report.job.closed])
        if not reports and not self._may_ask():
            return
        done: list[bool] = []
        asked: list[Trial] = []
        over = self._over

        def turn() -> None:  # it may have to be repeated
            done.clear()
            asked.clear()
            self._over = over
            with self._together():
                room = self._room() - len(reports)
                for report in reports:
                    done.append(self._call(report))
                    self._ask_at, room = 0.0, room + 1
                    self._ask(asked, room)
                self._ask(asked, room)

        if self._atomic:
            self._patiently(turn)
        else:
            turn()
        for report, first in zip(reports, done, strict=True):
            self._close(report, first)
        self._jobs += map(Job, asked)
        if self._over:
            self._give_up_what_was_not_begun()

    def _together(self) -> AbstractContextManager[None]:
        return self.study.together() if self._atomic else nullcontext()  # type: ignore[attr-defined]

    def _call(self, report: Report) -> bool:
        """Carry out a report; false if the trial has ended otherwise."""
        method, trial = getattr(self.study, str(report.method)), report.job.trial
        try:
            self._once(lambda: method(trial, *report.given))
        except TrialClosed:  # the lease ran out, and another worker has told a value since
            return False
        return True

    def _ask(self, asked: list[Trial], room: int) -> None:
        """Ask for trials until these are enough evaluations for the room."""
        try:
            while sum(len(trial.parts) or 1 for trial in asked) < room and self._may_ask():
                asked.append(self._once(lambda: self.study.ask(lease=self.lease)))
                self._hear(paused=False)
        except StudyOver:
            self._over = True
        except StudyPaused:
            self._hear(paused=True)
            self._ask_at = time.monotonic() + LOOK_PAUSED
        except NothingToAsk:
            self._ask_at = time.monotonic() + LOOK

    def _hear(self, *, paused: bool) -> None:
        """Report what others did to the study: a pause and its end, another name."""
        if self.study.name != self._name:
            self.say(f"study {self._name!r} is called {self.study.name!r} now; this goes on")
            self._name = self.study.name
        if paused and not self._paused:
            self.say(f"study {self._name!r} is paused: waiting until somebody resumes it")
        if self._paused and not paused:
            self.say(f"study {self._name!r} was resumed")
        self._paused = paused

    def _once(self, call: Callable[[], T]) -> T:
        """A call of the study; it is repeated here unless the whole turn is."""
        return call() if self._atomic else self._patiently(call)

    def _close(self, report: Report, done: bool) -> None:
        job, cell = report.job, (report.job.trial.arm_index, report.job.trial.fidelity_index)
        job.closed = True
        self._jobs.remove(job)
        if not done or report.method == "release":
            return
        if report.method == "tell":
            self._in_a_row[cell] = 0
            return
        self.failures.append((job.trial, *report.given))
        self._in_a_row[cell] += 1
        if self._in_a_row[cell] >= GIVE_UP:
            self.stop.set()

    def _give_up_what_was_not_begun(self) -> None:
        """The study is over: other values would come too late to count. Evaluations that run are waited for: they are
        paid for, and their values are kept."""
        for future in list(self._calls):
            if self.engine.knows_what_runs:
                self.engine.cancel(future)
        for job in [job for job in self._jobs if job.left]:
            job.closed = True
            self._patiently(lambda job=job: self.study.release(job.trial))  # type: ignore[misc]
            self._jobs.remove(job)

    # --- the workers

    def _begin(self, shipped: Any) -> None:
        """Have begun what was asked for, as far as there is room."""
        if self.stop.is_set() or self._interrupted:
            return
        if self.study.state != "running" and not self._over:  # by a result that another process has told
            self._over = True
            self._give_up_what_was_not_begun()
        begun = [job for job in self._jobs if job.left and not job.closed]
        for job in begun:
            while job.left and self._places() > 0:
                call = Call(job, job.left.popleft(), time.time())
                try:
                    future = self.engine.call(shipped, call.what)
                except ExecutorError as error:
                    raise ExecutorError(self._with_trials(str(error))) from None
                self._calls[future] = call
                future.add_done_callback(self._returned.put)

    def _drain(self) -> None:
        """Cancel what has not begun, and wait a moment for the rest."""
        for future in list(self._calls):
            self.engine.cancel(future)
        until = time.monotonic() + GRACE
        while self._calls and (left := until - time.monotonic()) > 0:
            self._exchange(self._read_all(self._collect(left)))

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
            try:
                with suppress(StorageError), self._together():  # a lease that ends costs a second evaluation, no more
                    for job in list(self._jobs):
                        self.study.renew(job.trial, lease=self.lease)
            except StudyGone as gone:  # long evaluations need not come to their end
                self._end(gone)

    def _release_all(self) -> None:
        for job in list(self._jobs):
            try:
                self.study.release(job.trial)
            except (StorageError, StudyGone):
                return


def _name_of(function: Any) -> str:
    return repr(getattr(function, "__qualname__", type(function).__qualname__))


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
