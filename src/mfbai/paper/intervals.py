"""Confidence intervals, all of 95 %."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.simulation.confidence import half_width

Z = 1.96


class Interval(NamedTuple):
    estimate: float
    low: float
    high: float

    @property
    def half(self) -> float:
        return (self.high - self.low) / 2


def mean(sample: NDArray[np.float64]) -> Interval:
    """Of the mean, by Student's t; one value alone tells nothing of its error."""
    middle = float(np.mean(sample))
    half = float(half_width(sample)) if len(sample) > 1 else inf
    return Interval(middle, middle - half, middle + half)


def ratio(sample: NDArray[np.float64], other: NDArray[np.float64]) -> Interval:
    """Of the ratio of two means of positive samples (normal approximation of its logarithm)."""
    top, bottom = mean(sample), mean(other)
    quotient = top.estimate / bottom.estimate
    half = sqrt((top.half / top.estimate) ** 2 + (bottom.half / bottom.estimate) ** 2)
    return Interval(quotient, quotient * np.exp(-half), quotient * np.exp(half))


def median_ratio(sample: NDArray[np.float64], other: NDArray[np.float64], resamples: int = 2000) -> Interval:
    """Of the ratio of two medians, by the bootstrap; one value alone tells nothing of its error."""
    estimate = float(np.median(sample) / np.median(other))
    if min(len(sample), len(other)) == 1:
        return Interval(estimate, 0.0, inf)
    rng = np.random.default_rng(0)
    drawn = [
        np.median(rng.choice(sample, len(sample))) / np.median(rng.choice(other, len(other))) for _ in range(resamples)
    ]
    low, high = np.quantile(drawn, (0.025, 0.975))
    return Interval(estimate, float(low), float(high))


def ratio_of_ratios(
    a: NDArray[np.float64], b: NDArray[np.float64], c: NDArray[np.float64], d: NDArray[np.float64]
) -> Interval:
    """Of (mean a / mean b) / (mean c / mean d), for samples whose n-th values belong together (by linearisation)."""
    estimate = float(np.mean(a) / np.mean(b) / (np.mean(c) / np.mean(d)))
    half = mean(a / np.mean(a) - b / np.mean(b) - c / np.mean(c) + d / np.mean(d)).half
    return Interval(estimate, estimate * np.exp(-half), estimate * np.exp(half))


def chance_of_errors(errors: int, runs: int, risk: float) -> float:
    """The chance of so many errors or more, if each run errs with probability `risk`.

    >>> round(chance_of_errors(1, 2, 0.1), 6)
    0.19
    """
    from scipy.stats import binom

    return float(binom.sf(errors - 1, runs, risk))


def share(count: int, total: int) -> Interval:
    """Wilson's, of a probability.

    >>> [round(end, 3) for end in share(0, 100)]
    [0.0, 0.0, 0.037]
    """
    n, p, z2 = total, count / total, Z**2
    middle, half = p + z2 / (2 * n), Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Interval(p, max((middle - half) / (1 + z2 / n), 0.0), min((middle + half) / (1 + z2 / n), 1.0))
