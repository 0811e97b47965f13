"""Evidence: how far the data are from any model in which another arm is the best.

f_ij is the least g_i(x) + g_j(y) over all x, y with y >= x + tolerance: evidence that arm j is not better than arm i
by more than the tolerance. F = max_i min_{j != i} f_ij; its pair (i, j) is (leader, challenger).

Let `top` have the largest minimiser psi. If psi_top >= psi_i + tolerance, f_{i,top} is h_i + h_top, attained at both
arms' own minimisers. So after row `top` another row needs a look only if its f_{i,top} beats that row: F takes K - 1
one-dimensional problems almost always.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.laws import divergence, is_quadratic
from mfbai.kernels.multimodal import DEPTH, local_minima
from mfbai.kernels.profile import dead_zone, expand, minimise, shift

SURE = 1.0 - 1e-9  # lower bounds are kept a little below, for rounding


class Work(NamedTuple):
    """What an evaluation of F leaves behind: results, and starting points and bounds for the next one.

    A caller that changes means or weights must set `stale` for those arms and all floors to 0 before the next
    evaluation, or keep the bounds valid by the functions of `kernels.incremental`. If all weights grew by a factor of
    at most rho, it multiplies `growth` by it: an arm's misfit, not computed again, is then known up to that factor,
    which is mostly enough.
    """

    psi_low: np.ndarray  # (K,) each arm's minimisers [psi_low, psi_high]: equal unless no data pin the arm down
    psi_high: np.ndarray  # (K,)
    misfit: np.ndarray  # (K,) each arm's least misfit h = g(psi)
    psi: np.ndarray  # (K,) where the last search for psi ended: the next one starts there
    eta: np.ndarray  # (K,) the same for f_{top, j}
    stale: np.ndarray  # (K,) whether the arm must be fitted again
    growth: np.ndarray  # (1,) the product of all rho so far
    born: np.ndarray  # (K,) `growth` when the arm was fitted
    ceiling: np.ndarray  # (K,) an upper bound on (misfit now) / growth
    calm: np.ndarray  # (1,) whether top was the leader
    ally: np.ndarray  # (1,) the last challenger of the arm of the largest misfit
    floor: np.ndarray  # (K,) lower bounds on sqrt(f_{top, j}), kept by callers that know how f changed; 0 says nothing
    top: np.ndarray  # (1,) the arm of the largest psi
    challenger: np.ndarray  # (1,) its challenger: the next evaluation looks at it first
    meeting: np.ndarray  # (2,) their top means at the closest alternative
    wells: np.ndarray  # (2, K, L) local minima of each profile and their values; L = 1 for convex laws
    n_wells: np.ndarray  # (K,)
    stack: np.ndarray  # (2, DEPTH) intervals of the global search
    best: np.ndarray  # (2, 1) its result
    epoch: np.ndarray  # (1,) the model's, when it was last looked at


def make_work(model) -> Work:
    K, M = model.cost.shape
    room = 1 if model.law.convex else 4 * M + 8
    return Work(
        psi_low=np.zeros(K),
        psi_high=np.zeros(K),
        misfit=np.zeros(K),
        psi=np.zeros(K),
        eta=np.zeros(K),
        stale=np.ones(K, dtype=np.bool_),
        growth=np.ones(1),
        born=np.zeros(K),
        ceiling=np.zeros(K),
        calm=np.zeros(1, dtype=np.bool_),
        ally=np.zeros(1, dtype=np.int64),
        floor=np.zeros(K),
        top=np.zeros(1, dtype=np.int64),
        challenger=np.zeros(1, dtype=np.int64),
        meeting=np.zeros(2),
        wells=np.zeros((2, K, room)),
        n_wells=np.zeros(K, dtype=np.int64),
        stack=np.zeros((2, DEPTH)),
        best=np.zeros((2, 1)),
        epoch=np.zeros(1, dtype=np.int64),
    )


@generic(0, choose=lambda law: settle_convex if law.convex else settle_multimodal)
def settle(law, model, weights, means, arm, low, high, work):
    """The minimiser and minimum of g_arm over [low, high], for an arm whose data contradict each other."""


@generic(0, choose=lambda law: meet_convex if law.convex else meet_multimodal)
def meet(law, model, weights, means, i, j, start, work):
    """The least g_i(x) + g_j(y) over y >= x + tolerance, with x and y, if the arms' own minimisers do not qualify."""


