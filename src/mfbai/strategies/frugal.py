"""Frugal: spends on the cell that promises the most certainty for its cost, and on no cell that it need not know.

Let s be the arm of the largest psi. For each rival j that is not ruled out yet, f_j is the evidence against it and
eta_j where both arms' top means would meet. A cell of s whose mean is u beyond eta_j, or a cell of j that is as far on
the other side, gains u^2 / (2 variance) of evidence with each evaluation. So evaluate the cell with the largest

    sum over the rivals it tells from s of  q_j u^2 / (2 variance * cost),     q_j = exp(-f_j) / (cost spent on j)

where q_j is the risk that is left in j, less for those that have had much already: that keeps a rival whose first
values were unlucky from eating all there is. Three things are not known, and each is answered by one rule.

- *u*, while a cell has few evaluations, is taken sqrt(2 variance ln(1 + beta / f) / count) too large, where beta is
  ln((K - 1) / delta) and f the least f_j: optimism that fades as evidence grows.
- *u of a cell without data*, or with few: half-way, at most, between what the arm's data say of its top mean and the
  most that they allow.
- *whether to begin with yet another cell*: each costs about FEE nats in the proof. So what a cell promises is reduced
  by the part of the fee that it has not earned yet, over the nats that are still needed.

Rivals are ruled out by the e-process, which the strategy keeps for itself; if that is also the stopping rule, both use
the same record. Starts with one evaluation of each arm, at its cheapest fidelity.
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import variance
from mfbai.kernels.transport import fit, pair
from mfbai.stopping import e_process
from mfbai.strategies.common import first_look
from mfbai.strategies.interface import Strategy, ask, tell
from mfbai.strategies.optimism import reach_of

FEE = 2.0  # nats: about what a cell costs an arm in the e-process
MARGIN = 5.0  # nats: about by how much f must exceed ln((K - 1) / delta)
LEAST = 0.01  # part of its promise that a cell keeps
STEADY = 0.02  # relative change that is ignored, of ln(1 + beta / f) and of the leader's evaluations: all depends on it
FAR = 20.0  # nats: change of the least f_j after which weights are taken relative to another one


class State(NamedTuple):
    rule: e_process.State  # which rivals are ruled out; the fits of the arms
    cheapest: np.ndarray  # (K,) each arm's cheapest fidelity
    spent: np.ndarray  # (K,) cost spent on each arm, in evaluations at its cheapest
    noise: np.ndarray  # (K, M) variances
    leader: np.ndarray  # (1,) s; -1 while an arm has no data
    gap: np.ndarray  # (K,) f_j
    eta: np.ndarray  # (K,) where s and each rival meet
    log: np.ndarray  # (1,) ln(1 + beta / f), nearly
    base: np.ndarray  # (1,) q_j is relative to exp(-base)
    due: np.ndarray  # (1,) evaluations of s after which all rivals are compared with it again
    ruled: np.ndarray  # (1,) how many rivals had been ruled out, ever, when all was last computed
    weight: np.ndarray  # (K,) q_j; 0 for s and for rivals that are ruled out
    score: np.ndarray  # (K,) of each rival's best cell
    choice: np.ndarray  # (K,) that cell's fidelity
    reach: np.ndarray  # (K, M) the top mean that each cell may still rule out: see `optimism`
    part: np.ndarray  # (K, M) what each rival adds to the scores of s
    total: np.ndarray  # (M,) their sums


def init(model, delta):
    K, M = model.cost.shape
    return State(
        rule=e_process.init(model, np.array([delta]), M),
        cheapest=np.argmin(model.cost, axis=1),
        spent=np.zeros(K),
        noise=np.ones((K, M)),
        leader=np.full(1, -1, dtype=np.int64),
        gap=np.zeros(K),
        eta=np.zeros(K),
        log=np.zeros(1),
        base=np.zeros(1),
        due=np.zeros(1),
        ruled=np.zeros(1, dtype=np.int64),
        weight=np.zeros(K),
        score=np.zeros(K),
        choice=np.zeros(K, dtype=np.int64),
        reach=np.zeros((K, M)),
        part=np.zeros((K, M)),
        total=np.zeros(M),
    )


@kernel
def frugal_ask(model, stats, state, pending):
    s = state.leader[0]
    if s < 0:
        return first_look(model, stats, state.cheapest, pending)
    arm, fidelity, most = s, 0, -1.0
    for m in range(pending.shape[1]):
        rate = state.total[m] * fresh(stats, pending, s, m)
        if rate > most:
            fidelity, most = m, rate
    for j in range(pending.shape[0]):
        rate = state.score[j] * fresh(stats, pending, j, state.choice[j])
        if rate > most and not model.beaten[j]:
            arm, fidelity, most = j, state.choice[j], rate
    return arm, fidelity


@kernel
def fresh(stats, pending, a, m):
    """How much of its promise a cell keeps while some of its values are still to come."""
    if pending[a, m] == 0:
        return 1.0
    share = (1.0 + stats.count[a, m]) / (1.0 + stats.count[a, m] + pending[a, m])
    return share * share


@kernel
def frugal_tell(model, stats, state, arm, fidelity, x):
    rule, K = state.rule, stats.count.shape[0]
    state.spent[arm] += model.cost[arm, fidelity] / model.cost[arm, state.cheapest[arm]]
    renewed = rule.work.epoch[0] != model.epoch[0]
    e_process.e_process_observe(model, stats, rule, arm, fidelity, x)
    fit(model, stats.count, stats.mean, arm, rule.work)
    set_noise(model, stats, state, arm)
    before = state.leader[0]
    if before < 0 and not e_process.all_looked_at(model, stats):
        return
    e_process.e_process_decide(model, stats, rule, 0)
    lead(model, state)
    s = state.leader[0]
    if renewed or s != before or (s == arm and stats.count[s].sum() > state.due[0]):
        everything = True
        state.due[0] = (1.0 + STEADY) * stats.count[s].sum()
        for j in range(K):
            if j != s:
                compare(model, stats, state, j)
    else:
        everything = rule.ruled[0] != state.ruled[0]
        if s != arm:
            compare(model, stats, state, arm)
    least = least_gap(state)
    now = log(1.0 + rule.target[0] / max(least, 1.0))
    if everything or abs(now - state.log[0]) > STEADY * now or abs(least - state.base[0]) > FAR:
        state.log[0], state.base[0], state.ruled[0] = now, least, rule.ruled[0]
        promise_all(model, stats, state)
    elif state.weight[arm] > 0.0:
        promise(model, stats, state, arm, weight_of(state, arm))


@kernel
def set_noise(model, stats, state, arm):
    work = state.rule.work
    for m in range(stats.count.shape[1]):
        count, mean = stats.count[arm, m], stats.mean[arm, m]
        if count == 0.0:
            count, mean = 1.0, 0.5 * (work.psi_low[arm] + work.psi_high[arm])
        state.noise[arm, m] = variance(model.law, arm, m, count, mean)


@kernel
def lead(model, state):
    """Find the arm of the largest psi, the middle if that is an interval; none that is beaten for certain."""
    work, top = state.rule.work, -1
    for a in range(state.gap.size):
        if model.beaten[a]:
            continue
        if top < 0 or work.psi_low[a] + work.psi_high[a] > work.psi_low[top] + work.psi_high[top]:
            top = a
    state.leader[0] = top


@kernel
def compare(model, stats, state, j):
    """The evidence against rival j, and where it would meet the leader: the middle, if that can be at many places."""
    s, work = state.leader[0], state.rule.work
    f, x, _ = pair(model, stats.count, stats.mean, s, j, state.eta[j], work)
    gap = model.tolerance
    if work.psi_high[j] >= work.psi_low[s] + gap:
        x = 0.5 * (max(work.psi_low[s], work.psi_low[j] - gap) + min(work.psi_high[s], work.psi_high[j] - gap))
    state.gap[j], state.eta[j] = f, x


@kernel
def least_gap(state):
    """The least evidence against a rival that is not ruled out; against any, if the rule would stop."""
    least, of_all = inf, inf
    for j in range(state.gap.size):
        if j != state.leader[0]:
            of_all = min(of_all, state.gap[j])
            if not e_process.ruled_out(state.rule, state.leader[0], j, 0):
                least = min(least, state.gap[j])
    return least if least < inf else of_all


@kernel
def weight_of(state, j):
    if state.spent[j] == 0.0:
        return 0.0  # it was beaten before the first look at it
    return exp(state.base[0] - state.gap[j]) / state.spent[j]


@kernel
def promise_all(model, stats, state):
    """Compute all weights and scores again."""
    s, K = state.leader[0], state.gap.size
    reach_of(model, stats, state.noise, state.rule.work, state.log[0], True, 0.0, s, state.reach)
    state.total[:] = 0.0
    state.part[:, :] = 0.0
    open_rivals = 0
    for j in range(K):
        if j != s and not e_process.ruled_out(state.rule, s, j, 0):
            open_rivals += 1
    for j in range(K):
        counts = j != s and (open_rivals == 0 or not e_process.ruled_out(state.rule, s, j, 0))
        promise(model, stats, state, j, weight_of(state, j) if counts else 0.0)


@kernel
def promise(model, stats, state, j, weight):
    """Give rival j a weight: find its best cell, and what it adds to the scores of the leader."""
    s = state.leader[0]
    state.weight[j], state.score[j] = weight, 0.0
    if weight > 0.0:
        reach_of(model, stats, state.noise, state.rule.work, state.log[0], False, 0.0, j, state.reach)
    for m in range(stats.count.shape[1]):
        mine, leaders = 0.0, 0.0
        if weight > 0.0:
            beyond = state.reach[j, m] + state.eta[j] + model.tolerance
            mine = weight * gain(model, stats, state, j, m, beyond, j)
            leaders = weight * gain(model, stats, state, s, m, state.reach[s, m] - state.eta[j], j)
        if mine > state.score[j]:
            state.score[j], state.choice[j] = mine, m
        state.total[m] += leaders - state.part[j, m]
        state.part[j, m] = leaders


@kernel
def gain(model, stats, state, a, m, beyond, j):
    """The evidence against rival j that a unit of cost brings in a cell whose mean is that far beyond the meeting
    point, less what is left of the cell's fee."""
    if beyond <= 0.0:
        return 0.0
    value = 0.5 * beyond * beyond / state.noise[a, m]
    left = max(FEE - stats.count[a, m] * value, 0.0)
    needed = max(state.rule.target[0] + MARGIN - state.gap[j], 1.0)
    return value * max(1.0 - left / needed, LEAST) / model.cost[a, m]


ask.register(State, frugal_ask)
tell.register(State, frugal_tell)
STRATEGIES = (
    Strategy("frugal", "the most certainty for its cost; ours", init, needs=("delta",), keeps=e_process.RULES[0].name),
)
