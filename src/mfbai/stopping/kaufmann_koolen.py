"""The thresholds of Kaufmann and Koolen (2021), "Mixture martingales revisited": proven, and loose.

Stop once some arm i has f_ij >= threshold_ij for every other j, where, over the pair's cells with N > 0 evaluations,

    Gaussian and sub-Gaussian:  threshold_ij = sum of 2 ln(4 + ln N) + n C(ln((K - 1) / delta) / n)
    other families:             threshold_ij = sum of 3 ln(1 + ln N) + n T(ln((K - 1) / delta) / n)

and n = 2M is the number of the pair's cells, with or without data; M is 1 for strategies that keep to the top fidelity.

Why it holds: if i is wrong and j is the best arm, the true means are admissible in f_ij, so f_ij is at most the sum of
N d(mean, true mean) over the pair's cells. Their Theorems bound such a sum, for a set of n cells fixed in advance, at
all times at once and for any sampling rule. In their proofs each cell has a martingale, 1 at first, that is never below
exp(l X - g(l)), where X is the cell's deviation less its logarithm. A cell without data has X = 0 and the martingale 1,
and g >= 0: so it may be left out of the sum, but not of n, because l is chosen by n.
"""

from functools import cache
from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.kernels.jit import kernel
from mfbai.kernels.transport import pair, refit
from mfbai.stopping import glr
from mfbai.stopping.interface import Rule, decide, observe


class State(NamedTuple):
    glr: glr.State  # witnesses; a cell's part of a threshold is scale * ln(ln N + offset), base is the rest
    penalty: np.ndarray  # (K,) the sum of each arm's parts, as of the last full test: they only grow
    least: np.ndarray  # (1,) the least of them but for the witness' top


def init(model, deltas, fidelities) -> State:
    if not model.law.known:
        told = "is 'kaufmann-koolen', whose proof needs a stated variance, and this family learns its noise on the way"
        raise InvalidInput([Fault("stopping", f"{told}: take e-process")])
    arms, cells = model.cost.shape[0], 2 * fidelities
    constant, scale, offset = (gaussian, 2.0, 4.0) if model.law.quadratic else (any_family, 3.0, 1.0)
    base = [cells * constant(log((arms - 1) / delta) / cells) for delta in deltas.tolist()]
    return State(glr.init(model, base, scale, offset, first=0), np.zeros(arms), np.zeros(1))


@cache
def gaussian(x: float) -> float:
    """C(x), the least (g(l) + x) / l over 1/2 < l < 1. Any l is valid, so an inexact minimum is, too."""
    from scipy.optimize import minimize_scalar  # here, as the other rules do without scipy
    from scipy.special import zeta

    def bound(share: float) -> float:
        g = 2 * share - 2 * share * log(4 * share) + log(zeta(2 * share)) - log(1 - share) / 2
        return (g + x) / share

    return float(minimize_scalar(bound, bounds=(0.5, 1.0), method="bounded", options={"xatol": 1e-10}).fun)


@cache
def any_family(x: float) -> float:
    """T(x) = 2 h~((h^-1(1 + x) + ln(2 zeta(2))) / 2), h~(z) the least y (z - ln ln y) over 1 < y <= 3/2."""
    from scipy.special import lambertw, zeta

    def inverse(z: float) -> float:
        """The u >= 1 with u - ln u = z."""
        return float(-lambertw(-exp(-z), k=-1).real)

    z = (inverse(1 + x) + log(2 * zeta(2))) / 2
    y = min(exp(1 / inverse(z)), 1.5)  # the slope in y, z - ln ln y - 1 / ln y, is zero at the former
    return 2 * y * (z - log(log(y)))


@kernel
def kaufmann_koolen_observe(model, stats, rule, arm, fidelity, x):
    glr.glr_observe(model, stats, rule.glr, arm, fidelity, x)


@kernel
def kaufmann_koolen_decide(model, stats, rule, level):
    top, rival = rule.glr.pair[0], rule.glr.pair[1]
    if top >= 0:
        # The witnesses bound row top, and all others, against thresholds that can only have grown.
        own, others = rule.glr.bounds[0], rule.glr.bounds[1] + rule.glr.misfit[top]
        known = rule.glr.base[level] + rule.penalty[top]
        if glr.ROUNDING * own < known + rule.penalty[rival] and glr.ROUNDING * others < known + rule.least[0]:
            return -1
    return full_test(model, stats, rule, level)


@kernel(inline=False)
def full_test(model, stats, rule, level):
    """The arm of the largest psi if its row passes, or else the first whose row does, or -1.

    The pair of that arm's row that is the furthest from passing becomes the witness.
    """
    work, K = rule.glr.work, stats.count.shape[0]
    top, _ = refit(model, stats.count, stats.mean, work)
    rule.least[0] = inf
    for a in range(K):
        rule.penalty[a] = penalty(stats, rule, a)
        if a != top:
            rule.least[0] = min(rule.least[0], rule.penalty[a])
    answer = -1
    margin, work.challenger[0], work.meeting[0], work.meeting[1] = row_margin(model, stats, rule, top, level, -inf)
    if margin >= 0.0:
        answer = top
    for i in range(K):
        # Only arms whose data contradict the bias bounds get past the first pair, with top.
        if answer < 0 and i != top and row_margin(model, stats, rule, i, level, 0.0)[0] >= 0.0:
            answer = i
    if model.tolerance == 0.0:
        glr.freeze(model, stats, rule.glr)
    return answer


@kernel
def penalty(stats, rule, arm):
    total = 0.0
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] > 0.0:
            total += log(log(max(stats.count[arm, m], 1.0)) + rule.glr.offset)  # planning has parts of evaluations
    return rule.glr.scale * total


@kernel
def row_margin(model, stats, rule, i, level, enough):
    """The least f_ij - threshold_ij over j, with its j and top means; gives up below `enough`. Looks at top first."""
    work = rule.glr.work
    top, known = work.top[0], rule.glr.base[level] + rule.penalty[i]
    margin, challenger, x, y = inf, i, 0.0, 0.0
    for n in range(-1, stats.count.shape[0]):
        j = top if n < 0 else n
        if j == i or n == top or margin < enough:
            continue
        f, xj, yj = pair(model, stats.count, stats.mean, i, j, work.eta[j], work)
        if i == top:
            work.eta[j] = xj
        if f - known - rule.penalty[j] < margin or challenger == i:
            margin, challenger, x, y = f - known - rule.penalty[j], j, xj, yj
    return margin, challenger, x, y


observe.register(State, kaufmann_koolen_observe)
decide.register(State, kaufmann_koolen_decide)
RULES = (Rule("kaufmann-koolen", "the proven threshold of Kaufmann and Koolen", init),)
