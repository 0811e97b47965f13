"""Workers: evaluate what a study asks for until it has its verdict, in threads of this process."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from typing import TypeVar

from mfbai.errors import EvaluationFailed, NothingToAsk, StorageError, StudyOver, TrialClosed
from mfbai.study.status import Trial
from mfbai.study.study import Study

LEASE = 60.0  # seconds; renewed while we live, so that a crash is noticed soon
PATIENCE = 60.0  # seconds that a storage may be away
GIVE_UP = 3  # trials of a cell in a row that may fail
LOOK = 0.1  # seconds between two looks at whether all is done

T = TypeVar("T")


class Cancelled(Exception):  # noqa: N818
    """The evaluation was given up because all work ends: another worker may have the trial."""


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
