"""Arguments that several commands have, and what they need to suggest further commands."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import IO, TYPE_CHECKING

import typer

from mfbai.cli.options import DEFAULT_STORAGE
from mfbai.cli.output import quoted

if TYPE_CHECKING:
    from mfbai.study import Study

NAME = typer.Argument(help="The study's name.", show_default=False)


def load(name: str, storage: str) -> Study:
    from mfbai.study import load_study

    return load_study(name, storage=storage)


def or_input(path: Path) -> Path | IO[str]:
    """A file that a command reads: - is standard input."""
    return sys.stdin if str(path) == "-" else path


def elsewhere(storage: str, study: Study) -> str:
    """What to add to a suggested command if the storage is not the default; without a password."""
    return "" if storage == DEFAULT_STORAGE else f" --storage {quoted(study.storage)}"
