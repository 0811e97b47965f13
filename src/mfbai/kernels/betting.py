"""Betting on a cell's true mean: the martingales that every proven statement of the package is made of.

The claim that the mean of a cell lies above q (side +1) or below it (side -1) starts with a capital of 1, which is bet
on every value of the cell. If the claim is false, the capital is a supermartingale, whatever decides which cell is
evaluated next, so it ever reaches c with a probability of 1/c at most. The bets are on a mixture of tilts l >= 0,

    E = (1 - SLAB) + SLAB * integral of exp(l side sum(values) - count * psi_q(l side)) dprior(l),

psi_q being the cumulant function of the family at the mean q: for every l that is a supermartingale at all means on the
wrong side of q, because psi_q(l) rises with q for l > 0 and falls for l < 0. The prior is half-normal, at one of a few
`SCALES`: the number of evaluations after which a drift of the usual size shows. It is fixed before any data, and does
not depend on q, so E falls (side +1) or rises (side -1) with q, which is what its bounds rest on. (Exponential: tilts
are in units of 1 / q, and E still does, as it depends on the values over q.)

Quadratic laws: the integral has a closed form, and ln E is convex in q. Others: the half-normal is replaced by
`NODES` of it, a prior as good as any other, and the sum is exact. A few more nodes, close to 0, find the smallest of
differences, such as of 0.01 % between Poisson means of a million.

Laws that learn their noise have bets of their own: `kernels.laws.symmetric` and `bounded`, one scale only.
"""

from math import erfc, exp, inf, log, sqrt

import numpy as np

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.laws import SLAB, exponent

SCALES = np.array([4.0, 32.0, 0.5, 256.0, 2048.0, 16384.0])
LOG_WEIGHTS = -np.log(np.arange(1.0, 7.0) * np.arange(2.0, 8.0))  # of the scales
LOG_WEIGHTS -= np.log(np.exp(LOG_WEIGHTS).sum())
CASH = log(1.0 - SLAB)
DENSITY = 1.0 / sqrt(2.0 * np.pi)  # of the standard normal at 0
ROOT_HALF = sqrt(0.5)

_nodes, _weights = np.polynomial.legendre.leggauss(16)
_nodes = 1.75 * (_nodes + 1.0)  # the half-normal on [0, 3.5]
_weights *= np.exp(-0.5 * _nodes**2)
NODES = np.concatenate([_nodes, _nodes[0] * 0.3 ** np.arange(1.0, 13.0)])
LOG_NODE_WEIGHTS = np.log(np.concatenate([0.95 * _weights / _weights.sum(), np.full(12, 0.05 / 12)]))


@generic(0, choose=lambda law: quadratic_capital if law.quadratic else tilted_capital)
def capital(law, arm, fidelity, count, mean, q, side, scale):
    """ln E in the given cell, at the given scale."""


@kernel
def quadratic_capital(law, arm, fidelity, count, mean, q, side, scale):
    return half_normal(count, law.precision[arm, fidelity], side * (mean - q), SCALES[scale])[0]


@kernel
def half_normal(count, precision, distance, scale):
    """ln E and its two derivatives in the distance of the mean beyond q."""
    rise = count * sqrt(precision / (count + scale))
    z = rise * distance
    stake = 2.0 * SLAB * sqrt(scale / (count + scale))
    if z > 24.0:  # all of the normal is on the right side, and what is held in cash does not matter
        return 0.5 * z * z + log(stake), rise * z, rise * rise
    if z > -24.0:
        won = 0.5 * exp(0.5 * z * z) * erfc(-ROOT_HALF * z)
    else:
        y = 1.0 / (z * z)
        won = -DENSITY / z * (1.0 - y * (1.0 - y * (3.0 - 15.0 * y)))  # a little too little
    total = 1.0 - SLAB + stake * won
    slope = stake * (z * won + DENSITY) / total
    bend = stake * ((1.0 + z * z) * won + z * DENSITY) / total - slope * slope
    return log(total), rise * slope, rise * rise * bend


@kernel
def tilted_capital(law, arm, fidelity, count, mean, q, side, scale):
    unit = side / sqrt(SCALES[scale])
    most = -inf
    for g in range(NODES.size):
        most = max(most, LOG_NODE_WEIGHTS[g] + exponent(law, count, mean, q, unit * NODES[g]))
    if most == inf or most == -inf:
        return most if most == inf else CASH
    total = 0.0
    for g in range(NODES.size):
        total += exp(LOG_NODE_WEIGHTS[g] + exponent(law, count, mean, q, unit * NODES[g]) - most)
    won = log(SLAB) + most + log(total)
    top = max(won, CASH)
    return top + log(exp(won - top) + exp(CASH - top))
