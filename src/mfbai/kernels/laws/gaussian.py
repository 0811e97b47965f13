"""Gaussian and sub-Gaussian: d(p, q) = precision (p - q)^2 / 2.

The law is quadratic, so its bets have a closed form (`kernels.betting`) and need no `exponent`.
"""

from math import inf, sqrt

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import divergence, reach, sample, slopes, variance
from mfbai.model.families import GaussianLaw


@kernel
def gaussian_divergence(law, arm, fidelity, p, e):
    return 0.5 * law.precision[arm, fidelity] * e * e


@kernel
def gaussian_slopes(law, arm, fidelity, p, e):
    precision = law.precision[arm, fidelity]
    return precision * e, precision


@kernel
def gaussian_reach(law, arm, fidelity, weight, move):
    # f is a squared distance from the means to a convex set, in the norm of the cells' weighted precisions.
    return sqrt(0.5 * weight * law.precision[arm, fidelity]) * abs(move)


@kernel
def gaussian_variance(law, arm, fidelity, count, mean):
    return 1.0 / law.precision[arm, fidelity]


@kernel
def gaussian_sample(law, rng, arm, fidelity, mean):
    if law.low > -inf:
        return law.high if rng.random() * (law.high - law.low) < mean - law.low else law.low
    return mean + law.deviation[arm, fidelity] * rng.standard_normal()


divergence.register(GaussianLaw, gaussian_divergence)
slopes.register(GaussianLaw, gaussian_slopes)
reach.register(GaussianLaw, gaussian_reach)
variance.register(GaussianLaw, gaussian_variance)
sample.register(GaussianLaw, gaussian_sample)
