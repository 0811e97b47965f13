"""Exponential: d(p, q) = p/q - 1 - ln(p/q), in q convex only up to q = 2p."""

from math import expm1, inf

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import (
    TINY,
    divergence,
    excess,
    exponent,
    sample,
    slope_bounds,
    slopes,
    slopes_outside,
    variance,
)
from mfbai.model.families import ExponentialLaw


@kernel
def exponential_divergence(law, arm, fidelity, p, e):
    return excess(-e / (p + e)) if law.sign * (p + e) > TINY else inf


@kernel
def exponential_slopes(law, arm, fidelity, p, e):
    p, e = law.sign * p, law.sign * e
    q = p + e
    if q <= TINY:
        return -law.sign * inf, inf
    return law.sign * (e / q / q), (p - e) / q / q / q


@kernel
def exponential_slope_bounds(law, arm, fidelity, mean, low, high, zone_low, zone_high):
    """The slope is negative below the dead zone and rises to zero there; above it, it rises to 1/(4p) at q = 2p and
    falls again, with the steepest fall, -1/(27 p^2), at q = 3p. For reflected laws all of this is mirrored."""
    sign, size = law.sign, law.sign * mean
    first, first_bend = slopes_outside(law, arm, fidelity, mean, low, zone_low, zone_high)
    last, last_bend = slopes_outside(law, arm, fidelity, mean, high, zone_low, zone_high)
    least, largest, bend = min(first, last), max(first, last), min(first_bend, last_bend)
    edge = zone_high if sign > 0.0 else zone_low  # beyond it the mean must grow
    if low < edge + sign * size < high:
        least, largest = min(least, sign / (4.0 * size)), max(largest, sign / (4.0 * size))
    if low <= zone_high and high >= zone_low:
        bend = min(bend, 0.0)
    if low < edge + sign * 2.0 * size < high:
        bend = -1.0 / (27.0 * size * size)
    return least, largest, bend


@kernel
def exponential_variance(law, arm, fidelity, count, mean):
    return max(mean * mean, TINY)


@kernel
def exponential_sample(law, rng, arm, fidelity, mean):
    return law.sign * rng.exponential(law.sign * mean)


@kernel
def exponential_exponent(law, count, mean, q, tilt):
    # In units of q: the mean that is bet on is q exp(tilt).
    mean, q, tilt = law.sign * mean, law.sign * q, law.sign * tilt
    if q <= 0.0:
        return inf if tilt > 0.0 else -inf
    return count * (-expm1(-tilt) * (mean / q) - tilt)


divergence.register(ExponentialLaw, exponential_divergence)
slopes.register(ExponentialLaw, exponential_slopes)
slope_bounds.register(ExponentialLaw, exponential_slope_bounds)
variance.register(ExponentialLaw, exponential_variance)
sample.register(ExponentialLaw, exponential_sample)
exponent.register(ExponentialLaw, exponential_exponent)
