"""No stopping: for watching a strategy over a fixed number of steps."""

from typing import NamedTuple

from mfbai.kernels.jit import kernel
from mfbai.stopping.shape import decide, observe


class State(NamedTuple):
    unused: int


def init() -> State:
    return State(0)


@kernel
def never_observe(model, stats, rule, arm, fidelity):
    pass


@kernel
def never_decide(model, stats, rule, level):
    return -1


observe.register(State, never_observe)
decide.register(State, never_decide)
