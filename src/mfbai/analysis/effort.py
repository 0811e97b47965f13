"""How many values of each arm a decision takes, as far as a pilot tells.

If the noise has a variance v and arms are apart by g, a decision takes about 4 NATS v / g^2 values of each arm, and a
few more however precise they are: one if variances are known; some six if they are not, as a value then brings less
than one nat. Where values are bounded, a bet of l on a difference brings l g - l^2 v nats on average, and l is at most
one over the range: so it takes NATS / (l g - l^2 v) values, with the best l.
"""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from mfbai.analysis.paired_noise import pooled_deviation
from mfbai.analysis.pairs import Pairs
from mfbai.model.families import Bounded
from mfbai.model.problem import Array, Problem

NATS = 5.0  # of evidence that a decision takes, roughly: ln(1 / 0.05) and what it costs to find out what is best
UNKNOWN_NEED = 40.0  # values that noise asks for, if a pilot of one arm cannot tell
LEAST_KEPT = 0.5  # of differences between arms, however noisy: few arms do not tell how far apart they are
FEW_KNOWN, FEW_LEARNT = 1.0, 6.0  # values that a decision takes at least: if variances are known, and if not


class Effort(NamedTuple):
    """What a decision takes, on average over all gaps that are given."""

    gaps: Array
    noise: float  # the variance of the top that counts
    few: float  # values that it takes in any case
    width: float | None  # the range of the top, where bets are limited by it

    def values(self, variance: float = 1.0, width: float = 1.0) -> float:
        """Of each arm, if values have so much of the top's variance, and so many times its range."""
        spread = self.noise * variance
        if self.width is None:
            return self.few + float(np.mean(4.0 * NATS * spread / self.gaps**2))
        bet = np.minimum(self.gaps / max(2.0 * spread, 1e-300), 1.0 / (self.width * width))
        return float(np.mean(NATS / (bet * (self.gaps - bet * spread))))


class Efforts(NamedTuple):
    """For arms as far apart as can be, on average over what can be, and as close as can be."""

    least: Effort
    expected: Effort
    most: Effort

    def times(self, factor: float) -> Efforts:
        """If noise is taken to be so much larger."""
        return Efforts(*(effort._replace(noise=effort.noise * factor) for effort in self))


class Race(NamedTuple):
    """What decides how many values are needed: how far apart arms are, and how noisy."""

    gaps: Array  # (arms - 1,) of the best over the others
    errors: Array  # (arms - 1,) standard errors of these
    noise: float  # the variance that counts
    seeds: int
    few: float
    width: float | None  # the range of the top, where bets are sized by it

    def efforts(self, seeds: int) -> Efforts:
        """After a pilot of so many seeds, were the gaps as they seem."""
        errors = self.errors * sqrt(self.seeds / seeds)
        least = max(1e-6 * sqrt(self.noise), 1e-150)  # arms may be equal, value for value
        far, middle, close = (np.maximum(likely_gap(self.gaps, errors, level), least) for level in (0.8, 0.5, 0.2))
        each = far, np.concatenate([far, middle, middle, close]), close
        return Efforts(*(Effort(gaps, self.noise, self.few, self.width) for gaps in each))


def likely_gap(gaps: Array, errors: Array, level: float) -> Array:
    """Below which a true gap is with probability `level`, if it was estimated with that error and nothing else is known
    of it: the quantile of the size of a normal variable, by bisection."""
    from scipy.special import ndtr  # here, as it takes long to load

    low, high = np.zeros_like(gaps), gaps + 10.0 * errors
    for _ in range(60):
        middle = (low + high) / 2
        scale = np.maximum(errors, 1e-150)
        below = ndtr((middle - gaps) / scale) - ndtr((-middle - gaps) / scale) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return high


def race_of(problem: Problem, pairs: Pairs, shared: bool) -> Race:
    """Of a pilot's arms at the top; what they share at a seed is no noise if seeds are shared."""
    top = pairs.values[:, :, -1]
    noise = pooled_deviation(counted(top, shared)) ** 2
    gaps = np.array([sqrt(4.0 * NATS * noise / UNKNOWN_NEED)])
    errors = np.zeros(1)
    if len(top) > 1:
        best = int(np.argmax(problem.sign * top.mean(axis=1)))
        ahead = np.delete(top[best] - top, best, axis=0)
        gaps, errors = np.abs(ahead.mean(axis=1)), ahead.std(axis=1, ddof=1) / sqrt(top.shape[1])
        kept = _kept(top.mean(axis=1), noise / top.shape[1])
        gaps, errors = kept * gaps, sqrt(kept) * errors
    few = FEW_LEARNT if problem.family.learns else FEW_KNOWN
    width = width_of(problem, -1) if isinstance(problem.family, Bounded) else None
    return Race(gaps, errors, noise, top.shape[1], few, width)


def _kept(means: Array, error: float) -> float:
    """The part of differences between means that is no luck, if the true ones are drawn from a normal law: the best arm
    of a pilot is mostly not as good as it seems. `error` is the variance of a mean."""
    return float(np.clip(1.0 - error / max(means.var(ddof=1), 1e-300), LEAST_KEPT, 1.0))


def width_of(problem: Problem, fidelity: int) -> float:
    """Of the range of bounded values."""
    low, high = problem.family.ranges(problem.n_fidelities)
    return float(high[fidelity] - low[fidelity])


def counted(values: Array, shared: bool) -> Array:
    """What counts of values, (arms, seeds): less their mean over the arms, where these share seeds."""
    return np.asarray(values - values.mean(axis=0)) if shared else values
