"""What a proof can bear: how much wider the bias bounds may be, and what is left without them.

With a factor s, every bound moves outwards by s - 1 times its size: a bias of 0.1 at most becomes one of 0.1 s. Proofs
only get weaker, so the factors at which one still holds are those up to some largest one.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.exact import take_all_exact
from mfbai.kernels.stats import Stats
from mfbai.model.compiled import Model, with_biases
from mfbai.model.problem import Array, Problem

MOST = 1000.0  # the largest factor that is looked at
CLOSE = 1e-9  # relative error of a factor
BEYOND = 1e15  # stands for a bias of any size
# Given a model whose bounds are that many times as wide: the first proof, of those from a number on to before another,
# that does not hold; the other number if all do.
FirstFailing = Callable[[Model, float, int, int], int]


def trusted(problem: Problem) -> NDArray[np.bool_]:
    """(M,) the fidelities whose values count only if a stated bias bound holds: a bias of 0 is one too. The top has no
    bias, nor has what is controlled."""
    free = [control is not None for control in problem.controls]
    free[-1] = True
    found: NDArray[np.bool_] = ~(np.array(free) | problem.unbounded)
    return found


def widened(problem: Problem, model: Model, factor: float) -> Model:
    """The model of a run, with what was learnt, if every bias bound were that many times as wide."""
    wider, stated = factor - 1.0, trusted(problem)
    low, high = np.where(stated, problem.bias_low, 0.0), np.where(stated, problem.bias_high, 0.0)
    return _with_bounds(problem, model, problem.bias_low - wider * abs(low), problem.bias_high + wider * abs(high))


def without_bounds(problem: Problem, model: Model, stats: Stats) -> tuple[Model, Stats]:
    """The same if biases can have any size, and the statistics of the cells that still count then."""
    stated = trusted(problem)
    low, high = np.where(stated, -BEYOND, problem.bias_low), np.where(stated, BEYOND, problem.bias_high)
    count = np.where(stated[problem.noisy], 0.0, stats.count)
    return _with_bounds(problem, model, low, high), stats._replace(count=count)


def _with_bounds(problem: Problem, model: Model, low: Array, high: Array) -> Model:
    other = with_biases(problem, model, low, high)
    if problem.exact:
        take_all_exact(other, model.exact.value)
    return other


def largest_factor(problem: Problem, model: Model, first_failing: FirstFailing, count: int) -> float | None:
    """The largest factor at which all of `count` proofs hold, `MOST` at the most; None if one does not hold as it is.

    Each search is about the first proof that fails with what those before it can bear, so there are few of them
    however many proofs there are.
    """
    best, n = MOST, -1

    def holds(factor: float) -> bool:
        return first_failing(widened(problem, model, factor), factor, n, n + 1) > n

    while (n := first_failing(widened(problem, model, best), best, n + 1, count)) < count:
        low, high = 1.0, best
        if not holds(low):
            return None
        while high > low * (1.0 + CLOSE):
            middle = sqrt(low * high)
            if holds(middle):
                low = middle
            else:
                high = middle
        best = low
    return best
