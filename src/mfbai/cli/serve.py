"""mfbai serve."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mfbai.cli.interpret import interpret
from mfbai.cli.options import DEFAULT_STORAGE, STORAGE
from mfbai.cli.output import LOADING
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from socket import socket

    from mfbai.study.storage import Storage

HOST = "127.0.0.1"
PORT = 8400
NEEDED = "pip install 'mfbai[web]', or in a checkout: pip install '.[web]'"


def serve(
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    host: Annotated[str, typer.Option(help="Address to listen at; others than this machine's need a token.")] = HOST,
    port: Annotated[int, typer.Option(help="Port to listen at; 0 picks a free one.")] = PORT,
    token_file: Annotated[Path | None, typer.Option(help="File with the token; or set MFBAI_TOKEN.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Serve simulated studies and keep nothing.")] = False,
) -> None:
    """Serve studies over HTTP, with a page to watch them.

    It prints the address of the page; /openapi.json there describes the API. Ctrl-C stops the server; nothing that it
    acknowledged is lost.

    Example: mfbai serve --demo
    """
    from mfbai.errors import Fault, InvalidInput
    from mfbai.web import access

    if demo and storage != DEFAULT_STORAGE:
        raise InvalidInput([Fault("--storage", "cannot go with --demo, whose studies are kept nowhere")])
    token = access.find_token(token_file)
    with access.listen(host, port, token) as listening:
        run(storage, listening, token, demo)
    typer.echo("stopped")
    sys.stdout.flush()
    os._exit(0)  # threads may be compiling, or waiting for a database: nothing that counts


def run(storage: str, listening: socket, token: str | None, demo: bool) -> None:
    """Serve until the process is told to stop."""
    from mfbai.errors import Fault, InvalidInput
    from mfbai.web import access

    if demo:
        interpret()
    try:
        from mfbai.web import server
    except ModuleNotFoundError as error:
        raise InvalidInput([Fault(str(error.name), f"is not installed: {NEEDED}")]) from None
    with place(storage, demo) as (opened, label):
        if not demo:
            with waiting(LOADING):
                server.warm_up()

        def ready() -> None:
            start_demo(opened, demo)
            typer.echo(f"{label} at {access.address_of(listening)} (Ctrl-C ends it)")
            sys.stdout.flush()

        server.serve(opened, listening, token, ready)


@contextmanager
def place(storage: str, demo: bool) -> Iterator[tuple[Storage, str]]:
    """The storage, and what to call it; a demo's storage ends with it."""
    from mfbai.study.storage import Storage

    if not demo:
        opened = Storage(storage, create=True)
        yield opened, f"Serving {opened.url}"
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="mfbai-demo-", ignore_cleanup_errors=True) as folder:
        yield Storage(f"sqlite:///{folder}/demo.db", create=True), "Three simulated studies"


def start_demo(storage: Storage, wanted: bool) -> None:
    if wanted:
        from mfbai.web import demo

        demo.start(storage)


def add_to(app: typer.Typer) -> None:
    app.command()(serve)
