"""The e-process rule: proven for every strategy, batch and delay, and as tight as the paper's heuristic.

Rival j is ruled out against arm i once ln E_ij (`kernels.e_values`) reaches ln((K - 1) / delta), and stays ruled out.
Stop when the arm of the largest psi has ruled out all others. If it is wrong, its E against the best arm has reached
(K - 1) / delta, which has a probability of delta / (K - 1) at most, and there are K - 1 wrong arms:
docs/theory/guarantee.md.

It is cheap because ln E_ij <= f_ij: nothing is computed while f is too small. A test that fails leaves a witness, a
pair at frozen top means, whose f is then kept an upper bound by a few additions for each evaluation, as in `glr`. The
next test comes when that bound allows a crossing, or has grown by half of what the evidence fell short by; and in any
case before the cost has grown by 1 %.

Where noise is learnt on the way, f is what the estimated variances make of it, and ln E can be above it: by far, if an
arm is less noisy than the others that its estimate is drawn towards. There every pair is tested, at the point where f
says that the arms meet, and f decides only how soon again.

With many arms a step must not look at all of them. The arm of the largest psi is the winner of a tournament, rivals
that are ruled out are off the list that a test goes through, and no arm is fitted again that has no new value. With
more than MANY arms a test also waits until the evaluations since the last one pay for it, and a pair whose test failed
is tested again only once f has grown by a part of what was missing. Both put a decision off by little, and are valid as
any time is a good time to test; with fewer arms results are the same as if all were looked at.
"""

from math import inf, isnan
from typing import NamedTuple

import numpy as np

from mfbai.kernels import e_values
from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import is_known, is_quadratic
from mfbai.kernels.stats import has_data
from mfbai.kernels.tournament import enter, make_tournament, winner
from mfbai.kernels.transport import Work, fit, make_work, pair, renew
from mfbai.stopping.glr import contribution
from mfbai.stopping.interface import Rule, decide, observe

COST_GROWTH = 1.01  # at which a test is made in any case
ROWS = 64  # arms whose evidence is remembered: those that led last
MANY = 1000  # arms up to which nothing is put off
PACE, SLOW_PACE = 32, 8  # arms that an evaluation pays for, where there are more; if a pair takes long to compare
LONG_AGO = -(1 << 40)  # a step
SOON, SOONER = 0.5, 0.25  # part of what was missing by which f grows until a pair is tested again; if noise is learnt
LITTLE = 0.5  # nats that count as missing at least


class State(NamedTuple):
    target: np.ndarray  # (levels,) ln((K - 1) / delta)
    proven: np.ndarray  # (rows, K) the largest ln E_ij that was proven so far, for i the row's owner
    owner: np.ndarray  # (rows,) -1 while free
    turn: np.ndarray  # (rows,) when the row was last used
    ruled: np.ndarray  # (1,) how often a rival was ruled out
    leader: np.ndarray  # (2,) the arm of the largest psi as of the last test, and its row
    work: Work
    claim: e_values.Work
    start: np.ndarray  # (K,) where the minimum of ln E_{leader,j} was last found
    tops: np.ndarray  # a tournament of the arms' psi, twice the middle if that is an interval: see `place`
    seen: np.ndarray  # (1,) all arms before this one have data, or are beaten, and are in the tournament
    queue: np.ndarray  # (K,) arms that have new values since they were fitted
    queued: np.ndarray  # (K,) whether an arm is there
    waiting: np.ndarray  # (1,) how many are
    open: np.ndarray  # (K,) rivals that the leader has not ruled out, in order
    listed: np.ndarray  # (4,) how many these are; for which leader, level and epoch
    again: np.ndarray  # (K,) f at which a pair is tested again, where there are many arms
    tested: np.ndarray  # (1,) the step of the last test
    pair: np.ndarray  # (2,) the witness' arms; -1 if there is none
    meeting: np.ndarray  # (2,) their top means
    met: np.ndarray  # (2, M) each cell's part of its bound
    bound: np.ndarray  # (1,) on f of the witness
    wait: np.ndarray  # (2,) a bound, and a cost, at which to test again


