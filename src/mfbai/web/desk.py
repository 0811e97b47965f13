"""A study in the server.

Calls that change a study gather while earlier ones are being written, and are then done together, in one turn and with
one sync of the disk. Each is answered when that turn is over, so an answer is a promise.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from threading import Lock
from typing import Any, TypeVar

from mfbai.errors import MfbaiError, StorageError
from mfbai.study import load_study
from mfbai.study.status import proven
from mfbai.study.storage import Storage
from mfbai.web.view import Insight

MOST_TOGETHER = 100  # calls in one turn: some 50 ms
MOST_DESKS = 256  # studies kept open
MOST_WATCHERS = 200
TOO_MANY = f"{MOST_WATCHERS} streams are open, which is all this server serves: try again later"
THREADS = 16
OPENERS = 4
LOOK = 0.5  # seconds between two looks at what other processes have written
GAP = 0.3  # seconds between two messages to those who watch, at least
REST = 2.0  # times as long as a view took, until the next one is made
GATHER = 0.01  # seconds between two turns of a busy study
HEARTBEAT = 15.0  # seconds of silence, at most

T = TypeVar("T")
Call = tuple[Callable[[], Any], "asyncio.Future[Any]"]


def as_json(value: Any) -> bytes:
    """For all that leaves the server: ASCII, so that no text can be too strange to send."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).encode("ascii")


