"""Poisson: d(p, q) = q - p + p ln(p/q)."""

from math import exp, expm1, log, sqrt

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import divergence, exponent, part, sample, share, slopes, variance
from mfbai.model.families import PoissonLaw

LOG_2_PI = 1.8378770664093453
# B_2n / (2n (2n - 1)): the coefficients of Stirling's series.
STIRLING = (
    8.333333333333333e-02,
    -2.777777777777778e-03,
    7.936507936507937e-04,
    -5.952380952380952e-04,
    8.417508417508418e-04,
    -1.917526917526918e-03,
    6.410256410256410e-03,
    -2.955065359477124e-02,
    1.796443723688307e-01,
    -1.392432216905900e00,
)


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


@kernel(inline=False)
def draw_poisson(rng, mean):
    """As numba draws it, but without allocating; and so numpy, which differs once in 20,000 draws close to 10."""
    if mean >= 10.0:
        return draw_many(rng, mean)
    if mean == 0.0:
        return 0
    count, product, enough = 0, rng.random(), exp(-mean)
    while product > enough:
        count += 1
        product *= rng.random()
    return count


@kernel
def draw_many(rng, mean):
    """By transformed rejection (Hoermann 1993)."""
    root, log_mean = sqrt(mean), log(mean)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    scale = 1.1239 + 1.1328 / (b - 3.4)
    accepted = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = rng.random() - 0.5
        v = rng.random()
        room = 0.5 - abs(u)
        count = int((2.0 * a / room + b) * u + mean + 0.43)
        if room >= 0.07 and v <= accepted:
            return count
        if count < 0 or (room < 0.013 and v > room):
            continue
        if log(v) + log(scale) - log(a / (room * room) + b) <= -mean + count * log_mean - log_factorial(count):
            return count


@kernel
def log_factorial(count):
    """ln(count!), by Stirling's series at 7 or more, and down from there."""
    x = count + 1.0
    if x == 1.0 or x == 2.0:
        return 0.0
    steps = int(7.0 - x) if x < 7.0 else 0
    y = x + steps
    inverse = (1.0 / y) * (1.0 / y)
    series = STIRLING[9]
    for n in range(8, -1, -1):
        series = series * inverse + STIRLING[n]
    value = series / y + 0.5 * LOG_2_PI + (y - 0.5) * log(y) - y
    for _ in range(steps):
        value -= log(y - 1.0)
        y -= 1.0
    return value


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
