"""The studies that are open in the server."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any, TypeVar

from mfbai.study import load_study
from mfbai.study.catalogue import summary_of
from mfbai.study.storage import Storage
from mfbai.study.view import Viewer
from mfbai.web.bodies import as_json
from mfbai.web.queue import Queue
from mfbai.web.streams import MOST_WATCHERS, Streams

MOST_DESKS = 256  # studies kept open
MOST_CELLS = 3_000_000  # arms x fidelities of these: half a kilobyte each
THREADS = 16
OPENERS = 4

T = TypeVar("T")


class Desk:
    """One open study: its queue of calls, its streams, its view."""

    def __init__(self, viewer: Viewer, hub: Hub) -> None:
        self.study = viewer.study
        self._viewer = viewer
        self._hub = hub
        self._streams = Streams(lambda: self.read(self.study.mark), self.view, lambda: hub.full)
        self._queue = Queue(self.study, hub.threads, self._streams.changed)
        self._summary: tuple[int, dict[str, Any]] | None = None
        if hub.closing:
            self.close()

    @property
    def watchers(self) -> int:
        return self._streams.watchers

    @property
    def idle(self) -> bool:
        return not self._queue.busy and not self.watchers

    async def call(self, work: Callable[[], T]) -> T:
        """Carry out what changes the study. It is on disk when this returns."""
        return await self._queue.call(work)

    async def read(self, work: Callable[[], T]) -> T:
        """Carry out what changes nothing."""
        return await self._hub.in_thread(work)

    def summary(self) -> dict[str, Any]:
        """A line about the study, for a list."""
        events = self.study.length()
        if self._summary is None or self._summary[0] != events:
            self._summary = events, {"name": self.study.name, **summary_of(self.study.status())}
        return self._summary[1]

    async def view(self) -> bytes:
        return await self.read(lambda: as_json(self._viewer.view()))

    async def arms(self, search: str, limit: int, offset: int) -> bytes:
        """Those whose names contain a text."""
        return await self.read(lambda: as_json(self._viewer.arms(search, limit, offset)))

    def watch(self) -> AsyncIterator[bytes]:
        """Server-sent events: the view now, and after changes."""
        return self._streams.watch()

    def close(self) -> None:
        self._streams.close()


def _is_open(opening: asyncio.Future[Desk]) -> bool:
    return opening.done() and not opening.cancelled() and opening.exception() is None


class Hub:
    """The studies of a storage, open or to be opened."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self.threads = ThreadPoolExecutor(THREADS, thread_name_prefix="mfbai")
        self._openers = ThreadPoolExecutor(OPENERS, thread_name_prefix="mfbai-open")
        self._desks: OrderedDict[str, asyncio.Future[Desk]] = OrderedDict()
        self.closing = False

    @property
    def full(self) -> bool:
        """Whether there are as many streams as the server serves."""
        return sum(desk.watchers for desk in self._open()) >= MOST_WATCHERS

    async def in_thread(self, work: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.threads, work)

    async def while_opening(self, work: Callable[[], T]) -> T:
        """Run what may have to compile, for a minute, in threads that no other call waits for."""
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
        def work() -> Viewer:
            study = load_study(name, storage=self.storage)
            study.warm_up()
            viewer = Viewer(study)
            with suppress(Exception):  # only to compile what it needs
                viewer.view()
            return viewer

        return Desk(await self.while_opening(work), self)

    def _forget(self, name: str, loaded: asyncio.Future[Desk]) -> None:
        """Keep no name that is not a study's, and not too many studies."""
        if loaded.cancelled() or loaded.exception() is not None:
            self._desks.pop(name, None)
        while self._crowded:
            idle = [other for other, desk in self._desks.items() if _is_open(desk) and desk.result().idle]
            if not idle or idle == [name]:
                return
            self._desks.pop(idle[0] if idle[0] != name else idle[1])

    @property
    def _crowded(self) -> bool:
        cells = sum(desk.study.problem.n_arms * desk.study.problem.n_fidelities for desk in self._open())
        return len(self._desks) > MOST_DESKS or cells > MOST_CELLS

    def _open(self) -> list[Desk]:
        return [desk.result() for desk in self._desks.values() if _is_open(desk)]

    def end(self) -> None:
        """Wait for no thread: its work is not needed any more."""
        for pool in (self.threads, self._openers):
            pool.shutdown(wait=False, cancel_futures=True)

    def close(self) -> None:
        """End all streams, so that the server can stop."""
        self.closing = True
        for desk in self._open():
            desk.close()