class Desk:
    """One study, with the calls that wait for it and those who watch it."""

    def __init__(self, insight: Insight, hub: Hub) -> None:
        self.study = insight.study
        self.watchers = 0
        self._hub = hub
        self._insight = insight
        self._lock = Lock()
        self._waiting: list[Call] = []
        self._busy = False  # a thread is doing calls
        self._summary: tuple[int, dict[str, Any]] | None = None
        self._changed = asyncio.Event()  # by a call to this server
        self._news = asyncio.Event()  # there is a newer message, or it is time to go
        self._message: tuple[int, bytes] = 0, b""
        self._reporter: asyncio.Task[None] | None = None

    @property
    def idle(self) -> bool:
        return not self._busy and not self.watchers

    # --- calls

    async def call(self, work: Callable[[], T]) -> T:
        """Do what changes the study, together with what others want to be done. It is on disk when this returns."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        with self._lock:
            self._waiting.append((work, done))
            begin, self._busy = not self._busy, True
        if begin:
            self._hub.threads.submit(self._drain, asyncio.get_running_loop())
        return await done

    async def read(self, work: Callable[[], T]) -> T:
        """Do what changes nothing."""
        return await self._hub.in_thread(work)

    def _drain(self, loop: asyncio.AbstractEventLoop) -> None:
        """One turn; if more calls have come, the next one is due after what others want of the threads."""
        with self._lock:
            calls, self._waiting = self._waiting[:MOST_TOGETHER], self._waiting[MOST_TOGETHER:]
        answers = self._perform(calls)
        with self._lock:
            self._busy = bool(self._waiting)
            again = self._busy
        with suppress(RuntimeError):  # the server is gone
            loop.call_soon_threadsafe(self._answer, answers)
            if again:  # there is much to do: a moment's wait, and more of it is done at once, for less
                time.sleep(GATHER)
                self._hub.threads.submit(self._drain, loop)

    def _perform(self, calls: list[Call]) -> list[tuple[asyncio.Future[Any], Any, Exception | None]]:
        answers: list[tuple[asyncio.Future[Any], Any, Exception | None]] = []
        try:
            with self.study.together():
                for work, done in calls:
                    try:
                        answers.append((done, work(), None))
                    except MfbaiError as refusal:
                        answers.append((done, None, refusal))
        except StorageError as error:
            return [(done, None, error) for _, done in calls]
        except Exception as error:
            if len(calls) > 1:  # one of them is at fault: let the others not suffer
                return [self._perform([call])[0] for call in calls]
            return [(calls[0][1], None, error)]
        return answers

    def _answer(self, answers: list[tuple[asyncio.Future[Any], Any, Exception | None]]) -> None:
        self._changed.set()
        for done, value, error in answers:
            if done.done():  # who asked is gone
                continue
            if error is None:
                done.set_result(value)
            else:
                done.set_exception(error)

    # --- what is seen

    def summary(self) -> dict[str, Any]:
        """A line about the study, for a list."""
        events = self.study.length()
        if self._summary is None or self._summary[0] != events:
            status = self.study.status()
            told = {
                name: getattr(status, name) for name in ("name", "state", "leader", "risk", "delta", "cost", "told")
            }
            shape = {"arms": status.problem.n_arms, "fidelities": status.problem.n_fidelities}
            self._summary = events, {**told, "progress": proven(status), "alarms": len(status.alarms), **shape}
        return self._summary[1]

    async def view(self) -> bytes:
        return await self.read(lambda: as_json(self._insight.view()))

    async def watch(self) -> AsyncIterator[bytes]:
        """Server-sent events: the view now, and after changes."""
        if self._hub.watchers >= MOST_WATCHERS:  # many came at once, before the first of them was counted
            yield b"event: problem\ndata: %s\n\n" % as_json({"detail": TOO_MANY})
            return
        self.watchers += 1
        if self._reporter is None:
            self._message = 0, b""
            self._reporter = asyncio.create_task(self._report())
        seen = 0
        try:
            while not self._hub.closing:
                number, message = self._message
                if number > seen:
                    seen = number
                    yield message
                    continue
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._news.wait()
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.watchers -= 1

    def close(self) -> None:
        """Let those go who watch."""
        self._news.set()
        self._changed.set()

    async def _report(self) -> None:
        """Make a message after every change, as long as somebody watches."""
        known: Any = None
        try:
            while self.watchers and not self._hub.closing:
                self._changed.clear()
                began = time.monotonic()
                event, number, data = "view", known, b""
                try:
                    if (number := await self.read(self.study.length)) != known:
                        data = await self.view()
                except Exception as error:  # whatever it is, those who watch are told, and it is tried again
                    told = str(error) if isinstance(error, MfbaiError) else "the server cannot show this study"
                    event, number, data = "problem", told, as_json({"detail": told})
                if number != known:
                    known = number
                    count = self._message[0] + 1
                    self._publish(count, b"id: %d\nevent: %s\ndata: %s\n\n" % (count, event.encode(), data))
                await asyncio.sleep(max(GAP, REST * (time.monotonic() - began)))
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await self._changed.wait()
        finally:
            self._reporter = None

    def _publish(self, number: int, message: bytes) -> None:
        self._message = number, message
        self._news.set()
        self._news = asyncio.Event()


def _is_open(opening: asyncio.Future[Desk]) -> bool:
    return opening.done() and not opening.cancelled() and opening.exception() is None


class Hub:
    """The studies of a storage, open or to be opened."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mfbai")
        self._openers = ThreadPoolExecutor(OPENERS, thread_name_prefix="mfbai-open")
        self.closing = False
        self._desks: OrderedDict[str, asyncio.Future[Desk]] = OrderedDict()

    @property
    def watchers(self) -> int:
        return sum(desk.watchers for desk in self._open())

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    async def while_opening(self, work: Callable[[], T]) -> T:
        """What may have to compile, for a minute: others need not wait for these threads."""
        return await asyncio.get_running_loop().run_in_executor(self._openers, work)

    async def desk(self, name: str) -> Desk:
        """The desk of a study; `UnknownName` if there is none."""
        return await self.opening(name)

    def opening(self, name: str) -> asyncio.Future[Desk]:
        found = self._desks.get(name)
        if found is None or (found.done() and found.exception() is not None):
            found = asyncio.ensure_future(self._load(name))
            self._desks[name] = found
            found.add_done_callback(lambda done: self._forget(name, done))
        self._desks.move_to_end(name)
        return asyncio.shield(found)

    async def _load(self, name: str) -> Desk:
        def work() -> Insight:
            study = load_study(name, storage=self.storage)
            study.warm_up()
            insight = Insight(study)
            with suppress(Exception):  # it is made for what it compiles
                insight.view()
            return insight

        return Desk(await self.while_opening(work), self)

    def _forget(self, name: str, loaded: asyncio.Future[Desk]) -> None:
        """Keep no name that is not a study's, and not too many studies."""
        if loaded.cancelled() or loaded.exception() is not None:
            self._desks.pop(name, None)
        while len(self._desks) > MOST_DESKS:
            idle = [name for name, desk in self._desks.items() if _is_open(desk) and desk.result().idle]
            if not idle:
                return
            self._desks.pop(idle[0])

    def _open(self) -> list[Desk]:
        return [desk.result() for desk in self._desks.values() if _is_open(desk)]

    def end(self) -> None:
        """Wait for no thread: what it does is not needed any more."""
        for pool in (self.threads, self._openers):
            pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End all streams, so that the server can."""
        self.closing = True
        for desk in self._open():
            desk.close()
