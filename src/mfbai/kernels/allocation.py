"""The optimal allocation: least cost at which every rival of one arm is told from it, for known means.

Let A_m(eta) and B_{a,m}(eta) be the information a unit of cost buys in a cell of the best arm and of rival a, if both
arms' top means were eta (a's: eta + tolerance). With costs scaled so that every transport cost is at least 1:

    minimise  sum_m x_m + sum_{a,m} y_{a,m}   s.t.   sum_m x_m A_m(eta) + y_{a,m} B_{a,m}(eta) >= 1   for all a, eta.

Given x, what the best arm's cells cost, each rival is a problem of its own, and where all divergences are convex in eta

    v_a(x) = min sum_m y_{a,m} = max over eta of c(eta) / B_a(eta),  c = 1 - sum_m x_m A_m,  B_a = max_m B_{a,m}:

concave over convex, so it has one peak. At a peak inside a piece of B_a the rival uses the one fidelity that attains
it; at a kink it uses the two that meet. What is left is to minimise sum x + sum_a v_a(x) over x >= 0, convex and M
dimensional, by projected Newton steps. Each rival adds a term of rank one to the Hessian; a kink adds none.

Any prices p_a = 1 / B_a(eta_a) bound the optimum from below, by sum p / max(1, max_m sum_a p_a A_m(eta_a)): a
certificate. Where divergences are not convex (the exponential family) the peak found may not be the highest; and if the
best arm's cells alone can rule a rival out (a tolerance, and a bounded range of means), the total has an edge where
v_a reaches 0, on which steps can stall. The lower bound holds all the same, and tells.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.rival_cost import blind, falling, missing, peak, rising
from mfbai.kernels.transport import fit, pair

ENOUGH = 1e-13  # relative gap at which there is nothing left to gain
STEPS = 100  # more than were ever seen
LIGHT, HEAVY = 1e-14, 1e6  # damping of Newton steps, relative to the curvature
POLE = 1e-12  # of a mean: what rounding leaves of the distance to a pole is exact to a thousandth
TINY = 1e-290


class Work(NamedTuple):
    """The allocation, and where the search for the next one starts."""

    x: np.ndarray  # (M,) cost of the best arm's cells; all zero before the first search
    eta: np.ndarray  # (K,) top mean of the best arm at which each rival is closest
    price: np.ndarray  # (K,) 1 / B_a there; 0 for arms that need no evidence of their own
    spend: np.ndarray  # (K,) v_a
    first: np.ndarray  # (K,) the fidelity each rival uses
    second: np.ndarray  # (K,) the other one, at a kink; else the same
    share: np.ndarray  # (K,) part of spend that the first gets
    range: np.ndarray  # (K, 2) least and greatest eta of each rival
    gradient: np.ndarray  # (2, M) of the total cost: at x, and at the point last looked at
    hessian: np.ndarray  # (2, M, M) the same
    rates: np.ndarray  # (2, M) A_m, and the slope of A_m / B_a
    free: np.ndarray  # (M,) whether a cell of the best arm takes part in a Newton step
    cells: np.ndarray  # (M,) those that do
    factor: np.ndarray  # (M, M)
    step: np.ndarray  # (M,)
    trial: np.ndarray  # (M,)


def make_work(model) -> Work:
    K, M = model.cost.shape
    return Work(
        x=np.zeros(M),
        eta=np.zeros(K),
        price=np.zeros(K),
        spend=np.zeros(K),
        first=np.zeros(K, dtype=np.int64),
        second=np.zeros(K, dtype=np.int64),
        share=np.ones(K),
        range=np.zeros((K, 2)),
        gradient=np.zeros((2, M)),
        hessian=np.zeros((2, M, M)),
        rates=np.zeros((2, M)),
        free=np.zeros(M, dtype=np.bool_),
        cells=np.zeros(M, dtype=np.int64),
        factor=np.zeros((M, M)),
        step=np.zeros(M),
        trial=np.zeros(M),
    )


@kernel
def demand(model, means, best, arm, x, work):
    """v_arm(x), infinite if x is too small to tell the arm from the best whatever is spent on it; and the curvature of
    c / B at its peak, 0 if that is not smooth there."""
    low, high = work.range[arm, 0], work.range[arm, 1]
    work.price[arm], work.spend[arm] = 0.0, 0.0
    if low > high or missing(model, means, best, x, high)[0] <= 0.0:
        return 0.0, 0.0
    if blind(model, means, arm, low) and missing(model, means, best, x, low)[0] >= 0.0:
        return inf, 0.0
    eta, c, b, first, second, share, curvature = peak(model, means, best, arm, x, low, high, work.eta[arm])
    work.eta[arm], work.price[arm], work.spend[arm] = eta, 1.0 / b, c / b
    work.first[arm], work.second[arm], work.share[arm] = first, second, share
    return c / b, curvature


@kernel(inline=False)
def total(model, means, best, x, work):
    """The total cost at x and a lower bound on the least one, with gradient and Hessian. O(K M^2).

    Infinite, and all else undefined, if x is too small.
    """
    K, M = means.shape
    gradient, hessian = work.gradient[1], work.hessian[1]
    gradient[:] = 1.0
    hessian[:, :] = 0.0
    cost, prices = 0.0, 0.0
    for m in range(M):
        cost += x[m]
    value, slope = work.rates[0], work.rates[1]
    for a in range(K):
        if a == best:
            continue
        v, curvature = demand(model, means, best, a, x, work)
        if v == inf:
            return inf, 0.0
        cost += v
        price, eta = work.price[a], work.eta[a]
        prices += price
        b1 = rising(model, means, a, work.first[a], eta)[1] if curvature > 0.0 else 0.0
        for m in range(M):
            value[m], slope[m], _ = falling(model, means, best, m, eta)
            gradient[m] -= price * value[m]
            slope[m] = price * (slope[m] - price * value[m] * b1)
        if curvature > 0.0:
            for m in range(M):
                for n in range(M):
                    hessian[m, n] += slope[m] * slope[n] / curvature
    least = 0.0
    for m in range(M):
        least = min(least, gradient[m])
    return cost, prices / (1.0 - least)


@kernel
def newton_step(x, damping, work):
    """Into work.step: the step to the least of the second-order model over x >= 0, nearly.

    Cells that are unused, and should be, stay so. A cell that would become negative is fixed at 0, and the others are
    solved for again.
    """
    M = x.size
    gradient, hessian = work.gradient[0], work.hessian[0]
    for m in range(M):
        work.step[m] = 0.0
        work.free[m] = x[m] > 0.0 or gradient[m] < 0.0
    for _ in range(M):
        n, scale = 0, 0.0
        for m in range(M):
            if work.free[m]:
                work.cells[n] = m
                n += 1
                scale = max(scale, hessian[m, m])
        ridge = damping * (scale if scale > 0.0 else 1.0 / (x.sum() + TINY))
        while not factorise(hessian, work.cells, n, ridge, work.factor):
            ridge *= 100.0
        solve_free(n, work)
        fixed = False
        for i in range(n):
            m = work.cells[i]
            if x[m] + work.step[m] < 0.0:
                work.step[m] = -x[m]
                work.free[m] = False
                fixed = True
        if not fixed:
            break


@kernel
def solve_free(n, work):
    """The steps of the first n cells, by their factor, given those of the others."""
    cells, factor, step = work.cells, work.factor, work.step
    for i in range(n):
        s = -work.gradient[0, cells[i]]
        for m in range(step.size):
            if not work.free[m]:
                s -= work.hessian[0, cells[i], m] * step[m]
        for j in range(i):
            s -= factor[i, j] * step[cells[j]]
        step[cells[i]] = s / factor[i, i]
    for i in range(n - 1, -1, -1):
        s = step[cells[i]]
        for j in range(i + 1, n):
            s -= factor[j, i] * step[cells[j]]
        step[cells[i]] = s / factor[i, i]


@kernel
def factorise(matrix, cells, n, ridge, out):
    """Cholesky's factor of the matrix, restricted to the first n cells, plus ridge; whether there is one."""
    for i in range(n):
        for j in range(i + 1):
            s = matrix[cells[i], cells[j]]
            for k in range(j):
                s -= out[i, k] * out[j, k]
            if i == j:
                s += ridge
                if not s > 0.25 * ridge:
                    return False
                out[i, i] = sqrt(s)
            else:
                out[i, j] = s / out[j, j]
    return True


