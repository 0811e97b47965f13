"""Tables of means that the bias bounds allow: where each mean lies between its bounds, and back."""

from __future__ import annotations

import numpy as np

from mfbai.model.correlation import Correlation
from mfbai.model.instance import Instance
from mfbai.model.problem import Array, Problem


def instance_of(
    problem: Problem, means: Array, correlation: Correlation | None = None, deviation: Array | None = None
) -> Instance:
    """The problem with a truth that is known to fit: unchecked, as a plan makes thousands of them."""
    instance = object.__new__(Instance)
    vars(instance).update(problem=problem, means=means, deviation=deviation, name=None, correlation=correlation)
    return instance


def place(problem: Problem, tops: Array, positions: Array) -> Array:
    """(truths, K, M) the means of these tops, (truths, K), at these positions, from 0 to 1, in their bounds."""
    low, high = _bounds(problem, tops)
    return np.clip(low + positions * (high - low), low, high)


def positions_of(problem: Problem, means: Array) -> Array:
    """(truths, K, M) where the means lie in their bounds."""
    low, high = _bounds(problem, means[:, :, -1])
    width = np.where(high > low, high - low, 1.0)
    return (means - low) / width


def _bounds(problem: Problem, tops: Array) -> tuple[Array, Array]:
    """(truths, K, M) the least and the greatest mean of each cell, with these tops."""
    least, greatest = problem.family.ranges(problem.n_fidelities)
    known = ~problem.unbounded  # other means do not matter: they cancel
    low, high = (tops[:, :, None] + np.where(known, bias, 0.0) for bias in (problem.bias_low, problem.bias_high))
    return np.maximum(low, least), np.minimum(high, greatest)
