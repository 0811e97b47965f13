"""Makes many runs on several threads (parts release the GIL), with a progress bar and a clean end on Ctrl-C."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import local

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.machine import cores
from mfbai.kernels.parts import load
from mfbai.kernels.random import first_words
from mfbai.run.loop import Job, make_job
from mfbai.simulation.experiment import Run, Setup, needed
from mfbai.terminal import progress


def make_runs(setup: Setup, seed: int, until: NDArray[np.int64], runs: int, workers: int | None) -> Job:
    """Make the runs 0, 1, ..., each up to the last of the points in time `until`; what is returned says how they went.

    Ctrl-C waits for the runs under way to notice, and returns; if nothing is finished, it raises.
    """
    job = make_job(setup.model, setup.levels, first_words(seed, np.arange(runs)), until)
    workers = min(workers or cores(), runs)
    mine = local()

    def batch(numbers: range) -> int:
        if not hasattr(mine, "run"):
            mine.run = Run(setup, job)
        mine.run.make(numbers)
        return len(numbers)

    label = f"{setup.strategy} on {setup.instance.name or 'instance'}"
    with progress(runs, label) as advance, ThreadPoolExecutor(workers) as pool:
        try:
            for future in as_completed([pool.submit(batch, numbers) for numbers in batches(runs, workers)]):
                advance(future.result())
        except KeyboardInterrupt:
            job.cancelled[0] = 1
    if job.cancelled[0] and not job.finished.any():
        raise KeyboardInterrupt
    return job


def warm_up(*setups: Setup) -> None:
    """See that all that these simulations need is compiled."""
    load([part for setup in setups for part in needed(setup)])


def batches(runs: int, workers: int) -> list[range]:
    """Runs in some 20 parts a worker: small enough to share evenly, large enough to cost nothing."""
    size = max(1, min(runs // (20 * workers), 100))
    return [range(first, min(first + size, runs)) for first in range(0, runs, size)]
