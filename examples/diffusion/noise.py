"""How large the noise is, for those who state it: of values on any grid, and of controlled ones. README.md says why.

    python noise.py n8 20 0.96

prints the variance to state for n512 controlled by n8, with 20 other seeds and a coefficient of 0.96.
"""

import math
import sys
from functools import cache

import numpy as np
from evaluate import CELLS, DESIGNS, WAVES

SOBOLEV = 4 / math.pi**2  # (length / pi)^2 of the interval [-1, 1] of a coefficient
PROXY = SOBOLEV * sum(size**2 for size in WAVES)  # proven, for every design and grid
MATERIALS = 2000  # at which slopes are looked at
MARGIN = 2.0  # on the largest slope seen: this is no proof


@cache
def slopes(fidelity):
    """(designs, materials, 6) of the value in the coefficients: averages of the waves, weighted by a (u')^2."""
    cells = CELLS[fidelity]
    x = (np.arange(cells) + 0.5) / cells
    angles = 2 * np.pi * np.outer(np.arange(1, len(WAVES) + 1), x)
    waves = np.concatenate([np.cos(angles), np.sin(angles)]) * np.tile(WAVES, 2)[:, None]
    coefficients = np.random.default_rng(0).uniform(-1, 1, (MATERIALS, len(waves)))
    coefficients[::2] = np.sign(coefficients[::2])  # the corners, which are the extremes
    factors = np.exp(coefficients @ waves)
    return np.array(
        [average(waves, x, factors * np.array([design(place) for place in x])) for design in DESIGNS.values()]
    )


def average(waves, x, conductivities):
    """All heat that is made between x and the hottest place flows through x: a (u')^2 is (x - hottest)^2 / a."""
    shares = 1 / conductivities
    hottest = (shares * x).sum(axis=1, keepdims=True) / shares.sum(axis=1, keepdims=True)
    weights = shares * (x - hottest) ** 2
    return -(weights / weights.sum(axis=1, keepdims=True)) @ waves.T


def controlled_proxy(by, others, coefficient):
    """Of X_top(s) - coefficient X_by(s), at one material; and of the mean at the other seeds, which is proven."""
    steepest = ((slopes(list(CELLS)[-1]) - coefficient * slopes(by)) ** 2).sum(axis=2).max()
    return float(MARGIN * SOBOLEV * steepest + coefficient**2 * PROXY / others)


if __name__ == "__main__":
    by, others, coefficient = sys.argv[1:]
    print(f"{controlled_proxy(by, int(others), float(coefficient)):.6f}")
