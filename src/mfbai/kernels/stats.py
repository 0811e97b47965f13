"""The sufficient statistics of everything told so far."""

from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import learn

SEEDS = 8  # that a round can have
ROOM = 1 << 20  # more evaluations than a round ever has
OWN_SEED = np.array([-1, 0])  # stands for a seed that no other evaluation has


class Stats(NamedTuple):
    count: np.ndarray  # type: ignore[assignment]  # (K, M) evaluations told; floats, to serve as weights
    mean: np.ndarray  # (K, M) their means, 0 where there are none
    squares: np.ndarray  # (K, M) sums of squared deviations from these means
    spent: np.ndarray  # (1,) total cost
    steps: np.ndarray  # (1,) evaluations told in all
    seed: np.ndarray  # (2,) of the last of them, where arms meet in rounds: see `strategies.interface.seed`


def make_stats(shape) -> Stats:
    count, mean, squares = np.zeros((3, *shape))
    return Stats(count, mean, squares, np.zeros(1), np.zeros(1, dtype=np.int64), OWN_SEED.copy())


@kernel
def record(model, stats, arm, fidelity, x):
    """Add one evaluation; the law learns from it, if it is one that does."""
    off = x - stats.mean[arm, fidelity]
    stats.count[arm, fidelity] += 1.0
    stats.mean[arm, fidelity] += off / stats.count[arm, fidelity]
    stats.squares[arm, fidelity] += off * (x - stats.mean[arm, fidelity])
    stats.spent[0] += model.cost[arm, fidelity]
    stats.steps[0] += 1
    learn(model.law, model, stats, arm, fidelity, x)


@kernel
def record_all(model, stats, arms, fidelities, values):
    """The same of many, in their order."""
    for n in range(arms.size):
        record(model, stats, arms[n], fidelities[n], values[n])


@kernel
def has_data(stats, arm):
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] > 0.0:
            return True
    return False