@kernel
def fit(model, weights, means, arm, work):
    """Find the arm's minimisers and misfit. O(M) a pass, usually one pass."""
    search(model, weights, means, arm, work)
    work.stale[arm], work.born[arm] = False, work.growth[0]
    work.ceiling[arm] = work.misfit[arm] / work.growth[0]


@kernel(inline=False)
def fit_all(model, weights, means, work):
    """The same for all arms."""
    for arm in range(weights.shape[0]):
        fit(model, weights, means, arm, work)


@kernel
def search(model, weights, means, arm, work):
    if is_quadratic(model.law) and work.misfit[arm] > 0.0:
        # Its data contradicted each other before: they will still, and its minimiser is close by.
        x, value, found = leap(model, weights, means, arm, work.psi[arm])
        if found:
            work.psi[arm], work.psi_low[arm], work.psi_high[arm], work.misfit[arm] = x, x, x, value
            return
    low, high = dead_zone(model, weights, means, arm)
    if low <= high:
        work.psi_low[arm], work.psi_high[arm], work.misfit[arm] = low, high, 0.0
        work.n_wells[arm] = 0
        return
    # The minimum lies where the contradicting dead zones face each other.
    low, high = max(high, model.top_low[arm]), min(low, model.top_high[arm])
    x, value = settle(model.law, model, weights, means, arm, low, high, work)
    work.psi[arm], work.psi_low[arm], work.psi_high[arm], work.misfit[arm] = x, x, x, value


@kernel
def leap(model, weights, means, arm, x):
    """The minimiser of a quadratic g_arm and its minimum, by Newton steps from x; and whether they were found.

    A step that stays inside its piece is exact, and keeps full precision if it is short.
    """
    value = 0.0
    for _ in range(3):
        value, slope, _, curvature, below, above = expand(model, weights, means, arm, x)
        if curvature <= 0.0:
            break
        step = slope / curvature
        gain = 0.5 * slope * step
        x -= step
        if below <= x <= above and gain <= 0.5 * value:
            return x, value - gain, model.top_low[arm] <= x <= model.top_high[arm]
    return x, value, False


@kernel
def meeting(model, weights, means, i, j, x):
    """f_ij and the top mean of i where both arms meet, by such steps; and whether they were found.

    There the profile of i must fall and that of j rise: otherwise the arms would rather part, and this is not f_ij.
    """
    gap, value = model.tolerance, 0.0
    for _ in range(3):
        vi, si, _, ci, bi, ai = expand(model, weights, means, i, x)
        vj, sj, _, cj, bj, aj = expand(model, weights, means, j, x + gap)
        if ci + cj <= 0.0:
            break
        step = -(si + sj) / (ci + cj)
        gain = -0.5 * (si + sj) * step
        value = vi + vj
        x += step
        if max(bi, bj - gap) <= x <= min(ai, aj - gap) and gain <= 0.5 * value:
            possible = model.top_low[i] <= x <= model.top_high[i] and model.top_low[j] <= x + gap <= model.top_high[j]
            return value - gain, x, possible and si + ci * step <= 0.0
    return value, x, False


@kernel
def pair(model, weights, means, i, j, start, work):
    """f_ij and the two top means (x, y) where it is attained, for arms that are fitted. O(M) a pass."""
    if work.psi_high[j] >= work.psi_low[i] + model.tolerance:
        return work.misfit[i] + work.misfit[j], work.psi_low[i], work.psi_high[j]
    if model.top_low[i] + model.tolerance > model.top_high[j]:
        return inf, work.psi_low[i], work.psi_high[j]  # no admissible model has j that far above i
    return meet(model.law, model, weights, means, i, j, start, work)


@kernel
def settle_convex(law, model, weights, means, arm, low, high, work):
    return minimise(model, weights, means, arm, -1, low, high, work.psi[arm])


