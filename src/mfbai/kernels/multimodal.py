"""Global search for laws that are not convex, such as the exponential family's: profiles can have several minima.

If d(p, q) is not convex in q, a sum of such terms with different biases, for data that contradict each other, can have
several wells. The law bounds each cell's slope and curvature over any interval (`slope_bounds`), and intervals are
halved until the sum is monotone or convex on each: no local minimum is missed.
"""

from math import inf

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import slope_bounds
from mfbai.kernels.profile import expand_pair, minimise

DEPTH = 128  # intervals waiting at any time: one a halving, and 60 halvings exhaust a double


@kernel
def slope_range(model, weights, means, arm, low, high):
    """Bounds on g_arm over [low, high]: least and largest slope, least curvature. O(M)."""
    least, largest, bend = 0.0, 0.0, 0.0
    for m in range(weights.shape[1]):
        weight, mean = weights[arm, m], means[arm, m]
        if weight <= 0.0:
            continue
        zone_low, zone_high = mean - model.bias_high[arm, m], mean - model.bias_low[arm, m]
        bounds = slope_bounds(model.law, arm, m, mean, low, high, zone_low, zone_high)
        least += weight * bounds[0]
        largest += weight * bounds[1]
        bend += weight * bounds[2]
    return least, largest, bend


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
