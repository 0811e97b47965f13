"""The rule `contrasts`: bets on leader minus rival, in which the unknown top mean cancels.

books       where every value has a seed of its own, and variances are known
rounds      where arms share seeds, or the size of the noise is unknown
round_bets  what these bet
exclusion   what both share: which rivals are ruled out
bearing     whether a rival would be ruled out if bias bounds were wider
"""

from math import exp, inf
from typing import Any, NamedTuple

import numpy as np

from mfbai.stopping.books import make_books
from mfbai.stopping.exclusion import make_notes, row_of
from mfbai.stopping.interface import Rule
from mfbai.stopping.rounds import Rounds, make_rounds


def init(model, deltas, fidelities):
    return make_rounds(model, deltas) if in_rounds(model) else make_books(model, deltas)


def in_rounds(model) -> bool:
    """Whether arms are compared in rounds: books need values that are independent, and known variances."""
    return model.common or not model.law.known


class Standing(NamedTuple):
    """What the rule has proven so far."""

    leader: int  # -1 while there is none
    evidence: np.ndarray  # (K,) nats against "this arm is better than the leader"; infinite for the leader itself
    needed: float  # of them, to rule out a rival
    level: float  # the risk of answering the leader now


def leader_of(rule) -> int:
    """The arm that seems the best by what was learnt; -1 while nothing was."""
    if not isinstance(rule, Rounds):
        return int(rule.leader[0])
    return int(np.argmax(rule.work.psi_low + rule.work.psi_high)) if rule.learnt[0] else -1


def watched(state: Any, free: np.ndarray) -> Any:
    """The same state of race, which in rounds also keeps what is proven without trust in any bias bound: (M,) `free`
    says which fidelities need none."""
    rule = state.rule
    if not isinstance(rule, Rounds):
        return state
    nothing, none_yet = np.zeros_like(rule.capital), np.zeros_like(rule.proven)
    return state._replace(rule=rule._replace(free=free, unaided=nothing, unaided_most=none_yet))


def noting(state: Any, answer: int, room: int) -> Any:
    """The same state, which notes the bets of the proof that an answer is the best."""
    rule = state.rule
    return state._replace(rule=rule._replace(notes=make_notes(row_of(rule, answer), room)))


def standing(rule, answer: int | None = None) -> Standing:
    """Where a run stands whose rule has one level; of the leader, or of another answer."""
    leader = leader_of(rule) if answer is None else answer
    evidence = np.zeros(rule.proven.shape[1])
    if leader >= 0:
        evidence = rule.proven[row_of(rule, leader)].copy()
        evidence[leader] = inf
    rows, K = rule.proven.shape
    level = (K - 1 if rows > 1 else 1) * exp(-float(evidence.min()))
    return Standing(leader, evidence, float(rule.target[0]), min(level, 1.0))


RULES = (
    Rule("contrasts", "the proven test of race: bets on differences", init, only="race", proven=True, ordered=True),
)
