"""What bets on single cells prove about arms, for a top mean x that nobody knows.

If arm j is better than arm i by the tolerance or more, then at x = i's top mean every cell of i has a mean of x +
bias_high at most, and every cell of j one of x + tolerance + bias_low at least. So the product of the capitals that
bet against that in every cell is a supermartingale, and so is its mixture over the scales, the same for all cells:

    ln E_ij = min over x of ln sum_k weight_k prod_m E(mean[i,m] above x + bias_high) E(mean[j,m] below x + ...).

It is evidence that j is not better than i. In the same way an arm's data are evidence against its bias bounds: there
each cell bets half on being too high for x and half on being too low.

Minima over x are never over-reported. Capitals that bet on "above" fall with x and the others rise, so taking the
former at the right end of an interval and the latter at its left bounds the whole from below, for every family; halving
the interval with the least bound closes in on the minimum. For quadratic laws ln E is also convex in x: Newton steps
find the minimum, and the place where two tangents meet is below it. Laws that learn their noise: `kernels.chords`.
"""

from math import exp, inf, isfinite, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.betting import LOG_WEIGHTS, SCALES, capital, half_normal
from mfbai.kernels.chords import CLOSE, LOG_HALF, limit_by_chords, search_by_chords
from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.laws import variance
from mfbai.kernels.stats import has_data
from mfbai.kernels.transport import fit, pair

PARTS = 400  # intervals a search may have


class Work(NamedTuple):
    sums: np.ndarray  # (3, scales) ln of the capital and its derivatives
    left: np.ndarray  # (PARTS,) intervals of a search
    right: np.ndarray  # (PARTS,)
    bound: np.ndarray  # (PARTS,) of ln E in the interval
    split: np.ndarray  # (PARTS,) where to divide it


def make_work() -> Work:
    return Work(np.zeros((3, len(SCALES))), *np.zeros((4, PARTS)))


def _chosen_against(law):
    if not law.quadratic:
        return against_by_search
    return against_by_newton if law.known else against_by_chords


@generic(0, choose=_chosen_against)
def against(law, model, stats, i, j, start, target, work):
    """A lower bound on ln E_ij, close to it, and where it was found, from a good start. With a finite target only
    whether it is reached counts: a value below may be too large, one above is a lower bound, but perhaps not close."""


@generic(0, choose=lambda law: search_by_halves if law.known else search_by_chords)
def chosen_search(law, model, stats, i, j, only, start, target, work):
    """See `search`."""


@generic(0, choose=lambda law: limit_by_halves if law.known else limit_by_chords)
def chosen_limit(law, model, stats, arm, side, target, work):
    """See `limit`."""


@kernel
def search(model, stats, i, j, only, start, target, work):
    """The same as `against` for every family, and also, if j < 0, for the claim that the cells of i contradict each
    other; of these `only` the given fidelity and the top if >= 0."""
    return chosen_search(model.law, model, stats, i, j, only, start, target, work)


@kernel
def limit(model, stats, arm, side, target, work):
    """The end of the top means that are ruled out at `target`, up to rounding: all below it (side +1) or above it."""
    return chosen_limit(model.law, model, stats, arm, side, target, work)


@kernel(inline=False)
def against_all(model, stats, leader, seen, fits, work, evidence):
    """ln E of the leader against each other arm with data, if it has some; `fits` are those of all arms."""
    for arm in range(evidence.size):
        if arm != leader and seen[arm] and seen[leader]:
            start = pair(model, stats.count, stats.mean, leader, arm, fits.psi[leader], fits)[1]
            evidence[arm] = against(model.law, model, stats, leader, arm, start, -inf, work)[0]


@kernel(inline=False)
def reaches(model, stats, i, j, target, fits, work):
    """Whether ln E_ij is that large."""
    fit(model, stats.count, stats.mean, i, fits)
    fit(model, stats.count, stats.mean, j, fits)
    start = pair(model, stats.count, stats.mean, i, j, fits.psi[i], fits)[1]
    return against(model.law, model, stats, i, j, start, target, work)[0] >= target


@kernel(inline=False)
def limits(model, stats, target, work, ends):
    """(K, 2) the ends of the interval that is not ruled out, of each arm."""
    for arm in range(ends.shape[0]):
        ends[arm, 0], ends[arm, 1] = model.top_low[arm], model.top_high[arm]
        if has_data(stats, arm):
            ends[arm, 0] = limit(model, stats, arm, 1.0, target, work)
            ends[arm, 1] = limit(model, stats, arm, -1.0, target, work)


