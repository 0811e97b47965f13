"""Minima over the top mean x for laws that learn their noise, whose ln E need be neither convex nor monotone in x.

Each cell's ln E (`kernels.laws.wager`) has, between any two points, a convex function below it that touches it at both:
so the lines through its two ends, of the slopes there, are below it. Lines add up over cells. Where those of an
interval cross is the least that ln E can be inside; splitting the interval of the least bound there closes in on the
minimum, the faster the closer.
"""

from math import exp, inf, log

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import top_range, wager

CLOSE = 0.01  # a bound this close to the minimum, in nats, is good enough
LOG_HALF = log(0.5)
EXACT = 1e-7  # of the range: no closer is the end of an interval looked for


@kernel(inline=False)
def one_sided(model, stats, arm, x, other, side):
    """ln E of the claim that the arm's top mean is above x (side +1) or below it, and its slope towards `other`."""
    value, slope = 0.0, 0.0
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] > 0.0:
            bias = model.bias_high[arm, m] if side > 0.0 else model.bias_low[arm, m]
            won, steep = wager(model.law, stats, arm, m, x + bias, other + bias, side)
            value += won
            slope += steep
    return value, slope


@kernel
def two_sided(model, stats, arm, only, x, other):
    """The same if each cell bets half on being too high for x and half on being too low; of these `only` the given
    fidelity and the top if >= 0."""
    value, slope, M = 0.0, 0.0, stats.count.shape[1]
    for m in range(M):
        if stats.count[arm, m] > 0.0 and (only < 0 or m == only or m == M - 1):
            high, low = model.bias_high[arm, m], model.bias_low[arm, m]
            up, rise = wager(model.law, stats, arm, m, x + high, other + high, 1.0)
            down, fall = wager(model.law, stats, arm, m, x + low, other + low, -1.0)
            most = max(up, down)
            first, second = exp(up - most), exp(down - most)
            value += most + log(first + second) + LOG_HALF
            slope += (first * rise + second * fall) / (first + second)
    return value, slope


@kernel(inline=False)
def edge(model, stats, i, j, only, x, other):
    """ln E of the claim that j is not better than i, or, if j < 0, that the cells of i contradict each other."""
    if j < 0:
        return two_sided(model, stats, i, only, x, other)
    value, slope = one_sided(model, stats, i, x, other, 1.0)
    gap = model.tolerance
    more, steeper = one_sided(model, stats, j, x + gap, other + gap, -1.0)
    return value + more, slope + steeper


@kernel
def lowest(left, value, slope, right, end, rise):
    """The least that lies above both lines between two points, and where."""
    if slope >= 0.0:
        return value, left
    if rise <= 0.0:
        return end, right
    place = (end - value - rise * (right - left)) / (slope - rise)
    place = min(max(place, 0.0), right - left)
    return value + slope * place, left + place


@kernel(inline=False)
def search_by_chords(law, model, stats, i, j, only, start, target, work):
    least, most = model.top_low[i], model.top_high[i]
    if j >= 0:
        most = min(most, model.top_high[j] - model.tolerance)
        if least > most:
            return inf, start  # no admissible model has j that far above i
    if only >= 0:
        least, most = top_range(law)  # those of the model come from all fidelities' bounds
    at = min(max(start, least), most)
    seen = edge(model, stats, i, j, only, at, most)[0]
    if seen < target or least == most:
        return seen, at
    count = 0
    for left, right in ((least, at), (at, most)):
        if left < right:
            fill(model, stats, i, j, only, left, right, work, count)
            count += 1
    while True:
        worst = 0
        for n in range(1, count):
            if work.bound[n] < work.bound[worst]:
                worst = n
        bound = min(work.bound[worst], seen)
        left, right, middle = work.left[worst], work.right[worst], work.split[worst]
        inside = 0.02 * (right - left)
        middle = min(max(middle, left + inside), right - inside)
        certain = bound >= target > -inf or seen - bound <= CLOSE
        if certain or count == work.bound.size or not left < middle < right:
            return bound, at
        value = edge(model, stats, i, j, only, middle, right)[0]
        if value < seen:
            seen, at = value, middle
            if seen < target:
                return seen, at
        fill(model, stats, i, j, only, left, middle, work, worst)
        fill(model, stats, i, j, only, middle, right, work, count)
        count += 1


@kernel(inline=False)
def fill(model, stats, i, j, only, left, right, work, n):
    value, slope = edge(model, stats, i, j, only, left, right)
    end, rise = edge(model, stats, i, j, only, right, left)
    work.left[n], work.right[n] = left, right
    work.bound[n], work.split[n] = lowest(left, value, slope, right, end, rise)


@kernel(inline=False)
def limit_by_chords(law, model, stats, arm, side, target, work):
    """All from the end of the range up to the result is ruled out, step by step: of what lies beyond, some may be."""
    x, far = model.top_low[arm], model.top_high[arm]
    step = far - x
    least = EXACT * step
    if side < 0.0:
        x, far = far, x
    while step > least:
        y = x + side * step
        if side * (far - y) < 0.0:
            y = far
        value, slope = one_sided(model, stats, arm, x, y, side)
        end, rise = one_sided(model, stats, arm, y, x, side)
        if side > 0.0:
            bound = lowest(x, value, slope, y, end, rise)[0]
        else:
            bound = lowest(y, end, rise, x, value, slope)[0]
        if bound >= target:
            if y == far:
                return far
            x = y
        else:
            step *= 0.5
    return x