@kernel
def meet_convex(law, model, weights, means, i, j, start, work):
    """Both profiles rise towards each other's minimiser, so x and y are as close as allowed."""
    gap = model.tolerance
    low = max(work.psi_high[j] - gap, model.top_low[i])
    high = min(work.psi_low[i], model.top_high[j] - gap)
    if is_quadratic(model.law):
        value, x, found = meeting(model, weights, means, i, j, start)
        if found:
            return value, x, x + gap
    x, value = minimise(model, weights, means, i, j, low, high, start)
    return value, x, x + gap


@kernel
def settle_multimodal(law, model, weights, means, arm, low, high, work):
    xs, values = work.wells[0, arm], work.wells[1, arm]
    n = local_minima(model, weights, means, arm, -1, low, high, work.stack, xs, values, False)
    work.n_wells[arm] = n
    best = 0
    for k in range(1, n):
        if values[k] < values[best]:
            best = k
    return xs[best], values[best]


@kernel
def meet_multimodal(law, model, weights, means, i, j, start, work):
    """x and y are as close as allowed, or each rests in a well of its own profile."""
    gap = model.tolerance
    first, last = inf, -inf  # below the first and above the last end of a dead zone the sum is monotone
    for m in range(weights.shape[1]):
        if weights[i, m] > 0.0:
            first = min(first, means[i, m] - model.bias_low[i, m])
            last = max(last, means[i, m] - model.bias_high[i, m])
        if weights[j, m] > 0.0:
            first = min(first, means[j, m] - model.bias_low[j, m] - gap)
            last = max(last, means[j, m] - model.bias_high[j, m] - gap)
    low = max(model.top_low[i], model.top_low[j] - gap)
    high = min(model.top_high[i], model.top_high[j] - gap)
    low, high = min(max(low, first), high), max(min(high, last), low)
    local_minima(model, weights, means, i, j, low, high, work.stack, work.best[0], work.best[1], True)
    x, value = work.best[0, 0], work.best[1, 0]
    y = x + gap
    for k in range(max(work.n_wells[i], 1)):
        xk, gk = well(work, i, k, work.psi_low[i])
        for n in range(max(work.n_wells[j], 1)):
            yn, gn = well(work, j, n, work.psi_high[j])
            if yn >= xk + gap and gk + gn < value:
                value, x, y = gk + gn, xk, yn
    return value, x, y


@kernel
def well(work, arm, k, psi):
    """The k-th local minimum of an arm's profile, or the end psi of its dead zone if its data fit."""
    return (work.wells[0, arm, k], work.wells[1, arm, k]) if work.n_wells[arm] > 0 else (psi, 0.0)


@kernel
def renew(model, work):
    """Forget all fits and bounds if the model has changed; returns whether it has."""
    if work.epoch[0] == model.epoch[0]:
        return False
    work.epoch[0] = model.epoch[0]
    work.stale[:] = True
    work.floor[:] = 0.0
    work.calm[0] = False
    return True


@kernel
def ensure(model, weights, means, arm, work):
    """Fit the arm, unless its fit is exact as it stands."""
    if work.stale[arm] or work.born[arm] != work.growth[0]:
        fit(model, weights, means, arm, work)


@kernel
def row(model, weights, means, i, first, enough, work):
    """min_{j != i} f_ij with its j, x, y, looking at `first` first; gives up once the minimum is <= enough."""
    value, challenger, x, y = inf, first, 0.0, 0.0
    for n in range(-1, weights.shape[0]):
        j = first if n < 0 else n
        if j == i or n == first or work.misfit[i] + work.misfit[j] >= value:
            continue
        if i == work.top[0] and work.floor[j] * work.floor[j] >= value:
            continue
        ensure(model, weights, means, j, work)
        if work.misfit[i] + work.misfit[j] >= value:
            continue
        f, xj, yj = pair(model, weights, means, i, j, work.eta[j], work)
        if i == work.top[0]:
            work.eta[j], work.floor[j] = xj, SURE * sqrt(f)
        if f < value:
            value, challenger, x, y = f, j, xj, yj
            if value <= max(enough, work.misfit[i]):
                break
    return value, challenger, x, y


