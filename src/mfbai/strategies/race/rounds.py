"""Race in rounds: the leader and all rivals, each at the fidelity that finishes at the least cost.

The first round has every arm at its cheapest fidelity: twice if arms share seeds, else once. From then on a round has
one value of the leader, or up to four if seeds are independent, and one to three of every rival that is not ruled out.
With u = R[s, m] + R[j, k] for how far the cells may reach (`optimism`) and v the variance of the contrast, a round is
expected to bring `round_bets.nats`; for symmetric noise about ln 2 (1 - exp(-u^2 / (2 v ln 2))). The fidelities and
numbers of values of the leader and of each rival are those that would finish at the least cost: for a number of rounds,
each rival takes the cheapest of what rules it out by then, and that number is searched for. More values of the leader
are tried as long as they help: it meets all rivals, so that it pays to know it better.
Plans hold for a few rounds: until the leader changes, a rival is ruled out or there are 5 % more rounds.
"""

from math import inf, log
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import ROOM, SEEDS
from mfbai.stopping.exclusion import is_out, is_over, row_of
from mfbai.stopping.round_bets import largest_tilt, nats
from mfbai.stopping.rounds import Rounds, contrast_noise, make_rounds, rounds_observe
from mfbai.strategies.audit import due, is_unbiased, unbiased_fidelity
from mfbai.strategies.interface import ask, seed, tell
from mfbai.strategies.optimism import reach_of
from mfbai.strategies.race.field import closest, forgotten, largest

FIRST = 2  # values of each arm in the first round, where arms share seeds
MOST = 3  # values that a rival has in a round
LEADS = 4  # values that the leader has in a round where seeds are independent
BETA = 1.5  # optimism: ln(1 + BETA * needed / evidence)
MARGIN = 2.0  # nats: about what the bets lose against the best tilt
LEAST = 1.0  # nats that a rival is taken to need, at least
LENGTHS = 8  # numbers of rounds that are tried
STEADY = 0.05  # growth of the number of rounds after which there is a new plan


class State(NamedTuple):
    rule: Rounds
    cheapest: np.ndarray  # (K,) each arm's cheapest fidelity
    round: np.ndarray  # (1,) the number of the round under way
    position: np.ndarray  # (1,) of the next evaluation in it
    size: np.ndarray  # (1,) its evaluations
    plan: np.ndarray  # (4, room) of each: arm, fidelity, seed within the round, part
    learnt: np.ndarray  # (1,) rounds that were learnt when the plan was made
    due: np.ndarray  # (1,) and at how many there is a new one
    reach: np.ndarray  # (K, M) R
    noise: np.ndarray  # (K, M) variances, less what leader and rival have in common
    need: np.ndarray  # (K,) nats that are missing; 0 for the leader and for rivals that are ruled out
    rounds: np.ndarray  # (K, M, MOST) that a rival would take, by fidelity and number of values
    choice: np.ndarray  # (2, K) the fidelity of the leader and of each rival, and its number of values
    trial: np.ndarray  # (2, K) the same while plans are compared
    idle: np.ndarray  # (K, M) zeros: nothing is under way while a round is made
    left: np.ndarray  # (1,) arms that were not ruled out when the plan was made
    since: np.ndarray  # (1,) what had been spent when an arm was last ruled out
    extra: np.ndarray  # (1,) evaluations of arms that were ruled out, each by the root of its cost


def make_state(model, delta):
    K, M = model.cost.shape
    cheapest = np.argmin(model.cost, axis=1)
    plan = np.zeros((4, max(MOST, LEADS) * (K + 1)), dtype=np.int64)
    first = FIRST if model.common else 1
    for n, (arm, own) in enumerate((arm, own) for arm in range(K) for own in range(first)):
        plan[:, n] = arm, cheapest[arm], own, first
    plan[3, 0] = -first * K
    return State(
        rule=make_rounds(model, np.array([delta])),
        cheapest=cheapest,
        round=np.zeros(1, dtype=np.int64),
        position=np.zeros(1, dtype=np.int64),
        size=np.full(1, first * K, dtype=np.int64),
        plan=plan,
        learnt=np.zeros(1, dtype=np.int64),
        due=np.zeros(1),
        reach=np.zeros((K, M)),
        noise=np.zeros((K, M)),
        need=np.zeros(K),
        rounds=np.zeros((K, M, MOST)),
        choice=np.zeros((2, K), dtype=np.int64),
        trial=np.zeros((2, K), dtype=np.int64),
        idle=np.zeros((K, M)),
        left=np.full(1, K, dtype=np.int64),
        since=np.zeros(1),
        extra=np.zeros(1),
    )


