"""What several strategies share."""

from math import inf
from typing import Any

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.kernels.jit import kernel
from mfbai.model.problem import Model


def top_fidelity(model: Model) -> Model:
    """The same problem with its last fidelity only."""

    def last(array):
        return np.ascontiguousarray(array[:, -1:])

    parts: list[Any] = [last(part) if isinstance(part, np.ndarray) else part for part in model.law]
    law = type(model.law)(*parts)
    return model._replace(
        cost=last(model.cost), bias_low=last(model.bias_low), bias_high=last(model.bias_high), law=law
    )


def tail_variance(model: Model, strategy: str) -> np.ndarray:
    """(K, M) v such that the noise has tails no heavier than a normal's of variance v: what confidence radii need."""
    if model.law.quadratic:
        return np.ascontiguousarray(1.0 / model.law.precision)
    if model.law.tail_variance is not None:
        return np.full(model.cost.shape, model.law.tail_variance)
    family = type(model.law).__name__.removesuffix("Law").lower()
    told = f"{strategy} needs noise with the tails of a normal, and this family is {family}"
    raise InvalidInput([Fault("strategy", f"{told}: take mf-grad, or a gaussian, subgaussian or bernoulli family")])


@kernel
def every_cell_seen(stats):
    for c in range(stats.count.size):
        if stats.count.flat[c] == 0.0:
            return False
    return True


@kernel
def first_look(stats, cheapest, pending):
    """The arm with the fewest evaluations, done or under way, at its cheapest fidelity."""
    arm, least = 0, inf
    for a in range(pending.shape[0]):
        evaluations = stats.count[a, cheapest[a]] + pending[a, cheapest[a]]
        if evaluations < least:
            arm, least = a, evaluations
    return arm, cheapest[arm]
