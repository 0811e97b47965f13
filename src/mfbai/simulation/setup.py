"""From names and options to what the compiled loops take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.errors import Fault, Faults, InvalidInput, check_choice, check_delta, suggestion
from mfbai.kernels.stats import make_stats
from mfbai.problem import Instance, Model
from mfbai.simulation.loop import advance, make_outcome
from mfbai.spec import load
from mfbai.stopping import RULES, never
from mfbai.strategies import STRATEGIES

CHUNK = 1 << 16  # steps between two looks at whether to go on: some 20 ms


@dataclass(frozen=True)
class Setup:
    """An experiment, ready to run: the same for every run but for its seed."""

    instance: Instance
    strategy: str
    model: Model
    truth: NDArray[np.float64]  # (K, M) the means, reflected if the problem minimises
    levels: int
    make_state: Callable[[], Any]
    make_rule: Callable[[], Any]


class Run:
    """One run at a time of an experiment; `restart` begins another in the same memory, which is quick."""

    def __init__(self, setup: Setup) -> None:
        shape = setup.instance.shape
        self.setup = setup
        self.stats = make_stats(shape)
        self.state = setup.make_state()
        self.rule = setup.make_rule()
        self.outcome = make_outcome(setup.levels)
        self.pending = np.zeros(shape, dtype=np.int64)  # stays zero: a simulated evaluation returns at once
        self.rng = np.random.default_rng(0)
        self._fresh = [(a, a.copy()) for a in arrays_of((self.stats, self.state, self.rule, self.outcome))]

    def restart(self, seed: int, run: int) -> None:
        """Begin the run of that number. Its random numbers depend on seed and run alone."""
        for array, fresh in self._fresh:
            array[...] = fresh
        self.rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))

    def advance(self, until: int) -> None:
        """Go on until every level is decided or `until` evaluations are made."""
        setup = self.setup
        records = (self.stats, self.state, self.rule, self.outcome)
        advance(setup.model, setup.truth, *records, self.pending, self.rng, until)

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0] == self.setup.levels)


def arrays_of(record: Any) -> list[NDArray[Any]]:
    """All arrays in nested tuples."""
    if isinstance(record, tuple):
        return [array for part in record for array in arrays_of(part)]
    return [record] if isinstance(record, np.ndarray) else []


def prepare(
    instance: Instance | str,
    strategy: str,
    stopping: str | None,
    deltas: Any,
    options: Mapping[str, Any],
    integers: Mapping[str, Any],
) -> Setup:
    """Check everything, report all faults at once, and set the experiment up. Its levels are the deltas, largest first.

    `integers` are arguments, by name, that must be whole numbers of 1 or more (0 for a seed; None is let through).
    """
    faults = Faults()
    with faults.absorb():
        instance = check_instance(instance)
    check_choice(faults, "strategy", strategy, STRATEGIES)
    if stopping is not None:
        check_choice(faults, "stopping", stopping, RULES)
    check_delta(faults, deltas)
    check_integers(faults, integers)
    faults.raise_if_any("call")
    assert isinstance(instance, Instance)
    levels = np.sort(np.atleast_1d(np.asarray(deltas, dtype=np.float64)))[::-1]
    return _assemble(instance, strategy, stopping, levels, options)


def check_instance(instance: Any, variance: float | None = None) -> Instance:
    """An instance as given, or by its name or file."""
    found = load(instance, variance) if isinstance(instance, str | Path) else instance
    if not isinstance(found, Instance):
        told = "simulation needs the true means: give an Instance, or add a [truth] table to the file"
        raise InvalidInput([Fault("instance", f"is a {type(found).__name__}: {told}")])
    return found


def check_integers(faults: Faults, integers: Mapping[str, Any]) -> None:
    for name, value in integers.items():
        least = 0 if name == "seed" else 1
        if value is not None and (isinstance(value, bool) or not isinstance(value, Integral) or value < least):
            faults.add(name, f"is {value!r}: give a whole number of {least} or more")


def _assemble(
    instance: Instance, strategy: str, stopping: str | None, deltas: NDArray[np.float64], options: Mapping[str, Any]
) -> Setup:
    plan = STRATEGIES[strategy]
    rule = RULES[stopping] if stopping is not None else None
    own, rules = _split(options, plan.options, rule.options if rule else {})
    model = instance.problem.model()
    fidelities = 1 if plan.top_only else instance.problem.n_fidelities

    def make_state() -> Any:
        return plan.init(model, **own)

    def make_rule() -> Any:
        return rule.init(model, deltas, fidelities, **rules) if rule else never.init()

    faults = Faults()
    for make in (make_state, make_rule):
        with faults.absorb():
            make()
    faults.raise_if_any("options")
    truth = instance.problem.sign * instance.means
    return Setup(instance, strategy, model, truth, max(len(deltas), 1), make_state, make_rule)


def _split(
    options: Mapping[str, Any], strategy: Mapping[str, Any], rule: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of the strategy and those of the rule, defaults filled in."""
    faults = Faults()
    known = [*strategy, *rule]
    for name, value in options.items():
        if name not in known:
            hint = suggestion(name, known) if known else "neither the strategy nor the stopping rule has any"
            faults.add("options", f"has no {name!r}: {hint}")
        elif not isinstance(value, Real):
            faults.add(name, f"is {value!r}: give a number")
    faults.raise_if_any("options")
    return (
        {**strategy, **{name: value for name, value in options.items() if name in strategy}},
        {**rule, **{name: value for name, value in options.items() if name in rule}},
    )
