"""Bernoulli: d(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))."""

from math import expm1, log1p

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import divergence, exponent, part, sample, share, slopes, variance
from mfbai.model.families import BernoulliLaw


@kernel
def bernoulli_divergence(law, arm, fidelity, p, e):
    p, e = law.sign * p, law.sign * e
    return part(p, e) + part(1.0 - p, -e)


@kernel
def bernoulli_slopes(law, arm, fidelity, p, e):
    p, e = law.sign * p, law.sign * e
    up, down = share(1.0 - p, 1.0 - p - e), share(p, p + e)
    return law.sign * (up - down), share(up, 1.0 - p - e) + share(down, p + e)


@kernel
def bernoulli_variance(law, arm, fidelity, count, mean):
    p = (count * law.sign * mean + 0.5) / (count + 1.0)
    return max(p * (1.0 - p), 1e-9)


@kernel
def bernoulli_sample(law, rng, arm, fidelity, mean):
    return law.sign if rng.random() < law.sign * mean else 0.0


@kernel
def bernoulli_exponent(law, count, mean, q, tilt):
    mean, q, tilt = law.sign * mean, min(max(law.sign * q, 0.0), 1.0), 2.0 * law.sign * tilt
    return count * (tilt * mean - log1p(q * expm1(tilt)))


divergence.register(BernoulliLaw, bernoulli_divergence)
slopes.register(BernoulliLaw, bernoulli_slopes)
variance.register(BernoulliLaw, bernoulli_variance)
sample.register(BernoulliLaw, bernoulli_sample)
exponent.register(BernoulliLaw, bernoulli_exponent)
