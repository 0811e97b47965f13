"""The records of one run, and what compiled code does with them. Live studies and simulations are made of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import Generic, is_compiling
from mfbai.kernels.parts import Bound, Wanted, bind, bound, load, needs
from mfbai.kernels.stats import OWN_SEED, Stats
from mfbai.model.compiled import Model
from mfbai.run import linked, loop
from mfbai.run.audit import pair_of, wanted_audit
from mfbai.stopping.interface import watch
from mfbai.strategies.interface import ask, own_seed, seed, tell

CELL = (0, 0, 0.0)  # an arm, a fidelity and a value: those of each call take their place

Calls = dict[int, tuple[Generic, tuple[Any, ...]]]


@dataclass
class Play:
    """One run. The arrays of its records must stay where they are."""

    model: Model
    stats: Stats
    state: Any
    rule: Any
    outcome: loop.Outcome
    pending: NDArray[np.int64]
    _is_ready: bool = False  # whether all parts of a live run were loaded

    def ask(self) -> tuple[int, int]:
        """The cell that the strategy wants next, or before it an audit."""
        self.ready()
        arm, fidelity = -1, -1
        if self.model.audit.share[0] > 0:
            arm, fidelity = self._call(linked.AUDIT)
        return (arm, fidelity) if arm >= 0 else self._call(linked.ASK)

    def replay(
        self,
        arms: NDArray[np.int64],
        fidelities: NDArray[np.int64],
        values: NDArray[np.float64],
        seeds: NDArray[np.int64] | None = None,
    ) -> None:
        """Tell evaluations in order; (evaluations, 2) seeds where arms meet in rounds."""
        self.ready()
        seeds = np.tile(OWN_SEED, (len(arms), 1)) if seeds is None else seeds
        if len(arms) != 1:
            loop.replay(self.model, self.stats, *self.linked, self.outcome, arms, fidelities, values, seeds)
            return
        call, places = self._one
        for place, told in zip(places, (arms, fidelities, values, seeds), strict=True):
            place[...] = told
        call()

    def simulate(self, truth: Any, rng: Any, job: loop.Job) -> Callable[[], None]:
        """A function that makes the runs of a job."""
        before, after = (self.model, truth, self.stats), (self.outcome, self.pending, rng, job)
        load(self.needed(truth, rng, job))
        return bound(loop.run_many, *before, *self.linked, *after)

    def needed(self, truth: Any, rng: Any, job: loop.Job) -> list[Wanted]:
        """The parts that `simulate` takes."""
        before, after = (self.model, truth, self.stats), (self.outcome, self.pending, rng, job)
        return [*self.parts(), *needs((loop.run_many, *before, *linked.NONE, *after))]

    def ready(self, others: Iterable[Wanted] = ()) -> None:
        """See that all parts of a live run are there, and `others`: what is missing is built together."""
        if not self._is_ready:
            whole, values = np.zeros(0, dtype=np.int64), np.zeros(0)
            told = (self.outcome, whole, whole, values, np.zeros((0, 2), dtype=np.int64))
            replay = needs((loop.replay, self.model, self.stats, *linked.NONE, *told))
            load([*self.parts(), *replay, *others])
            self._is_ready = True

    @cached_property
    def _one(self) -> tuple[Callable[[], Any], tuple[NDArray[Any], ...]]:
        """A function that replays a single evaluation, and the arrays to put it into: to look at all records again for
        each would take longer than the replay."""
        arm, fidelity, seed = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64), np.tile(OWN_SEED, (1, 1))
        places = (arm, fidelity, np.zeros(1), seed)
        return bound(loop.replay, self.model, self.stats, *self.linked, self.outcome, *places), places

    @cached_property
    def linked(self) -> tuple[Any, Any]:
        """The state and the rule as the loops take them."""
        if not is_compiling():
            return self.state, self.rule
        strategy, rule = self._bound
        return linked.LinkedStrategy(_links(strategy, 5)), linked.LinkedRule(_links(rule, 1))

    def parts(self) -> list[Wanted]:
        """What the strategy and the rule need to be compiled."""
        return needs(*((function, *args) for function, args in (*self._strategy.values(), *self._rule.values())))

    @cached_property
    def _strategy(self) -> Calls:
        known = (self.model, self.stats, self.state)
        calls: Calls = {linked.TELL: (tell, (*known, *CELL)), linked.ASK: (ask, (*known, self.pending))}
        if seed.of(type(self.state)) is not own_seed:
            calls[linked.SEED] = (seed, (*known, self.pending))
        if self.model.audit.share[0] > 0:
            calls |= {linked.AUDIT: (wanted_audit, (*known, self.pending)), linked.PAIR: (pair_of, known)}
        return _that_do_something(calls)

    @cached_property
    def _rule(self) -> Calls:
        known = (self.model, self.stats, self.rule)
        return {linked.WATCH: (watch, (*known, *CELL, 0))}

    @cached_property
    def _bound(self) -> tuple[dict[int, Bound], dict[int, Bound]]:
        load(self.parts())
        return _bind_all(self._strategy), _bind_all(self._rule)

    def _call(self, place: int) -> Any:
        if is_compiling():
            return self._bound[0][place]()
        function, args = self._strategy[place]
        return function(*args)


def _that_do_something(calls: Calls) -> Calls:
    def is_empty(function: Generic, args: tuple[Any, ...]) -> bool:
        return bool(getattr(function.serving(args[function.position]), "is_empty", False))

    return {place: call for place, call in calls.items() if not is_empty(*call)}


def _bind_all(calls: Calls) -> dict[int, Bound]:
    return {place: bind(function.serving(args[function.position]), *args) for place, (function, args) in calls.items()}


def _links(bound: dict[int, Bound], places: int) -> NDArray[np.int64]:
    return np.array([bound[place].link if place in bound else (0, 0) for place in range(places)], dtype=np.int64)
