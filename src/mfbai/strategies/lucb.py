"""LUCB on the top fidelity (Kalyanakrishnan et al. 2012), LUCBExploreA and LUCBExploreB (Wang et al. 2023).

With t evaluations told and radii b = sqrt(2 v ln(4 K M t^4 / delta) / N), every cell bounds its arm's top mean:

    UCB_a = min_m (muhat - bias_low + b),   LCB_a = max_m (muhat - bias_high - b).

Each round evaluates l and u, the arms of the two highest UCBs, and the run is over when LCB_l > UCB_u. The variants
differ in the fidelity. With gap = mu1 - (muhat - bias_low) for u and (muhat - bias_high) - mu2 for l, where mu1 and mu2
are thought to bound the best and the second best top mean, they look for the one that maximises gap / sqrt(cost):

    A adds sqrt(2 ln N_a / (cost N)) to it, and takes the maximum;
    B evaluates all, until the maximum is at least 3 sqrt(v ln(4 K M / delta) / (least cost * N)) and fixed for good.

The fidelity sought need not be one that can end the run, and then neither stops: see the instance "lucb-trap".
"""

from math import inf, isfinite, log, sqrt
from typing import Any, NamedTuple

import numpy as np

from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.kernels.jit import kernel
from mfbai.model.instance import Instance
from mfbai.strategies.common import tail_variance
from mfbai.strategies.interface import Strategy, ask, tell

TOP, EXPLORE_A, EXPLORE_B = 0, 1, 2


class State(NamedTuple):
    variant: int  # TOP, EXPLORE_A or EXPLORE_B
    first: int  # the least fidelity used
    scale: np.ndarray  # (K, M) sqrt(2 v)
    per_root_count: np.ndarray  # (K, M) 1 / sqrt(N)
    log_cells: float  # ln(4 K M / delta)
    mu1: float
    mu2: float
    per_root_cost: np.ndarray  # (K, M) 1 / sqrt(cost)
    least_cost: np.ndarray  # (K,)
    fixed: np.ndarray  # (K,) the fidelity that B has settled on, or -1
    round: np.ndarray  # (K * M, 2) the cells of this round, arm and fidelity
    length: np.ndarray  # (1,) how many
    due: np.ndarray  # (K, M) evaluations of each that are still to be told
    left: np.ndarray  # (1,) how many of `due` in all
    answer: np.ndarray  # (1,) the arm, or -1


def init_top(model, delta):
    return init(model, delta, TOP, model.cost.shape[1] - 1, "lucb", 0.0, 0.0)


def init_a(model, delta, instance, mu1, mu2):
    return init(model, delta, EXPLORE_A, 0, "lucb-explore-a", *two_best(instance, mu1, mu2))


def init_b(model, delta, instance, mu1, mu2):
    return init(model, delta, EXPLORE_B, 0, "lucb-explore-b", *two_best(instance, mu1, mu2))


def init(model, delta, variant, first, name, mu1, mu2):
    K, M = model.cost.shape
    due = np.zeros((K, M), dtype=np.int64)
    due[:, first:] = 1
    cells = np.zeros((K * M, 2), dtype=np.int64)
    cells[: due.sum()] = np.argwhere(due)
    return State(
        variant=variant,
        first=first,
        scale=np.sqrt(2.0 * tail_variance(model, name)),
        per_root_count=np.zeros((K, M)),
        log_cells=float(np.log(4 * K * (M - first)) - np.log(delta)),
        mu1=mu1,
        mu2=mu2,
        per_root_cost=1.0 / np.sqrt(model.cost),
        least_cost=model.cost.min(axis=1),
        fixed=np.full(K, -1, dtype=np.int64),
        round=cells,
        length=np.array([due.sum()]),
        due=due,
        left=np.array([due.sum()]),
        answer=np.full(1, -1, dtype=np.int64),
    )


def two_best(instance, mu1, mu2) -> tuple[float, float]:
    """Both as the kernels see them: reflected if the problem minimises. The true ones where None is given."""
    if isinstance(instance, Instance):
        sign, means = instance.problem.sign, instance.means[:, -1]
    elif mu1 is None or mu2 is None:
        told = "needs the means of the two best arms, which a live study does not know: give the options mu1 and mu2"
        raise InvalidInput([Fault("strategy", told)])
    else:
        sign, means = instance.sign, np.zeros(2)  # not used
    second, best = np.sort(sign * means)[-2:]
    mu1, mu2 = float(sign * best if mu1 is None else mu1), float(sign * second if mu2 is None else mu2)
    faults = Faults()
    for name, value in (("mu1", mu1), ("mu2", mu2)):
        if not isfinite(value):
            faults.add(name, f"is {value!r}: give a finite number")
    if isfinite(mu1 - mu2) and sign * (mu1 - mu2) <= 0.0:
        better = "above" if sign > 0 else "below"
        faults.add("mu1", f"is {mu1:g}: it bounds the best arm's mean, and must be {better} mu2, the second's, {mu2:g}")
    faults.raise_if_any("options of the strategy")
    return sign * mu1, sign * mu2


