"""mfbai serve."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mfbai.cli.options import DEFAULT_STORAGE, STORAGE
from mfbai.cli.output import LOADING
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study.storage import Storage
    from mfbai.web.desk import Hub

PORT = 8400
NEEDED = "pip install 'mfbai[web]'"


def serve(
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    host: Annotated[str, typer.Option(help="Where to listen; beyond this machine a token is needed.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="0: any that is free.")] = PORT,
    token_file: Annotated[Path | None, typer.Option(help="Holds the token; or set MFBAI_TOKEN.")] = None,
    demo: Annotated[bool, typer.Option("--demo", help="Simulated studies, kept nowhere.")] = False,
) -> None:
    """Studies over HTTP, and a page to watch them.

    The page is at the address that is printed; the API is described at /openapi.json there. Ctrl-C ends it; nothing
    that was acknowledged is lost.

    Example: mfbai serve --demo
    """
    from mfbai.errors import Fault, InvalidInput
    from mfbai.web import access

    if demo and storage != DEFAULT_STORAGE:
        raise InvalidInput([Fault("--storage", "cannot go with --demo, whose studies are kept nowhere")])
    token = access.find_token(token_file)
    with access.listen(host, port, token) as listening:
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

            def ready(hub: Hub) -> None:
                start_demo(opened, demo)
                typer.echo(f"{label} at {access.address_of(listening)} (Ctrl-C ends it)")
                sys.stdout.flush()

            server.serve(opened, listening, token, ready)
    typer.echo("stopped")
    sys.stdout.flush()
    os._exit(0)  # threads may be compiling, or waiting for a database: nothing that counts


@contextmanager
def place(storage: str, demo: bool) -> Iterator[tuple[Storage, str]]:
    """Where the studies are; those of a demo are gone with it."""
    from mfbai.study.storage import Storage

    if not demo:
        opened = Storage(storage, create=True)
        yield opened, f"Serving {opened.url}"
        return
    from tempfile import TemporaryDirectory

    with TemporaryDirectory(prefix="mfbai-demo-", ignore_cleanup_errors=True) as folder:
        yield Storage(f"sqlite:///{folder}/demo.db", create=True), "Three simulated studies"


def interpret() -> None:
    """Let Python interpret what would be compiled, for a minute, the first time: the studies of the demo are small.

    It holds for the rest of the process: nothing may be refused any more.
    """
    import warnings

    os.environ["NUMBA_DISABLE_JIT"] = "1"
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="mfbai.kernels")  # compiled code gives none


def start_demo(storage: Storage, wanted: bool) -> None:
    if wanted:
        from mfbai.web import demo

        demo.start(storage)


def add_to(app: typer.Typer) -> None:
    app.command()(serve)
