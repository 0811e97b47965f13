"""Divergences and sampling of each reward family, dispatched on the type of the law.

d(p, q) is the Kullback-Leibler divergence from mean p to mean q. It is asked for as a function of the shift
e = q - p, which keeps full precision for small shifts. Its slope is e / v(q): zero at e = 0, but for p at the edge of
the range (no successes so far, say), where it is the one-sided limit. A reflected law (sign = -1, for problems that
minimise) sees -p and -q, so its slope changes sign. Callers keep q inside the range of the means.
"""

from math import inf, log1p, sqrt

from mfbai.kernels.jit import generic, kernel
from mfbai.model.families import BernoulliLaw, ExponentialLaw, GaussianLaw, PoissonLaw

TINY = 1e-290  # what is below counts as zero, so that no quotient overflows


@generic(0)
def divergence(law, arm, fidelity, p, e):
    """d(p, p + e) in the given cell; infinite where p + e makes p impossible."""


@generic(0)
def slopes(law, arm, fidelity, p, e):
    """First and second derivative of d(p, q) in q, at q = p + e."""


@generic(0)
def is_quadratic(law):
    """Whether d is quadratic in q, so that a Newton step that stays inside a piece is exact."""


@generic(0)
def reach(law, arm, fidelity, weight, move):
    """How much sqrt(f) can change, for any f that the cell has a part in, if its mean moves; infinite if unknown."""


@generic(0)
def variance(law, arm, fidelity, count, mean):
    """About how noisy the given cell is, if `count` evaluations had this mean; never zero."""


@generic(0)
def sample(law, rng, arm, fidelity, mean):
    """Draw one evaluation of the given cell."""


@kernel
def yes(law):
    return True


@kernel
def no(law):
    return False


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
def unknown_reach(law, arm, fidelity, weight, move):
    return inf


@kernel
def gaussian_sample(law, rng, arm, fidelity, mean):
    if law.low > -inf:
        return law.high if rng.random() * (law.high - law.low) < mean - law.low else law.low
    return mean + law.deviation[arm, fidelity] * rng.standard_normal()


@kernel
def gaussian_variance(law, arm, fidelity, count, mean):
    return 1.0 / law.precision[arm, fidelity]


@kernel
def excess(u):
    """u - ln(1 + u) >= 0, without cancellation near 0: every divergence below is made of it."""
    if u <= -1.0:
        return inf
    if abs(u) > 0.1:
        return u - log1p(u)
    r = u / (2.0 + u)
    s = r * r
    tail = 1 / 3 + s * (1 / 5 + s * (1 / 7 + s * (1 / 9 + s * (1 / 11 + s * (1 / 13 + s / 15)))))
    return u * r - 2.0 * r * s * tail


@kernel
def part(p, e):
    """p ln(p / q) + q - p at q = p + e, with its limits at p = 0 and q = 0."""
    return p * excess(e / p) if p > TINY else max(e, 0.0)


@kernel
def share(p, q):
    """p / q for p, q >= 0, with 0 / 0 = 0."""
    if p <= TINY:
        return 0.0
    return p / q if q > TINY else inf


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
def exponential_variance(law, arm, fidelity, count, mean):
    return max(mean * mean, TINY)


@kernel
def exponential_sample(law, rng, arm, fidelity, mean):
    return law.sign * rng.exponential(law.sign * mean)


for law, functions in {
    GaussianLaw: (gaussian_divergence, gaussian_slopes, yes, gaussian_reach, gaussian_variance, gaussian_sample),
    BernoulliLaw: (bernoulli_divergence, bernoulli_slopes, no, unknown_reach, bernoulli_variance, bernoulli_sample),
    PoissonLaw: (poisson_divergence, poisson_slopes, no, unknown_reach, poisson_variance, poisson_sample),
    ExponentialLaw: (
        exponential_divergence,
        exponential_slopes,
        no,
        unknown_reach,
        exponential_variance,
        exponential_sample,
    ),
}.items():
    for name, function in zip((divergence, slopes, is_quadratic, reach, variance, sample), functions, strict=True):
        name.register(law, function)
