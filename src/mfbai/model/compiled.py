"""A problem as the compiled kernels see it: plain arrays, as if larger were always better.

They see no fidelity without noise, nor any that is only a part of others: see `Problem.noisy`.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import real
from mfbai.errors import Fault, InvalidInput
from mfbai.model.families import Family, Law
from mfbai.model.given import Array, top_interval

if TYPE_CHECKING:
    from mfbai.model.problem import Problem


class Exact(NamedTuple):
    """What the kernels know of the D deterministic fidelities, in the order of the problem: see `mfbai.run.exact`."""

    value: Array  # (K, D) NaN while unknown
    cost: Array  # (K, D)
    bias_low: Array  # (K, D)
    bias_high: Array  # (K, D)
    top: bool  # whether the top fidelity is one of them: the last
    contradicts: NDArray[np.bool_]  # (K, D) whether the value contradicts earlier ones of its arm
    pending: NDArray[np.int64]  # (K, D) under way
    spent: Array  # (1,) on values that are known
    nats: Array  # (1,) of evidence that rule out an arm; a run sets it
    wish: Array  # (K, D) how much each value is worth having; 0 for not at all
    sure: NDArray[np.bool_]  # (K, D) whether it is worth its cost even if the biases are the least favourable
    due: Array  # (1,) the cost at which to look again


class Audit(NamedTuple):
    """The part of the cost that goes to evaluations without bias of the arm that leads and of its closest rival."""

    share: Array  # (1,) 0: there is none; a run sets it
    spent: Array  # (2,) on such evaluations of the leader, and of the rival
    asked: Array  # (1,) on those that came when they were due


class Model(NamedTuple):
    """A problem as the compiled kernels see it: as if larger were always better.

    Fidelities are those with noise, and the top one. What is known of the others moves the interval of the top means.
    """

    cost: Array  # (K, M)
    bias_low: Array  # (K, M) least and
    bias_high: Array  # (K, M) greatest value of: mean here - mean at the top
    top_low: Array  # (K,) least and
    top_high: Array  # (K,) greatest top mean for which every cell still has a possible mean
    tolerance: float  # an arm this close to the best is as good
    law: Law
    common: bool  # whether arms share seeds
    epoch: NDArray[np.int64]  # (1,) grows when `law` or the interval of top means has changed for other cells too
    beaten: NDArray[np.bool_]  # (K,) whether another arm is as good for certain, by the intervals of the top means
    exact: Exact
    audit: Audit


def make_model(problem: Problem, tolerance: float) -> Model:
    """The arrays for the kernels, reflected if the problem minimises. They are copies: kernels compile a
    second time for read-only arrays."""
    gap = real(tolerance)
    if gap is None or not 0 <= gap < np.inf:
        raise InvalidInput([Fault("tolerance", f"is {tolerance!r:.60}: it must be 0 or more, and finite")])
    costs = _noisy_costs(problem)
    law = noisy_family(problem).law(costs.shape, problem.sign)
    return _model(problem, costs, problem.bias_low, problem.bias_high, gap, law)


def with_biases(problem: Problem, model: Model, low: Array, high: Array) -> Model:
    """The model of the problem if its bias bounds were these, (K, M), and nothing were known but what `model` has
    learnt of the noise: bounds that are no narrower than those of the problem need no check."""
    return _model(problem, model.cost, low, high, model.tolerance, model.law)


def _model(problem: Problem, costs: Array, low: Array, high: Array, tolerance: float, law: Law) -> Model:
    ranges = problem.family.ranges(problem.n_fidelities)
    if problem.sign < 0:
        low, high, ranges = 0.0 - high, 0.0 - low, (0.0 - ranges[1], 0.0 - ranges[0])  # no -0.0
    seen = problem.noisy
    known = (costs, columns(low, seen), columns(high, seen), *top_interval(low, high, ranges))
    epoch, beaten = np.zeros(1, dtype=np.int64), np.zeros(problem.n_arms, dtype=np.bool_)
    audit = Audit(np.zeros(1), np.zeros(2), np.zeros(1))
    return Model(*known, tolerance, law, problem.seeds == "common", epoch, beaten, _exact(problem, low, high), audit)


def _noisy_costs(problem: Problem) -> Array:
    """Of what kernels see; a top fidelity that they never evaluate costs something, for arithmetic's sake."""
    costs = columns(problem.costs, problem.noisy)
    costs[costs == 0] = 1.0
    return costs


def noisy_family(problem: Problem) -> Family:
    """Of what kernels see; a top fidelity that they never evaluate has noise, for the same reason."""
    if len(problem.noisy) == problem.n_fidelities and not problem.exact:
        return problem.family
    family = problem.family.at(problem.noisy)
    variance = getattr(family, "variance", None)
    if variance is None or np.all(variance):
        return family
    table = np.asarray(variance, dtype=np.float64)
    return dataclasses.replace(family, variance=np.where(table > 0, table, 1.0))  # type: ignore[call-arg]


def _exact(problem: Problem, low: Array, high: Array) -> Exact:
    shape = problem.n_arms, len(problem.exact)
    return Exact(
        value=np.full(shape, np.nan),
        cost=columns(problem.costs, problem.exact),
        bias_low=columns(low, problem.exact),
        bias_high=columns(high, problem.exact),
        top=bool(problem.deterministic[-1]),
        contradicts=np.zeros(shape, dtype=np.bool_),
        pending=np.zeros(shape, dtype=np.int64),
        spent=np.zeros(1),
        nats=np.ones(1),
        wish=np.zeros(shape),
        sure=np.zeros(shape, dtype=np.bool_),
        due=np.zeros(1),
    )


def columns(table: Array, fidelities: list[int]) -> Array:
    """A copy of these columns, as kernels want it."""
    return np.array(table[:, fidelities], order="C")
