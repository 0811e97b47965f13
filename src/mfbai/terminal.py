"""The one progress bar and the one spinner, on standard error, if that is a terminal; and a gauge, in notebooks too."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import TYPE_CHECKING

from mfbai import notebook

if TYPE_CHECKING:
    from rich.progress import Progress

_screen = Lock()  # held by what is shown: there is room for one thing at a time, and the first one stays
# Called with the share of each experiment that is done, instead of a bar for each: see `told_to`.
_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """A live bar with the time left on standard error, if that is a terminal; or calls of `told_to`'s listener."""
    if listener := _listener.get():
        yield lambda count: listener(count / total)
        return
    with counter(total, label) as advance:
        yield advance


@contextmanager
def counter(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """The same bar, for work that no listener hears of."""
    with bar("{task.description}", "{task.completed:.0f}/{task.total:.0f}", time_left=True) as shown:
        if shown is None:
            yield lambda count: None
            return
        task = shown.add_task(label, total=total)
        yield lambda count: shown.update(task, advance=count)


@contextmanager
def bar(before: str, *after: str, time_left: bool = False) -> Iterator[Progress | None]:
    """A live bar on standard error between texts, such as "{task.description}"; None if that is no terminal."""
    with screen() as free:
        if not free:
            yield None
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

        columns = [TextColumn(before, markup=False), BarColumn(), *(TextColumn(text, markup=False) for text in after)]
        if time_left:
            columns.append(TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as shown:
            yield shown


@contextmanager
def gauge(label: str) -> Iterator[Callable[[float, str], None] | None]:
    """A live bar that is full at 1, with words beside it: on a terminal, or in a notebook; None elsewhere."""
    if notebook.is_here():
        yield notebook.gauge(label)
        return
    with bar(label, "{task.description}") as shown:
        if shown is None:
            yield None
            return
        task = shown.add_task("", total=1.0)
        yield lambda part, told: shown.update(task, completed=part, description=told)


@contextmanager
def told_to(listener: Callable[[float], None]) -> Iterator[None]:
    """Show no bars in this block: call `listener` with the share of an experiment done since the last call."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def waiting(text: str) -> Iterator[None]:
    """Show a spinner with this text, unless `told_to` has a listener."""
    with screen() as free:
        if not free or _listener.get():
            yield
            return
        from rich.console import Console

        with Console(stderr=True).status(text):
            yield


@contextmanager
def screen() -> Iterator[bool]:
    """Whether there is room on the terminal, which is then taken for this block."""
    free = sys.stderr.isatty() and _screen.acquire(blocking=False)
    try:
        yield free
    finally:
        if free:
            _screen.release()


def seldom(show: Callable[[], None]) -> Callable[[], None]:
    """The same, but it does nothing while it would take more than a tenth of the time: some pictures take long."""
    again = 0.0

    def shown() -> None:
        nonlocal again
        begun = time.monotonic()
        if begun >= again:
            show()
            now = time.monotonic()
            again = now + 9 * (now - begun)

    return shown
