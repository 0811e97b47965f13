"""How much better one arm is than each other: intervals that all hold at all times.

If arm j is better than arm i by t or more, the capital of `e_values.against` with t as the tolerance is a
supermartingale. It grows with t, so what is ruled out is all t above one, which is found by bisection. There are
K (K - 1) pairs (i, j): at ln(K (K - 1) / delta) all statements hold together, whichever arm leads.
"""

from math import inf, sqrt

from mfbai.kernels import e_values
from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import variance
from mfbai.kernels.link import with_tolerance

STEPS = 60  # of a search outwards, each twice as long as the one before
EXACT = 1e-3  # of an end's distance from the estimate: no closer is it looked for


@kernel(inline=False)
def fill(model, stats, leader, seen, middles, target, work, ends):
    """The ends of all arms."""
    for j in range(ends.shape[0]):
        least = model.top_low[leader] - model.top_high[j]
        most = model.top_high[leader] - model.top_low[j]
        ends[j, 0], ends[j, 1] = least, most
        if j != leader and seen[j] and seen[leader]:
            # At most t above the leader, so the difference is -t at least; and the other way round.
            ends[j, 0] = max(-largest(model, stats, leader, j, middles, -least, target, work), least)
            ends[j, 1] = min(largest(model, stats, j, leader, middles, most, target, work), most)


@kernel(inline=False)
def largest(model, stats, i, j, middles, end, target, work):
    """The least t found such that "j is better than i by t" is ruled out; `end` if there is none below it."""
    first = middles[j] - middles[i]
    inside, room = first, max(spread(model, stats, i) + spread(model, stats, j), 1e-15 * abs(first), 1e-300)
    x = middles[i]
    for _ in range(STEPS):
        outside = min(inside + room, end)
        value, x = against(model, stats, i, j, outside, x, target, work)
        if value >= target:
            break
        if outside >= end:
            return end
        inside = outside
        room *= 2.0
    else:
        return end
    while outside - inside > EXACT * (outside - first):
        middle = 0.5 * (inside + outside)
        if not inside < middle < outside:
            break
        value, x = against(model, stats, i, j, middle, x, target, work)
        if value >= target:
            outside = middle
        else:
            inside = middle
    return outside


@kernel
def against(model, stats, i, j, t, start, target, work):
    """The e-value against "j is better than i by t", and where its minimum was found."""
    return e_values.against(model.law, with_tolerance(model, t), stats, i, j, start, target, work)


@kernel
def spread(model, stats, arm):
    """About how well the arm's top mean is known: by its best cell."""
    least = inf
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] > 0.0:
            noise = variance(model.law, arm, m, stats.count[arm, m], stats.mean[arm, m])
            width = model.bias_high[arm, m] - model.bias_low[arm, m]
            least = min(least, sqrt(noise / stats.count[arm, m]) + 0.5 * width)
    return least
