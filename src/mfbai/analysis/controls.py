"""Which fidelity to control the top by, with how many other seeds and which coefficient, as far as a pilot tells.

With correlation rho at one seed, r other seeds and the best coefficient, a controlled value has 1 - rho^2 r / (r + 1)
of the top's variance, at 1 + (1 + r) c of its cost, c being the cost of the other fidelity over that of the top. But a
decision takes a few values of each arm however little they vary. If noise makes it W values of the top, and `few` are
needed in any case, a decision by controlled values costs

    (1 + (1 + r) c) (few / W + 1 - rho^2 r / (r + 1)) / (few / W + 1)

times that by the top alone, and the best r + 1 is about sqrt(rho^2 / (c (1 - rho^2 + few / W))).

Where arms share seeds, what counts is how differences of arms vary: all this then is of values less their mean over the
arms at the same seed.

Where a proof goes by other variances than were seen, by stated ones or by limits, these are what counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

import numpy as np

from mfbai.analysis.paired_noise import Estimated, Interval, centred, estimate, share
from mfbai.analysis.pairs import Pairs
from mfbai.model.control import MOST_OTHERS
from mfbai.model.problem import Array, Problem

PAYS = 1.1  # times cheaper: less is not worth the trouble
USUAL_SEEDS = 8  # of a pilot
MOST_SEEDS = 1000  # of a pilot: nobody is told to make a larger one
NATS = 5.0  # of evidence that a decision takes, roughly: ln(1 / 0.05) and what it costs to find out what is best
UNKNOWN_NEED = 40.0  # values that the top alone needs for each arm, if a pilot of one arm cannot tell
FEW_KNOWN, FEW_LEARNT = 1.0, 6.0  # values that a decision takes at least: if variances are known, and if not

GAINS, LOSES, OPEN = "pays", "does not pay", "too few seeds to tell"


class Terms(NamedTuple):
    """What a decision is to be made by."""

    few: float  # values that it takes at least
    need: float  # values that the top alone takes for each arm
    shared: bool  # whether arms share seeds
    handicap: Callable[[int], float] | None = None  # if variances are limits from a pilot of so many seeds: what the
    # proof goes by over what was seen, for a controlled value over the same for the top. None if they are true ones.

    def worse(self, seeds: int) -> float:
        return 1.0 if self.handicap is None else self.handicap(seeds)


class ControlAdvice(NamedTuple):
    """What controlling the top by a fidelity would bring."""

    fidelity: str
    correlation: Interval  # with the top, at the same seed
    others: int  # seeds
    coefficient: float
    cost: float  # of one controlled value, over that of the top
    deviation: float  # of its values
    gain: Interval  # the cost of a decision by the top alone, over that by controlled values
    verdict: str  # "pays", "does not pay" or "too few seeds to tell"
    more_seeds: int | None  # that would tell; None if it is known, or takes too many

    @property
    def pays(self) -> bool:
        return self.verdict == GAINS


def make_advice(problem: Problem, pairs: Pairs, terms: Terms) -> tuple[ControlAdvice, ...]:
    """For each noisy fidelity below the top."""
    costs = problem.costs[pairs.arms].mean(axis=0)
    top = pairs.values[:, :, -1]
    return tuple(
        advise(problem.fidelities[m], pairs.values[:, :, n], top, float(costs[m] / costs[-1]), terms)
        for n, m in enumerate(pairs.fidelities[:-1])
        if not problem.deterministic[m]
    )


def more_seeds(advice: tuple[ControlAdvice, ...]) -> int | None:
    """How many more would tell whether one pays; None if that is known, or takes too many."""
    return None if best_of(advice) else max((one.more_seeds or 0 for one in advice), default=0) or None


def best_of(advice: tuple[ControlAdvice, ...]) -> ControlAdvice | None:
    """That which brings most, of those that pay."""
    return max((one for one in advice if one.pays), key=lambda one: one.gain.estimate, default=None)


def make_terms(problem: Problem, pairs: Pairs, shared: bool) -> Terms:
    """A stated variance is what a proof goes by, however much values vary."""
    few = FEW_LEARNT if problem.family.learns else FEW_KNOWN
    need = needed(pairs.values[:, :, -1], problem.sign, shared)
    need = need if shared else max(need * stated_over_seen(problem, pairs), 1.0)
    return Terms(few, need, shared)


def states_variances(problem: Problem) -> bool:
    """Whether the family does: then a controlled value needs one too, stated or from a pilot."""
    return not problem.family.learns and getattr(problem.family, "variance", None) is not None


def stated_over_seen(problem: Problem, pairs: Pairs) -> float:
    """The variance of the top, stated over seen; 1 where none is stated."""
    stated = getattr(problem.family, "proxy", getattr(problem.family, "variance", None))
    if problem.family.learns or stated is None:
        return 1.0
    table = np.broadcast_to(np.asarray(stated, dtype=np.float64), problem.shape)
    return float(table[pairs.arms, -1].mean() / pooled_deviation(pairs.values[:, :, -1]) ** 2)


def advise(name: str, by: Array, top: Array, ratio: float, terms: Terms) -> ControlAdvice:
    """For one fidelity, whose cost over that of the top is `ratio`; values are (arms, seeds)."""
    shared = terms.shared

    def correlation(pair: Array) -> float:
        return share(*(counted(pair[:, :, n], shared) for n in range(2)))

    found = estimate(correlation, np.stack([by, top], axis=2))
    known = found.interval()
    rho = max(known.estimate, 0.0)
    floor = terms.few / (terms.need * terms.worse(found.seeds))
    others = best_others(max(0.5 * (rho + max(known.low, 0.0)), 1e-3), ratio, floor)
    deviations = [pooled_deviation(counted(part, shared)) for part in (by, top)]
    coefficient = rho * deviations[1] / deviations[0] * others / (others + 1) if deviations[0] > 0 else 0.0
    spread = pooled_deviation(top - coefficient * by) ** 2 + (coefficient * pooled_deviation(by)) ** 2 / others
    choice = Choice(found, rho, others, ratio, terms)
    verdict = choice.verdict(found.seeds)
    return ControlAdvice(
        fidelity=name,
        correlation=known,
        others=others,
        coefficient=coefficient,
        cost=1.0 + (1 + others) * ratio,
        deviation=sqrt(spread),
        gain=Interval(*(choice.gain(truth, found.seeds) for truth in choice.interval(found.seeds))),
        verdict=verdict,
        more_seeds=choice.more_seeds() if verdict == OPEN else None,
    )


class Choice(NamedTuple):
    """A number of other seeds and the coefficient that is best for a correlation, and what they bring."""

    found: Estimated
    rho: float
    others: int
    ratio: float
    terms: Terms

    def interval(self, seeds: int) -> Interval:
        """The correlation that counts, after so many seeds: with limits of variances that which was seen."""
        return self.found.interval(seeds) if self.terms.handicap is None else Interval(*3 * [self.rho])

    def gain(self, truth: float, seeds: int) -> float:
        """The cost of a decision by the top alone over that by controlled values, at a correlation of `truth`."""
        return self._gain(truth, self.rho, self.others, seeds)

    def most(self, truth: float, seeds: int) -> float:
        """The same for the best number of other seeds and the best coefficient."""
        rho = min(max(truth, 0.0), 1 - 1e-9)
        floor = self.terms.few / (self.terms.need * self.terms.worse(seeds))
        return self._gain(rho, rho, best_others(rho, self.ratio, floor), seeds) if rho > 0 else 0.0

    def _gain(self, truth: float, assumed: float, others: int, seeds: int) -> float:
        part = others / (others + 1)
        variance = 1.0 + part * assumed * (assumed - 2.0 * truth)  # over that of the top
        floor = self.terms.few / self.terms.need
        cost = (1.0 + (1 + others) * self.ratio) * (floor + self.terms.worse(seeds) * max(variance, 1e-12))
        return (floor + 1.0) / cost

    def verdict(self, seeds: int) -> str:
        """What so many seeds would say."""
        known = self.interval(seeds)
        if self.rho > 0 and self.gain(known.low, seeds) >= PAYS:
            return GAINS
        return LOSES if self.most(known.high, max(seeds, MOST_SEEDS)) < PAYS else OPEN

    def more_seeds(self) -> int | None:
        """The fewest that would tell; None if that takes too many."""
        seeds = self.found.seeds
        if not np.isfinite(self.found.error):
            return USUAL_SEEDS - seeds
        if seeds >= MOST_SEEDS or self.verdict(MOST_SEEDS) == OPEN:
            return None
        enough = bisect_left(range(MOST_SEEDS), 1, lo=seeds + 1, key=lambda n: self.verdict(n) != OPEN)
        return enough - seeds


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
