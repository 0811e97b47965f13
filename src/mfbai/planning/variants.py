"""The same problem with fewer, cheaper or better known fidelities, and the least cost of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from mfbai.analysis.oracle import Oracle, oracle
from mfbai.model.families import Gaussian
from mfbai.model.means import instance_of
from mfbai.model.problem import Array, Problem

Advance = Callable[[int], None]  # tells a progress bar that so much is done
NOISE_FREE, TINY = 1e-6, 1e-100  # a deviation, relative to the largest, that stands for none; and if all are none
USELESS = 0.01  # a fidelity that saves less than this is not worth having


def with_noise(problem: Problem, deviation: Array | None) -> Problem:
    """The problem as if its noise were normal, and the deviation known; itself where the family states the noise."""
    if deviation is None:
        return problem
    return problem.replace(family=Gaussian(np.maximum(deviation, NOISE_FREE * deviation.max() + TINY) ** 2))


def half_cost(problem: Problem, fidelity: int) -> Problem:
    factor = np.where(np.arange(problem.n_fidelities) == fidelity, 0.5, 1.0)
    return problem.replace(costs=problem.costs * factor)


def half_bias(problem: Problem, means: Array, fidelity: int) -> Problem:
    """The bounds of one fidelity half as wide, drawn in around this truth: the truth stays, it is better known."""
    off = means - means[:, -1:]
    here = np.arange(problem.n_fidelities) == fidelity
    low, high = problem.bias_low, problem.bias_high
    return problem.replace(biases=(np.where(here, (low + off) / 2, low), np.where(here, (high + off) / 2, high)))


def oracles(
    problem: Problem | Sequence[Problem], truths: Array, tolerance: float, advance: Advance = lambda count: None
) -> list[Oracle]:
    """The optimal allocation for each truth of a problem, or of a problem for each."""
    problems = [problem] * len(truths) if isinstance(problem, Problem) else problem
    found = []
    for one, means in zip(problems, truths, strict=True):
        found.append(oracle(instance_of(one, means), tolerance))
        advance(1)
    return found


def least_costs(
    problem: Problem | Sequence[Problem], truths: Array, tolerance: float, advance: Advance = lambda count: None
) -> Array:
    """(truths,) C* of each."""
    return np.array([found.cost_complexity for found in oracles(problem, truths, tolerance, advance)])


def extra_costs(
    problem: Problem,
    truths: Array,
    tolerance: float,
    base: Array,
    kept: Sequence[int],
    advance: Advance = lambda count: None,
) -> dict[int, Array]:
    """For each of the `kept` fidelities but the top: (truths,) what leaving it out adds to `base`, relatively."""
    extra = {}
    for m in kept[:-1]:
        rest = [other for other in kept if other != m]
        extra[m] = ratio(least_costs(problem.only(rest), truths[:, :, rest], tolerance, advance), base) - 1.0
    return extra


def not_useless(problem: Problem, truths: Array, tolerance: float, base: Array, extra: dict[int, Array]) -> list[int]:
    """The fidelities left after dropping, one after the other, those without which the cost is hardly larger.

    One after the other, because of two that do the same, each is useless only as long as the other is there.
    """
    kept = list(range(problem.n_fidelities))
    while extra:
        typical = {m: float(np.median(values)) for m, values in extra.items()}
        least = min(typical, key=typical.__getitem__)
        if typical[least] >= USELESS:
            break
        kept.remove(least)
        extra = extra_costs(problem, truths, tolerance, base, kept)
    return kept


def ratio(a: Array, b: Array) -> Array:
    """a / b; 1 where they are the same: both may be 0, if nothing has to be evaluated, or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a == b, 1.0, a / b)
