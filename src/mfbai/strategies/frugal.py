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

Each cell's promise changes when the leader does, or its data, or the logarithm: then all *live* rivals, those that are
not ruled out, are compared with the leader again. Such a pass costs as much as there are live rivals, and everything
else a few comparisons, as tournaments (`kernels.tournament`) know the best cell and the least f_j. Up to MANY arms a
pass is made at once. With more it is put off until the evaluations since the last one pay for it, a few rivals each.
Until then rivals keep the promise that they had, unless they are evaluated; an arm that takes the lead takes over what
its predecessor's cells promised; and that fades with its evaluations as it would in a batch (`fresh`).
"""

from math import exp, inf, log
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import variance
from mfbai.kernels.tournament import enter, favourite, first_leaf, make_tournament, next_node
from mfbai.kernels.transport import fit, pair
from mfbai.stopping import e_process
from mfbai.stopping.e_process import LONG_AGO, MANY, pace
from mfbai.strategies.common import first_look_from, make_seen, seen_all
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
    seen: np.ndarray  # (3,) how far the first look is: see `common.seen_all`
    live: np.ndarray  # (K,) rivals that are not ruled out, or all if there are none; the leader may be among them
    lives: np.ndarray  # (K,) whether an arm is there
    listed: np.ndarray  # (4,) how many are; for which leader, leader of the rule, and number of rivals ruled out, ever
    gaps: np.ndarray  # a tournament of minus the f_j of live rivals
    scores: np.ndarray  # a tournament of the scores
    passed: np.ndarray  # (1,) the step of the last pass
    owed: np.ndarray  # (1,) whether another one is due
    since: np.ndarray  # (M,) evaluations of s at the last pass, or when it took the lead
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
        seen=make_seen(),
        live=np.zeros(K, dtype=np.int64),
        lives=np.zeros(K, dtype=np.bool_),
        listed=np.array([0, -1, -1, -1]),
        gaps=make_tournament(K),
        scores=make_tournament(K),
        passed=np.full(1, LONG_AGO),
        owed=np.zeros(1, dtype=np.bool_),
        since=np.zeros(M),
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
        return first_look_from(model, stats, state.cheapest, pending, state.seen)
    fidelity, most, kept = 0, -1.0, 1.0
    if state.owed[0]:
        for m in range(pending.shape[1]):
            kept = min(kept, fresh(state.since[m], stats.count[s, m] - state.since[m]))
    for m in range(pending.shape[1]):
        rate = kept * state.total[m] * fresh(stats.count[s, m], pending[s, m])
        if rate > most:
            fidelity, most = m, rate
    arm = best_rival(model, stats, state, pending, most)
    return (arm, state.choice[arm]) if arm >= 0 else (s, fidelity)


@kernel
def best_rival(model, stats, state, pending, most):
    """The first arm of the largest rate above `most`; -1 if there is none.

    Evaluations under way only lower what a rival promises: so no arm below a node is better than the node.
    """
    tree, arm, node = state.scores, -1, 1
    half = tree.size // 2
    while node > 0:
        if tree[node] > most or (tree[node] == most and first_leaf(tree, node) < arm):
            if node < half:
                node = favourite(tree, node)
                continue
            j = node - half
            if not model.beaten[j]:
                rate = tree[node] * fresh(stats.count[j, state.choice[j]], pending[j, state.choice[j]])
                if rate > most or (rate == most and j < arm):
                    arm, most = j, rate
        node = next_node(tree, node)
    return arm


@kernel
def fresh(count, more):
    """How much of its promise a cell keeps while so many more of its values are still to come."""
    if more == 0:
        return 1.0
    share = (1.0 + count) / (1.0 + count + more)
    return share * share


@kernel
def frugal_tell(model, stats, state, arm, fidelity, x):
    rule = state.rule
    state.spent[arm] += model.cost[arm, fidelity] / model.cost[arm, state.cheapest[arm]]
    renewed = rule.work.epoch[0] != model.epoch[0]
    e_process.e_process_observe(model, stats, rule, arm, fidelity, x)
    fit(model, stats.count, stats.mean, arm, rule.work)
    e_process.place(model, rule, arm)
    set_noise(model, stats, state, arm)
    before = state.leader[0]
    if not seen_all(model, stats, state.cheapest, state.seen) and before < 0:
        return
    e_process.e_process_decide(model, stats, rule, 0)
    s = state.leader[0] = e_process.foremost(model, rule)
    afresh = renewed or s != before
    grown = s == arm and stats.count[s].sum() > state.due[0]
    if state.gap.size <= MANY:
        pass_at_once(model, stats, state, arm, afresh, grown)
    else:
        pass_in_time(model, stats, state, arm, afresh, grown, before, renewed)


@kernel
def pass_at_once(model, stats, state, arm, afresh, grown):
    """Take the evaluation of an arm in; whether the leader is another one, or the model, or its evaluations have
    grown."""
    rule, s = state.rule, state.leader[0]
    everything = afresh or grown or rule.ruled[0] != state.ruled[0]
    if afresh or grown:
        compare_all(model, stats, state)
    elif s != arm:
        compare(model, stats, state, arm)
    if afresh or is_listed_otherwise(state):
        list_live(state, rule.leader[1] if rule.leader[0] == s else -1)
    elif s != arm and state.lives[arm]:
        enter(state.gaps, arm, -state.gap[arm])
    elif grown:
        enter_gaps(state)
    least = least_gap(state)
    if everything or has_moved(state, least):
        set_scale(state, least)
        promise_all(model, stats, state)
    elif state.weight[arm] > 0.0:
        promise(model, stats, state, arm, weight_of(state, arm))


@kernel
def pass_in_time(model, stats, state, arm, afresh, grown, before, renewed):
    """The same, for many arms: what concerns all of them waits until it is paid for."""
    rule, s = state.rule, state.leader[0]
    if before < 0 or renewed:
        state.passed[0] = LONG_AGO
    elif s != before:
        hand_over(model, stats, state, before)
    if arm != s and arm != before and state.lives[arm]:
        renew_promise(model, stats, state, arm)
    if rule.ruled[0] != state.listed[3] and rule.leader[0] == s:
        drop_ruled_out(model, stats, state)
    state.owed[0] = state.owed[0] or afresh or grown or state.listed[0] < 2 or has_moved(state, least_gap(state))
    if state.owed[0] and is_paid_for(model, stats, state):
        if renewed or is_listed_otherwise(state):
            list_live(state, e_process.known_row(rule, s))
            forget_others(model, stats, state)
        compare_all(model, stats, state)
        enter_gaps(state)
        set_scale(state, least_gap(state))
        promise_all(model, stats, state)
        state.passed[0], state.owed[0] = stats.steps[0], False
        note_counts(stats, state)


@kernel
def is_listed_otherwise(state):
    """Whether the live rivals are not the ones that were listed, or may be others."""
    same = state.listed[1] == state.leader[0] and state.listed[2] == state.rule.leader[0]
    return not same or state.listed[3] != state.rule.ruled[0]


@kernel
def is_paid_for(model, stats, state):
    """Whether there were enough evaluations since the last pass for another one."""
    paid, K = pace(model.law) * (stats.steps[0] - state.passed[0]), state.gap.size
    if paid < state.listed[0]:
        return False
    if state.listed[1] == state.leader[0] and state.listed[2] == state.rule.leader[0]:
        return True
    # To list rivals again all arms are looked at; if nothing was ruled out against the leader, all are live.
    return paid >= (max(state.listed[0], K // 16) if e_process.known_row(state.rule, state.leader[0]) >= 0 else K)


@kernel
def list_live(state, row):
    """List the rivals that are not ruled out, by that row of the rule, if it is one; all if there are none."""
    rule, s, rivals = state.rule, state.leader[0], 0
    for whole in range(2):
        if rivals > 0:
            break
        for j in range(state.gap.size):
            lives = j != s and (whole == 1 or row < 0 or rule.proven[row, j] < rule.target[0])
            state.lives[j] = lives
            enter(state.gaps, j, -state.gap[j] if lives else -inf)
            if lives:
                state.live[rivals] = j
                rivals += 1
    state.listed[0], state.listed[1], state.listed[2], state.listed[3] = rivals, s, rule.leader[0], rule.ruled[0]


@kernel
def drop_ruled_out(model, stats, state):
    """Take the rivals that the last test has ruled out off the list."""
    rule, rivals = state.rule, 0
    for n in range(state.listed[0]):
        j = state.live[n]
        if j != state.leader[0] and e_process.ruled_out(rule, state.leader[0], j, 0):
            state.lives[j] = False
            enter(state.gaps, j, -inf)
            promise(model, stats, state, j, 0.0)
        else:
            state.live[rivals] = j
            rivals += 1
    state.listed[0], state.listed[3] = rivals, rule.ruled[0]


@kernel
def hand_over(model, stats, state, before):
    """Let the leader take over what its predecessor's cells promised, and that one be a rival."""
    s = state.leader[0]
    promise(model, stats, state, s, 0.0)
    enter(state.gaps, s, -inf)
    reach_of(model, stats, state.noise, state.rule.work, state.log[0], True, 0.0, s, state.reach)
    note_counts(stats, state)
    if not state.lives[before]:
        state.lives[before] = True
        state.live[state.listed[0]] = before
        state.listed[0] += 1
    renew_promise(model, stats, state, before)


