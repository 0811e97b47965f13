"""What a stopping rule makes finding the best arm cost, with the ideal allocation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import inf, isfinite

import numpy as np

from mfbai.analysis.oracle import Oracle
from mfbai.kernels.parts import Wanted, bound, needs
from mfbai.kernels.stats import make_stats
from mfbai.model.compiled import Model
from mfbai.model.problem import ROUNDING, Array, Problem
from mfbai.run.state import gather
from mfbai.stopping import Rule, decide

PRECISION = 1e-4  # relative, of an ideal cost
TINY, HUGE = 1e-100, 1e100  # costs at which to give up the search for one
MOST_COUNTED = 1e18  # evaluations: more do not fit the counter


def complete(rule: Rule) -> bool:
    """Whether the rule can be used as it is. The others have a constant that is not known, None by default."""
    return None not in rule.options.values()


def settings_of(rule: Rule) -> dict[str, float]:
    """Its defaults; 0 for unknown constants, which gives the least that the rule can cost."""
    return {name: 0.0 if value is None else value for name, value in rule.options.items()}


def ideal_costs(
    problem: Problem,
    truths: Array,
    found: Sequence[Oracle],
    rule: Rule,
    delta: float,
    tolerance: float,
    advance: Callable[[int], None] = lambda count: None,
) -> Array:
    """(truths,) the cost at which the rule stops if every cell shows its true mean and gets its optimal share, in whole
    evaluations."""
    costs, guess, proof = np.zeros(len(truths)), 1.0, _Proof(problem, rule, delta, tolerance)
    for n, (means, best) in enumerate(zip(truths, found, strict=True)):
        if best.cost_complexity > 0:
            costs[n] = proof.cost(means, best, guess * best.cost_complexity)
            if isfinite(costs[n]):
                guess = costs[n] / best.cost_complexity  # nearly the same for the next truth
        advance(1)
    return costs


def needed_for_proofs(model: Model, rules: Iterable[Rule]) -> list[Wanted]:
    """The compiled parts that looking at these rules takes."""
    stats = make_stats(model.cost.shape)
    records = [rule.init(model, np.array([0.1]), model.cost.shape[1], **settings_of(rule)) for rule in rules]
    return needs(*((decide, model, stats, record, 0) for record in records))


class _Proof:
    """A rule, looked at with data as they are expected."""

    def __init__(self, problem: Problem, rule: Rule, delta: float, tolerance: float) -> None:
        model = problem.model(tolerance)
        record = rule.init(model, np.array([delta]), problem.n_fidelities, **settings_of(rule))
        self._problem, self._stats = problem, make_stats(problem.shape)
        record, self._memory = gather(record, record)
        self._fresh = self._memory.copy()
        self._decide = bound(decide, model, self._stats, record, 0)

    def cost(self, means: Array, found: Oracle, start: float) -> float:
        """Of finding the best arm, if these are the means, by what is close to `start`."""
        costs = self._problem.costs
        self._stats.mean[:] = self._problem.sign * means
        pulls_per_cost = found.weights / costs

        def evaluations(cost: float) -> Array:
            """Whole ones: a millionth of an evaluation, be it as good as a hundred others, cannot be had."""
            return np.ceil(cost * pulls_per_cost * (1.0 - ROUNDING))

        at = least(lambda cost: self._stops(evaluations(cost)), start)
        return float((evaluations(at) * costs).sum()) if isfinite(at) else inf

    def _stops(self, evaluations: Array) -> bool:
        stats = self._stats
        stats.count[:] = evaluations
        stats.spent[0] = (stats.count * self._problem.costs).sum()
        stats.steps[0] = min(stats.count.sum(), MOST_COUNTED)
        self._memory[:] = self._fresh
        return bool(self._decide() >= 0)


def least(stops: Callable[[float], bool], start: float) -> float:
    """The least cost that `stops`, if all above it do: around `start`, in growing steps, and then by bisection."""
    low, high, factor = start, start, 1.01
    while stops(low) and low > TINY:
        low, high, factor = low / factor, low, factor**2
    while not stops(high) and high < HUGE:
        low, high, factor = high, high * factor, factor**2
    while high > low * (1.0 + PRECISION):
        middle = (low * high) ** 0.5
        low, high = (low, middle) if stops(middle) else (middle, high)
    return high if high < HUGE else inf
