"""The oracle: evaluates in the proportions that are optimal for the true means. No real strategy can: it is the floor
to measure others against, if delta is small. (At a moderate delta one that adapts to what it sees, or keeps to fewer
fidelities and so has a lower threshold, can be cheaper where C* gains little over it.)

First every cell of the support of omega* once, then the cell that maximises (t + 1) pi - N, pi = normalise(omega* /
cost), with t evaluations told.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.kernels.jit import kernel
from mfbai.model.instance import Instance
from mfbai.strategies.interface import Strategy, ask, tell

UNUSED = 1e-9  # a share of the cost that is rounding


class State(NamedTuple):
    share: np.ndarray  # (K, M) pi: of the evaluations, zero outside the support


def init(model, instance):
    from mfbai.analysis.oracle import oracle  # scipy, which other strategies do without

    if not isinstance(instance, Instance):
        told = "is 'oracle', which needs to know the true means: it is for simulations only"
        raise InvalidInput([Fault("strategy", told)])
    weights = oracle(instance).weights[:, instance.problem.noisy]
    share = np.where(weights > UNUSED, weights, 0.0) / model.cost
    if not share.any():
        share[:, -1] = 1.0  # nothing need be evaluated
    return State(share / share.sum())


@kernel
def oracle_ask(model, stats, state, pending):
    time = 1.0 + stats.steps[0]
    for c in range(pending.size):
        time += pending.flat[c]
    arm, fidelity, most = 0, 0, -inf
    for a in range(pending.shape[0]):
        for m in range(pending.shape[1]):
            evaluations = stats.count[a, m] + pending[a, m]
            behind = time * state.share[a, m] - evaluations if evaluations > 0.0 else inf
            if state.share[a, m] > 0.0 and behind > most:
                arm, fidelity, most = a, m, behind
    return arm, fidelity


@kernel
def oracle_tell(model, stats, state, arm, fidelity, x):
    pass


ask.register(State, oracle_ask)
tell.register(State, oracle_tell)
STRATEGIES = (Strategy("oracle", "tracks the optimal shares of the true means", init, needs=("instance",)),)
