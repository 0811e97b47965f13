"""Bodies of requests as they come in: small ones for most calls, large ones for a few, and few of these at a time."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any

LARGEST_BODY = 1 << 20  # bytes
LARGEST_SPEC = 1 << 26  # bytes of a new study: 100,000 arms with numbers of their own at 5 fidelities have half of that
LARGEST_BATCH = 1 << 24  # bytes of many results
LARGEST_READ = 1 << 23  # more that are read and dropped: many clients read no answer before they have sent everything
LARGE_AT_ONCE = 2  # bodies of more than LARGEST_BODY in memory; other callers wait, and nothing of theirs is read
WAIT = 20.0  # seconds that they do
LONGEST_UPLOAD = 120.0  # seconds that a large body may take to arrive
LARGE = {  # the calls that take large bodies, by their paths
    re.compile(r"/api/v1/studies"): LARGEST_SPEC,
    re.compile(r"/api/v1/studies/[^/]+/tell-many"): LARGEST_BATCH,
}
CLOSE = ((b"connection", b"close"),)  # the rest of the body is not read

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


class Refused(Exception):  # noqa: N818
    """A request that goes no further: the status and the message to answer with."""

    def __init__(self, status: int, name: str, detail: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> None:
        super().__init__(detail)
        self.status = status
        self.name = name
        self.detail = detail
        self.headers = headers


class Gone(Exception):  # noqa: N818
    """The caller closed the connection before the body was complete."""


def limit_of(scope: Scope) -> int:
    """The bytes that a call takes."""
    if scope["method"] != "POST":
        return LARGEST_BODY
    path = scope["raw_path"].decode("ascii", "replace")
    return next((most for pattern, most in LARGE.items() if pattern.fullmatch(path)), LARGEST_BODY)


class Uploads:
    """Reads bodies. `read` refuses what is too large, and holds a place while a large one is in memory."""

    def __init__(self) -> None:
        self._places = asyncio.Semaphore(LARGE_AT_ONCE)

    async def read(self, scope: Scope, receive: Receive, held: AsyncExitStack) -> bytes:
        """The body of a request. Its place, if it needs one, is given back when `held` is closed."""
        most = limit_of(scope)
        upload = _Upload(receive, most)
        declared = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
        if not declared.isdigit() or int(declared) > most + LARGEST_READ:
            raise upload.too_large()
        if int(declared) <= LARGEST_BODY:  # or it comes in chunks, and its size is not known
            await upload.read(LARGEST_BODY)
        if not upload.fits(LARGEST_BODY) and most > LARGEST_BODY:
            await self._take_place(upload, held)
            try:
                async with asyncio.timeout(LONGEST_UPLOAD):
                    await upload.read(most)
            except TimeoutError:
                told = f"the body took longer than {LONGEST_UPLOAD:g} seconds: send it again, by a faster connection"
                raise Refused(408, "TooSlow", told, CLOSE) from None
        if not upload.fits(most):
            await upload.drop(LARGEST_READ)
            raise upload.too_large()
        return upload.taken()

    async def _take_place(self, upload: _Upload, held: AsyncExitStack) -> None:
        try:
            async with asyncio.timeout(WAIT):
                await self._places.acquire()
        except TimeoutError:
            await upload.drop(upload.most + LARGEST_READ)  # a client that is still sending would not read the answer
            told = f"{LARGE_AT_ONCE} large bodies are being read, the most that this server reads at once: try again"
            raise Refused(503, "Busy", told, ((b"retry-after", b"5"),)) from None
        held.callback(self._places.release)


class _Upload:
    """One body, as far as it has come."""

    def __init__(self, receive: Receive, most: int) -> None:
        self.most = most
        self._receive = receive
        self._parts: list[bytes] = []
        self._size = 0
        self._ended = False

    def fits(self, most: int) -> bool:
        """Whether it is complete, and has no more than so many bytes."""
        return self._ended and self._size <= most

    async def read(self, most: int) -> None:
        """To its end, or until there are more than so many bytes."""
        while not self._ended and self._size <= most:
            self._parts.append(await self._next())

    async def drop(self, most: int) -> None:
        """Forget it, and read on to its end, or so many bytes."""
        self._parts.clear()
        most += self._size
        while not self._ended and self._size <= most:
            await self._next()

    async def _next(self) -> bytes:
        message = await self._receive()
        if message["type"] != "http.request":
            raise Gone
        part: bytes = message.get("body", b"")
        self._size += len(part)
        self._ended = not message.get("more_body", False)
        return part

    def taken(self) -> bytes:
        """All of it, which is not kept here."""
        whole = b"".join(self._parts)
        self._parts.clear()
        return whole

    def too_large(self) -> Refused:
        return Refused(413, "TooLarge", f"the body is too large: {self.most:,} bytes at most", CLOSE)
