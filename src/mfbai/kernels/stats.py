"""The sufficient statistics of everything told so far."""

from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel

SEEDS = 8  # that a round can have, where arms share them
OWN_SEED = np.array([-1, 0])  # stands for a seed that no other evaluation has


class Stats(NamedTuple):
    count: np.ndarray  # type: ignore[assignment]  # (K, M) evaluations told; floats, to serve as weights
    mean: np.ndarray  # (K, M) their means, 0 where there are none
    spent: np.ndarray  # (1,) total cost
    steps: np.ndarray  # (1,) evaluations told in all
    seed: np.ndarray  # (2,) of the last of them, where arms share seeds: see `strategies.interface.seed`


def make_stats(shape) -> Stats:
    return Stats(np.zeros(shape), np.zeros(shape), np.zeros(1), np.zeros(1, dtype=np.int64), OWN_SEED.copy())


@kernel
def record(model, stats, arm, fidelity, x):
    """Add one evaluation."""
    stats.count[arm, fidelity] += 1.0
    stats.mean[arm, fidelity] += (x - stats.mean[arm, fidelity]) / stats.count[arm, fidelity]
    stats.spent[0] += model.cost[arm, fidelity]
    stats.steps[0] += 1