def init(model, deltas, fidelities) -> State:
    K, M = model.cost.shape
    rows = min(K, ROWS)
    return State(
        target=np.log((K - 1) / np.asarray(deltas, dtype=np.float64)),
        proven=np.full((rows, K), -inf),
        owner=np.full(rows, -1, dtype=np.int64),
        turn=np.zeros(rows, dtype=np.int64),
        ruled=np.zeros(1, dtype=np.int64),
        leader=np.full(2, -1, dtype=np.int64),
        work=make_work(model),
        claim=e_values.make_work(),
        start=np.full(K, np.nan),
        tops=make_tournament(K),
        seen=np.zeros(1, dtype=np.int64),
        queue=np.zeros(K, dtype=np.int64),
        queued=np.zeros(K, dtype=np.bool_),
        waiting=np.zeros(1, dtype=np.int64),
        open=np.zeros(K, dtype=np.int64),
        listed=np.array([0, -1, -1, -1]),
        again=np.full(K, -inf),
        tested=np.full(1, LONG_AGO),
        pair=np.full(2, -1, dtype=np.int64),
        meeting=np.zeros(2),
        met=np.zeros((2, M)),
        bound=np.zeros(1),
        wait=np.zeros(2),
    )


@kernel
def e_process_observe(model, stats, rule, arm, fidelity, x):
    rule.work.stale[arm] = True
    if not rule.queued[arm]:
        rule.queued[arm] = True
        rule.queue[rule.waiting[0]] = arm
        rule.waiting[0] += 1
    if renew(model, rule.work):
        rule.wait[:] = 0.0
        rule.seen[0] = 0
        rule.tested[0] = LONG_AGO
    for side in range(2):
        if rule.pair[side] == arm:
            now = contribution(model, stats, arm, fidelity, rule.meeting[side])
            rule.bound[0] += now - rule.met[side, fidelity]
            rule.met[side, fidelity] = now


@kernel
def e_process_decide(model, stats, rule, level):
    if rule.bound[0] < rule.wait[0] and stats.spent[0] < rule.wait[1]:
        return -1
    if rule.start.size > MANY and pace(model.law) * (stats.steps[0] - rule.tested[0]) < rule.listed[0]:
        return -1
    return test(model, stats, rule, level)


@kernel
def pace(law):
    return PACE if is_quadratic(law) and is_known(law) else SLOW_PACE


@kernel(inline=False)
def test(model, stats, rule, level):
    top, row = lead(model, stats, rule)
    target = rule.target[level]
    rule.pair[0], rule.pair[1] = -1, -1
    rule.bound[0], rule.wait[0], rule.wait[1] = 0.0, inf, 0.0
    if top < 0:
        return -1
    rule.tested[0] = stats.steps[0]
    if rule.listed[1] != top or rule.listed[2] != level or rule.listed[3] != model.epoch[0]:
        list_open(model, rule, top, row, level)
    still, least, many = 0, inf, rule.start.size > MANY
    for n in range(rule.listed[0]):
        j = rule.open[n]
        f, x, y = pair(model, stats.count, stats.mean, top, j, rule.work.eta[j], rule.work)
        rule.work.eta[j] = x
        missing = 0.0
        if f >= target or not is_known(model.law):
            if many and f < rule.again[j]:
                missing = 2.0 * (rule.again[j] - f)
            else:
                start = rule.start[j] if rule.start[j] == rule.start[j] else x
                value, rule.start[j] = e_values.against(model.law, model, stats, top, j, start, target, rule.claim)
                if value >= target:
                    rule.proven[row, j] = value
                    rule.ruled[0] += 1
                    continue
                missing = target - value
                rule.again[j] = f + (SOON if is_known(model.law) else SOONER) * max(missing, LITTLE)
        rule.open[still] = j
        still += 1
        if f < least:
            least = f
            rule.pair[0], rule.pair[1], rule.meeting[0], rule.meeting[1] = top, j, x, y
            rule.wait[0] = f + 0.5 * missing if not is_known(model.law) else max(f + 0.5 * missing, target)
    rule.listed[0] = still
    if still == 0:
        return top
    rule.wait[1] = COST_GROWTH * stats.spent[0]
    freeze(model, stats, rule)
    return -1