@kernel
def lucb_ask(model, stats, state, pending):
    """The first cell of the round that is not under way; if all are, the one with the fewest evaluations under way."""
    arm, fidelity, least = 0, state.first, inf
    for n in range(state.length[0]):
        a, m = state.round[n, 0], state.round[n, 1]
        if state.due[a, m] > pending[a, m]:
            return a, m
        if pending[a, m] < least:
            arm, fidelity, least = a, m, pending[a, m]
    return arm, fidelity


@kernel
def lucb_tell(model, stats, state, arm, fidelity, x):
    state.per_root_count[arm, fidelity] = 1.0 / sqrt(stats.count[arm, fidelity])
    if state.due[arm, fidelity] == 0:
        return
    state.due[arm, fidelity] -= 1
    state.left[0] -= 1
    if state.left[0] > 0:
        return
    root = sqrt(state.log_cells + 4.0 * log(stats.steps[0]))
    leader, first, rival, second = 0, -inf, 0, -inf
    for a in range(stats.count.shape[0]):
        high = upper(model, stats, state, a, root)
        if high > first:
            rival, second = leader, first
            leader, first = a, high
        elif high > second:
            rival, second = a, high
    if state.answer[0] < 0 and lower(model, stats, state, leader, root) > second:
        state.answer[0] = leader
    state.length[0] = 0
    for side in range(2):
        plan(model, stats, state, leader if side == 0 else rival, side == 0)
    state.left[0] = state.length[0]


@kernel
def upper(model, stats, state, arm, root):
    least = inf
    for m in range(state.first, stats.count.shape[1]):
        radius = root * state.scale[arm, m] * state.per_root_count[arm, m]
        least = min(least, stats.mean[arm, m] - model.bias_low[arm, m] + radius)
    return least


@kernel
def lower(model, stats, state, arm, root):
    most = -inf
    for m in range(state.first, stats.count.shape[1]):
        radius = root * state.scale[arm, m] * state.per_root_count[arm, m]
        most = max(most, stats.mean[arm, m] - model.bias_high[arm, m] - radius)
    return most


@kernel
def plan(model, stats, state, arm, is_leader):
    """Put the arm's cells into the next round."""
    if state.variant == TOP:
        add(state, arm, state.first)
    elif state.variant == EXPLORE_A:
        evaluations = 0.0
        for m in range(stats.count.shape[1]):
            evaluations += stats.count[arm, m]
        add(state, arm, most_promising(model, stats, state, arm, is_leader, sqrt(2.0 * log(evaluations)))[0])
    else:
        if state.fixed[arm] < 0:
            m, promise = most_promising(model, stats, state, arm, is_leader, 0.0)
            noise = state.scale[arm, m] * state.per_root_count[arm, m]
            if promise >= 3.0 * noise * sqrt(0.5 * state.log_cells / state.least_cost[arm]):
                state.fixed[arm] = m
        if state.fixed[arm] >= 0:
            add(state, arm, state.fixed[arm])
        else:
            for m in range(stats.count.shape[1]):
                add(state, arm, m)


@kernel
def most_promising(model, stats, state, arm, is_leader, bonus):
    """The fidelity that maximises (gap + bonus / sqrt(N)) / sqrt(cost), and the maximum."""
    best, most = 0, -inf
    for m in range(stats.count.shape[1]):
        mean = stats.mean[arm, m]
        gap = mean - model.bias_high[arm, m] - state.mu2 if is_leader else state.mu1 - mean + model.bias_low[arm, m]
        promise = (gap + bonus * state.per_root_count[arm, m]) * state.per_root_cost[arm, m]
        if promise > most:
            best, most = m, promise
    return best, most


@kernel
def add(state, arm, fidelity):
    state.round[state.length[0], 0], state.round[state.length[0], 1] = arm, fidelity
    state.length[0] += 1
    state.due[arm, fidelity] += 1


ask.register(State, lucb_ask)
tell.register(State, lucb_tell)
EXPLORE: dict[str, Any] = {"options": {"mu1": None, "mu2": None}, "own_rule": True, "needs": ("delta", "instance")}
STRATEGIES = (
    Strategy("lucb", "LUCB on the top fidelity alone", init_top, top_only=True, own_rule=True, needs=("delta",)),
    Strategy("lucb-explore-a", "LUCB that looks for one fidelity an arm by confidence bounds", init_a, **EXPLORE),
    Strategy("lucb-explore-b", "the same, evaluating all fidelities until one is fixed", init_b, **EXPLORE),
)
