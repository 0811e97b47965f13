"""The studies that are open in the server."""

from __future__ import annotations

import asyncio
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import TypeVar

from mfbai.errors import StudyGone, StudyRenamed, UnknownName
from mfbai.study import Study, load_study
from mfbai.study.ledger import MEANINGLESS, gone
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
K = TypeVar("K", bound="Keeper")


class Keeper:
    """One study for those who look after it: its name, note, tags and pauses. Its journal need not be readable."""

    def __init__(self, study: Study, key: str | None, hub: Hub, name: str) -> None:
        self.study = study
        self.key = key  # None if the first event cannot be read
        self.name = name  # by which callers know it
        self._hub = hub

    async def read(self, work: Callable[[], T]) -> T:
        """Carry out what changes nothing."""

        def checked() -> T:
            self._check(self.study.read_label().name)
            return work()

        return await self._kept(self._hub.in_thread(checked))

    async def care(self, work: Callable[[], T]) -> T:
        """Change what is kept beside the journal. It is on disk when this returns."""
        return await self.read(work)

    async def delete(self) -> None:
        await self.care(self.study.delete)
        self._hub.forget(self)

    def _check(self, name: str) -> None:
        """Callers of a study that was renamed are told so: another one may soon have its old name."""
        if name != self.name:
            raise renamed(self.name, name)

    async def _kept(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except StudyGone:
            self._hub.forget(self)
            raise
        finally:
            if self.study.name != self.name:
                self._hub.rename(self)


class Desk(Keeper):
    """One open study: its queue of calls, its streams, its view."""

    def __init__(self, viewer: Viewer, hub: Hub, name: str) -> None:
        super().__init__(viewer.study, viewer.study.settings.key, hub, name)
        self._viewer = viewer
        self._opening = secrets.token_hex(4)  # the study may be damaged, or another backup, when it is opened again
        # A stream goes on if the study is renamed: the view says so.
        self._streams = Streams(
            lambda: hub.in_thread(self.study.mark), lambda: hub.in_thread(self._view), lambda: hub.full
        )
        self._queue = Queue(self.study, hub.threads, self._streams.changed)
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

        def checked() -> T:
            self._check(self.study.name)
            return work()

        return await self._kept(self._queue.call(checked))

    async def care(self, work: Callable[[], T]) -> T:
        """Not in the queue: its turns read the journal."""
        try:
            return await super().care(work)
        finally:
            self._streams.changed()

    async def view(self) -> bytes:
        return await self.read(self._view)

    async def news(self, known: str) -> tuple[str, bytes | None]:
        """The mark of the present view, and the view itself unless that is the mark of the one that the caller has."""

        def work() -> tuple[str, bytes | None]:
            events, revision = self.study.mark()
            mark = f"{self._opening}-{events}-{revision}"
            return mark, None if mark == known else self._view()

        return await self.read(work)

    def _view(self) -> bytes:
        return as_json(self._viewer.view())

    async def arms(self, search: str, limit: int, offset: int) -> bytes:
        """Those whose names contain a text."""
        return await self.read(lambda: as_json(self._viewer.arms(search, limit, offset)))

    def watch(self) -> AsyncIterator[bytes]:
        """Server-sent events: the view now, and after changes."""
        return self._streams.watch()

    def close(self) -> None:
        self._streams.close()


def renamed(before: str, now: str) -> StudyRenamed:
    return StudyRenamed(f"study {before!r} is called {now!r} now: use that name", now)


def _key_of(study: Study) -> str | None:
    """The study's own key; None if the event that has it was damaged: then the name alone says which study is meant."""
    try:
        return str(study.journal()[0].body["key"])
    except MEANINGLESS:
        return None


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

    async def desk(self, name: str, key: str | None = None) -> Desk:
        """The desk of a study; `UnknownName` if there is none. A caller that also knows the study's key learns what has
        become of it: `StudyRenamed`, or `StudyGone`."""
        return await self._meant(self.opening(name), name, key)

    async def keeper(self, name: str, key: str | None = None) -> Keeper:
        """The same for those who look after a study, which need not be open, or readable."""
        return await self._meant(self._keeper(name), name, key)

    async def _keeper(self, name: str) -> Keeper:
        def work() -> Keeper:
            study = load_study(name, storage=self.storage)
            return Keeper(study, _key_of(study), self, name)

        desk = self.found(name)
        return await self.in_thread(work) if desk is None else desk

    async def _meant(self, finding: Awaitable[K], name: str, key: str | None) -> K:
        try:
            found = await finding
            if key is None or found.key in (None, key):
                return found
        except UnknownName as error:
            if key is None or error.what != "study":
                raise
        raise await self.in_thread(lambda: self._fate(name, str(key)))

    def _fate(self, name: str, key: str) -> StudyGone | StudyRenamed:
        study = self.storage.find_key(key)
        label = None if study is None else self.storage.label(study)
        return gone(name) if label is None else renamed(name, label.name)

    def forget(self, desk: Keeper) -> asyncio.Future[Desk] | None:
        """Open the study of that name again for the next caller, if there is one."""
        if self.found(desk.name) is not desk:
            return None
        return self._desks.pop(desk.name)

    def rename(self, desk: Keeper) -> None:
        opened = self.forget(desk)
        desk.name = desk.study.name
        if opened is not None:
            self._desks.setdefault(desk.name, opened)  # with its streams

    def found(self, name: str) -> Desk | None:
        """The desk of a study, if it is open."""
        found = self._desks.get(name)
        return found.result() if found is not None and _is_open(found) else None

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

        return Desk(await self.while_opening(work), self, name)

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
