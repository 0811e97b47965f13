"""What every request must pass before anything looks at it: origin, token, kind, size."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable, MutableMapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import urlsplit

from mfbai.web.errors import MEDIA_TYPE, error_body
from mfbai.web.uploads import Gone, Receive, Refused, Scope, Send, Uploads

LOCAL_NAMES = ("localhost", "127.0.0.1", "::1")
JSON = "application/json"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = [  # of every response: `server` adds them, also to those that the guard never sees
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]

App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guard:
    """Around the application."""

    def __init__(self, app: App, token: str | None) -> None:
        self._app = app
        self._token = None if token is None else token.encode()
        self._uploads = Uploads()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        async with AsyncExitStack() as held:
            try:
                self._check(scope)
                sends = scope["method"] not in ("GET", "HEAD")
                body = await self._uploads.read(scope, receive, held) if sends else b""
            except Refused as refused:
                await _refuse(refused, send)
                return
            except Gone:
                return
            # As it was sent: a name in it may hold an encoded slash.
            scope["path"] = scope["raw_path"].decode("ascii", "replace")
            read = _replay(body, receive)
            del body  # once it is read, it is not needed here
            await self._app(scope, read, send)

    def _check(self, scope: Scope) -> None:
        headers = dict(scope["headers"])
        path = scope["path"]
        if self._token is None:
            _check_host(headers)
        _check_origin(headers)
        if not path.startswith("/api/") and path != "/openapi.json":
            return  # the page itself is not secret
        if self._token is not None and not self._knows_token(headers):
            told = (
                "the token is wrong: send the server's" if b"authorization" in headers else "a token is needed: send it"
            )
            where = "in the header 'Authorization: Bearer TOKEN'"
            raise Refused(401, "Unauthorized", f"{told} {where}", ((b"www-authenticate", b"Bearer"),))
        kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if scope["method"] == "POST" and kind != JSON.encode():
            raise Refused(415, "UnsupportedMediaType", f"send JSON, with the header 'Content-Type: {JSON}'")

    def _knows_token(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        assert self._token is not None
        return hmac.compare_digest(given.strip(), self._token) and scheme.lower() == b"bearer"


def _check_host(headers: dict[bytes, bytes]) -> None:
    """Without a token, only programs on this machine may call. Another site could point its own name at this address
    and have the user's browser call it, so the name must be a local one."""
    host = headers.get(b"host", b"").decode("latin-1")
    try:
        name = urlsplit(f"//{host}").hostname
    except ValueError:
        name = None
    if name not in LOCAL_NAMES:
        raise Refused(
            421, "MisdirectedRequest", f"this server answers to {', '.join(LOCAL_NAMES)} only, unless it has a token"
        )


def _check_origin(headers: dict[bytes, bytes]) -> None:
    """A page of another site must not act for the user."""
    origin, host = headers.get(b"origin"), headers.get(b"host", b"")
    if origin is not None and origin.partition(b"://")[2] != host:
        raise Refused(403, "Forbidden", "pages of other sites may not use this server")


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body that was read, for the application. It is not kept here once the application has it."""
    unsent = [body]

    async def read() -> MutableMapping[str, Any]:
        if not unsent:
            return await receive()
        return {"type": "http.request", "body": unsent.pop(), "more_body": False}

    return read


async def _refuse(refused: Refused, send: Send) -> None:
    body = error_body(refused.status, refused.name, refused.detail)
    headers = [(b"content-type", MEDIA_TYPE.encode()), (b"content-length", b"%d" % len(body)), *refused.headers]
    await send({"type": "http.response.start", "status": refused.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
