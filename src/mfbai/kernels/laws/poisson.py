"""Poisson: d(p, q) = q - p + p ln(p/q)."""

from math import expm1

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import divergence, exponent, part, sample, share, slopes, variance
from mfbai.model.families import PoissonLaw


@kernel
def poisson_divergence(law, arm, fidelity, p, e):
    return part(law.sign * p, law.sign * e)


@kernel
def poisson_slopes(law, arm, fidelity, p, e):
    p, q = law.sign * p, law.sign * (p + e)
    down = share(p, q)
    return law.sign * (1.0 - down), share(down, q)


@kernel
def poisson_variance(law, arm, fidelity, count, mean):
    return max(law.sign * mean, 0.0) + 0.5 / count


@kernel(inline=False, memory=True)
def draw_poisson(rng, mean):
    return rng.poisson(mean)


@kernel
def poisson_sample(law, rng, arm, fidelity, mean):
    return law.sign * draw_poisson(rng, law.sign * mean)


@kernel
def poisson_exponent(law, count, mean, q, tilt):
    mean, q, tilt = law.sign * mean, max(law.sign * q, 0.0), law.sign * tilt
    return count * (tilt * mean - q * expm1(tilt))


divergence.register(PoissonLaw, poisson_divergence)
slopes.register(PoissonLaw, poisson_slopes)
variance.register(PoissonLaw, poisson_variance)
sample.register(PoissonLaw, poisson_sample)
exponent.register(PoissonLaw, poisson_exponent)
