"""Progress over all of the paper's figures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from mfbai.paper.reproduce import Watch
from mfbai.terminal import bar

if TYPE_CHECKING:
    from rich.progress import Progress


class Lines(Watch):
    """A line for each part that is done."""

    def done(self, name: str, seconds: float | None) -> None:
        typer.echo(line(name, seconds), err=True)


class Bar(Watch):
    """The same above a bar with the time left."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task = progress.add_task("", total=None)

    def begin(self, seconds: float) -> None:
        self.progress.update(self.task, total=seconds)

    def now(self, name: str) -> None:
        self.progress.update(self.task, description=name)

    def advance(self, seconds: float) -> None:
        self.progress.update(self.task, advance=seconds)

    def done(self, name: str, seconds: float | None) -> None:
        self.progress.console.print(line(name, seconds), markup=False, highlight=False)


def line(name: str, seconds: float | None) -> str:
    return f"{name}: there already" if seconds is None else f"{name}: {seconds:.1f} s"


@contextmanager
def watching(quiet: bool) -> Iterator[Watch]:
    """A bar over all figures, if standard error is a terminal; else lines."""
    if quiet:
        yield Watch()
        return
    with bar("{task.description}", "{task.percentage:.0f} %", time_left=True) as shown:
        yield Lines() if shown is None else Bar(shown)
