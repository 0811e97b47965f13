"""What a stopping rule makes finding the best arm cost, with the ideal allocation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite

import numpy as np

from mfbai.analysis.oracle import Oracle
from mfbai.kernels.stats import make_stats
from mfbai.model.problem import ROUNDING, Array, Problem
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
    problem: Problem, truths: Array, found: Sequence[Oracle], rule: Rule, delta: float, tolerance: float
) -> Array:
    """(truths,) the cost at which the rule stops if every cell shows its true mean and gets its optimal share, in whole
    evaluations."""
    costs, guess = np.zeros(len(truths)), 1.0
    for n, (means, best) in enumerate(zip(truths, found, strict=True)):
        if best.cost_complexity > 0:
            costs[n] = _ideal_cost(problem, means, best, rule, delta, tolerance, guess * best.cost_complexity)
            if isfinite(costs[n]):
                guess = costs[n] / best.cost_complexity  # nearly the same for the next truth
    return costs


def _ideal_cost(
    problem: Problem, means: Array, found: Oracle, rule: Rule, delta: float, tolerance: float, start: float
) -> float:
    model = problem.model(tolerance)
    stats = make_stats(problem.shape)
    stats.mean[:] = problem.sign * means
    pulls_per_cost = found.weights / problem.costs

    def evaluations(cost: float) -> Array:
        """Whole ones: a millionth of an evaluation, be it as good as a hundred others, cannot be had."""
        return np.ceil(cost * pulls_per_cost * (1.0 - ROUNDING))

    def stops(cost: float) -> bool:
        stats.count[:] = evaluations(cost)
        stats.spent[0] = (stats.count * problem.costs).sum()
        stats.steps[0] = min(stats.count.sum(), MOST_COUNTED)
        record = rule.init(model, np.array([delta]), problem.n_fidelities, **settings_of(rule))
        return bool(decide(model, stats, record, 0) >= 0)

    at = least(stops, start)
    return float((evaluations(at) * problem.costs).sum()) if isfinite(at) else inf


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