@kernel
def least_on(model, means, best, m, work):
    """What the best arm's cell m needs, if it is the only one, for every rival to cost a finite amount; if any amount
    will do, the scale of what is useful. O(K)."""
    least, scale = 0.0, inf
    for a in range(means.shape[0]):
        low, high = work.range[a, 0], work.range[a, 1]
        if a == best or low > high:
            continue
        half = falling(model, means, best, m, 0.5 * (low + high))[0]
        scale = min(scale, 1.0 / half if half > 0.0 else inf)
        if blind(model, means, a, low):
            value = falling(model, means, best, m, low)[0]
            least = max(least, 1.0 / value if value > 0.0 else inf)
    return least if least > 0.0 else scale


@kernel
def cold_start(model, means, best, work):
    """Into work.x: a point from which Newton steps converge, all on one cell of the best arm, or nothing at all."""
    K, M = means.shape
    trial = work.trial
    trial[:] = 0.0
    idle = total(model, means, best, trial, work)[0]
    found = inf if idle == inf or steep(work) else idle
    at, amount = 0, 0.0
    for m in range(M):
        least = min(least_on(model, means, best, m, work), 1e-3 * idle)
        for k in range(2 if least < inf else 0):
            trial[:] = 0.0
            trial[m] = least * (2.0 if k == 0 else 1.0 + sqrt(K - 1.0))
            cost = total(model, means, best, trial, work)[0]
            if cost < found:
                found, at, amount = cost, m, trial[m]
    work.x[:] = 0.0
    work.x[at] = amount


