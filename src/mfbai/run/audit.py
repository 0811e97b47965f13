"""Which evaluation an audit asks for next, and what it has had: see `strategies.audit`.

Race plans its own: it compares arms in step, and takes another fidelity where an audit is due. All other strategies can
take in any value, so that an audit comes between those that they ask for.
"""

from math import inf, sqrt

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.tournament import winner
from mfbai.run.exact import estimate
from mfbai.stopping import e_process
from mfbai.strategies import frugal
from mfbai.strategies.audit import LEADER, RIVAL, due, is_unbiased, short_of, unbiased_fidelity
from mfbai.strategies.race import books, rounds
from mfbai.strategies.race.field import closest


@kernel
def rough_pair(model, stats, state):
    """By estimates of the top means, for strategies that do not say."""
    s, most = -1, -inf
    for a in range(stats.count.shape[0]):
        if not model.beaten[a]:
            x, error = estimate(model, stats, a)
            if error == inf:
                return -1, -1
            if x > most:
                s, most = a, x
    rival, least = -1, inf
    for a in range(stats.count.shape[0]):
        if a != s and not model.beaten[a]:
            x, error = estimate(model, stats, a)
            _, own = estimate(model, stats, s)
            apart = (most - x) / sqrt(error * error + own * own)
            if apart < least:
                rival, least = a, apart
    return s, rival


@generic(2, choose=lambda state: rough_pair)
def pair_of(model, stats, state):
    """The arm that leads and its closest rival; -1 for what is not known yet."""


@kernel
def frugal_pair(model, stats, state):
    s, rival, least = state.leader[0], -1, inf
    if s < 0:
        return -1, -1
    j = winner(state.gaps)
    if -inf < state.gaps[1] and not model.beaten[j] and not e_process.ruled_out(state.rule, s, j, 0):
        return s, j
    for j in range(state.gap.size):
        if j != s and not model.beaten[j] and not e_process.ruled_out(state.rule, s, j, 0) and state.gap[j] < least:
            rival, least = j, state.gap[j]
    return s, rival


@kernel
def books_pair(model, stats, state):
    s = state.rule.leader[0]
    return s, closest(model, state, state.work, s)


@kernel
def rounds_pair(model, stats, state):
    s = state.plan[0, 0] if state.learnt[0] > 0 else -1
    return s, closest(model, state, state.rule.work, s)


@kernel
def between(model, stats, state, pending):
    s, rival = pair_of(model, stats, state)
    arm = due(model, stats, pending, s, rival)
    return (arm, unbiased_fidelity(model, stats, arm)) if arm >= 0 else (-1, -1)


@kernel
def planned(model, stats, state, pending):
    return -1, -1


@generic(2, choose=lambda state: between)
def wanted_audit(model, stats, state, pending):
    """The evaluation (arm, fidelity) that an audit asks for before the strategy is asked; -1, -1 if there is none."""


@kernel
def note_audit(model, stats, state, arm, fidelity):
    """Note that a cell is evaluated, before its value is taken in."""
    if not is_unbiased(model, arm, fidelity):
        return
    s, rival = pair_of(model, stats, state)
    if arm == s or arm == rival:  # noqa: SIM109 - a tuple would be built in compiled code
        role, cost = LEADER if arm == s else RIVAL, model.cost[arm, fidelity]
        if short_of(model, stats, s, rival, stats.spent[0], 0.0, 0.0) == arm:
            model.audit.asked[0] += cost
        model.audit.spent[role] += cost


pair_of.register(frugal.State, frugal_pair)
pair_of.register(books.State, books_pair)
pair_of.register(rounds.State, rounds_pair)
wanted_audit.register(books.State, planned)
wanted_audit.register(rounds.State, planned)
