"""Global search for the exponential family, whose profiles can have several local minima.

d(p, q) = p/q - 1 - ln(p/q) is convex in q only up to q = 2p, so a sum of such terms with different biases, for data
that contradict each other, can have several wells. Every cell's slope in x is negative below its dead zone and rises
to zero there; above it, it rises to 1/(4p) at q = 2p and falls again, with the steepest fall, -1/(27 p^2), at q = 3p.
(For reflected laws all of this is mirrored.) So slopes and curvatures have simple bounds over any interval, and
intervals are halved until the sum is monotone or convex on each: no local minimum is missed.
"""

from math import inf

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import slopes
from mfbai.kernels.profile import expand_pair, minimise

DEPTH = 128  # intervals waiting at any time: one a halving, and 60 halvings exhaust a double


@kernel
def slope_range(model, weights, means, arm, low, high):
    """Bounds on g_arm over [low, high]: least and largest slope, least curvature. O(M)."""
    least, largest, bend = 0.0, 0.0, 0.0
    sign = model.law.sign
    for m in range(weights.shape[1]):
        weight, mean = weights[arm, m], means[arm, m]
        if weight <= 0.0:
            continue
        size = sign * mean
        zone_low, zone_high = mean - model.bias_high[arm, m], mean - model.bias_low[arm, m]
        first, first_bend = cell_slopes(model.law, arm, m, mean, low, zone_low, zone_high)
        last, last_bend = cell_slopes(model.law, arm, m, mean, high, zone_low, zone_high)
        cell_least, cell_largest, cell_bend = min(first, last), max(first, last), min(first_bend, last_bend)
        edge = zone_high if sign > 0.0 else zone_low  # beyond it the mean must grow
        if low < edge + sign * size < high:
            cell_least, cell_largest = min(cell_least, sign / (4.0 * size)), max(cell_largest, sign / (4.0 * size))
        if low <= zone_high and high >= zone_low:
            cell_bend = min(cell_bend, 0.0)
        if low < edge + sign * 2.0 * size < high:
            cell_bend = -1.0 / (27.0 * size * size)
        least += weight * cell_least
        largest += weight * cell_largest
        bend += weight * cell_bend
    return least, largest, bend


@kernel
def cell_slopes(law, arm, fidelity, mean, x, zone_low, zone_high):
    move = min(x - zone_low, 0.0) + max(x - zone_high, 0.0)
    return slopes(law, arm, fidelity, mean, move) if move != 0.0 else (0.0, 0.0)


@kernel
def pair_range(model, weights, means, i, j, low, high):
    least, largest, bend = slope_range(model, weights, means, i, low, high)
    if j >= 0:
        shift = model.tolerance
        a, b, c = slope_range(model, weights, means, j, low + shift, high + shift)
        least, largest, bend = least + a, largest + b, bend + c
    return least, largest, bend


@kernel(inline=False)
def local_minima(model, weights, means, i, j, low, high, stack, xs, values, only_best):
    """Write the local minima of g_i(x) + g_j(x + tolerance) over [low, high] to xs and values; return how many.

    With `only_best`, intervals that cannot hold the global minimum are skipped, and the first entry is that minimum.
    """
    n = np.int64(0)
    for x in (low, high):
        n = keep(xs, values, n, x, expand_pair(model, weights, means, i, j, x)[0], only_best)
    depth = 1
    stack[0, 0], stack[1, 0] = low, high
    while depth > 0:
        depth -= 1
        a, b = stack[0, depth], stack[1, depth]
        least, largest, bend = pair_range(model, weights, means, i, j, a, b)
        if least > 0.0 or largest < 0.0:
            continue  # monotone: no minimum inside
        if only_best:
            start = expand_pair(model, weights, means, i, j, a)[0]
            if start < inf and start + least * (b - a) >= values[0]:
                continue
        middle = a + 0.5 * (b - a)
        if bend >= 0.0 or b - a <= 1e-15 * (abs(a) + abs(b)) or depth + 2 > stack.shape[1]:
            x, value = minimise(model, weights, means, i, j, a, b, middle)
            _, slope, _, curvature, _, _ = expand_pair(model, weights, means, i, j, x)
            if only_best or a < x < b or abs(slope) <= 1e-12 * abs(x) * curvature:
                n = keep(xs, values, n, x, value, only_best)
        else:
            stack[0, depth], stack[1, depth] = a, middle
            stack[0, depth + 1], stack[1, depth + 1] = middle, b
            depth += 2
    return n


@kernel
def keep(xs, values, n, x, value, only_best):
    """Add a point to a list of points; if the list is full, or holds only the best, in place of its worst."""
    worst = 0
    if not only_best:
        for k in range(1, n):
            if values[k] > values[worst]:
                worst = k
    if n < (1 if only_best else xs.shape[0]):
        xs[n], values[n] = x, value
        return n + 1
    if value < values[worst]:
        xs[worst], values[worst] = x, value
    return n