@kernel
def steep(work):
    """Whether the slope is infinite at the point last looked at: no place to start from."""
    for m in range(work.x.size):
        if work.gradient[1, m] == -inf:
            return True
    return False


@kernel
def settle(trial, work):
    """Make the point last looked at the present one."""
    for m in range(trial.size):
        work.x[m] = trial[m]
        work.gradient[0, m] = work.gradient[1, m]
        for n in range(trial.size):
            work.hessian[0, m, n] = work.hessian[1, m, n]


@kernel
def descend(model, means, best, cost, lower, work):
    """Move x by a Newton step, damped and shortened until the cost falls. Returns cost, lower bound, whether it moved.

    Where the cost cannot be told from rounding any more, a better lower bound is progress too.
    """
    x, trial = work.x, work.trial
    damping = LIGHT
    while damping < HEAVY:
        newton_step(x, damping, work)
        length = 1.0
        for m in range(x.size):
            if work.step[m] * length > 3.0 * cost:  # where the cost is linear, the step says little
                length = 3.0 * cost / work.step[m]
        for _ in range(12):
            change = 0.0
            for m in range(x.size):
                trial[m] = max(x[m] + length * work.step[m], 0.0)
                change += work.gradient[0, m] * (trial[m] - x[m])
            if change >= 0.0:
                break
            new_cost, new_lower = total(model, means, best, trial, work)
            if new_cost == inf or steep(work):
                length *= 0.5
                continue
            if new_cost <= cost + 1e-4 * change or (new_cost <= cost * (1.0 + 1e-14) and new_lower > lower):
                settle(trial, work)
                return new_cost, new_lower, True
            length *= 0.5
        damping *= 1e4
    return cost, lower, False


@kernel
def set_ranges(model, means, best, work):
    """Where each rival's eta can be: not so close to a pole of a divergence that rounding decides its value."""
    K, M = means.shape
    for a in range(K):
        low = max(means[a, M - 1] - model.tolerance, model.top_low[best])
        high = min(means[best, M - 1], model.top_high[a] - model.tolerance)
        for m in range(M):
            if low < high and falling(model, means, best, m, low)[0] == inf:
                low += min(POLE * abs(means[best, m]), 0.5 * (high - low))
            if low < high and rising(model, means, a, m, high)[0] == inf:
                high -= min(POLE * abs(means[a, m]), 0.5 * (high - low))
        work.range[a, 0], work.range[a, 1] = low, high


@kernel(inline=False)
def allocate(model, means, best, work):
    """The least total cost for means inside the model, and a lower bound on it; `work` holds the allocation.

    The search starts from the allocation that `work` holds already, if that tells all rivals from the best arm.
    """
    set_ranges(model, means, best, work)
    cost, lower = inf, 0.0
    if work.x.sum() > 0.0:
        cost, lower = total(model, means, best, work.x, work)
    if cost == inf:
        cold_start(model, means, best, work)
        cost, lower = total(model, means, best, work.x, work)
    settle(work.x, work)
    moved = cost < inf
    for _ in range(STEPS):
        if not moved or cost - lower <= ENOUGH * cost:
            break
        cost, lower, moved = descend(model, means, best, cost, lower, work)
    if not moved:
        cost, lower = total(model, means, best, work.x, work)
    return cost, lower


@kernel
def write(best, work, weights):
    """The allocation as cost shares, (K, M); all zero if nothing needs to be spent."""
    weights[:, :] = 0.0
    cost = 0.0
    for m in range(work.x.size):
        weights[best, m] = work.x[m]
        cost += work.x[m]
    for a in range(work.spend.size):
        if a != best:
            weights[a, work.first[a]] += work.share[a] * work.spend[a]
            weights[a, work.second[a]] += (1.0 - work.share[a]) * work.spend[a]
            cost += work.spend[a]
    for k in range(weights.size if cost > 0.0 else 0):
        weights.flat[k] /= cost


@kernel(inline=False)
def rates_at(model, means, best, arms, etas, out):
    """(3, P, 2, M) what a unit of cost buys at points (arm, eta), with slope and curvature, of best arm and rival."""
    for p in range(arms.size):
        for m in range(means.shape[1]):
            out[0, p, 0, m], out[1, p, 0, m], out[2, p, 0, m] = falling(model, means, best, m, etas[p])
            out[0, p, 1, m], out[1, p, 1, m], out[2, p, 1, m] = rising(model, means, arms[p], m, etas[p])


@kernel(inline=False)
def weakest(model, weights, means, best, work, values, etas):
    """Each rival's transport cost from the best arm and where it is attained. `work` is that of transport."""
    for a in range(means.shape[0]):
        work.stale[a] = True
        fit(model, weights, means, a, work)
    for a in range(means.shape[0]):
        values[a], etas[a] = inf, means[best, means.shape[1] - 1]
        if a != best:
            values[a], etas[a], _ = pair(model, weights, means, best, a, etas[a], work)
