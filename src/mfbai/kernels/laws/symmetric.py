"""Symmetric noise of unknown size: the bets, which need no variance; and what is learnt of it, for decisions alone.

If values are symmetric around a mean of q or less, then for every tilt l > 0

    exp(l n u - l^2 (squares + n u^2) / 2),     u = mean - q,

of n values with this mean and sum of squared deviations from it, is a supermartingale: docs/theory/guarantee.md. The
tilts are fixed beforehand, as parts of the width of the range. As a function of q the exponent of each is concave, so
between two points it is above its chord; and the ln of a mixture of exponentials of chords is convex.

A cell's variance is drawn towards that of its fidelity, which is drawn towards that of all fidelities, which starts
from that of all values as if they were of one cell. An evaluation changes the estimate of its own cell only, so that
what others keep of other cells stays right; all are estimated again whenever the number of values has doubled, and
`model.epoch` says so.
"""

from math import exp, log

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.gaussian import gaussian_divergence, gaussian_slopes, gaussian_variance
from mfbai.kernels.laws.interface import SLAB, divergence, learn, sample, slopes, top_range, variance, wager
from mfbai.model.families import SymmetricLaw

TILTS = 2.0 ** np.arange(-8.0, 13.0)  # over the width of the range
_shares = 1.0 / (1.0 + (np.arange(-8.0, 13.0) - 3.0) ** 2 / 16.0)  # most for gaps and noise of tenths of the range
LOG_SHARES = np.log(SLAB * _shares / _shares.sum())
CASH = log(1.0 - SLAB)
NOTHING = -40.0  # nats: what is this far below the rest is left out
POOL = 8.0  # values that a fidelity's pooled variance stands for in that of a cell, and all fidelities' in that


@kernel
def symmetric_wager(law, stats, arm, fidelity, q, other, side):
    count, squares = stats.count[arm, fidelity], stats.squares[arm, fidelity]
    u = side * (stats.mean[arm, fidelity] - q)
    middle = side * (stats.mean[arm, fidelity] - 0.5 * (q + other))  # the chord's slope is the tangent's there
    unit = 1.0 / (law.high - law.low)
    most = CASH
    for k in range(TILTS.size):
        most = max(most, tilted(count, squares, u, unit * TILTS[k]) + LOG_SHARES[k])
    total, slope = exp(CASH - most), 0.0
    for k in range(TILTS.size):
        tilt = unit * TILTS[k]
        part = tilted(count, squares, u, tilt) + LOG_SHARES[k] - most
        if part > NOTHING:
            part = exp(part)
            total += part
            slope += part * tilt * (1.0 - tilt * middle)
    return most + log(total), -side * count * slope / total


@kernel
def tilted(count, squares, u, tilt):
    z = tilt * u
    return count * z * (1.0 - 0.5 * z) - 0.5 * tilt * tilt * squares


@kernel
def symmetric_range(law):
    return law.low, law.high


@kernel
def symmetric_learn(law, model, stats, arm, fidelity, x):
    memory, count = law.memory, stats.count[arm, fidelity]
    if count > 1.0:
        off = x - stats.mean[arm, fidelity]
        memory.pooled[0, fidelity] += off * off * count / (count - 1.0)
        memory.pooled[1, fidelity] += 1.0
    total = memory.total
    off = x - total[1]
    total[0] += 1.0
    total[1] += off / total[0]
    total[2] += off * (x - total[1])
    if total[0] >= memory.due[0]:
        memory.due[0] = 2.0 * total[0]
        model.epoch[0] += 1
        for m in range(law.precision.shape[1]):
            here = pooled_variance(law, m)
            for a in range(law.precision.shape[0]):
                law.precision[a, m] = 1.0 / cell_variance(stats, a, m, here)
    else:
        law.precision[arm, fidelity] = 1.0 / cell_variance(stats, arm, fidelity, pooled_variance(law, fidelity))


@kernel
def pooled_variance(law, fidelity):
    memory = law.memory
    if memory.total[0] < 2.0:
        return 1.0 / law.precision[0, fidelity]
    squares, degrees = memory.total[2] / (memory.total[0] - 1.0), 1.0
    squares += 1e-24 * (1.0 + memory.total[1] * memory.total[1])  # never zero
    for m in range(memory.pooled.shape[1]):
        squares += memory.pooled[0, m]
        degrees += memory.pooled[1, m]
    return (memory.pooled[0, fidelity] + POOL * squares / degrees) / (memory.pooled[1, fidelity] + POOL)


@kernel
def cell_variance(stats, arm, fidelity, pooled):
    spare = max(stats.count[arm, fidelity] - 1.0, 0.0)
    return (stats.squares[arm, fidelity] + POOL * pooled) / (spare + POOL)


@kernel
def symmetric_sample(law, rng, arm, fidelity, mean):
    return mean + law.deviation[arm, fidelity] * rng.standard_normal()


divergence.register(SymmetricLaw, gaussian_divergence)
slopes.register(SymmetricLaw, gaussian_slopes)
variance.register(SymmetricLaw, gaussian_variance)
learn.register(SymmetricLaw, symmetric_learn)
sample.register(SymmetricLaw, symmetric_sample)
wager.register(SymmetricLaw, symmetric_wager)
top_range.register(SymmetricLaw, symmetric_range)
