"""What several commands share in printing."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

JSON_OPTION = typer.Option(False, "--json", help="Print JSON, for programs.")


def console() -> Console:
    """Standard output; wide enough for our tables where it is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 140, highlight=False)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Say what is being waited for, on standard error, if that is a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))