@kernel
def list_open(model, rule, top, row, level):
    """List the rivals that `top` has not ruled out. Those that are beaten for certain are."""
    rivals = 0
    for j in range(rule.open.size):
        if model.beaten[j]:
            rule.proven[row, j] = inf
        if j != top and rule.proven[row, j] < rule.target[level]:
            rule.open[rivals] = j
            rivals += 1
    rule.again[:] = -inf
    rule.listed[0], rule.listed[1], rule.listed[2], rule.listed[3] = rivals, top, level, model.epoch[0]


@kernel
def lead(model, stats, rule):
    """The arm of the largest psi, the middle if that is an interval, and its row; -1 while an arm has no data.

    Arms that are beaten for certain need none.
    """
    if not fit_new(model, stats, rule):
        return -1, 0
    top = foremost(model, rule)
    if top == rule.leader[0]:
        row = rule.leader[1]
    else:
        row = row_of(rule, top)
        rule.start[:] = np.nan
        rule.leader[0], rule.leader[1] = top, row
    rule.turn[row] = stats.steps[0]
    return top, row


@kernel
def fit_new(model, stats, rule):
    """Fit the arms that have new values; whether all arms have data, but for those that are beaten for certain."""
    work, K = rule.work, stats.count.shape[0]
    while rule.seen[0] < K:
        a = rule.seen[0]
        if work.stale[a]:
            fit(model, stats.count, stats.mean, a, work)
        if not model.beaten[a] and not has_data(stats, a):
            break
        place(model, rule, a)
        rule.seen[0] += 1
    for n in range(rule.waiting[0]):
        a = rule.queue[n]
        rule.queued[a] = False
        if work.stale[a] and a < rule.seen[0]:  # the others have their turn above
            fit(model, stats.count, stats.mean, a, work)
            place(model, rule, a)
    rule.waiting[0] = 0
    return rule.seen[0] == K


@kernel
def place(model, rule, arm):
    """Let the arm's psi, as fitted, count in the tournament; none of an arm that is beaten, or of which nothing is
    known."""
    psi = rule.work.psi_low[arm] + rule.work.psi_high[arm]
    enter(rule.tops, arm, -inf if model.beaten[arm] or isnan(psi) else psi)


@kernel
def foremost(model, rule):
    """The arm of the largest psi; if nothing is known of the first arm, that one."""
    first = 0
    while model.beaten[first] and first < rule.start.size - 1:
        first += 1
    if rule.tops[1] == -inf or isnan(rule.work.psi_low[first] + rule.work.psi_high[first]):
        return first
    return winner(rule.tops)


@kernel
def ruled_out(rule, i, j, level):
    """Whether rival j was ruled out against i, if i leads as of the last test."""
    return rule.leader[0] == i and rule.proven[rule.leader[1], j] >= rule.target[level]


@kernel
def all_looked_at(model, stats):
    """Whether all arms have data, but for those that are beaten for certain."""
    for a in range(stats.count.shape[0]):
        if not model.beaten[a] and not has_data(stats, a):
            return False
    return True


@kernel
def known_row(rule, arm):
    """The arm's row; -1 if it has none."""
    for n in range(rule.owner.size):
        if rule.owner[n] == arm:
            return n
    return -1


@kernel
def row_of(rule, arm):
    """The arm's row, or else a free one, or that of the arm that led the longest ago, which is forgotten."""
    row = 0
    for n in range(rule.owner.size):
        if rule.owner[n] == arm:
            return n
        if rule.owner[row] >= 0 and (rule.owner[n] < 0 or rule.turn[n] < rule.turn[row]):
            row = n
    rule.owner[row] = arm
    rule.proven[row, :] = -inf
    return row


@kernel
def freeze(model, stats, rule):
    rule.bound[0] = 0.0
    for side in range(2):
        for m in range(stats.count.shape[1]):
            rule.met[side, m] = contribution(model, stats, rule.pair[side], m, rule.meeting[side])
            rule.bound[0] += rule.met[side, m]


observe.register(State, e_process_observe)
decide.register(State, e_process_decide)
RULES = (Rule("e-process", "the proven test, for any strategy", init, proven=True),)
