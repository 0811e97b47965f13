"""What a rival costs to be told from the best arm, if x is spent on the best arm's cells: the inner problem of
`kernels.allocation`, which has the symbols.
"""

from math import inf, sqrt

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import divergence, slopes

MANY = 200  # more iterations than were ever seen
SMALL = 1e-7  # psi where a tiny step can be trusted: c, its scale, is at most 1


@kernel
def rate(model, mean, arm, m, move):
    """Divergence over cost of a cell whose mean has to move, with slope and curvature."""
    cost = model.cost[arm, m]
    slope, bend = slopes(model.law, arm, m, mean, move)
    return divergence(model.law, arm, m, mean, move) / cost, slope / cost, bend / cost


@kernel
def falling(model, means, arm, m, eta):
    """A_m with slope and curvature: the arm's top mean is at most its true one."""
    move = eta - (means[arm, m] - model.bias_high[arm, m])
    return rate(model, means[arm, m], arm, m, move) if move <= 0.0 else (0.0, 0.0, 0.0)


@kernel
def rising(model, means, arm, m, eta):
    """B_{arm,m} with slope and curvature: the arm's top mean is at least its true one."""
    move = eta - (means[arm, m] - model.bias_low[arm, m]) + model.tolerance
    return rate(model, means[arm, m], arm, m, move) if move >= 0.0 else (0.0, 0.0, 0.0)


@kernel
def missing(model, means, best, x, eta):
    """c = 1 - sum_m x_m A_m with slope and curvature: what a rival's own cells have to add."""
    value, slope, bend = 1.0, 0.0, 0.0
    for m in range(x.size):
        if x[m] > 0.0:
            v, s, b = falling(model, means, best, m, eta)
            value -= x[m] * v
            slope -= x[m] * s
            bend -= x[m] * b
    return value, slope, bend


@kernel
def strongest(model, means, arm, eta):
    """B_arm and the fidelity that attains it. O(M)."""
    top, most = 0, -1.0
    for m in range(means.shape[1]):
        mean = means[arm, m]
        move = eta - (mean - model.bias_low[arm, m]) + model.tolerance
        value = divergence(model.law, arm, m, mean, move) / model.cost[arm, m] if move > 0.0 else 0.0
        if value > most:
            top, most = m, value
    return most, top


@kernel
def blind(model, means, arm, eta):
    """Whether the arm's own cells say nothing at eta: they do so at its own top mean, but for rounding."""
    return eta <= means[arm, means.shape[1] - 1] - model.tolerance


@kernel
def climb(c, c1, c2, b, b1, b2):
    """psi = c' B / B' - c, positive where c / B rises; and the Newton step to its zero.

    For a quadratic B psi is linear in each piece, so the step is exact.
    """
    if b <= 0.0 or c == -inf:
        return inf, inf
    if b1 == inf:
        return -inf, inf
    psi = c1 * b / b1 - c
    slope = (c2 - c1 * b2 / b1) * b / b1
    return psi, (-psi / slope if slope < 0.0 else inf)


@kernel
def crossing(model, means, arm, m, n, low, high):
    """Where B_{arm,m} = B_{arm,n}, of which m is larger at low and n at high. Newton on the difference of their roots,
    which are lines if B is quadratic."""
    eta = high
    for _ in range(MANY):
        u, u1, _ = rising(model, means, arm, m, eta)
        v, v1, _ = rising(model, means, arm, n, eta)
        ru, rv = sqrt(u), sqrt(v)
        if ru >= rv:
            low = max(low, eta)
        if ru <= rv:
            high = min(high, eta)
        slope = (0.5 * u1 / ru if u > 0.0 else 0.0) - (0.5 * v1 / rv if v > 0.0 else 0.0)
        y = eta - (ru - rv) / slope if slope != 0.0 else low
        if not low < y < high:
            y = 0.5 * (low + high)
        if not low < y < high or abs(y - eta) <= 1e-16 * (abs(y) + abs(eta)):
            return y
        eta = y
    return eta


@kernel
def at_kink(model, means, best, arm, x, left, right, low, high):
    """Look at the kink of B between low, where fidelity `left` is strongest, and high, where `right` is.

    Returns it with c and B, the part of the spending for `left` if the peak of c / B is here, and otherwise the Newton
    steps for either side: the one to the left if the peak is there, else 0, and the same to the right. If both are 0
    and the share is negative, a third fidelity is stronger here.
    """
    eta = crossing(model, means, arm, left, right, low, high)
    c, c1, c2 = missing(model, means, best, x, eta)
    b = strongest(model, means, arm, eta)[0]
    bl, bl1, bl2 = rising(model, means, arm, left, eta)
    br, br1, br2 = rising(model, means, arm, right, eta)
    if b > max(bl, br) * (1.0 + 1e-12):
        return eta, c, b, -1.0, 0.0, 0.0
    before, back = climb(c, c1, c2, b, bl1, bl2)
    after, forth = climb(c, c1, c2, b, br1, br2)
    if before < 0.0:
        return eta, c, b, -1.0, back, 0.0
    if after > 0.0:
        return eta, c, b, -1.0, 0.0, forth
    share = (br1 - c1 * b / c) / (br1 - bl1)
    return eta, c, b, min(max(share, 0.0), 1.0), 0.0, 0.0


@kernel(inline=False)
def peak(model, means, best, arm, x, first, last, eta):
    """The peak of c / B over [first, last], looked for from eta: where it is, c, B, the fidelity that attains B, the
    second one and the part of the first if it is a kink of B, and its curvature, 0 if it is a kink or an end.

    Newton's method inside a bracket. If both ends of the bracket have been looked at and have different strongest
    fidelities, and a step would leave it, the kink between them is next.
    """
    low, high = first, last
    left, right = -1, -1  # the fidelities strongest at low and at high, once these have been looked at
    if not low < eta < high:
        eta = 0.5 * (low + high)
    c, b, m = 0.0, 1.0, 0
    for attempt in range(MANY):
        c, c1, c2 = missing(model, means, best, x, eta)
        b, m = strongest(model, means, arm, eta)
        _, b1, b2 = rising(model, means, arm, m, eta)
        psi, step = climb(c, c1, c2, b, b1, b2)
        if (psi >= 0.0 and eta >= last) or (psi <= 0.0 and eta <= first):
            break
        if psi >= 0.0:
            low, left = eta, m
        else:
            high, right = eta, m
        y = eta + step
        if abs(step) <= 1e-15 * abs(eta) + 1e-16 * (last - first):
            if abs(psi) <= SMALL:
                return eta, c, b, m, m, 1.0, (c * b2 - c2 * b) / (b * b)
            y = inf  # beside a pole steps are tiny far away from the peak
        if left != right and left >= 0 and right >= 0 and (attempt > 6 or not low < y < high):
            y, c, b, share, back, forth = at_kink(model, means, best, arm, x, left, right, low, high)
            if share >= 0.0:
                return y, c, b, left, right, share, 0.0
            if back < 0.0:
                high, right = y, left
            elif forth > 0.0:
                low, left = y, right
            y += back + forth
        if y >= high and right < 0:
            y = high  # perhaps the peak is at the end of the range
        elif y <= low and left < 0 and not blind(model, means, arm, low):
            y = low
        elif not low < y < high:
            y = 0.5 * (low + high)
            if not low < y < high:  # beside a pole: keep to the side where both c and B can be computed
                eta = low if missing(model, means, best, x, low)[0] > 0.0 else high
                c, (b, m) = missing(model, means, best, x, eta)[0], strongest(model, means, arm, eta)
                break
        eta = y
    return eta, max(c, 0.0), b, m, m, 1.0, 0.0
