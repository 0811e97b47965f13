"""What the two kinds of contrasts share: which rivals are ruled out, for which of the certainties.

There is one row for all leaders, or with a tolerance one for each. A rival that was ruled out stays so, in its row.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel

MOST_PAIRS = 300  # arms with a row for each: what they need grows as the square
ENTRIES = 6  # of a bet that is noted


class Notes(NamedTuple):
    """The bets of a proof, one by one, where somebody asks what it can bear: see `bearing`."""

    row: np.ndarray  # (2,) whose bets are noted; how many were
    bets: np.ndarray  # (room, ENTRIES) what they consist of, each kind of contrasts knows; no room: none are


def make_notes(row=0, room=0) -> Notes:
    return Notes(np.array([row, 0]), np.zeros((room, ENTRIES)))


@kernel
def note(rule, row, a, b, c, d, e, f):
    notes = rule.notes
    n = notes.row[1]
    if row == notes.row[0] and n < notes.bets.shape[0]:
        bet = notes.bets[n]
        bet[0], bet[1], bet[2], bet[3], bet[4], bet[5] = a, b, c, d, e, f
        notes.row[1] += 1


def targets(model, deltas) -> np.ndarray:
    """(levels,) the evidence in nats that rules out a rival."""
    tests = model.cost.shape[0] - 1 if model.tolerance > 0.0 else 1
    found: np.ndarray = np.log(tests / np.asarray(deltas, dtype=np.float64))
    return found


def rows_of(model) -> int:
    return model.cost.shape[0] if model.tolerance > 0.0 else 1


def all_left(model, levels) -> np.ndarray:
    """(rows, levels) arms that are not ruled out; in a single row the leader is one of them."""
    K = model.cost.shape[0]
    return np.full((rows_of(model), levels), K - 1 if model.tolerance > 0.0 else K, dtype=np.int64)


@kernel
def row_of(rule, leader):
    return leader if rule.proven.shape[0] > 1 else 0


@kernel
def exclude(rule, row, arm, evidence):
    """Note how much evidence there is against an arm."""
    before = rule.proven[row, arm]
    if evidence > before:
        rule.proven[row, arm] = evidence
        for level in range(rule.target.size):
            if before < rule.target[level] <= evidence:
                rule.left[row, level] -= 1


@kernel
def exclude_certain(model, rule):
    """Rule out the arms that cannot be the best for certain, nor better than the row's by more than the tolerance."""
    rows = rule.proven.shape[0]
    for row in range(rows):
        for arm in range(rule.proven.shape[1]):
            worse = rows > 1 and model.top_high[arm] <= model.top_low[row] + model.tolerance
            if (rows == 1 or arm != row) and (model.beaten[arm] or worse):
                exclude(rule, row, arm, inf)


@kernel
def is_out(rule, row, arm):
    """Whether an arm is ruled out, for the largest of the certainties."""
    return rule.proven[row, arm] >= rule.target[rule.target.size - 1]


@kernel
def is_over(rule, row):
    """Whether all rivals are ruled out, for the largest of the certainties."""
    return rule.left[row, rule.target.size - 1] <= (0 if rule.proven.shape[0] > 1 else 1)


@kernel
def exclusion_decide(model, stats, rule, level):
    s = rule.leader[0]
    if s < 0:
        return -1
    if rule.proven.shape[0] > 1:
        return s if rule.left[s, level] == 0 else -1
    if rule.left[0, level] > 1:
        return -1
    for j in range(rule.proven.shape[1]):
        if rule.proven[0, j] < rule.target[level]:
            return j
    return s  # all are ruled out, and so is the best: that has a probability of delta at most
