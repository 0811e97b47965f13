"""Server-sent events of a study: its view now, and after every change."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from typing import Any

from mfbai.errors import MfbaiError, StudyGone
from mfbai.web.bodies import as_json

MOST_WATCHERS = 200
TOO_MANY = f"{MOST_WATCHERS} streams are open, the most that this server serves: try again later"
LOOK = 0.5  # seconds between two looks at what other processes have written
GAP = 0.3  # seconds between two messages, at least
REST = 2.0  # times as long as a view took, until the next one is made
HEARTBEAT = 15.0  # seconds of silence, at most


class Streams:
    """The streams of one study.

    mark      another one with every change of the study
    view      what the page shows, as JSON
    is_full   whether the server has too many streams, of all studies
    """

    def __init__(
        self,
        mark: Callable[[], Awaitable[Any]],
        view: Callable[[], Awaitable[bytes]],
        is_full: Callable[[], bool],
    ) -> None:
        self.watchers = 0
        self._mark = mark
        self._view = view
        self._is_full = is_full
        self._closing = False
        self._changed = asyncio.Event()  # by a call to this server
        self._news = asyncio.Event()  # there is a newer message, or the server is closing
        self._message: tuple[int, bytes] = 0, b""
        self._reporter: asyncio.Task[None] | None = None

    async def watch(self) -> AsyncIterator[bytes]:
        """One stream."""
        if self._is_full():  # many came at once, before the first of them was counted
            yield b"event: problem\ndata: %s\n\n" % as_json({"detail": TOO_MANY})
            return
        self.watchers += 1
        if self._reporter is None:
            self._message = 0, b""
            self._reporter = asyncio.create_task(self._report())
        seen = 0
        try:
            while True:
                number, message = self._message
                if number > seen:
                    seen = number
                    yield message
                    continue
                if self._closing:
                    return
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await self._news.wait()
                except TimeoutError:
                    yield b": still here\n\n"
        finally:
            self.watchers -= 1

    def changed(self) -> None:
        """A call has changed the study."""
        self._changed.set()

    def close(self) -> None:
        """End all streams."""
        self._closing = True
        self._news.set()
        self._changed.set()

    async def _report(self) -> None:
        """Make a message after every change, as long as somebody watches."""
        known: Any = None
        try:
            while self.watchers and not self._closing:
                self._changed.clear()
                began = time.monotonic()
                known = await self._look(known)
                await asyncio.sleep(max(GAP, REST * (time.monotonic() - began)))
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK):
                        await self._changed.wait()
        finally:
            self._reporter = None

    async def _look(self, known: Any) -> Any:
        """Publish what is new since `known`: a mark, or the text of an error. Returns what is known now."""
        event, now, data = "view", known, b""
        try:
            if (now := await self._mark()) != known:
                data = await self._view()
        except StudyGone as gone:  # that was the last message
            event, now, data = "gone", str(gone), as_json({"detail": str(gone)})
            self._closing = True
        except Exception as error:  # the watchers see that there is one, and the next look may succeed
            now = str(error) if isinstance(error, MfbaiError) else "the server cannot show this study"
            event, data = "problem", as_json({"detail": now})
        if now != known:
            count = self._message[0] + 1
            self._publish(count, b"id: %d\nevent: %s\ndata: %s\n\n" % (count, event.encode(), data))
        return now

    def _publish(self, number: int, message: bytes) -> None:
        self._message = number, message
        self._news.set()
        self._news = asyncio.Event()
