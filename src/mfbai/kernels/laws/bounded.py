"""Values between two bounds: a histogram of them for the bets, and the variance learnt so far for decisions alone.

If values are `low` or more and have a mean of q or less, a bet of b in (0, 1) multiplies the capital by

    1 - b + b (value - low) / (q - low)  >= 0,

of mean 1 at most; and the same, mirrored, for "below q". It is linear in the value and its ln is concave, so counting a
value in parts at the two levels around it never gains. Its ln is convex in q, and so is that of the mixture of bets.
"""

from math import exp, log

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.gaussian import gaussian_divergence, gaussian_slopes, gaussian_variance
from mfbai.kernels.laws.interface import SLAB, divergence, learn, sample, slopes, top_range, variance, wager
from mfbai.kernels.laws.symmetric import CASH, symmetric_learn
from mfbai.model.families import LEVELS, BoundedLaw

BETS = np.array([0.002, 0.004, 0.008, 0.017, 0.035, 0.07, 0.15, 0.3, 0.5, 0.75, 0.9, 0.99])
LOG_SHARE = log(SLAB / BETS.size)
NEAREST = 1e-12  # of the range: closer to its end than this a line takes the place of the logarithm
NOTHING = -20.0  # nats: a bet this far below the best, and those beyond it, are left out


@kernel
def bounded_wager(law, stats, arm, fidelity, q, other, side):
    low, high = law.low[fidelity], law.high[fidelity]
    room = (q - low if side > 0.0 else high - q) / (high - low)
    least = max(room, NEAREST)
    most, total, slope = CASH, 1.0, 0.0
    before = LOG_SHARE
    for k in range(BETS.size):
        won, steep = play(law.levels[arm, fidelity], BETS[k], least, side)
        won += LOG_SHARE
        if won > most:
            less = exp(most - won)
            most, total, slope = won, total * less + 1.0, slope * less + steep
        else:
            part = exp(won - most)
            total += part
            slope += part * steep
        # Concave in the bet: once it falls, it falls ever faster.
        if won < most + NOTHING and won < before:
            break
        before = won
    slope /= total
    value = most + log(total) + slope * (room - least)
    return value, side * slope / (high - low)


@kernel
def play(levels, bet, room, side):
    """What a bet has won, in nats, and its slope in the room that q leaves, both as parts of the range."""
    won, steep, unit = 0.0, 0.0, bet / ((LEVELS - 1) * room)
    for g in range(LEVELS):
        count = levels[g]
        if count > 0.0:
            gain = unit * (g if side > 0.0 else LEVELS - 1 - g)
            factor = 1.0 - bet + gain
            won += count * log(factor)
            steep += count * gain / factor
    return won, -steep / room


@kernel
def bounded_range(law):
    return law.low[-1], law.high[-1]


@kernel
def bounded_learn(law, model, stats, arm, fidelity, x):
    symmetric_learn(law, model, stats, arm, fidelity, x)
    low, high = law.low[fidelity], law.high[fidelity]
    place = (x - low) / (high - low) * (LEVELS - 1)
    below = min(max(int(place), 0), LEVELS - 2)
    law.levels[arm, fidelity, below] += below + 1.0 - place
    law.levels[arm, fidelity, below + 1] += place - below


@kernel
def bounded_sample(law, rng, arm, fidelity, mean):
    """From a Beta law; if there is none of that mean and deviation, from the two bounds."""
    low, high = law.low[fidelity], law.high[fidelity]
    p, spread = (mean - low) / (high - low), law.deviation[arm, fidelity] / (high - low)
    if spread == 0.0:
        return mean
    size = p * (1.0 - p) / (spread * spread) - 1.0
    if size <= 1e-3:
        return high if rng.random() < p else low
    a = rng.standard_gamma(p * size)
    b = rng.standard_gamma((1.0 - p) * size)
    return low + (high - low) * a / (a + b) if a + b > 0.0 else (high if rng.random() < p else low)


divergence.register(BoundedLaw, gaussian_divergence)
slopes.register(BoundedLaw, gaussian_slopes)
variance.register(BoundedLaw, gaussian_variance)
learn.register(BoundedLaw, bounded_learn)
sample.register(BoundedLaw, bounded_sample)
wager.register(BoundedLaw, bounded_wager)
top_range.register(BoundedLaw, bounded_range)
