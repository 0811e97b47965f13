"""What a round bets, by what is known of the noise. y is a contrast less its bound: its mean is 0 at most if j is best.

nothing but that y is symmetric   1 + tanh(l y): it rises in y, and around 0 it is 1 and an odd function
values between bounds             1 + l y, with l below 1 / (the least that y can be): linear, and never below 0

Both have a mean of 1 at most, for every tilt l >= 0 that was chosen before the round.
"""

from math import exp, inf, log, log1p

from mfbai.kernels.jit import generic, kernel
from mfbai.model.families import BoundedLaw

LN2 = log(2.0)
NEARLY = 0.99  # of what may be lost in a round: never all
SHORTEST = 1e-6  # of the range of the values: shortfalls below that are taken to be that large


@generic(0, choose=lambda law: odd_tilt)
def tilt_of(law, gap, noise):
    """What is best if y has that mean and that variance."""


@generic(0, choose=lambda law: any_tilt)
def largest_tilt(law, model, i, m, j, k):
    """The most that is allowed, for arm i at fidelity m and rival j at k."""


@generic(0, choose=lambda law: odd_log_factor)
def log_factor(law, tilt, y):
    """ln of what the capital is multiplied by."""


@generic(0, choose=lambda law: odd_nats)
def nats(law, gap, noise, most):
    """About what a round brings if y has that mean and that variance, with tilts of `most` at most."""


@kernel
def odd_tilt(law, gap, noise):
    return gap / noise


@kernel
def any_tilt(law, model, i, m, j, k):
    return inf


@kernel
def odd_log_factor(law, tilt, y):
    z = 2.0 * tilt * y
    return LN2 - (log1p(exp(-z)) if z > -500.0 else -z)  # ln(1 + tanh(z / 2))


@kernel
def odd_nats(law, gap, noise, most):
    return LN2 * (1.0 - exp(-gap * gap / (2.0 * LN2 * noise)))


@kernel
def linear_tilt(law, gap, noise):
    return gap / (noise + gap * gap)


@kernel
def linear_largest_tilt(law, model, i, m, j, k):
    shortfall = law.high[k] - law.low[m] + model.bias_high[i, m] - model.bias_low[j, k] - model.tolerance
    return NEARLY / max(shortfall, SHORTEST * (law.high[k] - law.low[k] + law.high[m] - law.low[m]))


@kernel
def linear_log_factor(law, tilt, y):
    return log1p(tilt * y)


@kernel
def linear_nats(law, gap, noise, most):
    tilt = min(linear_tilt(law, gap, noise), most)
    return tilt * gap - 0.5 * tilt * tilt * (noise + gap * gap)


tilt_of.register(BoundedLaw, linear_tilt)
largest_tilt.register(BoundedLaw, linear_largest_tilt)
log_factor.register(BoundedLaw, linear_log_factor)
nats.register(BoundedLaw, linear_nats)
