"""Which fidelity to control the top by, with how many other seeds and which coefficient, as far as a pilot tells.

With correlation rho at one seed, r other seeds and the best coefficient, a controlled value has 1 - rho^2 r / (r + 1)
of the top's variance, at 1 + (1 + r) c of its cost, c being the cost of the other fidelity over that of the top. How
many values a decision takes depends on their variance, but not on it alone: see `effort`. The best r is found by trial.
Where values are bounded, controlled ones have a wider range.

Where arms share seeds, what counts is how differences of arms vary: all this then is of values less their mean over the
arms at the same seed.

Where a proof goes by other variances than were seen, by stated ones or by limits, these are what counts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from functools import cache
from math import sqrt
from typing import NamedTuple

import numpy as np

from mfbai.analysis.effort import Effort, Efforts, counted, race_of, width_of
from mfbai.analysis.paired_noise import CLOSE, Estimated, Interval, estimate, pooled_deviation, share
from mfbai.analysis.pairs import Pairs
from mfbai.model.control import MOST_OTHERS
from mfbai.model.families import Bounded
from mfbai.model.problem import Array, Problem

PAYS = 1.1  # times cheaper: less is not worth the trouble
OTHERS = [int(r) for r in np.unique(np.geomspace(1, MOST_OTHERS, 100).round())]  # numbers of seeds to choose from
USUAL_SEEDS = 8  # of a pilot
MOST_SEEDS = 1000  # of a pilot: nobody is told to make a larger one
GAINS, LOSES, OPEN = "pays", "does not pay", "too few seeds to tell"


class Terms(NamedTuple):
    """What a decision is to be made by."""

    efforts: Callable[[int], Efforts]  # that it takes with the top alone, as known after a pilot of so many seeds
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
    return tuple(
        advise(problem, pairs, n, terms) for n, m in enumerate(pairs.fidelities[:-1]) if not problem.deterministic[m]
    )


def more_seeds(advice: tuple[ControlAdvice, ...]) -> int | None:
    """How many more would tell whether one pays; None if that is known, or takes too many."""
    return None if best_of(advice) else max((one.more_seeds or 0 for one in advice), default=0) or None


def best_of(advice: tuple[ControlAdvice, ...]) -> ControlAdvice | None:
    """That which brings most, of those that pay."""
    return max((one for one in advice if one.pays), key=lambda one: one.gain.estimate, default=None)


def make_terms(problem: Problem, pairs: Pairs, shared: bool) -> Terms:
    """A stated variance is what a proof goes by, however much values vary."""
    race, factor = race_of(problem, pairs, shared), 1.0 if shared else stated_over_seen(problem, pairs)
    return Terms(cache(lambda seeds: race.efforts(seeds).times(factor)), shared)


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


def advise(problem: Problem, pairs: Pairs, n: int, terms: Terms) -> ControlAdvice:
    """For the n-th fidelity of a pilot. One that runs against the top has a negative coefficient."""
    by, top = (counted(pairs.values[:, :, k], terms.shared) for k in (n, -1))
    against = -1.0 if share(by, top) < 0 else 1.0
    m = pairs.fidelities[n]
    costs = problem.costs[pairs.arms].mean(axis=0)
    deviations = [pooled_deviation(part) for part in (by, top)]
    scale = deviations[1] / deviations[0] if deviations[0] > 0 else 0.0
    swing = 2.0 * width_of(problem, m) / width_of(problem, -1) if isinstance(problem.family, Bounded) else 0.0

    def correlation(pair: Array) -> float:
        return share(against * counted(pair[:, :, 0], terms.shared), counted(pair[:, :, 1], terms.shared))

    found = estimate(correlation, pairs.values[:, :, [n, -1]])
    choice = choose(found, float(costs[m] / costs[-1]), swing * scale, terms)
    rho, others = choice.rho, choice.others
    coefficient = against * rho * scale * others / (others + 1)
    by, top = pairs.values[:, :, n], pairs.values[:, :, -1]
    spread = pooled_deviation(top - coefficient * by) ** 2 + (coefficient * pooled_deviation(by)) ** 2 / others
    verdict = choice.verdict(found.seeds)
    known = found.interval()
    return ControlAdvice(
        fidelity=problem.fidelities[m],
        correlation=known if against > 0 else Interval(-known.estimate, -known.high, -known.low),
        others=others,
        coefficient=coefficient,
        cost=1.0 + (1 + others) * choice.ratio,
        deviation=sqrt(spread),
        gain=choice.gains(found.seeds),
        verdict=verdict,
        more_seeds=choice.more_seeds() if verdict == OPEN else None,
    )


def choose(found: Estimated, ratio: float, swing: float, terms: Terms) -> Choice:
    """The best number of other seeds, by a careful estimate of the correlation."""
    known = found.interval()
    rho = max(known.estimate, 0.0)
    choice = Choice(found, rho, 1, ratio, swing, terms)
    careful = 0.5 * (rho + max(known.low, 0.0))
    return choice._replace(others=choice.best_others(careful, terms.efforts(found.seeds).expected, found.seeds))


class Choice(NamedTuple):
    """A number of other seeds and the coefficient that is best for a correlation, and what they bring."""

    found: Estimated
    rho: float
    others: int
    ratio: float  # the cost of the fidelity over that of the top
    swing: float  # what a coefficient of 1 adds to the range of bounded values, over that of the top
    terms: Terms

    def gains(self, seeds: int) -> Interval:
        """The cost of a decision by the top alone over that by controlled values, as known after so many seeds."""
        known, (least, expected, most) = self._correlation(seeds), self.terms.efforts(seeds)
        cases = (known.estimate, expected), (known.low, least), (known.high, most), (known.low, most)
        found = [self._gain(truth, self.rho, self.others, effort, seeds) for truth, effort in cases]
        return Interval(found[0], min(found), max(found))

    def verdict(self, seeds: int) -> str:
        """What so many seeds would say: whether it pays on average over how far apart arms may be, and at the lowest
        likely correlation loses no more than it must bring otherwise."""
        known, expected = self._correlation(seeds), self.terms.efforts(seeds).expected
        likely, least = (self._gain(rho, self.rho, self.others, expected, seeds) for rho in (known.estimate, known.low))
        if self.rho > 0 and likely >= PAYS and least >= 1.0 / PAYS:
            return GAINS
        return LOSES if self._most(seeds) < PAYS else OPEN

    def _correlation(self, seeds: int) -> Interval:
        """That which counts; with limits of variances it is the one that was seen."""
        return self.found.interval(seeds) if self.terms.handicap is None else Interval(*3 * [self.rho])

    def more_seeds(self) -> int | None:
        """The fewest that would tell; None if that takes too many."""
        seeds = self.found.seeds
        if not np.isfinite(self.found.error):
            return USUAL_SEEDS - seeds
        if seeds >= MOST_SEEDS or self.verdict(MOST_SEEDS) == OPEN:
            return None
        enough = bisect_left(range(MOST_SEEDS), 1, lo=seeds + 1, key=lambda n: self.verdict(n) != OPEN)
        return enough - seeds

    def _most(self, seeds: int) -> float:
        """What the best number of other seeds and coefficient could bring, with limits of many seeds."""
        rho = min(max(self.found.interval(seeds).high, 0.0), CLOSE)
        if rho == 0.0:
            return 0.0
        effort, many = self.terms.efforts(seeds).most, max(seeds, MOST_SEEDS)
        return self._gain(rho, rho, self.best_others(rho, effort, many), effort, many)

    def best_others(self, rho: float, effort: Effort, seeds: int) -> int:
        return max(OTHERS, key=lambda others: self._gain(rho, rho, others, effort, seeds))

    def _gain(self, truth: float, assumed: float, others: int, effort: Effort, seeds: int) -> float:
        """At a correlation of `truth`, with the coefficient that is best for the one assumed."""
        part = others / (others + 1)
        variance = max(1.0 + part * assumed * (assumed - 2.0 * truth), 1e-12)  # over that of the top
        values = effort.values(self.terms.worse(seeds) * variance, 1.0 + self.swing * assumed * part)
        return effort.values() / ((1.0 + (1 + others) * self.ratio) * values)
