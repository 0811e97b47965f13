"""Strategies and rules, bound to the records of a run, as the compiled loops call them: see `kernels.link`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.link import invoke, result
from mfbai.run.audit import pair_of, wanted_audit
from mfbai.stopping.interface import watch
from mfbai.strategies.interface import ask, seed, tell

ASK, TELL, SEED, AUDIT, PAIR = range(5)  # places in `LinkedStrategy.calls`
WATCH = 0  # in `LinkedRule.calls`


class LinkedStrategy(NamedTuple):
    """Stands for a strategy's state."""

    calls: np.ndarray  # (5, 2) the addresses of a part and of its table; 0 for what does nothing


class LinkedRule(NamedTuple):
    """Stands for a rule's record."""

    calls: np.ndarray  # (1, 2)


@kernel
def call(calls, place):
    """Call a function that returns two numbers."""
    table = calls[place, 1]
    invoke(calls[place, 0], table, ())
    return result(table, 0), result(table, 1)


@kernel
def linked_ask(model, stats, state, pending):
    return call(state.calls, ASK)


@kernel
def linked_tell(model, stats, state, arm, fidelity, x):
    if state.calls[TELL, 0] != 0:
        invoke(state.calls[TELL, 0], state.calls[TELL, 1], (arm, fidelity, x))


@kernel
def linked_seed(model, stats, state, pending):
    return call(state.calls, SEED) if state.calls[SEED, 0] != 0 else (-1, 0)


@kernel
def linked_audit(model, stats, state, pending):
    return call(state.calls, AUDIT)


@kernel
def linked_pair(model, stats, state):
    return call(state.calls, PAIR)


@kernel
def linked_watch(model, stats, rule, arm, fidelity, x, level):
    table = rule.calls[WATCH, 1]
    invoke(rule.calls[WATCH, 0], table, (arm, fidelity, x, level))
    return result(table, 0)


ask.register(LinkedStrategy, linked_ask)
tell.register(LinkedStrategy, linked_tell)
seed.register(LinkedStrategy, linked_seed)
wanted_audit.register(LinkedStrategy, linked_audit)
pair_of.register(LinkedStrategy, linked_pair)
watch.register(LinkedRule, linked_watch)

NONE = LinkedStrategy(np.zeros((5, 2), dtype=np.int64)), LinkedRule(np.zeros((1, 2), dtype=np.int64))  # not linked yet
