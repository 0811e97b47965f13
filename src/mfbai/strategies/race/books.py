"""Race with independent seeds: leader and rivals in step, each at the fidelity that finishes at the least cost.

Starts with one evaluation of each arm, at its cheapest fidelity. Then let s be the arm of the largest psi that is not
ruled out, R[a, m] how far each cell may reach (`optimism`), need_j the nats that are missing against rival j, and

    rate_j(m, k) = (R[s, m] + R[j, k])^2 / 2 (sqrt(w_j cost_s variance_s) + sqrt(cost_j variance_j))^2

what a unit of cost brings against j if s is evaluated at m, j at k, and j bears the part w_j of what s costs. The
leader's fidelity is the one of the least sum of need_j / rate_j, each rival's the one of the best rate; the shares w_j
are those of the plan that would finish all rivals at the least cost. A rival is *due* if its book is open by half its
natural tilt: evaluate the due rival of the largest need_j / rate_j, or, if none is due, the leader. So books close at
once, and no leader's value is wasted.

A tilt is the estimated gap over the noise of the contrast: what is best if the estimate is right. It is made a little
smaller while the estimate is rough.
"""

from math import inf, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import has_data
from mfbai.kernels.transport import Work, fit, make_work, renew
from mfbai.stopping.books import Books, books_observe, make_books
from mfbai.stopping.e_process import all_looked_at
from mfbai.stopping.exclusion import exclude_certain, is_out, is_over, row_of
from mfbai.strategies.audit import due, unbiased_fidelity
from mfbai.strategies.common import first_look
from mfbai.strategies.interface import ask, tell
from mfbai.strategies.optimism import reach_of
from mfbai.strategies.race.field import closest, forgotten, largest

BETA = 3.0  # optimism: ln(1 + BETA * needed / evidence)
CAUTION = 0.3  # part of its bias interval by which a cell without data is taken to be worse
MARGIN = 2.0  # nats: about what the bets lose against the best tilt
LEAST = 1.0  # nats that a rival is taken to need, at least
SHRINK = 0.25  # of a gap, in terms of its squared error over the gap
DUE = 0.5  # natural tilts by which a book is open before its rival is due
EAGER = 20.0  # times the cost of a rival's value that the leader may cost before the rival is due
PACE = 0.1  # how slowly shares follow the plan, with each evaluation of the leader
NEW = 0.25  # the least share of a rival whose next cell has no data: it may be better than it seems
HALF = 0.5  # evaluations that are lost to rounding up
GROWTH = 0.05  # of the leader's evaluations, after which all is computed again
STEADY = 0.02  # relative change of the optimism that is ignored


class State(NamedTuple):
    rule: Books
    work: Work  # the arms' fits
    cheapest: np.ndarray  # (K,) each arm's cheapest fidelity
    noise: np.ndarray  # (K, M) variances
    price: np.ndarray  # (K, M) sqrt(cost * variance)
    reach: np.ndarray  # (K, M) R
    sure: np.ndarray  # (K, M) the same without optimism; only where there are data
    error: np.ndarray  # (K, M) the variance of that
    log: np.ndarray  # (1,) the optimism, nearly
    proof: np.ndarray  # (K, M) evidence against each rival with the leader at m, roughly
    gap: np.ndarray  # (K,) the most of that
    due: np.ndarray  # (1,) evaluations of the leader after which all is computed again
    need: np.ndarray  # (K,) nats that are missing; 0 for the leader and for rivals that are ruled out
    edge: np.ndarray  # (K, M) the gap that is bet on with the leader at m
    across: np.ndarray  # (K, M) the price of the rival's cell that it is the gap to
    effort: np.ndarray  # (K, M) need_j / rate_j for the leader at m
    choice: np.ndarray  # (K, M) the rival's fidelity there
    total: np.ndarray  # (M,) the sums of the efforts
    fidelity: np.ndarray  # (1,) the leader's
    weight: np.ndarray  # (K,) w_j
    since: np.ndarray  # (1,) what had been spent when an arm was last ruled out
    extra: np.ndarray  # (1,) evaluations of arms that were ruled out, each by the root of its cost
    plan: np.ndarray  # (2, K) what the shares are computed of


def make_state(model, delta):
    K, M = model.cost.shape
    noise = 1.0 / model.law.precision
    return State(
        rule=make_books(model, np.array([delta])),
        work=make_work(model),
        cheapest=np.argmin(model.cost, axis=1),
        noise=noise,
        price=np.sqrt(model.cost * noise),
        reach=np.zeros((K, M)),
        sure=np.zeros((K, M)),
        error=np.zeros((K, M)),
        log=np.zeros(1),
        proof=np.zeros((K, M)),
        gap=np.zeros(K),
        due=np.zeros(1),
        need=np.zeros(K),
        edge=np.zeros((K, M)),
        across=np.zeros((K, M)),
        effort=np.zeros((K, M)),
        choice=np.zeros((K, M), dtype=np.int64),
        total=np.zeros(M),
        fidelity=np.zeros(1, dtype=np.int64),
        weight=np.full(K, 1.0 / (K - 1)),
        since=np.zeros(1),
        extra=np.zeros(1),
        plan=np.zeros((2, K)),
    )


