"""Makes many runs, with a progress bar and a clean end on Ctrl-C: on several threads (parts release the GIL), or on an
executor."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import closing
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.engines import Engine, ambient, open_engine, spread
from mfbai.engines.choose import THREADS
from mfbai.kernels.machine import cores
from mfbai.kernels.parts import load
from mfbai.kernels.random import first_words
from mfbai.run.loop import Job, make_job
from mfbai.simulation.experiment import Run, Setup, needed
from mfbai.terminal import progress

NOTED = ("cost", "steps", "answer", "count", "known", "finished")  # what a job says of its runs
MOST_BYTES = 1 << 25  # of what a batch sends back
MOST_RUNS = 1000  # of a batch: those of a batch that is not finished are lost with Ctrl-C, or with a worker


def make_runs(
    setup: Setup, seed: int, until: NDArray[np.int64], runs: int, workers: int | None, executor: Any = None
) -> Job:
    """Make the runs 0, 1, ..., each up to the last of the points in time `until`; what is returned says how they went.

    Ctrl-C waits for the runs under way to notice, and returns; if nothing is finished, it raises.
    """
    job = make_job(setup.model, setup.levels, first_words(seed, np.arange(runs)), until)
    if executor is None and (given := ambient()) is not None:
        _make_elsewhere(setup, seed, job, *given)
    elif executor is None or executor == THREADS:
        _make_here(setup, job, workers)
    else:
        with open_engine(executor, workers) as opened:
            _make_elsewhere(setup, seed, job, *opened)
    if job.cancelled[0] and not job.finished.any():
        raise KeyboardInterrupt
    return job


def _make_here(setup: Setup, job: Job, workers: int | None) -> None:
    """On threads, which all write into the job."""
    runs = len(job.seeds)
    workers = min(workers or cores(), runs)
    mine = local()

    def batch(numbers: range) -> int:
        if not hasattr(mine, "run"):
            mine.run = Run(setup, job)
        mine.run.make(numbers)
        return len(numbers)

    with progress(runs, _label(setup)) as advance, ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(batch, numbers) for numbers in batches(runs, workers)]):
                advance(future.result())
        except KeyboardInterrupt:
            job.cancelled[0] = 1


def _make_elsewhere(setup: Setup, seed: int, job: Job, engine: Engine, workers: int | None) -> None:
    """On an engine: what comes back of each batch is copied into the job."""
    runs = len(job.seeds)
    heavy = max(1, job.count[0].nbytes + job.known[0].nbytes)
    size = max(1, min(runs // (20 * max(workers or engine.size or 0, 1)), MOST_BYTES // heavy, MOST_RUNS))
    batch = Batch(setup, seed, job.until, min(size, runs))
    with (
        progress(runs, _label(setup)) as advance,
        closing(spread(engine, workers, batch, in_parts(runs, size), "instance")) as done,
    ):
        try:
            for numbers, noted in done:
                for name, found in zip(NOTED, noted, strict=True):
                    getattr(job, name)[numbers.start : numbers.stop] = found
                advance(len(numbers))
        except KeyboardInterrupt:
            job.cancelled[0] = 1


class Batch:
    """Makes runs of a simulation in another process: called with their numbers, it returns what is noted of them."""

    def __init__(self, setup: Setup, seed: int, until: NDArray[np.int64], size: int) -> None:
        self._made_of = setup, seed, until, size
        self._mine = local()  # a worker may have several threads

    def __reduce__(self) -> tuple[Any, ...]:
        return Batch, self._made_of

    def __call__(self, numbers: range) -> list[NDArray[Any]]:
        setup, seed, until, size = self._made_of
        if not hasattr(self._mine, "run"):
            self._mine.job = make_job(setup.model, setup.levels, first_words(seed, np.arange(size)), until)
            self._mine.run = Run(setup, self._mine.job)
        job, count = self._mine.job, len(numbers)
        job.seeds[:count] = first_words(seed, np.arange(numbers.start, numbers.stop))
        self._mine.run.make(range(count))
        return [getattr(job, name)[:count].copy() for name in NOTED]


def warm_up(*setups: Setup) -> None:
    """See that all that these simulations need is compiled."""
    load([part for setup in setups for part in needed(setup)])


def batches(runs: int, workers: int) -> list[range]:
    """Runs in some 20 parts a worker: small enough to share evenly, large enough to cost nothing."""
    return in_parts(runs, max(1, min(runs // (20 * workers), 100)))


def in_parts(runs: int, size: int) -> list[range]:
    return [range(first, min(first + size, runs)) for first in range(0, runs, size)]


def _label(setup: Setup) -> str:
    return f"{setup.strategy} on {setup.instance.name or 'instance'}"
