"""Calls to a server: connections, attempts while it is away, and its errors as exceptions."""

from __future__ import annotations

import http.client
import json
import os
import ssl
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import inf
from numbers import Integral, Real
from typing import Any
from urllib.parse import SplitResult, urlsplit

from mfbai import errors
from mfbai._version import __version__
from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput, MfbaiError, StorageError, StudyOver, StudyRenamed
from mfbai.study.storage import NameTaken

SERVER = "http://127.0.0.1:8400"
PATIENCE = 60.0  # seconds that a server may be away
TIMEOUT = 180.0  # seconds that an answer may take: the server may have to compile
PAUSES = (0.05, 2.0)  # seconds before the second attempt, and before later ones at most
AWAY = (502, 503, 504)  # statuses of a server whose storage, or which itself, is away for a moment

_hurry: ContextVar[float] = ContextVar("hurry", default=inf)  # seconds


class Caller:
    """The other end of `mfbai serve`: see `Client`."""

    def __init__(self, url: str = SERVER, *, token: str | None = None, patience: float = PATIENCE) -> None:
        faults = Faults()
        self.url = str(url).rstrip("/")
        parts = _split(self.url)
        if parts is None:
            faults.add("url", f"is {url!r:.80}: give the address of a server, such as {SERVER}")
        seconds = real(patience)
        if seconds is None or not 0 <= seconds <= 1e9:
            faults.add("patience", f"is {patience!r:.60}: give a number of seconds, 0 or more")
        given = os.environ.get("MFBAI_TOKEN", "").strip() if token is None else token
        if not isinstance(given, str) or not given.isascii() or not all(map(str.isprintable, given)):
            faults.add("token", "cannot be sent: give the text that the server was given")
        faults.raise_if_any("call")
        assert parts is not None
        self._parts = parts
        self._token = given
        self._patience = float(patience)
        self._idle: list[http.client.HTTPConnection] = []  # connections that no thread uses now
        weakref.finalize(self, _close_all, self._idle)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.url}>"

    def close(self) -> None:
        """End the connections that are not in use; the next call makes another."""
        _close_all(self._idle)

    def call(self, method: str, path: str, body: Any = None, *, repeatable: bool = True) -> Any:
        """The server's answer, read from JSON; its errors are raised as the library's own exceptions."""
        answer = self.call_for_bytes(method, path, body, repeatable=repeatable)
        try:
            return json.loads(answer)
        except (ValueError, RecursionError):
            told = f"{self.url} did not answer in JSON: check that `mfbai serve` runs there"
            raise StorageError(told) from None

    def call_for_bytes(self, method: str, path: str, body: Any = None, *, repeatable: bool = True) -> bytes:
        """The server's answer as it was sent."""
        data = None if body is None else _encode(body)
        until = time.monotonic() + min(self._patience, _hurry.get())
        pause, longest = PAUSES
        while True:
            sent = False
            connection = None
            try:
                # An idle connection may be broken, which shows only after something was sent.
                connection = self._idle.pop() if self._idle and repeatable else self._connect()
                sent = True
                status, answer = self._exchange(connection, method, path, data)
                if status < 400:
                    return answer
                if status not in AWAY:
                    raise _error(self.url, status, answer)
                failure: MfbaiError = _error(self.url, status, answer)
                sent = False  # it was refused
            except (OSError, http.client.HTTPException) as error:
                if connection is None and isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
                    told = f"{self.url} cannot be reached by https ({error.reason or error})"
                    raise StorageError(f"{told}: `mfbai serve` itself speaks http; check the address") from None
                if connection is not None:
                    connection.close()
                failure = StorageError(f"{self.url} does not answer: {error}; check that `mfbai serve` runs there")
            if sent and not repeatable:
                raise StorageError(
                    f"{failure}; it is not known whether the call was carried out: look before you repeat it"
                )
            if time.monotonic() + pause > until:
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, longest)

    @contextmanager
    def understanding(self) -> Iterator[None]:
        """Read an answer: raise StorageError if it is not one of mfbai's."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise StorageError(f"{self.url} did not answer as mfbai does: check its address and version") from None

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(str(self._parts.hostname), self._parts.port, timeout=TIMEOUT)
        connection.connect()
        return connection

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None
    ) -> tuple[int, bytes]:
        headers = {"Accept": "application/json", "User-Agent": f"mfbai/{__version__}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, f"{self._parts.path}/api/v1/{path}", data, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, answer


@contextmanager
def hurried(seconds: float) -> Iterator[None]:
    """Wait no longer than this for a server that is away, whatever the patience, in calls of this block."""
    token = _hurry.set(seconds)
    try:
        yield
    finally:
        _hurry.reset(token)


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _encode(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=_number, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError) as error:
        raise InvalidInput([Fault("call", f"cannot be sent as JSON: {error}")]) from None


def _number(value: Any) -> int | float:
    """For JSON: a number of any type, as `Study` takes it."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{value!r:.60} is no number")


def _split(url: str) -> SplitResult | None:
    """The parts of a server's address; None if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = url.isascii() and url.isprintable() and " " not in url
    good = plain and parts.scheme in ("http", "https") and parts.hostname and port != 0
    return None if not good or parts.query or parts.fragment or parts.username else parts


def _error(url: str, status: int, answer: bytes) -> MfbaiError:
    """The exception that the answer describes."""
    try:
        body = json.loads(answer)
        name, told = body["type"].rpartition(":")[2], str(body["detail"])
        faults = [Fault(fault["field"], fault["message"]) for fault in body.get("faults") or []]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return StorageError(f"{url} answered {status}, and not as mfbai does: check that `mfbai serve` runs there")
    kind = NameTaken if name == "NameTaken" else getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, InvalidInput):
        return kind(faults or [Fault("call", f"was refused: {told}")])
    if kind is StudyOver:
        return StudyOver(told, body.get("state"))
    if kind is StudyRenamed:
        return StudyRenamed(told, body.get("renamed_to"))
    if isinstance(kind, type) and issubclass(kind, MfbaiError):
        return kind(told)
    if status < 500:
        return InvalidInput([Fault(url, f"refused the call: {told}")])
    return StorageError(f"{url} answered {status}: {told}")
