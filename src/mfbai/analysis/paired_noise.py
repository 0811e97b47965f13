"""What noise has in common at the same seed: correlations with intervals, and limits of variances.

Seeds are independent of each other; what happens at one seed, in all arms and fidelities, need not be. So intervals are
found by leaving out one seed at a time (the jackknife), on the scale on which correlations are nearly normal.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import atanh, inf, lgamma, log, sqrt, tanh
from typing import NamedTuple

import numpy as np

from mfbai.model.problem import Array

LEVEL = 0.2  # of an interval to go by: missing a control costs more than taking a useless one
CLOSE = 0.9999  # to a correlation of 1, no closer: what control saves hardly depends on more
GRID = 1500  # points at which a density is computed


class Interval(NamedTuple):
    """An estimate, and where the truth is with a confidence of 80 %."""

    estimate: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.estimate:.2g} ({self.low:.2g} to {self.high:.2g})"


def t_quantile(freedom: int, level: float) -> float:
    """Exceeded with probability `level`."""
    from scipy.special import stdtrit  # here, as it takes long to load

    return -float(stdtrit(freedom, level))


def centred(values: Array) -> Array:
    """(arms, seeds, ...) less the mean over the seeds."""
    return np.asarray(values - values.mean(axis=1, keepdims=True))


def pooled_deviation(values: Array) -> float:
    """Of values, (arms, seeds), around the mean of each arm."""
    arms, seeds = values.shape
    return sqrt((centred(values) ** 2).sum() / (arms * (seeds - 1)))


def share(one: Array, other: Array) -> float:
    """The correlation at one seed of two fidelities, each (arms, seeds), over all arms."""
    a, b = centred(one), centred(other)
    scale = np.sqrt((a * a).sum() * (b * b).sum())
    return float((a * b).sum() / scale) if scale > 0 else 0.0


def share_of_arms(covariance: Array) -> float:
    """The correlation of two arms at one seed, over all pairs of arms, from their covariances, (arms, arms)."""
    deviation = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    scale = np.outer(deviation, deviation)
    pairs = np.triu_indices(len(covariance), 1)
    return float(covariance[pairs].sum() / scale[pairs].sum()) if scale[pairs].sum() > 0 else 0.0


def covariance_of_arms(values: Array) -> Array:
    """(arms, arms) of values, (arms, seeds)."""
    off = centred(values)
    return np.asarray(off @ off.T / (values.shape[1] - 1))


class Estimated(NamedTuple):
    """A correlation, on the scale on which it is nearly normal."""

    z: float
    error: float  # standard error of z
    seeds: int

    def interval(self, seeds: int | None = None) -> Interval:
        """What is known of it; or would be known, were there so many seeds."""
        count = seeds or self.seeds
        room = inf if count < 3 else t_quantile(count - 1, LEVEL / 2) * self.error * np.sqrt(self.seeds / count)
        return Interval(tanh(self.z), tanh(self.z - room), tanh(self.z + room))


def estimate(correlation: Callable[[Array], float], values: Array) -> Estimated:
    """A `correlation` of values, (arms, seeds, ...), with its error."""

    def scaled(part: Array) -> float:
        return atanh(min(max(correlation(part), -CLOSE), CLOSE))

    S = values.shape[1]
    if S < 3:
        return Estimated(scaled(values), inf, S)
    without = np.array([scaled(np.delete(values, s, axis=1)) for s in range(S)])
    return Estimated(scaled(values), float(np.sqrt((S - 1) * without.var())), S)


def variance_factor(freedom: int, level: float) -> float:
    """A sample variance times this is below the true one with probability `level`, if values are normal."""
    from scipy.special import chdtri

    return freedom / float(chdtri(freedom, 1.0 - level))


@cache
def pair_factor(freedom: int, level: float) -> float:
    """The same for all sums a X + b Z of a normal pair at once, so that a and b may be chosen by the same sample.

    The worst sum is off by the smallest eigenvalue of a Wishart matrix of two dimensions, of density proportional to
    (xy)^((n-3)/2) exp(-(x+y)/2) (y-x) in its eigenvalues x < y, with n = freedom.
    """
    power = (freedom - 3) / 2
    ends = freedom + 12 * np.sqrt(2 * freedom) + 60  # no eigenvalue is larger, for what matters here
    least = _between(ends * 1e-9, freedom)  # of small ones the tail is needed, so they are spaced by their logarithm
    gaps = _between(ends * 1e-9, ends)
    x, y = least[:, None], least[:, None] + gaps
    constant = 0.5 * log(np.pi) - freedom * log(2) - lgamma(freedom / 2) - lgamma((freedom - 1) / 2)
    density = np.exp(constant + power * (np.log(x) + np.log(y)) - (x + y) / 2 + np.log(gaps))
    below = np.concatenate([[0.0], np.cumsum(_areas(_areas(density, gaps).sum(axis=1), least))])
    return float(freedom / np.interp(level, below, least))


def _between(low: float, high: float) -> Array:
    return np.geomspace(low, high, GRID)


def _areas(heights: Array, places: Array) -> Array:
    return np.asarray((heights[..., 1:] + heights[..., :-1]) / 2 * np.diff(places))
