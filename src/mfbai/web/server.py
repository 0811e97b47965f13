"""The process behind `mfbai serve`: how it starts and stops."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from mfbai.model.families import Gaussian
from mfbai.model.problem import Problem
from mfbai.study import create_study
from mfbai.study.storage import IN_MEMORY, Storage
from mfbai.study.view import Viewer
from mfbai.web.app import make_app
from mfbai.web.guard import HEADERS
from mfbai.web.hub import Hub
from mfbai.web.protocol import Protocol

KEEP_ALIVE = 75  # seconds that an idle connection is kept
GRACE = 2  # seconds that calls under way may take when the server stops
BACKLOG = 2048  # connections that may wait to be accepted


def warm_up() -> None:
    """Compile what most studies need, or load it from disk, before the first call."""
    problem = Problem(2, [1.0, 2.0], [0.1, 0.0], Gaussian(1.0))
    study = create_study(problem, 0.1, storage=IN_MEMORY)
    study.warm_up()
    for arm in (0, 1):
        study.add(arm, 0, [float(arm)])
    Viewer(study).view()


class Server(uvicorn.Server):
    """When it is told to stop, it ends its streams first: uvicorn would wait for them."""

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
        """Unlike uvicorn's own, it does not raise the signal again afterwards, as the caller still has work to do."""
        if self.should_exit:
            self.force_exit = True
        self.should_exit = True
        logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)  # each call cut short would log a traceback
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._hub.close)


def serve(storage: Storage, listening: socket.socket, token: str | None, ready: Callable[[], None]) -> None:
    """Serve until the process is told to stop."""
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
    Server(config, hub, ready).run(sockets=[listening])
    hub.end()
    storage.close()  # SQLite then leaves all in one file
