"""Equal spend: evaluate the cell on which the least was spent so far. A skeleton to copy.

The page extending.md, in the folder above, goes through it part by part.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from mfbai.errors import Faults
from mfbai.kernels.jit import kernel
from mfbai.strategies.interface import Strategy, ask, tell


class State(NamedTuple):
    price: np.ndarray  # (K, M) what an evaluation counts as: cost ** power
    spent: np.ndarray  # (K, M) the summed prices of the evaluations told


def init(model, power):
    """The first state. `power` 1 spends equally on all cells, 0 evaluates all cells equally often."""
    faults = Faults()
    if not 0.0 <= power < inf:
        faults.add("power", f"is {power!r}: give a number, 0 or more; the default is 1")
    faults.raise_if_any("options of the strategy")
    return State(price=model.cost**power, spent=np.zeros(model.cost.shape))


@kernel
def equal_spend_ask(model, stats, state, pending):
    """The cell of the least spend, evaluations under way counted as paid. O(K M)."""
    arm, fidelity, least = 0, 0, inf
    for a in range(state.spent.shape[0]):
        for m in range(state.spent.shape[1]):
            spent = state.spent[a, m] + pending[a, m] * state.price[a, m]
            if spent < least:
                arm, fidelity, least = a, m, spent
    return arm, fidelity


@kernel
def equal_spend_tell(model, stats, state, arm, fidelity, x):
    """Note the price of the evaluation. O(1)."""
    state.spent[arm, fidelity] += state.price[arm, fidelity]


ask.register(State, equal_spend_ask)
tell.register(State, equal_spend_tell)
STRATEGIES = (Strategy("equal-spend", "the same cost on every cell", init, {"power": 1.0}),)
