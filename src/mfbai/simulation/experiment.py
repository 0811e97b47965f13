"""A simulation, checked and ready: what its runs have in common, and one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import check_choice, check_delta, check_integers
from mfbai.errors import Faults
from mfbai.kernels.stats import make_stats
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.spec import check_instance
from mfbai.run.assemble import assemble, choose
from mfbai.run.loop import advance, make_outcome
from mfbai.run.state import arrays_of, changing, own_model
from mfbai.run.truth import truth_of
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES

STAND_IN = "paper-5x2"  # an instance to check other arguments with, where the given one is at fault
CHUNK = 1 << 16  # steps between two checks whether to continue: some 20 ms


@dataclass(frozen=True)
class Setup:
    """What all runs of a simulation share: they differ in their seed alone."""

    instance: Instance
    strategy: str
    stopping: str | None  # None: it never stops
    model: Model
    levels: int
    make_state: Callable[[], Any]
    make_rule: Callable[[Any], Any]  # given the state


class Run:
    """One run at a time of a simulation; `restart` begins another in the same memory, which is quick."""

    def __init__(self, setup: Setup) -> None:
        shape = setup.model.cost.shape
        self.setup = setup
        self.model = own_model(setup.model)
        self.stats = make_stats(shape)
        self.state = setup.make_state()
        self.rule = setup.make_rule(self.state)
        self.outcome = make_outcome(setup.levels)
        self.pending = np.zeros(shape, dtype=np.int64)  # stays zero: a simulated evaluation returns at once
        self.rng = np.random.default_rng(0)
        self.truth = truth_of(setup.instance)
        records = (changing(self.model), self.stats, self.state, self.rule, self.outcome, self.truth[2:])
        self._fresh = [(a, a.copy()) for a in arrays_of(records)]

    def restart(self, seed: int, run: int) -> None:
        """Begin the run of that number. Its random numbers depend on seed and run alone."""
        for array, fresh in self._fresh:
            array[...] = fresh
        self.rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))

    def advance(self, until: int) -> None:
        """Go on until every level is decided or `until` evaluations are made."""
        records = (self.stats, self.state, self.rule, self.outcome)
        advance(self.model, self.truth, *records, self.pending, self.rng, until)

    def advance_unless(self, cancelled: Event, until: int) -> bool:
        """The same, but give up soon after `cancelled` is set; returns whether it was not."""
        while not self.decided and self.stats.steps[0] < until:
            if cancelled.is_set():
                return False
            self.advance(min(until, int(self.stats.steps[0]) + CHUNK))
        return True

    @property
    def counts(self) -> NDArray[np.int64]:
        """(K, M) evaluations of each cell so far."""
        return self.setup.instance.problem.whole(self.stats.count, ~np.isnan(self.model.exact.value)).astype(np.int64)

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0] == self.setup.levels)


def prepare(
    instance: Instance | str,
    strategy: str | None,
    stopping: str | None,
    deltas: Any,
    options: Any,
    integers: Mapping[str, Any],
    *,
    endless: bool = False,
    seeds: str | None = None,
    audit: float = 0.0,
) -> list[Setup]:
    """Check everything, report all faults at once, and set the simulation up.

    One setup serves all deltas, its levels, largest first; unless the strategy's sampling depends on delta: then each
    delta has a setup of its own. `integers` are arguments, by name, that must be whole numbers. An `endless`
    simulation has no stopping rule; in others, a strategy or a rule that is not given is the best for the problem.
    `seeds`, if given, replaces the instance's. `audit` is a share of the cost.
    """
    faults = Faults()
    found = None
    setups: list[Setup] = []
    with faults.absorb():
        found = check_instance(instance)
        found = found if seeds is None else found.with_seeds(seeds)
    if not endless:
        strategy, stopping = choose((found or check_instance(STAND_IN)).problem, strategy, stopping)
    check_choice(faults, "strategy", strategy, STRATEGIES)
    if not endless:
        check_choice(faults, "stopping", stopping, RULES)
    check_integers(faults, integers)
    levels = np.array([0.5])
    with faults.absorb():
        levels = _levels(deltas)
    if strategy in STRATEGIES and (endless or stopping in RULES):
        with faults.absorb():  # options are checked even where other things are at fault
            parts = np.split(levels, len(levels)) if "delta" in STRATEGIES[strategy].needs else [levels]
            for part in parts:
                truth = found or check_instance(STAND_IN)
                setups.append(set_up(truth, strategy, stopping, part, options, audit=audit))
    faults.raise_if_any("call")
    return setups


def _levels(deltas: Any) -> NDArray[np.float64]:
    faults = Faults()
    check_delta(faults, deltas)
    faults.raise_if_any("call")
    return np.sort(np.atleast_1d(np.asarray(deltas, dtype=np.float64)))[::-1]


def set_up(
    instance: Instance,
    strategy: str,
    stopping: str | None,
    deltas: NDArray[np.float64],
    options: Any,
    tolerance: float = 0.0,
    audit: float = 0.0,
) -> Setup:
    """The simulation of a strategy and a rule that exist; their options are checked."""
    parts = assemble(instance, strategy, stopping, deltas, options, tolerance, audit)
    return Setup(instance, strategy, stopping, parts.model, len(deltas), parts.make_state, parts.make_rule)
