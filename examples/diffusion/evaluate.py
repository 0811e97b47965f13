"""One evaluation: the logarithm of a rod's mean temperature, for one design on one grid with one random material.

    python evaluate.py edges n16 7

A rod from 0 to 1 is heated evenly and cooled at both ends:  -(a(x) u'(x))' = HEAT,  u(0) = u(1) = 0.
The conductivity a is that of the design times the exponential of a random field. The seed makes the field, whatever the
design and the grid: a coarse and a fine grid see the same material at one seed. Only the standard library is used, as
each evaluation is a process of its own, and has to start fast.
"""

import math
import random
import sys
from itertools import pairwise

HEAT = 1000.0  # makes the mean temperature of an even rod about 83 degrees above that of its ends

# Where the conducting material is put. Each design uses the same amount: the integral from 0 to 1 is 1.
DESIGNS = {
    "even": lambda x: 1.0,
    "centre": lambda x: 1.0 - 0.6 * math.cos(2 * math.pi * x),
    "edges": lambda x: 1.0 + 0.6 * math.cos(2 * math.pi * x),
    "gentle": lambda x: 1.0 + 0.3 * math.cos(2 * math.pi * x),
    "graded": lambda x: 1.0 + 0.6 * (1 - 2 * x),
    "stripes": lambda x: 1.0 + 0.6 * math.cos(4 * math.pi * x),
}

CELLS = {"n8": 8, "n16": 16, "n64": 64, "n512": 512}  # of the grid, for each fidelity

# The log-conductivity's random part: a Karhunen-Loeve expansion, cut after three waves. Each wave has a cosine and a
# sine of this size, with coefficients uniform on [-1, 1]. Its standard deviation is 0.10 at every x.
WAVES = (0.15, 0.075, 0.05)


def draw_coefficients(rng):
    """Those of one material: a cosine's and a sine's for each wave."""
    return [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in WAVES]


def log_field(x, coefficients):
    """The random part of the log-conductivity at x."""
    total = 0.0
    for wave, (size, (cosine, sine)) in enumerate(zip(WAVES, coefficients, strict=True), start=1):
        angle = 2 * math.pi * wave * x
        total = total + size * (cosine * math.cos(angle) + sine * math.sin(angle))
    return total


def mean_temperature(conductivities, heat=HEAT):
    """Finite volumes of second order: a conductivity for the middle of each cell gives the mean of u.

    Heat that flows from a grid point to the next is the cell's conductivity times the difference of u over the cell's
    width. What flows out of a point's surroundings is what is made there: a tridiagonal system, solved by elimination.
    """
    width = 1.0 / len(conductivities)
    links = [a / width for a in conductivities]
    factors, values = [0.0], [0.0]  # u[i] = values[i] + factors[i] u[i + 1]; at the left end u is 0
    for left, right in pairwise(links):
        pivot = left + right - left * factors[-1]
        values.append((heat * width + left * values[-1]) / pivot)
        factors.append(right / pivot)
    total = u = 0.0  # at the right end
    for value, factor in zip(reversed(values), reversed(factors), strict=True):
        u = value + factor * u
        total = total + u
    return total * width


def log_temperature(design, cells, coefficients):
    """ln of the mean temperature: a difference of 0.1 is one of 10 %."""
    middles = [(i + 0.5) / cells for i in range(cells)]
    return math.log(mean_temperature([design(x) * math.exp(log_field(x, coefficients)) for x in middles]))


def evaluate(arm, fidelity, seed):
    """For mfbai.identify."""
    return log_temperature(DESIGNS[arm], CELLS[fidelity], draw_coefficients(random.Random(seed)))


def main(arguments):
    if len(arguments) != 3:
        return fault("usage: python evaluate.py ARM FIDELITY SEED")
    arm, fidelity, seed = arguments
    if arm not in DESIGNS:
        return fault(f"no arm {arm!r}; known: {', '.join(DESIGNS)}")
    if fidelity not in CELLS:
        return fault(f"no fidelity {fidelity!r}; known: {', '.join(CELLS)}")
    print(evaluate(arm, fidelity, int(seed)))
    return 0


def fault(message):
    print(f"error: {message}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
