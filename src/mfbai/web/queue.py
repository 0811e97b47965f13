"""A study's calls, gathered into turns.

Calls that change a study gather while earlier ones are being written, and are then carried out together, in one turn
and with one sync of the disk. Each is answered when its turn is over, so an answer is a promise.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from mfbai.errors import MfbaiError, StorageError
from mfbai.study import Study

MOST_TOGETHER = 100  # calls in one turn: some 50 ms
GATHER = 0.01  # seconds between two turns of a busy study

T = TypeVar("T")
Call = tuple[Callable[[], Any], "asyncio.Future[Any]"]
Answers = list[tuple["asyncio.Future[Any]", Any, Exception | None]]


class Queue:
    """The calls that wait for one study. `on_change` is called after every turn."""

    def __init__(self, study: Study, threads: Executor, on_change: Callable[[], None]) -> None:
        self._study = study
        self._threads = threads
        self._on_change = on_change
        self._lock = Lock()
        self._waiting: list[Call] = []
        self._busy = False  # a thread is carrying out calls

    @property
    def busy(self) -> bool:
        return self._busy

    async def call(self, work: Callable[[], T]) -> T:
        """Carry out what changes the study, together with other callers' work. It is on disk when this returns."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append((work, done))
            begin, self._busy = not self._busy, True
        if begin:
            self._threads.submit(self._drain, asyncio.get_running_loop())
        return await done

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """One turn. If more calls have come, the next turn queues up behind other work of the threads."""
        with self._lock:
            calls, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        answers = self._perform(calls)
        with self._lock:
            self._busy = bool(self._waiting)
            again = self._busy
        with suppress(RuntimeError):  # the server is gone
            loop.call_soon_threadsafe(self._answer, answers)
            if again:  # there is much to do: after a short wait, more of it can share a turn, which is cheaper
                time.sleep(GATHER)
                self._threads.submit(self._drain, loop)

    def _perform(self, calls: list[Call]) -> Answers:
        answers: Answers = []
        try:
            with self._study.together():
                for work, done in calls:
                    try:
                        answers.append((done, work(), None))
                    except MfbaiError as refusal:
                        answers.append((done, None, refusal))
        except StorageError as error:
            return [(done, None, error) for _, done in calls]
        except Exception as error:
            if len(calls) > 1:  # one of them is at fault: carry out the others by themselves
                return [self._perform([call])[0] for call in calls]
            return [(calls[0][1], None, error)]
        return answers

    def _answer(self, answers: Answers) -> None:
        self._on_change()
        for done, value, error in answers:
            if done.done():  # the caller is gone
                continue
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)
