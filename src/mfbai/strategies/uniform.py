"""Uniform: every cell in turn, cells under way counted as done; none of an arm that is beaten for certain."""

from math import inf
from typing import NamedTuple

from mfbai.kernels.jit import kernel
from mfbai.strategies.interface import Strategy, ask, tell


class State(NamedTuple):
    """Nothing to remember: the counts say whose turn it is."""

    turn: int


def init(model):
    return State(turn=0)


@kernel
def uniform_ask(model, stats, state, pending):
    arm, fidelity, least = 0, 0, inf
    for a in range(stats.count.shape[0]):
        if model.beaten[a]:
            continue
        for m in range(stats.count.shape[1]):
            evaluations = stats.count[a, m] + pending[a, m]
            if evaluations < least:
                arm, fidelity, least = a, m, evaluations
    return arm, fidelity


@kernel
def uniform_tell(model, stats, state, arm, fidelity, x):
    pass


ask.register(State, uniform_ask)
tell.register(State, uniform_tell)
STRATEGIES = (Strategy("uniform", "every cell equally often", init),)