@kernel
def books_ask(model, stats, state, pending):
    rule, s, m = state.rule, state.rule.leader[0], state.fidelity[0]
    if s < 0:
        return first_look(model, stats, state.cheapest, pending)
    row = row_of(rule, s)
    arm = forgotten(model, stats, state, pending)
    if arm >= 0:
        return arm, state.cheapest[arm]
    opening = 0.0  # by the leader's values that are under way
    for n in range(pending.shape[1]):
        opening += pending[s, n] * rule.natural[s, n]
    arm, most = s, -1.0
    for j in range(state.need.size):
        if state.need[j] > 0.0 and state.effort[j, m] > most and not model.beaten[j]:
            closing = rule.closing[row, j]
            size = rule.size[row, j] + (0.0 if closing else opening * rule.share[j])
            for n in range(pending.shape[1]):
                size -= pending[j, n] * rule.natural[j, n]
            if size > (0.0 if closing else enough(model, state, j, m)):
                arm, most = j, state.effort[j, m]
    fidelity = m if arm == s else state.choice[arm, m]
    if model.audit.share[0] > 0.0 and arm == due(model, stats, pending, s, closest(model, state, state.work, s)):
        fidelity = unbiased_fidelity(model, stats, arm)
    return arm, fidelity


@kernel
def enough(model, state, j, m):
    """By how much a book must be open before its rival is due: half the natural tilt of its cell, or less if that cell
    has so little noise that the leader would have to wait for long, and cost much more than the rival."""
    rule, k = state.rule, state.choice[j, m]
    s = rule.leader[0]
    spent = EAGER * model.cost[j, k] / model.cost[s, m] * rule.share[j] * rule.natural[s, m]
    return min(DUE * rule.natural[j, k], spent)


@kernel
def books_tell(model, stats, state, arm, fidelity, x):
    rule, before = state.rule, state.rule.leader[0]
    ruled = before >= 0 and is_out(rule, row_of(rule, before), arm)
    if ruled and arm != before:
        state.extra[0] += sqrt(model.cost[arm, fidelity])
    books_observe(model, stats, rule, arm, fidelity, x)
    renewed = renew(model, state.work)
    if renewed:
        exclude_certain(model, rule)
        for a in range(state.need.size):
            if has_data(stats, a):
                fit(model, stats.count, stats.mean, a, state.work)
    else:
        fit(model, stats.count, stats.mean, arm, state.work)
    if before < 0 and not all_looked_at(model, stats):
        return
    s = largest(model, state.work)
    rule.leader[0] = s
    ruled_now = is_out(rule, row_of(rule, s), arm)
    if ruled_now and not ruled:
        state.since[0] = stats.spent[0]
    if renewed or s != before or ruled_now != ruled:
        plan_all(model, stats, state)
    else:
        if arm != s:
            plan_rival(model, stats, state, arm, 0, state.total.size)
        elif stats.count[s].sum() <= state.due[0]:
            plan_leader(model, stats, state, fidelity)
        now = optimism(state)
        if stats.count[s].sum() > state.due[0] or abs(now - state.log[0]) > STEADY * now:
            plan_all(model, stats, state)
    best = 0
    for m in range(state.total.size):
        if state.total[m] < state.total[best]:
            best = m
    state.fidelity[0] = best


@kernel
def optimism(state):
    least = inf
    for j in range(state.need.size):
        if state.need[j] > 0.0:
            least = min(least, state.gap[j])
    rule = state.rule
    return log(1.0 + BETA * rule.target[rule.target.size - 1] / max(least, 1.0))


@kernel
def plan_all(model, stats, state):
    """Compare all rivals with the leader again."""
    rule, s = state.rule, state.rule.leader[0]
    row = row_of(rule, s)
    state.log[0] = optimism(state)
    state.due[0] = (1.0 + GROWTH) * stats.count[s].sum()
    look(model, stats, state, s)
    for m in range(state.total.size):
        state.total[m] = HALF * model.cost[s, m]
    for j in range(state.need.size):
        state.need[j], state.effort[j, :], state.proof[j, :] = 0.0, 0.0, 0.0
        if j != s and (is_over(rule, row) or not is_out(rule, row, j)):
            state.need[j] = LEAST
            plan_rival(model, stats, state, j, 0, state.total.size)
    set_shares(model, stats, state)


@kernel
def plan_leader(model, stats, state, m):
    """Compare all rivals with the leader at the fidelity where it was just evaluated."""
    look(model, stats, state, state.rule.leader[0])
    for j in range(state.need.size):
        plan_rival(model, stats, state, j, m, m + 1)
    set_shares(model, stats, state)


