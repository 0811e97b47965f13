"""Where the bias bounds in bounds.toml come from. Takes a moment:  python bias.py

The scheme is of second order: on a grid of width h the mean is off by about C h^2. Halving h takes three quarters of
that away. So 4/3 of what the mean then changes by, with the other sign, estimates the bias (Richardson). We trust the
estimate to within 100 %: the bias is between nothing and twice the estimate.
"""

import math
import random
import statistics

from evaluate import DESIGNS, draw_coefficients, log_temperature

MATERIALS = 5  # few are enough: both grids of a pair see the same ones, so that most of the noise cancels
TRUST = 2.0


def bias_estimate(design, cells, materials):
    coarse, fine = ([log_temperature(design, n, material) for material in materials] for n in (cells, 2 * cells))
    return -4 / 3 * (statistics.mean(fine) - statistics.mean(coarse))


def bias_bounds(design, materials):
    """(low, high) for n8, n16 and n64; and the order that was seen from 8 to 32 cells, which should be about 2."""
    at_8, at_16 = (bias_estimate(design, cells, materials) for cells in (8, 16))
    at_64 = at_16 / 16  # by the order alone: grids finer than 32 cells are not paid for
    ends = [round_outwards(TRUST * bias) for bias in (at_8, at_16, at_64)]
    return [(min(end, 0.0), max(end, 0.0)) for end in ends], math.log2(abs(at_8 / at_16))


def round_outwards(number, digits=2):
    unit = 10.0 ** (math.floor(math.log10(abs(number))) - digits + 1)
    return round(math.copysign(math.ceil(abs(number) / unit) * unit, number), 12)


def main():
    rng = random.Random(0)
    materials = [draw_coefficients(rng) for _ in range(MATERIALS)]
    print(f"{'design':8}  order seen  {'bias on n8':>14}  {'on n16':>14}  {'on n64':>14}")
    for name, design in DESIGNS.items():
        bounds, order = bias_bounds(design, materials)
        print(f"{name:8}  {order:10.2f}" + "".join(f"  {f'[{low:g}, {high:g}]':>14}" for low, high in bounds))
    print(f"cost of these evaluations: {MATERIALS * len(DESIGNS) * (8 + 16 + 32):,}")


if __name__ == "__main__":
    main()
