"""Slow, obvious versions of the kernels, to test the fast ones against. Plain Python and NumPy."""

import numpy as np


def divergence(problem, arm, fidelity, p, q):
    """d(p, q) from its textbook formula; infinite where q makes p impossible."""
    p, q = float(p), np.asarray(q, dtype=float)
    with np.errstate(all="ignore"):
        match problem.family.name:
            case "gaussian":
                variance = np.broadcast_to(problem.family.variance, problem.shape)[arm, fidelity]
                return (p - q) ** 2 / (2 * variance)
            case "subgaussian":
                variance = np.broadcast_to(problem.family.proxy, problem.shape)[arm, fidelity]
                return (p - q) ** 2 / (2 * variance)
            case "bernoulli":
                kl = _xlog(p, p / q) + _xlog(1 - p, (1 - p) / (1 - q))
                return np.where((q < 0) | (q > 1), np.inf, kl)
            case "poisson":
                return np.where(q < 0, np.inf, q - p + _xlog(p, p / q))
            case "exponential":
                return np.where(q <= 0, np.inf, p / q - 1 - np.log(p / q))
    raise AssertionError(problem.family.name)


def _xlog(x, ratio):
    return x * np.log(ratio) if x > 0 else np.zeros_like(ratio)
