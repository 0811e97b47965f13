"""Profiles: how badly an arm's data fit a given top mean, and the one-dimensional problems made of them.

If arm a's top mean is x, the closest admissible mean of its cell m is clip(mean, x + bias_low, x + bias_high), so

    g_a(x) = sum_m weight[a,m] * d(mean[a,m], clip(mean[a,m], x + bias_low[a,m], x + bias_high[a,m]))

is zero while x lies in every cell's dead zone [mean - bias_high, mean - bias_low] and rises outside. Cells of weight
zero have no say. Between the ends of the dead zones g_a is smooth: these ends cut the line into *pieces*.
"""

from math import inf, isfinite

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import divergence, is_quadratic, slopes


@kernel
def shift(model, mean, arm, fidelity, x):
    """How far a cell's mean must move to be admissible, if the arm's top mean is x."""
    low = x - (mean - model.bias_high[arm, fidelity])
    high = x - (mean - model.bias_low[arm, fidelity])
    return min(low, 0.0) + max(high, 0.0)


@kernel
def profile(model, weights, means, arm, x):
    """g_arm(x). O(M)."""
    value = 0.0
    for m in range(weights.shape[1]):
        if weights[arm, m] > 0.0:
            mean = means[arm, m]
            value += weights[arm, m] * divergence(model.law, arm, m, mean, shift(model, mean, arm, m, x))
    return value


@kernel
def dead_zone(model, weights, means, arm):
    """[low, high], where every cell with data fits; low > high if there is no such x (the data violate the model)."""
    low, high = model.top_low[arm], model.top_high[arm]
    for m in range(weights.shape[1]):
        if weights[arm, m] > 0.0:
            low = max(low, means[arm, m] - model.bias_high[arm, m])
            high = min(high, means[arm, m] - model.bias_low[arm, m])
    return low, high


@kernel
def expand(model, weights, means, arm, x):
    """g_arm around x: value, left and right slope, curvature, and the ends of the piece that holds x. O(M)."""
    value, left, right, curvature, below, above = 0.0, 0.0, 0.0, 0.0, -inf, inf
    for m in range(weights.shape[1]):
        weight = weights[arm, m]
        if weight <= 0.0:
            continue
        mean = means[arm, m]
        low = mean - model.bias_high[arm, m]
        high = mean - model.bias_low[arm, m]
        # The slope of a mean at the edge of its range (0 successes, say) jumps at the end of its dead zone; minima that
        # rest there must be found in spite of rounding.
        near = 0.0 if is_quadratic(model.law) else 1e-15 * (abs(x) + abs(low) + abs(high) + model.tolerance)
        if x < low - near:
            above = min(above, low)
            move = x - low
        elif x > high + near:
            below = max(below, high)
            move = x - high
        else:
            below, above = max(below, low), min(above, high)
            if not is_quadratic(model.law) and (x >= high - near or x <= low + near):
                slope, _ = slopes(model.law, arm, m, mean, 0.0)
                if x >= high - near:
                    right += weight * max(slope, 0.0)
                if x <= low + near:
                    left += weight * min(slope, 0.0)
            continue
        slope, bend = slopes(model.law, arm, m, mean, move)
        value += weight * divergence(model.law, arm, m, mean, move)
        left += weight * slope
        right += weight * slope
        curvature += weight * bend
    return value, left, right, curvature, below, above


@kernel
def expand_pair(model, weights, means, i, j, x):
    """The same for g_i(x) + g_j(x + tolerance); for g_i alone if j < 0."""
    value, left, right, curvature, below, above = expand(model, weights, means, i, x)
    if j >= 0:
        v, sl, sr, c, b, a = expand(model, weights, means, j, x + model.tolerance)
        value, left, right, curvature = value + v, left + sl, right + sr, curvature + c
        below, above = max(below, b - model.tolerance), min(above, a - model.tolerance)
    return value, left, right, curvature, below, above


@kernel(inline=False)
def minimise(model, weights, means, i, j, low, high, x):
    """The minimiser over [low, high] of the convex g_i(x) + g_j(x + tolerance), and the minimum, starting from x.

    Newton's method inside a bracket. A step that stays inside a piece is exact for a quadratic divergence; any other
    law is iterated to machine precision, and a step that would leave the piece stops at its end, where the slope may
    jump across zero. From a good start one pass is enough.
    """
    low_known, high_known = False, False  # whether the slope there is known to point inwards
    x = min(max(x, low), high)
    value = inf
    for attempt in range(200):
        value, left, right, curvature, below, above = expand_pair(model, weights, means, i, j, x)
        if left <= 0.0 <= right or (right < 0.0 and x >= high) or (left > 0.0 and x <= low):
            return x, value
        slope = right if right < 0.0 else left
        if slope < 0.0:
            low, low_known = x, True
        else:
            high, high_known = x, True
        step = -slope / curvature if 0.0 < curvature < inf else -slope * inf
        y = x + step
        slack = 4e-16 * (abs(x) + abs(y))
        if is_quadratic(model.law):
            if below - slack <= y <= above + slack and low <= y <= high:
                gain = 0.5 * slope * slope / curvature
                if gain <= 0.5 * value:
                    return y, value - gain
                return y, expand_pair(model, weights, means, i, j, y)[0]  # far away, the difference would cancel
        else:
            if abs(step) <= slack and isfinite(step):
                if abs(slope * step) <= 1e-12 * value:
                    return x, value
                y = inf  # a tiny step that still matters, beside a pole: halve the bracket
            else:
                y = min(max(y, below), above)
        if not isfinite(y) or attempt % 8 == 7 or (y <= low and low_known) or (y >= high and high_known):
            y = low + 0.5 * (high - low)
            if y <= low or y >= high:
                return x, value
        x = min(max(y, low), high)
    return x, value
