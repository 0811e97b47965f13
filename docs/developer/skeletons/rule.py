"""Intervals: stop once one arm's confidence interval lies above all others'. A skeleton to copy.

The page extending.md, in the folder above, goes through it part by part.

Each end of an interval is wrong, at any time, with a probability of delta / (2 K) at most (`kernels.e_values`), and
there are 2 K ends: so with a probability of 1 - delta all intervals hold all the time, and the answer is right.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from mfbai.kernels import e_values
from mfbai.kernels.jit import kernel
from mfbai.stopping.interface import Rule, decide, observe


class State(NamedTuple):
    target: np.ndarray  # (levels,) ln(2 K / delta), the evidence against a top mean that rules it out
    low: np.ndarray  # (levels, K) the intervals of the top means
    high: np.ndarray  # (levels, K)
    work: e_values.Work


def init(model, deltas, fidelities):
    """The first record, for several risks at once, the largest first."""
    K = model.cost.shape[0]
    shape = (len(deltas), K)
    return State(np.log(2 * K / deltas), np.full(shape, -inf), np.full(shape, inf), e_values.make_work())


@kernel
def intervals_observe(model, stats, rule, arm, fidelity, x):
    """Move the interval of the arm that was evaluated. Once an end is proven, it stays so."""
    for level in range(rule.target.size):
        low = e_values.limit(model, stats, arm, 1.0, rule.target[level], rule.work)
        high = e_values.limit(model, stats, arm, -1.0, rule.target[level], rule.work)
        rule.low[level, arm] = max(rule.low[level, arm], low)
        rule.high[level, arm] = min(rule.high[level, arm], high)


@kernel
def intervals_decide(model, stats, rule, level):
    """The arm whose interval lies above all others', up to the tolerance, or -1. O(K)."""
    low, high = rule.low[level], rule.high[level]
    best = 0
    for a in range(low.size):
        if low[a] > low[best]:
            best = a
    for a in range(low.size):
        if a != best and not low[best] + model.tolerance > high[a]:
            return -1
    return best


observe.register(State, intervals_observe)
decide.register(State, intervals_decide)
RULES = (Rule("intervals", "confidence intervals that do not overlap", init),)
