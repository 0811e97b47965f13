"""Confidence intervals, all of 95 %."""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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
    from scipy.stats import t

    middle, n = float(np.mean(sample)), len(sample)
    half = t.ppf(0.975, n - 1) * float(np.std(sample, ddof=1)) / sqrt(n) if n > 1 else inf
    return Interval(middle, middle - half, middle + half)


def ratio(sample: NDArray[np.float64], other: NDArray[np.float64]) -> Interval:
    """Of the ratio of two means of positive samples (normal approximation of its logarithm)."""
    top, bottom = mean(sample), mean(other)
    quotient = top.estimate / bottom.estimate
    half = sqrt((top.half / top.estimate) ** 2 + (bottom.half / bottom.estimate) ** 2)
    return Interval(quotient, quotient * np.exp(-half), quotient * np.exp(half))


def median_ratio(sample: NDArray[np.float64], other: NDArray[np.float64], resamples: int = 2000) -> Interval:
    """Of the ratio of two medians, by the bootstrap."""
    rng = np.random.default_rng(0)

    def medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
        found: NDArray[np.float64] = np.median(rng.choice(values, (resamples, len(values))), axis=1)
        return found

    low, high = np.quantile(medians(sample) / medians(other), (0.025, 0.975))
    return Interval(float(np.median(sample) / np.median(other)), float(low), float(high))


def share(count: int, total: int) -> Interval:
    """Wilson's, of a probability.

    >>> [round(end, 3) for end in share(0, 100)]
    [0.0, 0.0, 0.037]
    """
    n, p, z2 = total, count / total, Z**2
    middle, half = p + z2 / (2 * n), Z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))
    return Interval(p, max((middle - half) / (1 + z2 / n), 0.0), min((middle + half) / (1 + z2 / n), 1.0))
