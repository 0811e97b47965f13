"""What several strategies share."""

from math import inf

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import has_data
from mfbai.model.compiled import Model
from mfbai.model.families import Memory


def top_fidelity(model: Model) -> Model:
    """The same problem with its last fidelity only."""

    M = model.cost.shape[1]

    def last(part):
        """Of an array in which fidelities are the second axis, or the only one: its last; a copy of all else."""
        if isinstance(part, Memory):
            return part._replace(pooled=last(part.pooled), total=part.total.copy(), due=part.due.copy())
        if isinstance(part, tuple):
            return type(part)(*map(last, part))
        if not isinstance(part, np.ndarray):
            return part
        if part.ndim == 1:
            return part[-1:].copy() if part.size == M else part.copy()
        return np.ascontiguousarray(part[:, -1:])

    tables = {name: last(getattr(model, name)) for name in ("cost", "bias_low", "bias_high", "law")}
    return model._replace(**tables, epoch=np.zeros(1, dtype=np.int64))


def tail_variance(model: Model, strategy: str) -> np.ndarray:
    """(K, M) v such that the noise has tails no heavier than a normal's of variance v: what confidence radii need."""
    family = type(model.law).__name__.removesuffix("Law").lower()
    if not model.law.known:
        told = f"{strategy} needs a stated variance, which the {family} family does not have"
        raise InvalidInput([Fault("strategy", f"{told}: take race, frugal or mf-grad")])
    if model.law.quadratic:
        return np.ascontiguousarray(1.0 / model.law.precision)
    if model.law.tail_variance is not None:
        return np.full(model.cost.shape, model.law.tail_variance)
    told = f"{strategy} needs noise with the tails of a normal, and this family is {family}"
    raise InvalidInput([Fault("strategy", f"{told}: take mf-grad, or a gaussian, subgaussian or bernoulli family")])


@kernel
def every_cell_seen(stats):
    for c in range(stats.count.size):
        if stats.count.flat[c] == 0.0:
            return False
    return True


@kernel
def next_unseen_cell(stats, first):
    """The first cell, row by row, that has no value, if all before `first` have; else the number of cells."""
    while first < stats.count.size and stats.count.flat[first] > 0.0:
        first += 1
    return first


@kernel
def first_look(model, stats, cheapest, pending):
    """The arm with the fewest evaluations, done or under way, at its cheapest fidelity; none that is beaten."""
    arm, least = 0, inf
    for a in range(pending.shape[0]):
        if model.beaten[a]:
            continue
        evaluations = stats.count[a, cheapest[a]] + pending[a, cheapest[a]]
        if evaluations < least:
            arm, least = a, evaluations
    return arm, cheapest[arm]


def make_seen() -> np.ndarray:
    """What `seen_all` keeps: two arms, such that all before the first have data and all before the second have some at
    their cheapest fidelity, but for those that are beaten; and the model's epoch."""
    return np.zeros(3, dtype=np.int64)


@kernel
def seen_all(model, stats, cheapest, seen):
    """Whether all arms have data, but for those that are beaten for certain. Looks at each arm once, not at each call,
    unless other arms may be beaten now."""
    if seen[2] != model.epoch[0]:
        seen[0], seen[1], seen[2] = 0, 0, model.epoch[0]
    while seen[0] < cheapest.size and (model.beaten[seen[0]] or has_data(stats, seen[0])):
        seen[0] += 1
    while seen[1] < cheapest.size and (model.beaten[seen[1]] or stats.count[seen[1], cheapest[seen[1]]] > 0.0):
        seen[1] += 1
    return seen[0] == cheapest.size


@kernel
def first_look_from(model, stats, cheapest, pending, seen):
    """The same as `first_look`, beginning with the first arm that has no value yet."""
    for a in range(seen[1] if seen[2] == model.epoch[0] else 0, cheapest.size):
        if pending[a, cheapest[a]] == 0 and stats.count[a, cheapest[a]] == 0.0 and not model.beaten[a]:
            return a, cheapest[a]
    return first_look(model, stats, cheapest, pending)
