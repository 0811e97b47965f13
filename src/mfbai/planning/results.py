"""Plan: what it would cost to find the best arm, which fidelities help, and what would help more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf, isfinite
from numbers import Real
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from mfbai.checks import numbers, refuse_where
from mfbai.errors import Faults
from mfbai.model.correlation import Correlation
from mfbai.model.guess import Guess
from mfbai.model.problem import Array, Problem
from mfbai.planning import samples, truths, variants
from mfbai.planning.controlled import MorePilot, whole
from mfbai.planning.samples import Simulated
from mfbai.stopping import e_process
from mfbai.terminal import progress

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ALL, WORTH_HAVING, TOP = "all", "worth_having", "top"  # the sets of fidelities that a plan compares
# What is said of a fidelity: useless ones would not even help if the optimal shares were known from the start.
WORTH_IT, NOT_LEARNT, USELESS, TRUE_ONE = "worth having", "not worth learning", "useless", "the true one"
UNKNOWN = "not known"  # whether a fidelity is worth having: runs with it were given up, and it is not promising
PROVEN = e_process.RULES[0].name  # the rule whose ideal cost is known and needs no constant
POINTS = 33  # of a saving curve
CURVE_TRUTHS = 100  # enough for a curve


class Spread(NamedTuple):
    """A figure over all truths that fit the guess."""

    median: float
    low: float  # a tenth of the truths has less
    high: float  # and a tenth more; these ends are infinite where they are not known, as runs did not end
    at_least: bool = False  # whether the figures may be larger: runs did not end, or the rule has an unknown constant


def spread(values: Array, at_least: bool = False) -> Spread:
    low, median, high = np.quantile(values, (0.1, 0.5, 0.9), method="inverted_cdf")  # a value, as some are infinite
    return Spread(float(median), float(low), float(high), at_least)


def spread_of_runs(simulated: Simulated) -> Spread:
    """What runs cost. One that did not end has a cost somewhere between what it spent and infinity; where that leaves
    the median open, the figure is the least that it can be."""
    least, greatest = spread(simulated.spent), spread(simulated.costs)
    low, high = (a if a == b else inf for a, b in zip(least[1:3], greatest[1:3], strict=True))
    return Spread(least.median, low, high, at_least=least.median < greatest.median)


class Estimate(NamedTuple):
    """What finding the best arm costs, estimated in one way."""

    rule: str | None  # the stopping rule; None for the least cost of any method
    strategy: str | None  # simulated with it; None if every cell gets its optimal share
    cost: Mapping[str, Spread]  # with "all" fidelities, those "worth_having", and the "top" alone
    saving: Spread | None  # the cost of the top alone over that of all; None if too many runs did not end
    runs: Mapping[str, int] | None = None  # how many were simulated
    interval: Mapping[str, tuple[float, float]] | None = None  # of 95 % confidence, for each simulated median
    seeds: str = "independent"  # or "common"
    family: str | None = None  # what was simulated: another one than the problem's, were its noise known


class Worth(NamedTuple):
    """What a fidelity contributes."""

    fidelity: str
    share: Spread  # of the optimal cost that goes to it
    used: float  # the part of the truths for which any goes to it
    leaving_out: Spread | None  # what the least cost grows by, relatively; None for the top, which must stay
    verdict: str  # "worth having", "not worth learning" for the strategy simulated, "useless", "not known" if runs with
    # it were given up, or "the true one"


def ideal_of(estimates: Iterable[Estimate]) -> Estimate | None:
    return next((estimate for estimate in estimates if estimate.rule == PROVEN and not estimate.strategy), None)


def is_promising(estimates: Iterable[Estimate], simulated: Estimate, chosen: str) -> bool:
    """Whether a set of fidelities may be the cheapest: not if runs with it were given up, and runs with another cost
    less than these had spent by then, or than it would cost ideally."""
    known = [cost.median for cost in simulated.cost.values() if not cost.at_least]
    if not simulated.cost[chosen].at_least or not known:
        return True
    ideal = ideal_of(estimates)
    least = max(simulated.cost[chosen].median, ideal.cost[chosen].median if ideal else inf)
    return least < min(known)


class Change(NamedTuple):
    """What would be saved if a fidelity were better."""

    fidelity: str
    change: str  # "half the cost" or "half the bias bound"
    saves: Spread  # of the least cost, relatively


class Savings(NamedTuple):
    """The cost of the top fidelity alone over the cost with others, by gap."""

    gaps: Array  # (gaps,)
    factors: dict[str, Array]  # (gaps, 3) median, low, high: for each lower fidelity with the top, and last for "all"


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """What `plan` found. A figure is a median over truths that fit the guess, with the range of the middle 80 %: it has
    `median`, `low`, `high` and `at_least` (whether it may be larger).

    name         of the problem's file or instance
    given        the problem as it was given
    problem      the same without fidelities that are no more than parts of controlled ones
    guess        the `Guess` that it was made from
    source       "guess", or "truth" if the means of an instance were taken for it
    delta        the risk of a wrong answer
    tolerance    an arm this close to the best is as good
    seed         that everything depends on
    truths       (truths, K, M) the means that were drawn
    gap          between the best arm and the second
    sets         the fidelities of "all", "worth_having" and "top"
    estimates    what finding the best arm costs, estimated in several ways: each has `rule`, `strategy`, `cost` (by
                 set), `saving`, `runs`, `interval`, `seeds` and `family`
    fidelities   of each its `share` of the optimal cost, how often it is `used`, what `leaving_out` costs, and the
                 `verdict`: "worth having", "not worth learning", "useless", "not known" or "the true one"
    changes      what would be saved if a `fidelity` were better: `change`, and what it `saves`
    correlation  of values with the same seed; None if it is not known
    more_pilot   whether more pilot would pay; None if there was no pilot
    caution      a sentence, if the plan rests on a gap that the pilot cannot tell from none

    >>> from mfbai import Gaussian, Guess, Problem, plan
    >>> problem = Problem(3, costs=[0.05, 5], biases=[0.03, 0], family=Gaussian(0.01), fidelities=["coarse", "fine"])
    >>> found = plan(problem, Guess(gap=0.13))
    >>> found.sets[found.advice], found.expected.cost["all"].median < found.expected.cost["top"].median
    (('coarse', 'fine'), True)
    """

    name: str | None
    given: Problem
    problem: Problem
    guess: Guess
    source: str
    delta: float
    tolerance: float
    seed: int
    truths: Array
    gap: Spread
    sets: Mapping[str, tuple[str, ...]]
    estimates: tuple[Estimate, ...]
    fidelities: tuple[Worth, ...]
    changes: tuple[Change, ...]
    correlation: Correlation | None
    more_pilot: MorePilot | None
    caution: str = ""

    @property
    def expected(self) -> Estimate:
        """The estimate to go by, under a rule that needs no constant: simulated, or ideal if the simulation of the
        fidelities worth having was given up, and they are still promising."""
        unknown = any(worth.verdict == UNKNOWN for worth in self.fidelities)
        if unknown or not self.simulated.cost[self._worth_having].at_least:
            return self.simulated
        return ideal_of(self.estimates) or self.simulated

    @property
    def simulated(self) -> Estimate:
        """The estimate by runs of the problem as it is."""
        return next(estimate for estimate in self.estimates if estimate.strategy)

    @property
    def with_common_seeds(self) -> Estimate | None:
        """The estimate for the same problem with common seeds; None if no correlation is known, or seeds are common."""
        others = [estimate for estimate in self.estimates if estimate.seeds != self.problem.seeds]
        return others[0] if others else None

    @property
    def with_known_noise(self) -> Estimate | None:
        """The estimate if the guessed deviation were known, and the noise normal; None if the family states it."""
        others = [estimate for estimate in self.estimates if estimate.family not in (None, self.problem.family.name)]
        return others[0] if others else None

    @property
    def advice(self) -> str:
        """The set of fidelities to use: those worth having; the cheapest one of which a cost is known, if runs with
        those were given up."""
        cost, best = self.expected.cost, self._worth_having
        if self.expected.strategy and not cost[best].at_least:
            return best
        return min(cost, key=lambda name: (cost[name].at_least, cost[name].median))

    @property
    def _worth_having(self) -> str:
        """The set of the fidelities that are called so, and the top."""
        kept = tuple(worth.fidelity for worth in self.fidelities if worth.verdict in (WORTH_IT, UNKNOWN, TRUE_ONE))
        return next(name for name, members in self.sets.items() if members == kept)

    @property
    def advised(self) -> Problem:
        """The problem with the fidelities to use."""
        return whole(self.given, self._names_advised)

    @property
    def choice(self) -> str:
        """Which fidelities these are, and why others are left out, in a sentence."""
        names = self._names_advised
        told = f"uses {', '.join(map(repr, names))}"
        dropped = [worth for worth in self.fidelities if worth.fidelity not in names]
        why = ", ".join(f"{worth.fidelity!r} ({worth.verdict})" for worth in dropped)
        return f"The plan {told}; it leaves out {why}." if why else f"The plan {told}: all are worth having."

    @property
    def _names_advised(self) -> tuple[str, ...]:
        return self.sets[self.advice]

    def savings(self, gaps: ArrayLike | None = None) -> Savings:
        """What each fidelity saves, and all together, were the others behind the best arm by more or less.

        The gaps are a tenth of the plan's own up to ten times that, if there is room, unless given.
        """
        chosen = self._gaps(gaps)
        names = self.problem.fidelities
        sets = {name: [m, len(names) - 1] for m, name in enumerate(names[:-1])} | {ALL: list(range(len(names)))}
        factors = np.empty((len(sets), len(chosen), 3))
        with progress(len(chosen), "savings") as advance:
            for n, gap in enumerate(chosen):
                means = truths.with_gap(self.problem, self.truths[:CURVE_TRUTHS], float(gap))
                alone = self._least_costs(means, [len(names) - 1])
                for line, members in zip(factors, sets.values(), strict=True):
                    line[n] = spread(variants.ratio(alone, self._least_costs(means, members)))[:3]
                advance(1)
        return Savings(chosen, dict(zip(sets, factors, strict=True)))

    def _least_costs(self, means: Array, members: list[int]) -> Array:
        known = variants.with_noise(self.problem, self.guess.noise(self.problem))
        return variants.least_costs(known.only(members), means[:, :, members], self.tolerance)

    def _gaps(self, gaps: ArrayLike | None) -> Array:
        if gaps is None:
            own, room = self.gap.median or self.tolerance, truths.room(self.problem, self.truths)  # it is 0 in a tie
            return np.geomspace(own / 10, max(own, min(10 * own, 0.95 * room)), POINTS)
        widest = truths.widest_gap(self.problem)
        faults = Faults()
        chosen = numbers(faults, "gaps", gaps)
        if chosen is not None:
            possible = (chosen > 0) & (chosen < widest)
            refuse_where(faults, "gaps", chosen, ~possible, f"a gap must be positive, and here below {widest:g}")
        faults.raise_if_any("gaps")
        return np.atleast_1d(np.asarray(chosen))

    def to_dict(self, rate: float | None = None) -> dict[str, Any]:
        """Everything but the truths themselves, as plain values; with a `rate`, in cost per hour, also the hours."""
        faults = Faults()
        check_rate(faults, "rate", rate)
        faults.raise_if_any("call")
        return {
            "name": self.name,
            "arms": list(self.problem.arms),
            "source": self.source,
            "guess": self.guess.to_dict(),
            "delta": self.delta,
            "tolerance": self.tolerance,
            "correlation": None if self.correlation is None else self.correlation.to_spec(),
            "seed": self.seed,
            "truths": len(self.truths),
            "runs": samples.RUNS,
            "gap": _plain(self.gap),
            "sets": {name: list(members) for name, members in self.sets.items()},
            "estimates": [_estimate(estimate, rate) for estimate in self.estimates],
            "fidelities": [_plain(fidelity) for fidelity in self.fidelities],
            "changes": [_plain(change) for change in self.changes],
            "more_pilot": _plain(self.more_pilot),
            "caution": self.caution,
            "rate": rate,
        }

    def __repr__(self) -> str:
        cost = self.expected.cost[self.advice]
        least = "" if self.expected.strategy else "ideally "
        label = f" for {self.name}" if self.name else ""
        told = f"cost {least}{cost.median:.3g} ({cost.low:.3g} to {cost.high:.3g})"
        told += f" with {', '.join(self.sets[self.advice])}"
        if self.advice != TOP and TOP in self.sets:
            factor = variants.ratio(np.array(self.expected.cost[TOP].median), np.array(cost.median))
            told += f", {float(factor):.2g} times cheaper than {self.sets[TOP][0]} alone"
        return f"<Plan{label}, delta {self.delta:g}: {told}>"

    def _repr_html_(self) -> str:
        from mfbai.planning.markup import plan_as_html  # for notebooks alone

        return plan_as_html(self)

    def plot(self) -> Figure:
        """A picture of `savings`: how many times cheaper the other fidelities make it, by the gap. Needs matplotlib."""
        from mfbai.plots.savings import picture_of_plan  # which loads much

        return picture_of_plan(self)


def check_rate(faults: Faults, field: str, rate: Any) -> None:
    """A rate must be positive; None is no rate."""
    known = isinstance(rate, Real) and not isinstance(rate, bool)
    if rate is not None and not (known and 0 < rate < inf):
        faults.add(field, f"is {rate!r}: give the cost units that can be spent in an hour, such as 10")


def _estimate(estimate: Estimate, rate: float | None) -> dict[str, Any]:
    """The estimate, with the hours that it takes."""
    hours = {name: _times(cost, 1 / rate) for name, cost in estimate.cost.items()} if rate else None
    return {**_plain(estimate), "hours": _plain(hours)}


def _times(cost: Spread, factor: float) -> Spread:
    return Spread(cost.median * factor, cost.low * factor, cost.high * factor, cost.at_least)


def _plain(value: Any) -> Any:
    """As JSON can have it: tuples with names as dictionaries, and no infinity."""
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    if hasattr(value, "_asdict"):
        return _plain(value._asdict())
    if isinstance(value, tuple):
        return [_plain(part) for part in value]
    return None if isinstance(value, float) and not isfinite(value) else value
