"""IISE: successive elimination, one fidelity after the other, the cheapest first (Poiani et al. 2022).

A round evaluates every surviving arm once at the phase's fidelity m. With n evaluations of an arm at m, its radius is

    r = sqrt(2 v (ln(K M / delta) + ln ln t) / n),

as in the experiments of the multi-fidelity paper, and it is dropped when another arm is better for certain. The phase
is over when theta_m - 4 xi_m >= 4 sqrt(2 v ln(4 n^2 K M / delta) / n): what is left is cheaper to see higher up. There

    theta_m = max over k > m of  4 xi_m + 4 (xi_m - xi_k) sqrt(c_m) / (sqrt(c_k) - sqrt(c_m)),

with the largest bias and the mean cost of the arms where these differ, over the more expensive fidelities k. A fidelity
that is no cheaper than a later one of no larger bias is left out.
"""

from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.strategies.common import tail_variance
from mfbai.strategies.interface import Strategy, ask, tell


class State(NamedTuple):
    variance: np.ndarray  # (K, M) v
    worst: np.ndarray  # (M,) the largest v of a fidelity
    log_cells: float  # ln(K M / delta)
    room: np.ndarray  # (M,) theta_m - 4 xi_m: -infinity at the top, +infinity for a fidelity to leave out
    phase: np.ndarray  # (1,) the fidelity evaluated now
    alive: np.ndarray  # (K,) arms not dropped
    rounds: np.ndarray  # (1,) complete rounds of this phase
    answer: np.ndarray  # (1,) the last arm, or -1


def init(model, delta):
    K, M = model.cost.shape
    variance = tail_variance(model, "iise")
    room = rooms(np.maximum(abs(model.bias_low), abs(model.bias_high)).max(axis=0), model.cost.mean(axis=0))
    return State(
        variance=variance,
        worst=variance.max(axis=0),
        log_cells=float(np.log(K * M) - np.log(delta)),
        room=room,
        phase=np.array([np.argmax(room < inf)], dtype=np.int64),
        alive=np.ones(K, dtype=np.bool_),
        rounds=np.zeros(1, dtype=np.int64),
        answer=np.full(1, -1, dtype=np.int64),
    )


def rooms(radius: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """(M,) theta_m - 4 xi_m."""
    room = np.full(len(cost), -inf)
    for m in range(len(cost) - 1):
        for k in range(m + 1, len(cost)):
            if cost[k] > cost[m]:
                gain = 4 * (radius[m] - radius[k]) * sqrt(cost[m]) / (sqrt(cost[k]) - sqrt(cost[m]))
            else:
                gain = inf if radius[k] <= radius[m] else -inf
            room[m] = max(room[m], gain)
    return room


@kernel
def iise_ask(model, stats, state, pending):
    m = state.phase[0]
    arm, least = 0, inf
    for a in range(state.alive.size):
        evaluations = stats.count[a, m] + pending[a, m]
        if state.alive[a] and evaluations < least:
            arm, least = a, evaluations
    return arm, m


@kernel
def iise_tell(model, stats, state, arm, fidelity, x):
    if state.answer[0] >= 0 or fidelity != state.phase[0] or not state.alive[arm]:
        return
    n = inf
    for a in range(state.alive.size):
        if state.alive[a]:
            n = min(n, stats.count[a, fidelity])
    if n <= state.rounds[0]:
        return
    state.rounds[0] = int(n)
    drop_arms(model, stats, state, fidelity)
    if 4.0 * sqrt(2.0 * state.worst[fidelity] * (log(4.0 * n * n) + state.log_cells) / n) <= state.room[fidelity]:
        state.rounds[0] = 0
        state.phase[0] += 1
        while state.room[state.phase[0]] == inf:
            state.phase[0] += 1


@kernel
def drop_arms(model, stats, state, m):
    log_risk = state.log_cells + log(log(max(stats.steps[0], 2)))
    best, most = 0, -inf
    for a in range(state.alive.size):
        if state.alive[a]:
            low = stats.mean[a, m] - model.bias_high[a, m] - radius(stats, state, a, m, log_risk)
            if low > most:
                best, most = a, low
    left = 0
    for a in range(state.alive.size):
        if state.alive[a]:
            high = stats.mean[a, m] - model.bias_low[a, m] + radius(stats, state, a, m, log_risk)
            state.alive[a] = a == best or high > most
            left += state.alive[a]
    if left == 1:
        state.answer[0] = best


@kernel
def radius(stats, state, arm, m, log_risk):
    return sqrt(2.0 * state.variance[arm, m] * log_risk / stats.count[arm, m])


ask.register(State, iise_ask)
tell.register(State, iise_tell)
STRATEGIES = (Strategy("iise", "elimination, one fidelity after the other", init, own_rule=True, needs=("delta",)),)