@kernel
def look(model, stats, state, a):
    """How far the cells of an arm may reach, with optimism and without."""
    leads = a == state.rule.leader[0]
    reach_of(model, stats, state.noise, state.work, state.log[0], leads, CAUTION, a, state.reach)
    low, high = state.work.psi_low[a], state.work.psi_high[a]
    for m in range(stats.count.shape[1]):
        if stats.count[a, m] > 0.0:
            mean = stats.mean[a, m]
            if low == high:
                mean = min(max(mean, low + model.bias_low[a, m]), low + model.bias_high[a, m])
            if leads:
                state.sure[a, m] = min(mean - model.bias_high[a, m], high)
            else:
                state.sure[a, m] = min(model.bias_low[a, m] - mean, -low)
            state.error[a, m] = state.noise[a, m] / stats.count[a, m]
        else:
            state.sure[a, m] = -inf


@kernel
def plan_rival(model, stats, state, j, first, last):
    """What it takes to rule out rival j, for the leader's fidelities from first to last; and the tilts."""
    rule, s, M = state.rule, state.rule.leader[0], stats.count.shape[1]
    if state.need[j] == 0.0:
        return
    if last - first == M:
        look(model, stats, state, j)
    target = rule.target[rule.target.size - 1]
    state.need[j] = max(target + MARGIN - rule.proven[row_of(rule, s), j], LEAST)
    root = sqrt(state.weight[j])
    for m in range(first, last):
        effort, tilt, evidence = 1e300, 0.0, 0.0
        state.edge[j, m] = 0.0
        for k in range(M):
            price = root * state.price[s, m] + state.price[j, k]
            promise = state.reach[s, m] + state.reach[j, k] + model.tolerance
            if promise > 0.0:
                cost = 2.0 * state.need[j] * price * price / (promise * promise) + HALF * model.cost[j, k]
                if cost < effort:
                    effort, state.choice[j, m] = cost, k
            gap = state.sure[s, m] + state.sure[j, k] + model.tolerance
            if gap > 0.0:  # and so both have data
                error = state.error[s, m] + state.error[j, k]
                edge = gap - SHRINK * error / gap
                if edge > tilt * price:
                    tilt, state.edge[j, m], state.across[j, m] = edge / price, edge, state.price[j, k]
                evidence = max(evidence, 0.5 * gap * gap / error)
        rule.tilt[j, m] = tilt
        state.total[m] += effort - state.effort[j, m]
        state.effort[j, m], state.proof[j, m] = effort, evidence
    state.gap[j] = 0.0
    for m in range(M):
        state.gap[j] = max(state.gap[j], state.proof[j, m])


@kernel
def set_shares(model, stats, state):
    """Let the shares follow those of the plan that would rule out all rivals at the least cost.

    It has n evaluations of the leader, and those of j that bring need_j nats at u_j, the gap: w_j is kappa^2 / (z n -
    v)^2 with kappa^2 = cost_j v_j v / cost, z = u^2 / (2 need), and v the leader's variance. n makes their sum 1.
    """
    s, best = state.rule.leader[0], 0
    for m in range(state.total.size):
        if state.total[m] < state.total[best]:
            best = m
    noise, cost, n = state.noise[s, best], model.cost[s, best], 0.0
    for j in range(state.need.size):
        if state.need[j] > 0.0:
            k = state.choice[j, best]
            gap = max(state.reach[s, best] + state.reach[j, k] + model.tolerance, 1e-9)
            state.plan[0, j] = gap * gap / (2.0 * state.need[j])
            state.plan[1, j] = state.price[j, k] * sqrt(noise / cost)
            n = max(n, (noise + state.plan[1, j]) / state.plan[0, j])
    for _ in range(12):
        excess, slope = -1.0, 0.0
        for j in range(state.need.size):
            if state.need[j] > 0.0:
                rest = state.plan[0, j] * n - noise
                share = state.plan[1, j] / rest
                excess += share * share
                slope += 2.0 * share * share * state.plan[0, j] / rest
        n += excess / slope
        if excess < 1e-3:
            break
    once = min(n, 1.0)  # of a leader with hardly any noise one value is more than enough
    follow = 1.0 / (1.0 + PACE * stats.count[s, best])
    for j in range(state.need.size):
        if state.need[j] > 0.0:
            share = state.plan[1, j] / (state.plan[0, j] * n - noise)
            least = NEW if stats.count[j, state.choice[j, best]] == 0.0 else 1e-4
            state.weight[j] += follow * (max(share * share, least) - state.weight[j])
            whole, natural = sqrt(state.weight[j]), state.rule.natural
            part = natural[j, state.choice[j, best]] / natural[s, best]  # closed by one value of the rival
            state.rule.share[j] = max(once * whole, min(whole, part))
            for m in range(state.total.size):
                if state.edge[j, m] > 0.0:
                    state.rule.tilt[j, m] = state.edge[j, m] / (whole * state.price[s, m] + state.across[j, m])
        else:
            state.rule.share[j] = 0.0


ask.register(State, books_ask)
tell.register(State, books_tell)
