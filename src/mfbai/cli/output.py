"""What several commands share in printing."""

from __future__ import annotations

import json
import shlex
import sys
from typing import TYPE_CHECKING, Any

import typer

LOADING = "loading the strategy (compiled the first time) ..."

if TYPE_CHECKING:
    from rich.console import Console


def console() -> Console:
    """Standard output; wide enough for our tables where it is no terminal."""
    from rich.console import Console

    return Console(width=None if sys.stdout.isatty() else 140, highlight=False)


def quoted(text: str) -> str:
    """As a shell takes it for one word."""
    return shlex.quote(text)


def print_json(value: Any) -> None:
    typer.echo(json.dumps(value, indent=2))
