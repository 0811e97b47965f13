"""From names and options to what the compiled loops take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.errors import Faults, check_choice, check_delta, suggestion
from mfbai.kernels.stats import make_stats
from mfbai.problem import Instance, Model, Problem
from mfbai.simulation.loop import advance, make_outcome
from mfbai.spec import check_instance
from mfbai.stopping import DEFAULT, RULES, e_process, glr, own
from mfbai.strategies import STRATEGIES

STAND_IN = "paper-5x2"  # an instance to check other arguments with, if the one that is given is at fault
CHUNK = 1 << 16  # steps between two looks at whether to go on: some 20 ms


class Parts(NamedTuple):
    """What a run is made of, live or simulated."""

    model: Model
    make_state: Callable[[], Any]
    make_rule: Callable[[Any], Any]  # given the state


@dataclass(frozen=True)
class Setup:
    """An experiment, ready to run: the same for every run but for its seed."""

    instance: Instance
    strategy: str
    model: Model
    truth: NDArray[np.float64]  # (K, M) the means, reflected if the problem minimises
    levels: int
    make_state: Callable[[], Any]
    make_rule: Callable[[Any], Any]  # given the state


class Run:
    """One run at a time of an experiment; `restart` begins another in the same memory, which is quick."""

    def __init__(self, setup: Setup) -> None:
        shape = setup.instance.shape
        self.setup = setup
        self.stats = make_stats(shape)
        self.state = setup.make_state()
        self.rule = setup.make_rule(self.state)
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
    options: Any,
    integers: Mapping[str, Any],
    *,
    endless: bool = False,
) -> list[Setup]:
    """Check everything, report all faults at once, and set the experiment up.

    One trajectory serves all deltas, its levels, largest first; unless the strategy's sampling depends on delta: then
    each delta has one of its own. `integers` are arguments, by name, that must be whole numbers. An `endless`
    experiment has no stopping rule.
    """
    faults = Faults()
    found = None
    setups: list[Setup] = []
    with faults.absorb():
        found = check_instance(instance)
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
                setups.append(_assemble(found or check_instance(STAND_IN), strategy, stopping, part, options))
    faults.raise_if_any("call")
    return setups


def _levels(deltas: Any) -> NDArray[np.float64]:
    faults = Faults()
    check_delta(faults, deltas)
    faults.raise_if_any("call")
    return np.sort(np.atleast_1d(np.asarray(deltas, dtype=np.float64)))[::-1]


def check_integers(faults: Faults, integers: Mapping[str, Any]) -> None:
    """Each must be a whole number of 1 or more; 0 is a seed, and None leaves max_steps and workers open."""
    for name, value in integers.items():
        if value is None and name in ("max_steps", "workers"):
            continue
        least = 0 if name == "seed" else 1
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            faults.add(name, f"is {value!r}: give a whole number of {least} or more")


def _assemble(
    instance: Instance, strategy: str, stopping: str | None, deltas: NDArray[np.float64], options: Any
) -> Setup:
    parts = assemble(instance, strategy, stopping, deltas, options)
    truth = instance.problem.sign * instance.means
    return Setup(instance, strategy, parts.model, truth, len(deltas), parts.make_state, parts.make_rule)


def assemble(
    what: Problem | Instance,
    strategy: str,
    stopping: str | None,
    deltas: NDArray[np.float64],
    options: Any,
    tolerance: float = 0.0,
) -> Parts:
    """The parts of a run, of a strategy and a rule that exist; their options are checked."""
    plan = STRATEGIES[strategy]
    rule = RULES[stopping] if stopping is not None and not plan.own_rule else None
    problem = what.problem if isinstance(what, Instance) else what
    model = problem.model(tolerance)
    fidelities = 1 if plan.top_only else problem.n_fidelities
    faults = Faults()
    given = _check_options(faults, options, [*plan.options, *(rule.options if rule else ())])

    def make_state() -> Any:
        return plan.make(what, float(deltas[0]), given, tolerance)

    def make_rule(state: Any) -> Any:
        if plan.own_rule:
            return own.never() if stopping is None else own.State(state.answer)
        if rule is None:
            return glr.never(model)
        if isinstance(getattr(state, "rule", None), e_process.State) and rule is RULES[DEFAULT]:
            return state.rule  # kept by the strategy already
        settings = {name: given.get(name, default) for name, default in rule.options.items()}
        return rule.init(model, deltas, fidelities, **settings)

    with faults.absorb():
        make_state()
    if not plan.own_rule:
        with faults.absorb():
            make_rule(None)
    faults.raise_if_any("options")
    return Parts(model, make_state, make_rule)


def _check_options(faults: Faults, options: Any, known: list[str]) -> dict[str, Any]:
    """The options that can be used; a fault for each that cannot."""
    if not isinstance(options, Mapping):
        faults.add("options", f"is {options!r}: give names and values, such as {{'rate': 0.1}}")
        return {}
    given = {}
    for name, value in options.items():
        if name not in known:
            hint = suggestion(str(name), known) if known else "neither the strategy nor the stopping rule has any"
            faults.add("options", f"has no {name!r}: {hint}")
        elif isinstance(value, bool) or not isinstance(value, Real):
            faults.add(name, f"is {value!r}: give a number")
        else:
            given[name] = value
    return given