@kernel
def refit(model, weights, means, work):
    """Fit the stale arms; name the arm of the largest psi and that of the largest misfit, as far as known."""
    renew(model, work)
    top, worst = 0, 0
    for a in range(weights.shape[0]):
        if work.stale[a]:
            fit(model, weights, means, a, work)
        if work.psi_high[a] > work.psi_high[top]:
            top = a
        if work.misfit[a] > work.misfit[worst]:
            worst = a
    if top != work.top[0]:
        work.top[0] = top
        work.floor[:] = 0.0
    ensure(model, weights, means, top, work)
    return top, worst


@kernel
def out_of_race(model, i, top, value, work):
    """Whether row i cannot beat `value`, by the bound f_{i,top} <= g_i + g_top at the minimisers as last computed."""
    if work.psi_high[top] < work.psi_low[i] + model.tolerance:
        return False
    return work.misfit[i] * work.growth[0] <= (value - work.misfit[top]) * work.born[i]


@kernel(inline=False)
def evaluate(model, weights, means, work):
    """F with its leader, challenger and their top means (x, y) at the closest alternative. O(K M) almost always.

    Rows are visited in the order top, largest misfit, the rest: after the first two few rows can still win.
    """
    K = weights.shape[0]
    top, worst = refit(model, weights, means, work)
    value, leader, challenger, x, y = -inf, top, top, 0.0, 0.0
    for n in range(-2, K):
        i = top if n == -2 else (worst if n == -1 else n)
        first = top
        if n > -2:
            if i == top or out_of_race(model, i, top, value, work):
                continue
            ensure(model, weights, means, i, work)
            if out_of_race(model, i, top, value, work):
                continue
        if n < 0:
            first = work.challenger[0] if n == -2 else work.ally[0]
            first = first if first != i else (i + 1) % K
        f, j, xi, yj = row(model, weights, means, i, first, value, work)
        if n == -2:
            work.challenger[0], work.meeting[0], work.meeting[1] = j, xi, yj
        elif n == -1:
            work.ally[0] = j
        if f > value:
            value, leader, challenger, x, y = f, i, j, xi, yj
    work.calm[0] = leader == top
    return value, leader, challenger, x, y


@kernel(inline=False)
def evaluate_top(model, weights, means, work):
    """The row of the arm of the largest psi: its value, that arm, its challenger, and their top means. O(K M)."""
    renew(model, work)
    for a in range(weights.shape[0]):
        ensure(model, weights, means, a, work)
    top, _ = refit(model, weights, means, work)
    first = work.challenger[0] if work.challenger[0] != top else (top + 1) % weights.shape[0]
    value, work.challenger[0], x, y = row(model, weights, means, top, first, -inf, work)
    return value, top, work.challenger[0], x, y


@kernel
def divergence_at(model, means, arm, fidelity, x):
    """A cell's divergence if its arm's top mean is x.

    For the two arms of F, at their top means in the closest alternative, this over the cell's cost is the supergradient
    of F in its cost share; it is 0 for all other arms.
    """
    mean = means[arm, fidelity]
    return divergence(model.law, arm, fidelity, mean, shift(model, mean, arm, fidelity, x))


@kernel(inline=False)
def divergences(model, weights, means, arm, x, out):
    """(M,) the same of all cells of an arm that have some weight; 0 for the others."""
    for m in range(out.size):
        out[m] = divergence_at(model, means, arm, m, x) if weights[arm, m] > 0.0 else 0.0


@kernel
def matrix(model, weights, means, work, out):
    """All f_ij, infinite on the diagonal. O(K^2 M)."""
    for a in range(weights.shape[0]):
        ensure(model, weights, means, a, work)
    for i in range(weights.shape[0]):
        for j in range(weights.shape[0]):
            out[i, j] = pair(model, weights, means, i, j, work.psi[i], work)[0] if i != j else inf


@kernel
def against_each(model, weights, means, i, work, out):
    """The row of these of one arm. O(K M)."""
    for a in range(weights.shape[0]):
        ensure(model, weights, means, a, work)
    for j in range(weights.shape[0]):
        out[j] = pair(model, weights, means, i, j, work.psi[i], work)[0] if i != j else inf
