"""The one shape of a stopping rule, and the functions everything else calls.

A rule is a record made by its `init(model, deltas, fidelities, ...)`, separate from sampling. It serves several risks
at once, the largest delta first: level l of a run is over when `decide` first names an answer at `deltas[l]`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbai.kernels.jit import generic, kernel


@generic(2)
def observe(model, stats, rule, arm, fidelity, x):
    """Note that a cell returned x, which `stats` holds already. The only mutator of `rule` beside `decide`."""


@generic(2)
def decide(model, stats, rule, level):
    """The answer that may be given now at the risk of `level`, or -1. May refresh what the rule keeps to be fast."""


@kernel
def observe_and_decide(model, stats, rule, arm, fidelity, x, level):
    if arm >= 0:
        observe(model, stats, rule, arm, fidelity, x)
    return decide(model, stats, rule, level) if level >= 0 else -1


@generic(2, choose=lambda rule: observe_and_decide)
def watch(model, stats, rule, arm, fidelity, x, level):
    """Both, one after the other, as the loops call them; one of them only if the arm or the level is -1."""


@dataclass(frozen=True)
class Rule:
    """How to make a stopping rule, and what people can set about it."""

    name: str
    summary: str
    init: Callable[..., Any]  # init(model, deltas, fidelities, **options) -> record
    options: Mapping[str, Any] = field(default_factory=dict)
    only: str | None = None  # the strategy that it serves, if there is just one
    proven: bool = False  # whether studies may say that a verdict of it has the risk that was asked for
    ordered: bool = False  # whether it takes in all evaluations in the order of asking, not only those of each cell
