"""What both kinds of race share: who leads, and a second look at arms that are out."""

from math import inf, sqrt

from mfbai.kernels.jit import kernel
from mfbai.stopping.exclusion import is_out, row_of

AGAIN = 0.25  # second looks, each by the root of its cost, over the root of what was spent


@kernel
def largest(model, work):
    """The arm of the largest psi, the middle if that is an interval; it may have been ruled out, by bad luck, but it is
    not beaten for certain."""
    top = -1
    for a in range(work.psi_low.size):
        if model.beaten[a]:
            continue
        if top < 0 or work.psi_low[a] + work.psi_high[a] > work.psi_low[top] + work.psi_high[top]:
            top = a
    return top


@kernel
def closest(model, state, work, s):
    """The rival of the leader with the least evidence against it; of several, the one of the largest psi. -1 if none
    is left, or no arm leads."""
    rule, rival, least = state.rule, -1, inf
    if s < 0:
        return -1
    row = row_of(rule, s)
    for j in range(state.need.size):
        if j == s or state.need[j] == 0.0 or model.beaten[j]:
            continue
        higher = work.psi_low[j] + work.psi_high[j] > work.psi_low[rival] + work.psi_high[rival]
        if rule.proven[row, j] < least or (rule.proven[row, j] == least and higher):
            rival, least = j, rule.proven[row, j]
    return rival


@kernel
def forgotten(model, stats, state, pending):
    """The arm of those ruled out that has had the fewest evaluations, if it is time to look at one again; or -1.

    If the best arm was ruled out, and the others are equally good, they would race for ever. Second looks will show the
    best ahead of them. They begin when the cost is four times what it was when an arm was last ruled out.
    """
    rule, K = state.rule, stats.count.shape[0]
    most = AGAIN * (sqrt(stats.spent[0]) - 2.0 * sqrt(state.since[0]))
    if state.extra[0] >= most or rule.left.shape[0] > 1 or rule.left[0, rule.target.size - 1] == K:
        return -1
    arm, least, extra = -1, inf, state.extra[0]
    for a in range(K):
        if a != rule.leader[0] and is_out(rule, 0, a) and not model.beaten[a]:
            looks = 0.0
            for m in range(pending.shape[1]):
                looks += stats.count[a, m] + pending[a, m]
                extra += pending[a, m] * sqrt(model.cost[a, m])
            if looks < least:
                arm, least = a, looks
    return arm if extra < most else -1
