"""What a proof can bear: how much wider the bias bounds may be, and what is left without them.

With a factor s, every bound moves outwards by s - 1 times its size: a bias of 0.1 at most becomes one of 0.1 s. Proofs
only get weaker, so the factors at which one still holds are those up to some largest one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels import e_values, transport
from mfbai.kernels.exact import take_exact
from mfbai.kernels.stats import Stats
from mfbai.model.compiled import Model
from mfbai.model.problem import Array, Problem

MOST = 1000.0  # the largest factor that is looked at
CLOSE = 1e-9  # relative error of a factor
BEYOND = 1e15  # stands for a bias of any size
Proof = Callable[[Model, float], bool]  # whether it holds, with the bounds of the model, that many times as wide


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
    other = problem.replace(biases=(low, high)).model(model.tolerance)._replace(law=model.law)
    for arm, d in zip(*np.nonzero(~np.isnan(model.exact.value)), strict=True):
        take_exact(other, arm, d, model.exact.value[arm, d])
    return other


def largest_factor(problem: Problem, model: Model, proofs: Iterable[Proof]) -> float | None:
    """The largest factor at which all proofs hold, `MOST` at the most; None if one does not hold as it is."""
    best = MOST
    widest = widened(problem, model, best)
    for proof in proofs:
        if proof(widest, best):
            continue
        low, high = 1.0, best
        if not proof(widened(problem, model, low), low):
            return None
        while high > low * (1.0 + CLOSE):
            middle = sqrt(low * high)
            if proof(widened(problem, model, middle), middle):
                low = middle
            else:
                high = middle
        best, widest = low, widened(problem, model, low)
    return best


def is_beaten(model: Model, answer: int, rival: int) -> bool:
    """Whether deterministic fidelities show for certain that a rival is not better than the answer."""
    worse = model.top_high[rival] <= model.top_low[answer] + model.tolerance
    return bool(model.beaten[rival] or worse)


def rules_out(model: Model, stats: Stats, answer: int, rival: int, target: float) -> bool:
    """Whether the e-process of these statistics shows that a rival is not better than the answer."""
    if is_beaten(model, answer, rival):
        return True
    if not (stats.count[answer].any() and stats.count[rival].any()):
        return False
    fits, work = transport.make_work(model), e_values.make_work()
    return bool(e_values.reaches(model, stats, answer, rival, target, fits, work))
