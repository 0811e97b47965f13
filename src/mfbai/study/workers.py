"""Workers: evaluate what a study asks for until it has its verdict, in threads of this process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from mfbai.errors import EvaluationFailed, NothingToAsk, StorageError, StudyOver, TrialClosed
from mfbai.study.signals import Flag, caught
from mfbai.study.status import Trial
from mfbai.study.study import Study

RENEWED_LEASE = 60.0  # seconds; renewed while the worker lives, so that a crash is noticed soon
LONGEST_OUTAGE = 60.0  # seconds that a storage may be away
GIVE_UP = 3  # trials of a cell in a row that may fail
LOOK = 0.1  # seconds between two looks at whether all is done
GRACE = 1.0  # seconds that evaluations have to end, once nothing new is begun

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818
    """The evaluation was given up because all work ends: its trial goes to another worker."""


class Crew:
    """Threads that ask, evaluate and tell."""

    def __init__(
        self, study: Study, evaluate: Callable[[Trial], float], workers: int, lease: float = RENEWED_LEASE
    ) -> None:
        self.study = study
        self.evaluate = evaluate
        self.workers = workers
        self.lease = lease
        self.stop = threading.Event()  # set: finish, and begin nothing new
        self.busy: dict[int, tuple[Trial, float]] = {}  # what each thread evaluates, and since when
        self.failures: list[tuple[Trial, str]] = []  # trials that failed for good
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
            if self._interrupted:  # since we asked
                raise Cancelled
            value = self.study.check_value(self.evaluate(trial), trial.fidelity_index)
            self._patiently(lambda: self.study.tell(trial, value))
            self._in_a_row[trial.arm_index, trial.fidelity_index] = 0
        except TrialClosed:
            pass  # the lease ran out, and another worker has told a value since
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
            for trial, _ in list(self.busy.values()):
                try:
                    self.study.renew(trial, lease=self.lease)
                except StorageError:
                    break  # try again next time; a lease that ends meanwhile costs a second evaluation, no more

    def _release_all(self) -> None:
        for trial, _ in list(self.busy.values()):
            try:
                self.study.release(trial)
            except StorageError:
                return
