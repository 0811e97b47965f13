"""Runs many runs on several threads (kernels hold no lock), with a progress bar and a clean end on Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Event, local

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import cache_folder
from mfbai.simulation.setup import STAND_IN, Run, Setup, prepare

# Who is told the share of each experiment that is done, instead of a bar for each: see `told_to`.
_listener: ContextVar[Callable[[float], None] | None] = ContextVar("listener", default=None)


def for_each_run(
    setup: Setup, seed: int, work: Callable[[Run, int, Event], bool], runs: int, workers: int | None
) -> NDArray[np.bool_]:
    """Call work(run, number, cancelled) for every run, which returns whether it was finished; returns (runs,) those.

    Ctrl-C sets `cancelled`, waits for the runs under way to notice, and returns; if nothing is finished, it raises.
    """
    finished = np.zeros(runs, dtype=np.bool_)
    cancelled = Event()
    workers = min(workers or cores(), runs)
    mine = local()

    def batch(numbers: range) -> int:
        if not hasattr(mine, "run"):
            mine.run = Run(setup)
        for number in numbers:
            if cancelled.is_set():
                break
            mine.run.restart(seed, number)
            finished[number] = work(mine.run, number, cancelled)
        return len(numbers)

    label = f"{setup.strategy} on {setup.instance.name or 'instance'}"
    with progress(runs, label) as advance, ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(batch, numbers) for numbers in batches(runs, workers)]):
                advance(future.result())
        except KeyboardInterrupt:
            cancelled.set()
    if cancelled.is_set() and not finished.any():
        raise KeyboardInterrupt
    return finished


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def warm_up(setup: Setup) -> None:
    """Compile what the experiment needs, or load it from disk: half a minute the first time, then a second."""
    if not sys.stderr.isatty() or _listener.get():
        Run(setup).advance(0)
        return
    from rich.console import Console

    with Console(stderr=True).status(f"loading {setup.strategy} (compiled the first time) ..."):
        Run(setup).advance(0)


def batches(runs: int, workers: int) -> list[range]:
    """Runs in some 20 parts a worker: small enough to share evenly, large enough to cost nothing."""
    size = max(1, min(runs // (20 * workers), 100))
    return [range(first, min(first + size, runs)) for first in range(0, runs, size)]


@contextmanager
def progress(total: int, label: str) -> Iterator[Callable[[int], None]]:
    """A live bar with the time left on standard error, if that is a terminal; or what `told_to` says."""
    if listener := _listener.get():
        yield lambda count: listener(count / total)
        return
    if not sys.stderr.isatty():
        yield lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=total)
        yield lambda count: bar.update(task, advance=count)


@contextmanager
def told_to(listener: Callable[[float], None]) -> Iterator[None]:
    """In this block, no bars: `listener` is told what part of an experiment was done since it was last told."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def compiling(*strategies: str) -> Iterator[None]:
    """Another process compiles these strategies during the block, for our cache on disk, and is done when it ends."""
    if not strategies or cache_folder() is None:
        yield
        return
    code = f"from mfbai.simulation.engine import compile_all; compile_all(*{strategies!r})"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", code], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as child:
        try:
            yield
        except BaseException:
            child.kill()
            raise


def compile_all(*strategies: str) -> None:
    for strategy in strategies:
        Run(prepare(STAND_IN, strategy, "stylised", 0.1, {}, {})[0]).advance(0)
