"""Stopping when the evidence F, with counts as weights, reaches a threshold

    base[level] + scale * ln(ln t + offset)

in t evaluations: the generalised likelihood ratio test of the paper. F is computed on few steps only. The last full
evaluation leaves witnesses, frozen top means: for row `top`, the pair (top, rival) at their meeting point, and every
arm at its own minimiser. Frozen points bound f from above, and one evaluation changes one cell, so the bounds

    f_{top,rival} <= U   and   min_j f_ij <= f_{i,top} <= H_i + H_top   for every other i

cost a few additions. While all are below the threshold, no row can pass it.
"""

from math import inf, isfinite, log
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import divergence
from mfbai.kernels.profile import shift
from mfbai.kernels.transport import Work, evaluate, make_work, renew
from mfbai.stopping.interface import decide, observe

ROUNDING = 1.0 + 1e-9  # room for what sums of many small changes lose


class State(NamedTuple):
    base: np.ndarray  # (levels,) the part of the threshold that depends on delta
    scale: float
    offset: float
    first: int  # no test before this many evaluations
    threshold: np.ndarray  # (1,) as of the last look: it only grows
    work: Work
    pair: np.ndarray  # (2,) the witness' arms, top and rival; -1 before the first test
    meeting: np.ndarray  # (2,) their top means
    met: np.ndarray  # (2, M) each cell's part of U
    own: np.ndarray  # (K,) every arm's own minimiser
    fitted: np.ndarray  # (K, M) each cell's part of H
    misfit: np.ndarray  # (K,) H
    bounds: np.ndarray  # (2,) U, and the largest H of an arm that is not top (at least)


def init(model, base, scale, offset, first) -> State:
    K, M = model.cost.shape
    return State(
        base=np.ascontiguousarray(base, dtype=np.float64),
        scale=float(scale),
        offset=float(offset),
        first=int(first),
        threshold=np.full(1, -inf),
        work=make_work(model),
        pair=np.full(2, -1, dtype=np.int64),
        meeting=np.zeros(2),
        met=np.zeros((2, M)),
        own=np.zeros(K),
        fitted=np.zeros((K, M)),
        misfit=np.zeros(K),
        bounds=np.full(2, inf),
    )


def never(model) -> State:
    """A rule that does not stop, in the same compiled code."""
    return init(model, base=np.zeros(1), scale=0.0, offset=1.0, first=np.iinfo(np.int64).max)


@kernel
def contribution(model, stats, arm, fidelity, x):
    """What a cell contributes to its arm's profile at x."""
    if stats.count[arm, fidelity] == 0.0:
        return 0.0  # its mean is none, and may be infinitely far from x
    mean = stats.mean[arm, fidelity]
    move = shift(model, mean, arm, fidelity, x)
    return stats.count[arm, fidelity] * divergence(model.law, arm, fidelity, mean, move)


@kernel
def glr_observe(model, stats, rule, arm, fidelity, x):
    rule.work.stale[arm] = True
    if renew(model, rule.work):
        rule.pair[0] = -1
    if rule.pair[0] < 0:
        return
    for side in range(2):
        if rule.pair[side] == arm:
            now = contribution(model, stats, arm, fidelity, rule.meeting[side])
            rule.bounds[0] += now - rule.met[side, fidelity]
            rule.met[side, fidelity] = now
    now = contribution(model, stats, arm, fidelity, rule.own[arm])
    rule.misfit[arm] += now - rule.fitted[arm, fidelity]
    rule.fitted[arm, fidelity] = now
    if arm != rule.pair[0]:
        rule.bounds[1] = max(rule.bounds[1], rule.misfit[arm])
    if not isfinite(rule.bounds[0] + rule.misfit[arm]):
        rule.pair[0] = -1  # the value is impossible at a frozen mean: no bound any more


@kernel
def glr_decide(model, stats, rule, level):
    if stats.steps[0] < rule.first:
        return -1
    if rule.pair[0] >= 0:
        ceiling = ROUNDING * max(rule.bounds[0], rule.bounds[1] + rule.misfit[rule.pair[0]])
        if ceiling < rule.threshold[0] or ceiling < threshold(stats, rule, level):
            return -1
    return full_test(model, stats, rule, level)


@kernel
def threshold(stats, rule, level):
    rule.threshold[0] = rule.base[level] + rule.scale * log(log(stats.steps[0]) + rule.offset)
    return rule.threshold[0]


@kernel(inline=False)
def full_test(model, stats, rule, level):
    rule.work.floor[:] = 0.0
    value, leader, _, _, _ = evaluate(model, stats.count, stats.mean, rule.work)
    if model.tolerance == 0.0:
        freeze(model, stats, rule)
    return leader if value >= threshold(stats, rule, level) else -1


@kernel
def freeze(model, stats, rule):
    """Take new witnesses from the evaluation that was just made."""
    work = rule.work
    top = work.top[0]
    if work.psi_low[top] == -inf or work.psi_high[top] == inf:
        rule.pair[0] = -1  # some arm has no data yet: no point to freeze
        return
    rule.pair[0], rule.pair[1] = top, work.challenger[0]
    rule.meeting[0], rule.meeting[1] = work.meeting[0], work.meeting[1]
    rule.bounds[0] = 0.0
    for side in range(2):
        for m in range(stats.count.shape[1]):
            rule.met[side, m] = contribution(model, stats, rule.pair[side], m, rule.meeting[side])
            rule.bounds[0] += rule.met[side, m]
    rule.bounds[1] = 0.0
    for a in range(stats.count.shape[0]):
        rule.own[a] = work.psi_high[top] if a == top else work.psi_low[a]
        rule.misfit[a] = 0.0
        for m in range(stats.count.shape[1]):
            rule.fitted[a, m] = contribution(model, stats, a, m, rule.own[a])
            rule.misfit[a] += rule.fitted[a, m]
        if a != top:
            rule.bounds[1] = max(rule.bounds[1], rule.misfit[a])


observe.register(State, glr_observe)
decide.register(State, glr_decide)