def round_of(state) -> list[tuple[int, int, int, int]]:
    """The round that could begin now: (arm, fidelity, seed within it, part) of each evaluation."""
    return [tuple(entry) for entry in state.plan[:, : state.size[0]].T.tolist()]


@kernel
def rounds_ask(model, stats, state, pending):
    n = state.position[0]
    return state.plan[0, n], state.plan[1, n]


@kernel
def rounds_seed(model, stats, state, pending):
    n = state.position[0]
    return state.round[0] * SEEDS + state.plan[2, n], state.plan[3, n]


@kernel
def rounds_tell(model, stats, state, arm, fidelity, x):
    rule = state.rule
    if rule.leader[0] >= 0 and arm != rule.leader[0] and is_out(rule, row_of(rule, rule.leader[0]), arm):
        state.extra[0] += model.cost[arm, fidelity] ** 0.5
    rounds_observe(model, stats, rule, arm, fidelity, x)
    state.position[0] += 1
    if rule.learnt[0] > state.learnt[0]:
        state.learnt[0] = rule.learnt[0]
        state.round[0] += 1
        state.position[0] = 0
        make_round(model, stats, state)


@kernel(inline=False)
def make_round(model, stats, state):
    """Write down the next round, by a new plan if it is time for one."""
    rule = state.rule
    s = largest(model, rule.work)
    left = rule.left[row_of(rule, s), rule.target.size - 1]
    if left != state.left[0]:
        state.since[0] = stats.spent[0]
    if s != state.plan[0, 0] or left != state.left[0] or rule.learnt[0] >= state.due[0]:
        state.left[0] = left
        state.due[0] = (1.0 + STEADY) * rule.learnt[0]
        state.plan[0, 0] = s
        state.choice[0, s], state.choice[1, s] = make_plan(model, state, s)
    state.size[0] = 0
    audit = -1
    if model.audit.share[0] > 0.0:
        audit = due(model, stats, state.idle, s, closest(model, state, rule.work, s))
    leads = add(model, stats, state, s, s == audit)
    for j in range(state.need.size):
        if state.need[j] > 0.0:
            add(model, stats, state, j, j == audit)
    again = forgotten(model, stats, state, state.idle)
    if again >= 0 and again != s:
        add_values(state, again, state.cheapest[again], 1)
    for n in range(leads):
        state.plan[3, n] = -(leads - 1) * ROOM - state.size[0]


@kernel
def add(model, stats, state, arm, audit):
    """Add the values of an arm that the plan has, or one without bias for an audit; return how many."""
    fidelity, values = state.choice[0, arm], state.choice[1, arm]
    if audit and not is_unbiased(model, arm, fidelity):
        fidelity, values = unbiased_fidelity(model, stats, arm), 1
    add_values(state, arm, fidelity, values)
    return values


@kernel
def add_values(state, arm, fidelity, values):
    for own in range(values):
        n = state.size[0]
        state.plan[0, n], state.plan[1, n], state.plan[2, n], state.plan[3, n] = arm, fidelity, own, values
        state.size[0] += 1


