"""Binomial rewards: how many of `trials` attempts succeed. A skeleton to copy.

The page extending.md, in the folder above, goes through it part by part.
"""

from dataclasses import dataclass
from math import expm1, log1p, sqrt
from typing import NamedTuple

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.interface import divergence, exponent, part, sample, share, slopes, variance
from mfbai.model.families import FAMILIES, Family, traits


@traits(convex=True)
class BinomialLaw(NamedTuple):
    """d(p, q) = p ln(p/q) + (n-p) ln((n-p)/(n-q)), n being `trials`."""

    sign: float  # -1 if the problem minimises: kernels then see -mean, and values are drawn as such
    trials: float


@dataclass(frozen=True, eq=False)
class Binomial(Family):
    """The number of successes in `trials` attempts: 0, 1, ..., trials."""

    name = "binomial"
    trials: int

    @property
    def mean_range(self):
        return 0.0, float(self.trials)

    def check(self, cells):
        if not isinstance(self.trials, int) or self.trials < 1:
            cells.faults.add("trials", f"is {self.trials!r}: give a whole number of 1 or more")

    def law(self, shape, sign=1.0):
        return BinomialLaw(sign, float(self.trials))

    def admits(self, value):
        return 0 <= value <= self.trials and value == int(value)

    def to_dict(self):
        return {"name": self.name, "trials": self.trials}


@kernel
def binomial_divergence(law, arm, fidelity, p, e):
    p, e = law.sign * p, law.sign * e
    return part(p, e) + part(law.trials - p, -e)


@kernel
def binomial_slopes(law, arm, fidelity, p, e):
    p, q = law.sign * p, law.sign * (p + e)
    up, down = share(law.trials - p, law.trials - q), share(p, q)
    return law.sign * (up - down), share(up, law.trials - q) + share(down, q)


@kernel
def binomial_variance(law, arm, fidelity, count, mean):
    p = (count * law.sign * mean + 0.5) / (count * law.trials + 1.0)  # as if half a success more was seen
    return law.trials * p * (1.0 - p)


@kernel
def binomial_sample(law, rng, arm, fidelity, mean):
    successes = 0.0
    for _ in range(int(law.trials)):
        if rng.random() * law.trials < law.sign * mean:
            successes += 1.0
    return law.sign * successes


@kernel
def binomial_exponent(law, count, mean, q, tilt):
    chance = min(max(law.sign * q / law.trials, 0.0), 1.0)
    tilt *= 2.0 * law.sign / sqrt(law.trials)  # in units of the largest standard deviation
    return count * (tilt * law.sign * mean - law.trials * log1p(chance * expm1(tilt)))


divergence.register(BinomialLaw, binomial_divergence)
slopes.register(BinomialLaw, binomial_slopes)
variance.register(BinomialLaw, binomial_variance)
sample.register(BinomialLaw, binomial_sample)
exponent.register(BinomialLaw, binomial_exponent)
FAMILIES["binomial"] = Binomial
