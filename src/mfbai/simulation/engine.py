"""Makes many runs on several threads (kernels release the GIL), with a progress bar and a clean end on Ctrl-C."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from threading import Event, local

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import cache_folder
from mfbai.simulation.experiment import STAND_IN, Run, Setup, prepare
from mfbai.terminal import progress, waiting


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
    """Compile what the simulation needs, or load it from disk: half a minute the first time, then a second."""
    with waiting(f"loading {setup.strategy} (compiled the first time) ..."):
        Run(setup).advance(0)


def batches(runs: int, workers: int) -> list[range]:
    """Runs in some 20 parts a worker: small enough to share evenly, large enough to cost nothing."""
    size = max(1, min(runs // (20 * workers), 100))
    return [range(first, min(first + size, runs)) for first in range(0, runs, size)]


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
