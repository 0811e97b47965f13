"""The compiled parts of each reward family, dispatched on the type of its law.

interface    the generic functions that kernels call, and pieces that several families share
gaussian     serves sub-Gaussian families too
bernoulli
poisson
exponential
"""

from mfbai.kernels.laws import bernoulli, exponential, gaussian, poisson
from mfbai.kernels.laws.interface import (
    TINY,
    divergence,
    excess,
    exponent,
    is_quadratic,
    part,
    reach,
    sample,
    share,
    slope_bounds,
    slopes,
    variance,
)

__all__ = [
    "TINY",
    "bernoulli",
    "divergence",
    "excess",
    "exponent",
    "exponential",
    "gaussian",
    "is_quadratic",
    "part",
    "poisson",
    "reach",
    "sample",
    "share",
    "slope_bounds",
    "slopes",
    "variance",
]
