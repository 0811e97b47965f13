"""What a simulated evaluation returns, where seeds are independent and where arms share them."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.laws import sample
from mfbai.kernels.stats import SEEDS
from mfbai.model.correlation import Correlation


class Independent(NamedTuple):
    """Every value is drawn on its own."""

    means: np.ndarray  # (K, M) as kernels see them
    exact: np.ndarray  # (K, D) the values of the deterministic fidelities


class Correlated(NamedTuple):
    """Values with the same seed are mean + deviation * (root of a share * factor, summed over what they have part in).

    There is a factor for each seed, a further one for each seed and fidelity (or arm), and noise of each value's own;
    all have unit variance, and the shares sum to 1. Simulated rounds follow one another, so that the factors of one
    round are all there is to remember.
    """

    means: np.ndarray  # (K, M) as kernels see them
    exact: np.ndarray  # (K, D) the values of the deterministic fidelities
    seed: np.ndarray  # (SEEDS,) the numbers of those whose factors are held; -1 for none
    factor: np.ndarray  # (SEEDS,)
    further: np.ndarray  # (SEEDS, M) or (SEEDS, K), NaN until drawn
    per_fidelity: bool  # whether the further factors are
    heavy: bool  # whether factors are Student's t with three degrees of freedom; else normal
    common_root: float
    further_root: float
    own_root: float


Truth: TypeAlias = Independent | Correlated


def make_truth(
    means: NDArray[np.float64], correlation: Correlation | None, exact: NDArray[np.float64] | None = None
) -> Truth:
    """For these means, (K, M), and values of the deterministic fidelities, (K, D), if there are any; the correlation is
    that of values with the same seed."""
    values = np.zeros((len(means), 0)) if exact is None else exact
    if correlation is None:
        return Independent(means, values)
    common, most = sorted(correlation[:2])
    per_fidelity = correlation.arms > common
    return Correlated(
        means,
        values,
        np.full(SEEDS, -1),
        np.zeros(SEEDS),
        np.full((SEEDS, means.shape[1 if per_fidelity else 0]), nan),
        per_fidelity,
        correlation.factor == "heavy",
        sqrt(common),
        sqrt(most - common),
        sqrt(1.0 - most),
    )


@generic(0)
def draw(truth, model, stats, rng, arm, fidelity):
    """One evaluation of the given cell, with the seed in `stats`."""


@kernel
def draw_alone(truth, model, stats, rng, arm, fidelity):
    return sample(model.law, rng, arm, fidelity, truth.means[arm, fidelity])


@kernel
def draw_with_others(truth, model, stats, rng, arm, fidelity):
    number = stats.seed[0]
    if number < 0:  # shared with no other evaluation
        return draw_alone(truth, model, stats, rng, arm, fidelity)
    slot = number % SEEDS
    if truth.seed[slot] != number:
        truth.seed[slot] = number
        truth.factor[slot] = draw_factor(truth, rng)
        for n in range(truth.further.shape[1]):
            truth.further[slot, n] = nan
    noise = truth.common_root * truth.factor[slot] + truth.own_root * rng.standard_normal()
    if truth.further_root > 0.0:
        n = fidelity if truth.per_fidelity else arm
        if truth.further[slot, n] != truth.further[slot, n]:
            truth.further[slot, n] = draw_factor(truth, rng)
        noise += truth.further_root * truth.further[slot, n]
    return truth.means[arm, fidelity] + model.law.deviation[arm, fidelity] * noise


@kernel
def draw_factor(truth, rng):
    """Of unit variance."""
    x = rng.standard_normal()
    if truth.heavy:
        x /= sqrt(rng.standard_normal() ** 2 + rng.standard_normal() ** 2 + rng.standard_normal() ** 2)
    return x


draw.register(Independent, draw_alone)
draw.register(Correlated, draw_with_others)
