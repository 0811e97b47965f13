"""The same problem with fewer, cheaper or better known fidelities, and the least cost of each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mfbai.analysis.oracle import Oracle, find_oracle
from mfbai.kernels.machine import cores
from mfbai.model.families import Gaussian
from mfbai.model.means import instance_of
from mfbai.model.problem import Array, Problem

Advance = Callable[[int], None]  # tells a progress bar that so much is done
NOISE_FREE, TINY = 1e-6, 1e-100  # a deviation, relative to the largest, that stands for none; and if all are none
CLOSE = 1e-6  # relative, of a least cost: no plan shows more
LARGE = 1000  # cells, from which on several threads are quicker than one
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

    def solve(n: int) -> Oracle:
        found = find_oracle(instance_of(problems[n], truths[n]), tolerance, good=CLOSE)
        advance(1)
        return found

    if truths[0].size < LARGE:
        return list(map(solve, range(len(truths))))
    with ThreadPoolExecutor(cores()) as pool:
        try:
            return list(pool.map(solve, range(len(truths))))
        except KeyboardInterrupt:
            pool.shutdown(cancel_futures=True)
            raise


def least_costs(
    problem: Problem | Sequence[Problem], truths: Array, tolerance: float, advance: Advance = lambda count: None
) -> Array:
    """(truths,) C* of each."""
    return costs_of(oracles(problem, truths, tolerance, advance))


def costs_of(found: Sequence[Oracle]) -> Array:
    return np.array([one.cost_complexity for one in found])


class Optima:
    """The optimal allocations of a problem for each truth, with any of its fidelities; each set is solved once."""

    def __init__(self, problem: Problem, truths: Array, tolerance: float) -> None:
        self.problem, self.truths, self.tolerance = problem, truths, tolerance
        self._made: dict[tuple[int, ...], list[Oracle]] = {}

    def of(self, members: Sequence[int], advance: Advance = lambda count: None) -> list[Oracle]:
        key = tuple(members)
        if key in self._made:
            advance(len(self.truths))
        else:
            part = self.problem.only(list(key)), self.truths[:, :, list(key)]
            self._made[key] = oracles(*part, self.tolerance, advance)
        return self._made[key]


def extra_costs(
    optima: Optima, base: Array, kept: Sequence[int], advance: Advance = lambda count: None
) -> dict[int, Array]:
    """For each of the `kept` fidelities but the top: (truths,) what leaving it out adds to `base`, relatively."""
    extra = {}
    for m in kept[:-1]:
        rest = [other for other in kept if other != m]
        extra[m] = ratio(costs_of(optima.of(rest, advance)), base) - 1.0
    return extra


def not_useless(optima: Optima, base: Array, extra: dict[int, Array]) -> list[int]:
    """The fidelities left after dropping, one after the other, those without which the cost is hardly larger.

    One after the other, because of two that do the same, each is useless only as long as the other is there.
    """
    kept = list(range(optima.problem.n_fidelities))
    while extra:
        typical = {m: float(np.median(values)) for m, values in extra.items()}
        least = min(typical, key=typical.__getitem__)
        if typical[least] >= USELESS:
            break
        kept.remove(least)
        extra = extra_costs(optima, base, kept)
    return kept


def ratio(a: Array, b: Array) -> Array:
    """a / b; 1 where they are the same: both may be 0, if nothing has to be evaluated, or infinite."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(a == b, 1.0, a / b)
