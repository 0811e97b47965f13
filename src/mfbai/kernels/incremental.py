"""Following F while means move and weights grow a little at a time: most steps need a pair or two and no fits.

A full evaluation leaves `top` and its challenger, and bounds that the functions below keep valid:
- floor[j]: a lower bound on sqrt(f_{top,j});
- ceiling[k]: an upper bound on g_k at the minimiser of the last fit, over `growth`, so that a factor common to all
  weights costs one multiplication.

While no two ceilings add up to more than the least f_{top,j}, top is still the leader, and a j whose floor is above it
needs no look. Otherwise F is evaluated in full. Results are the same, step by step.
"""

from math import inf, sqrt

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import is_quadratic, reach
from mfbai.kernels.transport import SURE, evaluate, meeting, renew


@kernel
def follow(model, weights, means, work):
    """The same as `evaluate`, for callers that report every change by the functions below."""
    renew(model, work)
    if is_quadratic(model.law) and work.calm[0]:
        value, challenger, x, done = same_row(model, weights, means, work)
        if done:
            work.challenger[0] = challenger
            return value, work.top[0], challenger, x, x + model.tolerance
    return evaluate(model, weights, means, work)


@kernel
def same_row(model, weights, means, work):
    """F, its challenger and their meeting point, if the leader is certainly the same as before; whether it is."""
    i, first = work.top[0], work.challenger[0]
    value, challenger, x = inf, first, 0.0
    for n in range(-1, weights.shape[0]):
        j = first if n < 0 else n
        if j == i or n == first or work.floor[j] * work.floor[j] >= value:
            continue
        f, y, met = meeting(model, weights, means, i, j, work.eta[j])
        if not met:
            return f, j, y, False
        work.eta[j], work.floor[j] = y, SURE * sqrt(f)
        if f < value:
            value, challenger, x = f, j, y
    # Row k is at most g_k + g_top at the minimisers of their last fits, if these are far enough apart.
    room = SURE * value / work.growth[0] - work.ceiling[i]
    end = work.psi_high[i] - model.tolerance
    for k in range(weights.shape[0]):
        if k != i and (work.ceiling[k] > room or work.psi_low[k] > end):
            return value, challenger, x, False
    return value, challenger, x, True


@kernel
def mean_moved(model, weights, arm, fidelity, move, work):
    """A cell's mean moved; by an infinite distance if it had none before."""
    work.stale[arm] = True
    drop = reach(model.law, arm, fidelity, weights[arm, fidelity], move)
    if arm == work.top[0]:
        for j in range(work.floor.size):
            work.floor[j] = max(work.floor[j] - drop, 0.0)
    else:
        work.floor[arm] = max(work.floor[arm] - drop, 0.0)
    root = sqrt(work.ceiling[arm] * work.growth[0]) + drop
    work.ceiling[arm] = root * root / work.growth[0]


@kernel
def arm_grew(arm, rise, work):
    """The weights of one arm grew, by a factor of exp(rise) at most."""
    work.stale[arm] = True
    if work.ceiling[arm] > 0.0:
        work.ceiling[arm] *= 1.0 + rise + rise * rise if rise < 1.0 else inf


@kernel
def all_grew(rise, work):
    """All weights grew, by a factor of exp(rise) at most, rise < 1."""
    work.growth[0] *= 1.0 + rise + rise * rise


@kernel
def anything_changed(work):
    """Forget all bounds."""
    work.floor[:] = 0.0
    work.stale[:] = True
    work.growth[0] = 1.0
    work.calm[0] = False