@kernel
def make_plan(model, state, s):
    """Choose each rival's fidelity and number of values; return the leader's."""
    rule, M = state.rule, model.cost.shape[1]
    row, target = row_of(rule, s), rule.target[rule.target.size - 1]
    least = inf
    for j in range(state.need.size):
        state.need[j] = 0.0
        if j != s and (is_over(rule, row) or not is_out(rule, row, j)):
            state.need[j] = max(target + MARGIN - rule.proven[row, j], LEAST)
            least = min(least, evidence(model, rule, s, j))
    optimism = log(1.0 + BETA * target / max(least, 1.0))
    shared, rivals = 0.0, 0  # what is left of the noise where luck cancels: of each rival, and on average
    for j in range(state.need.size):
        if state.need[j] > 0.0:
            shared += rule.ratio[j]
            rivals += 1
    for a in range(state.need.size):
        left = (1.0 - rule.correlation[0]) * (shared / rivals if a == s else rule.ratio[a])
        for m in range(M):
            state.noise[a, m] = left * rule.noise[a, m]
    for a in range(state.need.size):
        if a == s or state.need[a] > 0.0:
            reach_of(model, rule, state.noise, rule.work, optimism, a == s, 0.0, a, state.reach)
    best, fidelity, leads = inf, M - 1, 1
    for j in range(state.need.size):
        state.choice[0, j], state.choice[1, j] = M - 1, 1
    for m in range(M):
        before = inf
        for values in range(1, 2 if model.common else LEADS + 1):
            shortest, longest = set_rounds(model, state, s, m, values)
            cost, here = values * model.cost[s, m], inf
            if shortest == inf:
                break
            for n in range(LENGTHS):
                length = shortest * (longest / shortest) ** (n / (LENGTHS - 1.0)) * (1.0 + 1e-9)
                if length * cost >= min(best, here):
                    break
                total = cheapest_plan(model, state, length) + length * cost
                here = min(here, total)
                if total < best:
                    best, fidelity, leads = total, m, values
                    for j in range(state.need.size):
                        state.choice[0, j], state.choice[1, j] = state.trial[0, j], state.trial[1, j]
            if here >= before:
                break
            before = here
    return fidelity, leads


@kernel
def evidence(model, rule, s, j):
    """Roughly how much there is against rival j, in the two cells that tell the most."""
    most = 0.0
    for m in range(rule.count.shape[1]):
        for k in range(rule.count.shape[1]):
            if rule.count[s, m] > 0.0 and rule.count[j, k] > 0.0:
                gap = rule.mean[s, m] - model.bias_high[s, m] - rule.mean[j, k] + model.bias_low[j, k]
                gap += model.tolerance
                if gap > 0.0:
                    error = rule.noise[s, m] / rule.count[s, m] + rule.noise[j, k] / rule.count[j, k]
                    most = max(most, 0.5 * gap * gap / error)
    return most


@kernel
def set_rounds(model, state, s, m, leads):
    """How many rounds it takes to rule out each rival with so many values of the leader at m; the least that will do
    for all, infinite if some rival cannot be ruled out, and the most that helps."""
    rule, shortest, longest = state.rule, 0.0, 0.0
    for j in range(state.need.size):
        if state.need[j] == 0.0:
            continue
        first, least, then = inf, inf, inf
        for k in range(model.cost.shape[1]):
            gap = state.reach[s, m] + state.reach[j, k] + model.tolerance
            most = largest_tilt(model.law, model, s, m, j, k)
            for n in range(1, MOST + 1):
                rounds = inf
                if gap > 0.0:
                    noise = rule.ratio[j] * contrast_noise(rule, s, m, leads, j, k, n)
                    rounds = state.need[j] / nats(model.law, gap, noise, most)
                state.rounds[j, k, n - 1] = rounds
                first = min(first, rounds)
                if rounds * n * model.cost[j, k] < least:
                    least, then = rounds * n * model.cost[j, k], rounds
        shortest, longest = max(shortest, first), max(longest, then)
    return shortest, max(shortest, longest)


@kernel
def cheapest_plan(model, state, length):
    """What the rivals cost if all are ruled out within so many rounds."""
    total = 0.0
    for j in range(state.need.size):
        if state.need[j] == 0.0:
            continue
        least = inf
        for k in range(model.cost.shape[1]):
            for n in range(1, MOST + 1):
                rounds = state.rounds[j, k, n - 1]
                if rounds <= length and rounds * n * model.cost[j, k] < least:
                    least = rounds * n * model.cost[j, k]
                    state.trial[0, j], state.trial[1, j] = k, n
        total += least
    return total


ask.register(State, rounds_ask)
seed.register(State, rounds_seed)
tell.register(State, rounds_tell)
