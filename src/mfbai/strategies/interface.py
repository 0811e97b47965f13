"""The one shape of a strategy, and the two functions everything else calls.

A strategy is a State (a NamedTuple of arrays) with `init`, `ask` and `tell`. `ask` only reads and `tell` is the only
mutator, so any state is a fold of `tell` over the evaluations told, live or simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.stats import ROOM as ROOM
from mfbai.kernels.stats import SEEDS as SEEDS
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem


@generic(2)
def ask(model, stats, state, pending):
    """The cell (arm, fidelity) to evaluate next, if `pending` (K, M) evaluations are under way. Reads only."""


@generic(2)
def tell(model, stats, state, arm, fidelity, x):
    """Learn that a cell returned x, which `stats` holds already. The only mutator of `state`."""


@kernel
def own_seed(model, stats, state, pending):
    return -1, 0


@generic(2, choose=lambda state: own_seed)
def seed(model, stats, state, pending):
    """The seed of the evaluation that `ask` names: its number, and its part in its round.

    Strategies that compare arms in rounds say which; the number's quotient by `SEEDS` is that of the round, and the
    rest tells the values of an arm in it apart. Where arms share seeds, all values with the same number have the same.
    A round begins with the n values of the arm that the others are compared with, the only ones whose part is negative:
    minus (n - 1) `ROOM`, and minus the evaluations that the round has in all. For the others the part is the number of
    values that their arm has in it. All other strategies have evaluations with seeds of their own: -1, 0.
    """


@dataclass(frozen=True)
class Strategy:
    """How to make a strategy's first state, and what people can set about it."""

    name: str
    summary: str
    init: Callable[..., Any]  # init(model, **needs, **options) -> State
    options: Mapping[str, Any] = field(default_factory=dict)  # name -> default, passed to init
    top_only: bool = False  # whether it evaluates at the top fidelity alone
    own_rule: bool = False  # whether `tell` also decides when to stop, and puts the arm into `state.answer` (1,)
    # What else init takes: "delta", if sampling depends on it; "instance", the truth, or in a live study the problem.
    needs: tuple[str, ...] = ()
    # Of a state that plans rounds: the one that could begin now, as (arm, fidelity, seed within it, part).
    round: Callable[[Any], list[tuple[int, int, int, int]]] | None = None
    keeps: str | None = None  # the name of a rule whose record the strategy keeps as `state.rule`: a run uses the same

    def make(
        self, what: Problem | Instance, delta: float, options: Mapping[str, Any] | None = None, tolerance: float = 0.0
    ) -> Any:
        """The first state of a run; options that are not given have their defaults."""
        problem = what.problem if isinstance(what, Instance) else what
        about = {"delta": delta, "instance": what}
        settings = {name: (options or {}).get(name, default) for name, default in self.options.items()}
        return self.init(problem.model(tolerance), **{name: about[name] for name in self.needs}, **settings)