@kernel(inline=False)
def contradicted(model, stats, only, starts, target, work, found):
    """Note in `found`, (K,), the arms whose cells contradict each other by `target` nats; of these `only` the given
    fidelity and the top if >= 0. (K,) `starts` are top means to search from."""
    top = stats.count.shape[1] - 1
    for arm in range(found.size):
        has_both = only < 0 or (stats.count[arm, only] > 0.0 and stats.count[arm, top] > 0.0)
        if has_both and search(model, stats, arm, -1, only, starts[arm], target, work)[0] >= target:
            found[arm] = True


@kernel
def log_sum(sums):
    """ln of the sum of the capitals at all scales."""
    most = -inf
    for k in range(sums.size):
        most = max(most, sums[k])
    if not isfinite(most):
        return most
    total = 0.0
    for k in range(sums.size):
        total += exp(sums[k] - most)
    return most + log(total)


@kernel
def bet(model, stats, arm, fidelity, x, side, scale):
    """The capital of a bet that a cell is too high (side +1) or too low for a top mean of x."""
    bias = model.bias_high[arm, fidelity] if side > 0.0 else model.bias_low[arm, fidelity]
    count, mean = stats.count[arm, fidelity], stats.mean[arm, fidelity]
    return capital(model.law, arm, fidelity, count, mean, x + bias, side, scale)


@kernel
def tail(model, stats, arm, x, side, work):
    """ln E of the claim that the arm's top mean is above x (side +1) or below it."""
    sums = work.sums[0]
    for k in range(SCALES.size):
        sums[k] = LOG_WEIGHTS[k]
        for m in range(stats.count.shape[1]):
            if stats.count[arm, m] > 0.0:
                sums[k] += bet(model, stats, arm, m, x, side, k)
    return log_sum(sums)


@kernel
def floor(model, stats, i, j, only, low, high, work):
    """A lower bound on ln E for x in [low, high], exact if these are equal: of the claim that j is not better than i,
    or, if j < 0, that the cells of i contradict each other; of these `only` the given fidelity and the top if >= 0."""
    sums = work.sums[0]
    M = stats.count.shape[1]
    for k in range(SCALES.size):
        sums[k] = LOG_WEIGHTS[k]
        for m in range(M):
            if stats.count[i, m] > 0.0 and (only < 0 or m == only or m == M - 1):
                up = bet(model, stats, i, m, high, 1.0, k)
                if j < 0:
                    down = bet(model, stats, i, m, low, -1.0, k)
                    most = max(up, down)
                    up = most + LOG_HALF + log(1.0 + exp(min(up, down) - most)) if isfinite(most) else most
                sums[k] += up
            if j >= 0 and stats.count[j, m] > 0.0:
                sums[k] += bet(model, stats, j, m, low + model.tolerance, -1.0, k)
    return log_sum(sums)


@kernel
def span(model, stats, i, j):
    """Ends of an interval that holds the minimum, or nearly: around all the edges, as far again and some deviations."""
    low, high, error = inf, -inf, 0.0
    for side in range(2 if j >= 0 else 1):
        a, gap = (i, 0.0) if side == 0 else (j, model.tolerance)
        for m in range(stats.count.shape[1]):
            count, mean = stats.count[a, m], stats.mean[a, m]
            if count > 0.0:
                low = min(low, mean - model.bias_high[a, m] - gap)
                high = max(high, mean - model.bias_low[a, m] - gap)
                error = max(error, sqrt(variance(model.law, a, m, count, mean) / count))
    room = high - low + 10.0 * error
    return low - room, high + room


@kernel(inline=False)
def search_by_halves(law, model, stats, i, j, only, start, target, work):
    least, most = model.top_low[i], model.top_high[i]
    if j >= 0:
        most = min(most, model.top_high[j] - model.tolerance)
        if least > most:
            return inf, start  # no admissible model has j that far above i
    if only >= 0:
        least, most = -inf, inf  # these ends come from all fidelities' bounds
    low, high = span(model, stats, i, j)
    low, high = min(max(low, least), most), max(min(high, most), least)
    middle = min(max(start, low), high)
    seen, at = floor(model, stats, i, j, only, middle, middle, work), middle
    if seen < target:
        return seen, at
    # Beyond `low` and `high` nothing is looked at: their intervals, perhaps infinite, are not halved.
    ends = (least, low, middle, high, most)
    for n in range(4):
        work.left[n], work.right[n] = ends[n], ends[n + 1]
        work.bound[n] = floor(model, stats, i, j, only, ends[n], ends[n + 1], work) if ends[n] < ends[n + 1] else inf
    count = 4
    while True:
        worst = 0
        for n in range(1, count):
            if work.bound[n] < work.bound[worst]:
                worst = n
        bound = min(work.bound[worst], seen)
        certain = seen < target or bound >= target > -inf or seen - bound <= CLOSE
        if certain or count == PARTS or worst == 0 or worst == 3:
            return bound, at
        left, right = work.left[worst], work.right[worst]
        middle = 0.5 * (left + right)
        value = floor(model, stats, i, j, only, middle, middle, work)
        if value < seen:
            seen, at = value, middle
        work.right[worst] = middle
        work.bound[worst] = floor(model, stats, i, j, only, left, middle, work)
        work.left[count], work.right[count] = middle, right
        work.bound[count] = floor(model, stats, i, j, only, middle, right, work)
        count += 1


