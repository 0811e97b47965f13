"""The compiled parts of each reward family, dispatched on the type of its law.

interface    the generic functions that kernels call, and pieces that several families share
gaussian     serves sub-Gaussian families too
symmetric    noise of unknown size
bounded      the same, of values in a range
bernoulli
poisson
exponential
"""

from mfbai.kernels.laws import bernoulli, bounded, exponential, gaussian, poisson, symmetric
from mfbai.kernels.laws.interface import (
    SLAB,
    TINY,
    divergence,
    excess,
    exponent,
    is_known,
    is_quadratic,
    learn,
    part,
    reach,
    sample,
    share,
    slope_bounds,
    slopes,
    top_range,
    variance,
    wager,
)

__all__ = [
    "SLAB",
    "TINY",
    "bernoulli",
    "bounded",
    "divergence",
    "excess",
    "exponent",
    "exponential",
    "gaussian",
    "is_known",
    "is_quadratic",
    "learn",
    "part",
    "poisson",
    "reach",
    "sample",
    "share",
    "slope_bounds",
    "slopes",
    "symmetric",
    "top_range",
    "variance",
    "wager",
]
