"""MF-GRAD: exponentiated supergradient ascent on F, followed by cumulative tracking (the paper's algorithm).

With t evaluations told, each `tell`, once every cell has been evaluated, takes the supergradient of F at the cost
shares omega~ and the current means, times the mean cost c of a pull, clipped at clip * sqrt(t), and adds it to the
gain S. Then

    omega~ = softmax(alpha * S),  pi~ = normalise(omega~ / cost),  pi' = (1 - gamma) pi~ + gamma / (K M),

alpha = 1/sqrt(n + 1) after n gradients ("theory") or constant, gamma = 1/(4 sqrt t). `ask` picks the cell whose summed
pi' is the furthest ahead of its count. The uniform part of pi' is the same for every cell, so it is left out of the
sums; each starts at one for its cell's first evaluation, which makes `ask` go through all cells first.

On exact ties at the top F is zero for every omega, and so is the gradient that is added: the limit of the paper's
remedy, which perturbs one of the tied arms.

"mf-grad-row" is another algorithm: in place of F it climbs min_j f_ij for the arm i of the largest psi. The two differ
where the data contradict the bias bounds, as the leader of F can then be an arm whose data fit badly.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.errors import Faults
from mfbai.kernels.incremental import all_grew, anything_changed, arm_grew, follow, mean_moved
from mfbai.kernels.jit import kernel
from mfbai.kernels.softmax import exp_into
from mfbai.kernels.transport import Work, divergence_at, evaluate_top, make_work
from mfbai.stopping.e_process import MANY
from mfbai.strategies.common import next_unseen_cell
from mfbai.strategies.interface import Strategy, ask, tell

CLIP = 100.0  # G: any positive constant serves the theory; it should not bite in practice


class State(NamedTuple):
    rate: float  # alpha; 0 for the theory's 1/sqrt(n + 1)
    clip: float  # gradients are cut at clip * sqrt(t)
    row_only: bool  # whether the arm of the largest psi always leads
    per_cost: np.ndarray  # (K, M) 1 / cost
    gain: np.ndarray  # (K, M) S: the summed clipped supergradients
    weight: np.ndarray  # (K, M) omega~ / cost, unnormalised; proportional to pi~
    target: np.ndarray  # (K, M) 1 + the sum of (1 - gamma) pi~
    total: np.ndarray  # (2,) the sums of `weight` and of weight * cost
    peak: np.ndarray  # (1,) the largest gain
    zero: np.ndarray  # (1,) a gain above the peak, which is given the weight 1
    gradients: np.ndarray  # (1,) how many were added
    alpha: np.ndarray  # (1,) the rate at the last update
    seen: np.ndarray  # (1,) all cells before this one, row by row, were evaluated
    work: Work  # where the last evaluation of F ended: the next one starts there


def init(model, rate, clip):
    """The first state. `rate` 0 is the theory's; `clip` is the paper's G."""
    faults = Faults()
    if not 0.0 <= rate < inf:
        faults.add("rate", f"is {rate!r}: give 0 for the theory's rate, or a positive constant such as 0.25")
    if not clip > 0.0:
        faults.add("clip", f"is {clip!r}: it must be positive; the default is {CLIP:g}")
    faults.raise_if_any("options of the strategy")
    weight = 1.0 / model.cost
    return State(
        rate=float(rate),
        clip=float(clip),
        row_only=False,
        per_cost=weight,
        gain=np.zeros(model.cost.shape),
        weight=weight.copy(),
        target=np.ones(model.cost.shape),
        total=np.array([weight.sum(), weight.size]),
        peak=np.zeros(1),
        zero=np.zeros(1),
        gradients=np.zeros(1, dtype=np.int64),
        alpha=np.full(1, rate or 1.0),
        seen=np.zeros(1, dtype=np.int64),
        work=make_work(model),
    )


def init_row(model, rate, clip):
    """The same, for the variant whose leader is always the arm of the largest psi."""
    return init(model, rate, clip)._replace(row_only=True)


@kernel
def mf_grad_ask(model, stats, state, pending):
    M, cell = pending.shape[1], state.seen[0]
    if state.gradients[0] == 0 and pending.shape[0] > MANY:
        for c in range(cell, pending.size):  # the first that has no value, nor one under way: look no further
            if stats.count.flat[c] == 0.0 and pending.flat[c] == 0:
                return c // M, c % M
    under_way = 0
    for c in range(pending.size):
        under_way += pending.flat[c]
    if under_way == 0:
        if state.gradients[0] == 0 and cell < stats.count.size:
            return cell // M, cell % M  # no target differs from the others, and this is the first without a value
        return furthest_behind(state.target, stats.count)
    # With evaluations under way, look as many steps ahead with the current pi~.
    ahead = under_way / state.total[0]
    arm, fidelity, most = 0, 0, -inf
    for a in range(stats.count.shape[0]):
        for m in range(stats.count.shape[1]):
            deficit = state.target[a, m] + ahead * state.weight[a, m] - stats.count[a, m] - pending[a, m]
            if deficit > most:
                arm, fidelity, most = a, m, deficit
    return arm, fidelity


@kernel
def furthest_behind(target, count):
    """The first cell that maximises target - count."""
    arm, most = 0, -inf
    for a in range(count.shape[0]):
        here = -inf
        for m in range(count.shape[1]):
            here = max(here, target[a, m] - count[a, m])
        if here > most:
            arm, most = a, here
    for m in range(count.shape[1]):
        if target[arm, m] - count[arm, m] >= most:
            return arm, m
    return arm, 0


@kernel
def mf_grad_tell(model, stats, state, arm, fidelity, x):
    n = stats.count[arm, fidelity]
    move = (x - stats.mean[arm, fidelity]) / (n - 1.0) if n > 1.0 else inf
    mean_moved(model, state.weight, arm, fidelity, move, state.work)
    if state.gradients[0] == 0:
        state.seen[0] = next_unseen_cell(stats, state.seen[0])
        if state.seen[0] < stats.count.size:
            return
    root = sqrt(stats.steps[0])
    leader, challenger = add_supergradient(model, stats, state, state.clip * root)
    update_weights(model, state, leader, challenger)
    scale = (root - 0.25) / (root * state.total[0])  # (1 - gamma) over the sum of weights
    target, weight = state.target.flat, state.weight.flat
    for c in range(stats.count.size):
        target[c] += scale * weight[c]


@kernel
def add_supergradient(model, stats, state, limit):
    if state.row_only:
        _, leader, challenger, x, y = evaluate_top(model, state.weight, stats.mean, state.work)
    else:
        _, leader, challenger, x, y = follow(model, state.weight, stats.mean, state.work)
    pull_cost = state.total[1] / state.total[0]
    for side in range(2):
        a, top = (leader, x) if side == 0 else (challenger, y)
        most, peak = 0.0, state.peak[0]
        for m in range(stats.count.shape[1]):
            gradient = pull_cost * divergence_at(model, stats.mean, a, m, top) * state.per_cost[a, m]
            gradient = min(gradient, limit)
            state.gain[a, m] += gradient
            most, peak = max(most, gradient), max(peak, state.gain[a, m])
        arm_grew(a, state.alpha[0] * most, state.work)
        state.peak[0] = peak
    state.gradients[0] += 1
    return leader, challenger


@kernel
def update_weights(model, state, leader, challenger):
    """Take the softmax of the gains, which have changed for these two arms only.

    Only ratios of weights matter. Gains are measured against a `zero` above them all that moves rarely. While it rests
    no weight shrinks, as gains only grow and alpha only falls; and the weights of arms whose gains did not change grow
    by exp((alpha before - alpha) * (zero - gain)) at most.
    """
    alpha = state.rate if state.rate > 0.0 else 1.0 / sqrt(state.gradients[0] + 1.0)
    rise = (state.alpha[0] - alpha) * state.zero[0]
    state.alpha[0] = alpha
    if state.peak[0] > state.zero[0] or rise > 0.5:
        state.zero[0] = state.peak[0] + 10.0 / alpha
        anything_changed(state.work)
        everything = True
    else:
        all_grew(rise, state.work)
        everything = state.rate == 0.0 or state.gradients[0] == 1
    if everything:
        exp_into(state.weight, alpha, state.gain, state.zero[0], state.per_cost)
    else:  # at the same rate and zero, no other weight is another one
        for a in (leader, challenger):
            exp_into(state.weight[a], alpha, state.gain[a], state.zero[0], state.per_cost[a])
    state.total[0], state.total[1] = sums(state.weight.flat, model.cost.flat, state.weight.size)


@kernel
def sums(a, b, n):
    """The sums of a[c] and of a[c] * b[c]."""
    # Four sums of each: an addition waits for the one before it.
    s0, s1, s2, s3, p0, p1, p2, p3 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    c = 0
    while c + 3 < n:
        s0, s1, s2, s3 = s0 + a[c], s1 + a[c + 1], s2 + a[c + 2], s3 + a[c + 3]
        p0, p1 = p0 + a[c] * b[c], p1 + a[c + 1] * b[c + 1]
        p2, p3 = p2 + a[c + 2] * b[c + 2], p3 + a[c + 3] * b[c + 3]
        c += 4
    while c < n:
        s0, p0 = s0 + a[c], p0 + a[c] * b[c]
        c += 1
    return (s0 + s1) + (s2 + s3), (p0 + p1) + (p2 + p3)


ask.register(State, mf_grad_ask)
tell.register(State, mf_grad_tell)
STRATEGIES = (
    Strategy("mf-grad", "the paper's algorithm, at the theory's rate", init, {"rate": 0.0, "clip": CLIP}),
    Strategy("mf-grad-const", "the same at a constant rate", init, {"rate": 0.25, "clip": CLIP}),
    Strategy("mf-grad-row", "the same, led by the arm of the largest psi", init_row, {"rate": 0.25, "clip": CLIP}),
)