@kernel
def note_counts(stats, state):
    for m in range(stats.count.shape[1]):
        state.since[m] = stats.count[state.leader[0], m]


@kernel
def renew_promise(model, stats, state, j):
    """Compare a live rival with the leader again."""
    compare(model, stats, state, j)
    enter(state.gaps, j, -state.gap[j])
    promise(model, stats, state, j, weight_of(state, j))


@kernel
def set_noise(model, stats, state, arm):
    work = state.rule.work
    for m in range(stats.count.shape[1]):
        count, mean = stats.count[arm, m], stats.mean[arm, m]
        if count == 0.0:
            count, mean = 1.0, 0.5 * (work.psi_low[arm] + work.psi_high[arm])
        state.noise[arm, m] = variance(model.law, arm, m, count, mean)


@kernel
def compare_all(model, stats, state):
    """Compare all rivals with the leader; of many arms, only those that are live."""
    s, few = state.leader[0], state.gap.size <= MANY
    state.due[0] = (1.0 + STEADY) * stats.count[s].sum()
    for n in range(state.gap.size if few else state.listed[0]):
        j = n if few else state.live[n]
        if j != s:
            compare(model, stats, state, j)


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
def enter_gaps(state):
    for n in range(state.listed[0]):
        j = state.live[n]
        enter(state.gaps, j, -state.gap[j] if j != state.leader[0] else -inf)


