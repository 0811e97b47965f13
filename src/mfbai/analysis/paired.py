"""How much better one arm is than another, if they met in rounds and the size of the noise is unknown.

Let d be the difference of the top means, and D_1, D_2, ... differences of their values in rounds, less the most that
the bias bounds allow: their means are d at most. If they are symmetric around their means, the product over n of

    1 + tanh(l_n (D_n - q))

is a supermartingale for every q >= d, if l_n was chosen before D_n was seen. It falls with q. So with a probability of
1 - a, d is above all q at which it ever reaches 1 / a: the lower end of an interval. The upper end is the lower end of
the reversed difference. l_n is a multiple of 1 / (the deviation of the differences before); several are tried side by
side. If values are bounded, so that D_n is b_n at least, symmetry is not needed: the factor is

    1 + l_n (D_n - q),    l_n at most .99 / (q - b_n)

It, too, has a mean of 1 at most for q >= d, and falls with q: with l_n at that limit it is linear in 1 / (q - b_n).
"""

from __future__ import annotations

from math import inf, log

import numpy as np
from numpy.typing import NDArray

from mfbai.model.compiled import Model
from mfbai.model.families import BoundedLaw
from mfbai.model.problem import Array

SCALES = 2.0 ** -np.arange(0.0, 6.0, 0.5)  # of l, in deviations
FIRST = 2  # differences that are not bet on: a deviation takes two
STEPS = 60  # of a search outwards, each twice as long as the one before
NEARLY = 0.99  # of what may be lost at once: never all
EXACT = 1e-3  # of an end's distance from the mean: no closer is it looked for


def least_contrasts(model: Model, i: int, m: NDArray[np.int64], j: int, k: NDArray[np.int64]) -> Array | None:
    """The least that a value of i at m less one of j at k can be, less the most that the bias bounds allow; None if
    values are not bounded."""
    if not isinstance(model.law, BoundedLaw):
        return None
    return np.asarray(model.law.low[m] - model.law.high[k] - model.bias_high[i, m] + model.bias_low[j, k])


def lower_end(differences: Array, target: float, least: Array | None = None) -> float:
    """The number above which d lies, at evidence of `target` nats; given differences whose means are d at most, and
    the least that each can be if they are bounded."""
    bets = differences[FIRST:]
    if not len(bets) or (least is None and len(bets) * log(2.0) < target):
        return -inf
    deviations = _deviations_before(differences)[FIRST:]
    tilts = np.divide(SCALES[:, None], deviations, out=np.zeros((len(SCALES), len(bets))), where=deviations > 0.0)

    def proves(q: float) -> bool:
        if least is None:
            return _evidence(log(2.0) - np.logaddexp(0.0, -2.0 * tilts * (bets - q))) >= target
        room = q - least[FIRST:]
        allowed = np.divide(NEARLY, room, out=np.full(len(bets), inf), where=room > 0.0)
        return _evidence(np.log1p(np.minimum(tilts, allowed) * (bets - q))) >= target

    middle = float(differences.mean())
    room = float(differences.std() / np.sqrt(len(differences))) or 1e-300
    inside = middle  # not proven
    for _ in range(STEPS):
        outside = inside - room
        if proves(outside):
            break
        inside, room = outside, 2.0 * room
    else:
        return -inf
    while inside - outside > EXACT * (middle - outside):
        q = 0.5 * (inside + outside)
        if not outside < q < inside:
            break
        inside, outside = (inside, q) if proves(q) else (q, outside)
    return outside


def _evidence(factors: Array) -> float:
    """ln of the mean over the scales of the product of the factors, given by their logarithms."""
    gains = factors.sum(axis=1)
    return float(np.logaddexp.reduce(gains) - log(len(gains)))


def _deviations_before(values: Array) -> Array:
    """Of each value: the standard deviation of those before it; 0 for the first two."""
    n = np.arange(len(values))
    shifted = values - values[0]
    sums, squares = (np.concatenate([[0.0], np.cumsum(part)[:-1]]) for part in (shifted, shifted**2))
    spread = np.maximum(squares - sums**2 / np.maximum(n, 1), 0.0) / np.maximum(n - 1, 1)
    return np.asarray(np.sqrt(np.where(n >= FIRST, spread, 0.0)))
