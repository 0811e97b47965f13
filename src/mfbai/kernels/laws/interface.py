"""What kernels ask of a reward family's law: generic functions that each family registers its compiled parts for.

d(p, q) is the Kullback-Leibler divergence from mean p to mean q. It is asked for as a function of the shift
e = q - p, which keeps full precision for small shifts. Its slope is e / v(q): zero at e = 0, but for p at the edge of
the range (no successes so far, say), where it is the one-sided limit. A reflected law (sign = -1, for problems that
minimise) sees -p and -q, so its slope changes sign. Callers keep q inside the range of the means.
"""

from math import inf, log1p

from mfbai.kernels.jit import generic, kernel

TINY = 1e-290  # what is below counts as zero, so that no quotient overflows
SLAB = 0.7  # share of the capital that bets


@generic(0)
def divergence(law, arm, fidelity, p, e):
    """d(p, p + e) in the given cell; infinite where p + e makes p impossible."""


@generic(0)
def slopes(law, arm, fidelity, p, e):
    """First and second derivative of d(p, q) in q, at q = p + e."""


@generic(0)
def variance(law, arm, fidelity, count, mean):
    """About how noisy the given cell is, if `count` evaluations had this mean; never zero."""


@generic(0)
def sample(law, rng, arm, fidelity, mean):
    """Draw one evaluation of the given cell."""


@generic(0)
def exponent(law, count, mean, q, tilt):
    """tilt * sum(values) - count * psi_q(tilt), in terms of which the prior has unit variance at scale 1.

    psi_q is the cumulant function at the mean q. Only laws that are not quadratic are asked: see `kernels.betting`.
    """


@generic(0)
def slope_bounds(law, arm, fidelity, mean, low, high, zone_low, zone_high):
    """Bounds over x in [low, high] on a cell's part of a profile: least and largest slope, least curvature.

    The cell's dead zone is [zone_low, zone_high]. Only laws that are not convex are asked: see `kernels.multimodal`.
    """


@kernel
def learn_nothing(law, model, stats, arm, fidelity, x):
    pass


@generic(0, choose=lambda law: learn_nothing)
def learn(law, model, stats, arm, fidelity, x):
    """Take in an evaluation, which `stats` holds already. For laws that estimate their noise on the way."""


@generic(0)
def wager(law, stats, arm, fidelity, q, other, side):
    """ln E of the claim that the cell's mean is above q (side +1) or below it, and a slope: ln E is nowhere below the
    line of that slope through it between q and the `other` point. Only laws that learn their noise are asked: see
    `kernels.chords`."""


@generic(0)
def top_range(law):
    """Ends of the interval that is known to hold all top means. The same laws are asked."""


@kernel
def unknown_reach(law, arm, fidelity, weight, move):
    return inf


@generic(0, choose=lambda law: unknown_reach)
def reach(law, arm, fidelity, weight, move):
    """How much sqrt(f) can change, for any f that the cell has a part in, if its mean moves; infinite if unknown."""


@kernel
def yes(law):
    return True


@kernel
def no(law):
    return False


@generic(0, choose=lambda law: yes if law.quadratic else no)
def is_quadratic(law):
    """Whether d is quadratic in q, so that a Newton step that stays inside a piece is exact."""


@generic(0, choose=lambda law: yes if law.known else no)
def is_known(law):
    """Whether what the law says of noise was stated, not learnt on the way."""


@kernel
def excess(u):
    """u - ln(1 + u) >= 0, without cancellation near 0: all divergences but the quadratic are made of it."""
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
def slopes_outside(law, arm, fidelity, mean, x, zone_low, zone_high):
    """`slopes` of a cell for a top mean of x: zero inside its dead zone."""
    move = min(x - zone_low, 0.0) + max(x - zone_high, 0.0)
    return slopes(law, arm, fidelity, mean, move) if move != 0.0 else (0.0, 0.0)
