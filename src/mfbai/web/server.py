"""The process behind `mfbai serve`: where it listens, who may call, how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

import mfbai
from mfbai.errors import Fault, InvalidInput
from mfbai.study import create_study
from mfbai.study.storage import IN_MEMORY, Storage
from mfbai.web.app import make_app
from mfbai.web.desk import Hub
from mfbai.web.guard import HEADERS
from mfbai.web.insight import Insight
from mfbai.web.protocol import Protocol

TOKEN = "MFBAI_TOKEN"
SHORTEST_TOKEN = 16  # characters: no shorter one is a secret
KEEP_ALIVE = 75  # seconds that an idle connection is kept
GRACE = 2  # seconds that calls under way may take when the server must end
BACKLOG = 2048  # connections that may wait to be accepted


def find_token(file: Path | None) -> str | None:
    """The token in a file, or in the environment; None if there is none."""
    where = f"token file {str(file)!r}" if file is not None else TOKEN
    if file is not None:
        try:
            token = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            cause = error.strerror if isinstance(error, OSError) else "it is not text"
            raise InvalidInput([Fault(where, f"cannot be read: {cause}; check the path")]) from None
    elif TOKEN in os.environ:
        token = os.environ[TOKEN].strip()
    else:
        return None
    if len(token) < SHORTEST_TOKEN or not token.isascii() or not token.isprintable() or " " in token:
        told = f"holds no token: give one line of {SHORTEST_TOKEN} or more letters, digits and signs, without spaces"
        raise InvalidInput([Fault(where, told)])
    return token


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach the address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def listen(host: str, port: int, token: str | None) -> socket.socket:
    """A socket to serve at; refused if others could reach it without a token."""
    if token is None and not is_loopback(host):
        told = f"is {host!r}, which others can reach: give them a token, by --token-file FILE or in {TOKEN}"
        raise InvalidInput([Fault("--host", told)])
    if not 0 <= port <= 65535:
        raise InvalidInput([Fault("--port", f"is {port}: give a number from 1 to 65535, or 0 for any that is free")])
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        made = socket.socket(family, kind, protocol)  # asyncio sends small answers at once only if it is TCP
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
        except OSError:
            made.close()
            raise
    except (OSError, UnicodeError) as error:
        cause = getattr(error, "strerror", None) or error
        told = f"cannot be used ({cause}): choose another with --port or --host, or end what uses it"
        raise InvalidInput([Fault(f"address {host}:{port}", told)]) from None
    return made


def address_of(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def warm_up() -> None:
    """Compile what most studies need, or load it from disk, before anybody waits for it."""
    problem = mfbai.Problem(2, [1.0, 2.0], [0.1, 0.0], mfbai.Gaussian(1.0))
    study = create_study(problem, 0.1, storage=IN_MEMORY)
    study.warm_up()
    for arm in (0, 1):
        study.add(arm, 0, [float(arm)])
    Insight(study).view()


class Server(uvicorn.Server):
    """Ends its streams first when it is told to end: nobody would wait for them in vain."""

    def __init__(self, config: uvicorn.Config, hub: Hub, ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._hub = hub
        self._ready = ready
        self._loop: asyncio.AbstractEventLoop | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        await super().startup(sockets)
        if self.started:
            self._ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Unlike uvicorn's own, it does not raise the signal again afterwards: there is work to do then."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # each call cut short would leave a traceback
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hub.close)


def serve(storage: Storage, listening: socket.socket, token: str | None, ready: Callable[[Hub], None]) -> None:
    """Until the process is told to end."""
    app, hub = make_app(storage, token)
    config = uvicorn.Config(
        app,
        http=Protocol,
        headers=[(name.decode(), value.decode()) for name, value in HEADERS],
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        lifespan="off",
        backlog=BACKLOG,
        timeout_keep_alive=KEEP_ALIVE,
        timeout_graceful_shutdown=GRACE,
    )
    Server(config, hub, lambda: ready(hub)).run(sockets=[listening])
    hub.end()