@kernel
def least_gap(state):
    """The least evidence against a live rival; against any, if it is infinite."""
    least = -state.gaps[1]
    if least == inf:
        for j in range(state.gap.size):
            if j != state.leader[0]:
                least = min(least, state.gap[j])
    return least


@kernel
def logarithm(state, least):
    return log(1.0 + state.rule.target[0] / max(least, 1.0))


@kernel
def has_moved(state, least):
    """Whether what all scores depend on is no longer what they were computed with."""
    now = logarithm(state, least)
    return abs(now - state.log[0]) > STEADY * now or abs(least - state.base[0]) > FAR


@kernel
def set_scale(state, least):
    state.log[0], state.base[0], state.ruled[0] = logarithm(state, least), least, state.rule.ruled[0]


@kernel
def weight_of(state, j):
    if state.spent[j] == 0.0:
        return 0.0  # it was beaten before the first look at it
    less = state.base[0] - state.gap[j]
    if state.gap.size > MANY:
        less = min(less, FAR)  # until the next pass; sums that lose a larger part would be nothing but rounding
    return exp(less) / state.spent[j]


@kernel
def promise_all(model, stats, state):
    """Compute the weights and scores of all live rivals again; the others have none."""
    s = state.leader[0]
    reach_of(model, stats, state.noise, state.rule.work, state.log[0], True, 0.0, s, state.reach)
    if state.gap.size <= MANY:
        forget_others(model, stats, state)
    state.total[:] = 0.0
    for n in range(state.listed[0]):
        j = state.live[n]
        state.part[j, :] = 0.0
        promise(model, stats, state, j, weight_of(state, j) if j != s else 0.0)


@kernel
def forget_others(model, stats, state):
    """Take the promises of all arms away that are not live."""
    for j in range(state.gap.size):
        if state.weight[j] > 0.0 and not state.lives[j]:
            promise(model, stats, state, j, 0.0)


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
    enter(state.scores, j, state.score[j])


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
