"""How a strategy spreads its cost over the cells over time, without stopping."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.model.instance import Instance
from mfbai.simulation.confidence import half_width
from mfbai.simulation.engine import make_runs, warm_up
from mfbai.simulation.experiment import prepare


@dataclass(frozen=True, eq=False, repr=False)
class Trace:
    """How a strategy spread its cost: what `trace` returns.

    instance  what was run
    strategy  that was run
    steps     (points,) evaluations made
    shares    (runs, points, K, M) of the cost spent so far; each sums to 1

    >>> from mfbai import oracle, trace
    >>> found = trace("paper-5x2", "mf-grad", steps=1000, runs=10)
    >>> distances = found.distance(oracle("paper-5x2").weights).mean(axis=0)
    >>> bool(distances[-1] < distances[0])
    True
    """

    instance: Instance
    strategy: str
    steps: NDArray[np.int64]
    shares: NDArray[np.float64]

    def __repr__(self) -> str:
        name = self.instance.name or "instance"
        return f"<Trace: {len(self.shares)} runs of {self.strategy} on {name}, {self.steps[-1]} steps>"

    @property
    def mean(self) -> NDArray[np.float64]:
        """(points, K, M) the mean shares over the runs."""
        return np.asarray(self.shares.mean(axis=0))

    @property
    def ci95(self) -> NDArray[np.float64]:
        """(points, K, M) half the width of the 95 % confidence interval of the mean (Student's t); 0 for one run."""
        return np.asarray(np.nan_to_num(half_width(self.shares)))

    def distance(self, weights: ArrayLike) -> NDArray[np.float64]:
        """(runs, points) Euclidean distance of the shares to the given (K, M) weights."""
        return np.asarray(np.sqrt(((self.shares - np.asarray(weights)) ** 2).sum(axis=(2, 3))))


def trace(
    instance: Instance | str,
    strategy: str = "mf-grad",
    steps: int = 100_000,
    runs: int = 100,
    seed: int = 0,
    points: int = 100,
    workers: int | None = None,
    options: Mapping[str, float] | None = None,
    delta: float = 0.01,
    executor: Any = None,
) -> Trace:
    """Run a strategy without stopping and record how its cost spreads over the cells: returns a `Trace`.

    instance  an `Instance`, or the name or file of one
    strategy  by default the paper's
    steps     how many evaluations each run makes
    runs      how many
    seed      that everything depends on
    points    about how many times are recorded, log-spaced
    workers   how many runs at a time
    options   settings of the strategy
    delta     matters only to strategies whose sampling depends on it, such as "iise"
    executor  where to run, as for `simulate`

    >>> from mfbai import trace
    >>> found = trace("paper-5x2", "mf-grad", steps=1000, runs=10)
    >>> found.shares.shape[0], int(found.steps[-1])
    (10, 1000)
    """
    counts = {"steps": steps, "runs": runs, "seed": seed, "points": points, "workers": workers}
    [setup] = prepare(instance, strategy, None, float(delta), options or {}, counts, endless=True)
    warm_up(setup)
    first = min(setup.instance.means.size, int(steps))
    times = np.unique(np.geomspace(steps, first, points).round().astype(np.int64))
    made = make_runs(setup, int(seed), times, int(runs), workers, executor)
    problem, pulls = setup.instance.problem, np.zeros((int(runs), len(times), *setup.instance.shape))
    pulls[..., problem.noisy], pulls[..., problem.exact] = made.count, made.known
    spent = pulls[made.finished] * problem.costs
    totals = spent.sum(axis=(2, 3), keepdims=True)
    return Trace(setup.instance, strategy, times, spent / np.maximum(totals, np.finfo(float).tiny))