@kernel(inline=False)
def limit_by_halves(law, model, stats, arm, side, target, work):
    low, high = span(model, stats, arm, -1)
    outside, inside = (low, high) if side > 0.0 else (high, low)
    end = model.top_low[arm] if side > 0.0 else model.top_high[arm]
    room = max(abs(inside - outside), 1e-15 * (abs(inside) + abs(outside)), 1e-300)
    while tail(model, stats, arm, outside, side, work) < target:
        if side * (outside - end) <= 0.0 or not isfinite(outside):
            return end
        outside -= side * room
        room *= 2.0
    if tail(model, stats, arm, inside, side, work) >= target:
        return inside
    for _ in range(200):
        middle = 0.5 * (inside + outside)
        if not min(inside, outside) < middle < max(inside, outside):
            break
        if tail(model, stats, arm, middle, side, work) >= target:
            outside = middle
        else:
            inside = middle
    return max(outside, end) if side > 0.0 else min(outside, end)


@kernel
def against_by_search(law, model, stats, i, j, start, target, work):
    return search_by_halves(law, model, stats, i, j, -1, start, target, work)


@kernel
def against_by_chords(law, model, stats, i, j, start, target, work):
    return search_by_chords(law, model, stats, i, j, -1, start, target, work)


@kernel(inline=False)
def against_by_newton(law, model, stats, i, j, start, target, work):
    least, most = model.top_low[i], min(model.top_high[i], model.top_high[j] - model.tolerance)
    if least > most:
        return inf, start  # no admissible model has j that far above i
    x = min(max(start, least), most)
    low, low_value, low_slope, high, high_value, high_slope = -inf, 0.0, 0.0, inf, 0.0, 0.0
    bound = -inf
    for _ in range(50):
        value, slope, bend = expand(model, stats, i, j, x, work)
        if value < target:
            return value, x
        if slope == 0.0 or (slope < 0.0 and x == most) or (slope > 0.0 and x == least):
            return value, x
        if slope < 0.0:
            low, low_value, low_slope = x, value, slope
        else:
            high, high_value, high_slope = x, value, slope
        step = -slope / max(bend, 1e-300)
        if low > -inf and high < inf:
            meet = (low_value - high_value + high_slope * (high - low)) / (high_slope - low_slope)
            bound = max(bound, low_value + low_slope * meet)
            if bound >= target > -inf or value - bound <= 0.1 * CLOSE:
                return min(bound, value), x
            y = x + step
            x = y if low < y < high else 0.5 * (low + high)
        else:
            # Too far, to see the other side; and not by so little that nothing changes.
            far = max(2.0 * abs(step), 1e-4 / sqrt(max(bend, 1e-300)), 1e-15 * abs(x))
            x = min(max(x - far if slope > 0.0 else x + far, least), most)
    return bound, x


@kernel
def expand(model, stats, i, j, x, work):
    """ln E of the pair at x, for a quadratic law, with slope and curvature."""
    sums = work.sums
    for k in range(SCALES.size):
        sums[0, k], sums[1, k], sums[2, k] = LOG_WEIGHTS[k], 0.0, 0.0
    for m in range(stats.count.shape[1]):
        if stats.count[i, m] > 0.0:
            beyond = stats.mean[i, m] - (x + model.bias_high[i, m])
            add(stats.count[i, m], model.law.precision[i, m], beyond, -1.0, sums)
        if stats.count[j, m] > 0.0:
            beyond = x + model.tolerance + model.bias_low[j, m] - stats.mean[j, m]
            add(stats.count[j, m], model.law.precision[j, m], beyond, 1.0, sums)
    value = log_sum(sums[0])
    slope, bend = 0.0, 0.0
    for k in range(SCALES.size):
        share = exp(sums[0, k] - value)
        slope += share * sums[1, k]
        bend += share * (sums[2, k] + sums[1, k] * sums[1, k])
    return value, slope, bend - slope * slope


@kernel
def add(count, precision, distance, sign, sums):
    for k in range(SCALES.size):
        value, slope, bend = half_normal(count, precision, distance, SCALES[k])
        sums[0, k] += value
        sums[1, k] += sign * slope
        sums[2, k] += bend
