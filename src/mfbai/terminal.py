"""The one progress bar and the one spinner, on standard error, if that is a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.progress import Progress

# Who is told the share of each experiment that is done, instead of a bar for each: see `told_to`.
_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """A live bar with the time left on standard error, if that is a terminal; or what `told_to` says."""
    if listener := _listener.get():
        yield lambda count: listener(count / total)
        return
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    with live_bar(counted=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.update(task, advance=count)


def live_bar(counted: bool) -> Progress:
    """The bar itself: what is done, how much of it, as a count or in per cent, and the time left."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TaskProgressColumn,
        TextColumn,
        TimeRemainingColumn,
    )

    amount = MofNCompleteColumn() if counted else TaskProgressColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


@contextmanager
def told_to(listener: Callable[[float], None]) -> Iterator[None]:
    """In this block, no bars: `listener` is told what part of an experiment was done since it was last told."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show what is being waited for; nothing where `told_to` has a listener."""
    if not sys.stderr.isatty() or _listener.get():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(text):
        yield
