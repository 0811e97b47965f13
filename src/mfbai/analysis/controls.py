"""Which fidelity to control the top by, with how many other seeds and which coefficient, as far as a pilot tells.

With correlation rho at one seed, r other seeds and the best coefficient, a controlled value has 1 - rho^2 r / (r + 1)
of the top's variance, at 1 + (1 + r) c of its cost, c being the cost of the other fidelity over that of the top. So the
best r + 1 is about sqrt(rho^2 / (c (1 - rho^2))). But a decision takes a few values however little they vary: if the
top alone needs W values an arm, and `few` are needed in any case, what counts is cost x (few / W + variance).

Where arms share seeds, what counts is how differences of arms vary: all this then is of values less their mean over the
arms at the same seed.
"""

from __future__ import annotations

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.analysis.paired_noise import Estimated, Interval, centred, estimate, share
from mfbai.model.control import MOST_OTHERS
from mfbai.model.problem import Array

PAYS = 1.1  # times cheaper: less is not worth the trouble
USUAL_SEEDS = 8  # of a pilot
MOST_SEEDS = 1000  # of a pilot: nobody is told to make a larger one
NATS = 5.0  # of evidence that a decision takes, roughly: ln(1 / 0.05) and what it costs to find out what is best
UNKNOWN_NEED = 40.0  # values that the top alone needs for each arm, if a pilot of one arm cannot tell
FEW_KNOWN, FEW_LEARNT = 1.0, 8.0  # values that a decision takes at least: if variances are known, and if not

GAINS, LOSES, OPEN = "pays", "does not pay", "too few seeds to tell"


class ControlAdvice(NamedTuple):
    """What controlling the top by a fidelity would bring."""

    fidelity: str
    correlation: Interval  # with the top, at the same seed
    others: int  # seeds
    coefficient: float
    cost: float  # of one controlled value, over that of the top
    deviation: float  # of its values
    gain: Interval  # cost x variance of the top alone, over that of the controlled one
    verdict: str  # "pays", "does not pay" or "too few seeds to tell"
    more_seeds: int | None  # that would tell; None if it is known, or takes too many

    @property
    def pays(self) -> bool:
        return self.verdict == GAINS


def advise(name: str, by: Array, top: Array, ratio: float, few: float, need: float, shared: bool) -> ControlAdvice:
    """For one fidelity, whose cost over that of the top is `ratio`; values are (arms, seeds)."""

    def correlation(pair: Array) -> float:
        return share(*(counted(pair[:, :, n], shared) for n in range(2)))

    found = estimate(correlation, np.stack([by, top], axis=2))
    known = found.interval()
    rho = max(known.estimate, 0.0)
    others = best_others(max(0.5 * (rho + max(known.low, 0.0)), 1e-3), ratio, few / need)
    deviations = [pooled_deviation(counted(part, shared)) for part in (by, top)]
    coefficient = rho * deviations[1] / deviations[0] * others / (others + 1) if deviations[0] > 0 else 0.0
    spread = pooled_deviation(top - coefficient * by) ** 2 + (coefficient * pooled_deviation(by)) ** 2 / others

    def gain(truth: float) -> float:
        return 1.0 / ((1.0 + (1 + others) * ratio) * max(_variance(truth, rho, others), 1e-12))

    verdict = _verdict(found, found.seeds, rho, others, ratio)
    return ControlAdvice(
        fidelity=name,
        correlation=known,
        others=others,
        coefficient=coefficient,
        cost=1.0 + (1 + others) * ratio,
        deviation=sqrt(spread),
        gain=Interval(*map(gain, known)),
        verdict=verdict,
        more_seeds=_more_seeds(found, rho, others, ratio) if verdict == OPEN else None,
    )


def counted(values: Array, shared: bool) -> Array:
    """What counts of values, (arms, seeds): less their mean over the arms, where these share seeds."""
    return np.asarray(values - values.mean(axis=0)) if shared else values


def pooled_deviation(values: Array) -> float:
    """Of values, (arms, seeds), around the mean of each arm."""
    arms, seeds = values.shape
    return sqrt((centred(values) ** 2).sum() / (arms * (seeds - 1)))


def best_others(rho: float, ratio: float, few: float) -> int:
    """How many other seeds, at a correlation of rho: as cost and variance have it, and `few` values over those that the
    top alone needs."""
    best = rho / sqrt(ratio * (1.0 - rho**2 + few)) - 1.0
    return int(min(max(round(best), 1), MOST_OTHERS))


def needed(top: Array, sign: float, shared: bool) -> float:
    """Values that the top alone needs for each arm, roughly: the mean over all but the best of (arms, seeds).

    A gap is taken to be no smaller than the pilot can see.
    """
    arms, seeds = top.shape
    if arms < 2:
        return UNKNOWN_NEED
    best = int(np.argmax(sign * top.mean(axis=1)))
    ahead = np.delete(top[best] - top, best, axis=0)
    squares = ahead.mean(axis=1) ** 2 + ahead.var(axis=1, ddof=1) / seeds
    noise = pooled_deviation(counted(top, shared)) ** 2
    return float(max(np.mean(4.0 * NATS * noise / np.maximum(squares, 1e-300)), 1.0))


def _variance(truth: float, assumed: float, others: int) -> float:
    """Of a controlled value over that of the top, if the coefficient is the best for another correlation."""
    part = others / (others + 1)
    return 1.0 + part * assumed * (assumed - 2.0 * truth)


def _best_gain(rho: float, ratio: float) -> float:
    """The most that any number of seeds and any coefficient bring."""
    if rho <= 0:
        return 0.0
    others = best_others(min(rho, 1 - 1e-9), ratio, 0.0)
    return 1.0 / ((1.0 + (1 + others) * ratio) * _variance(rho, rho, others)) if rho < 1 else inf


def _verdict(found: Estimated, seeds: int, rho: float, others: int, ratio: float) -> str:
    """What so many seeds would say."""
    known = found.interval(seeds)
    low = 1.0 / ((1.0 + (1 + others) * ratio) * max(_variance(known.low, rho, others), 1e-12))
    if rho > 0 and low >= PAYS:
        return GAINS
    return LOSES if _best_gain(known.high, ratio) < PAYS else OPEN


def _more_seeds(found: Estimated, rho: float, others: int, ratio: float) -> int | None:
    if not np.isfinite(found.error):
        return USUAL_SEEDS - found.seeds
    enough = (n for n in range(found.seeds + 1, MOST_SEEDS) if _verdict(found, n, rho, others, ratio) != OPEN)
    return next((n - found.seeds for n in enough), None)
