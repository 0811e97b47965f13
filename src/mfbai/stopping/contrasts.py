"""The rule `contrasts`: bets on leader minus rival, in which the unknown top mean cancels.

books   where every value has a seed of its own
"""

from typing import NamedTuple

import numpy as np

from mfbai.stopping.books import make_books
from mfbai.stopping.interface import Rule


def init(model, deltas, fidelities):
    return make_books(model, deltas)


class Standing(NamedTuple):
    """What the rule has proven so far."""

    leader: int  # -1 while there is none
    evidence: np.ndarray  # (K,) nats against "this arm is better than the leader"; infinite for the leader itself
    needed: float  # of them, to rule out a rival
    level: float  # the risk of answering the leader now


RULES = (Rule("contrasts", "the proven test of `race`: bets on differences", init, ordered=True),)
