"""A simulation, checked and ready: what its runs have in common, and one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import check_choice, check_delta, check_integers
from mfbai.errors import Faults, unknown_name
from mfbai.kernels.parts import Wanted
from mfbai.kernels.random import first_words, make_rng, reseed
from mfbai.kernels.stats import make_stats
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.spec import check_instance
from mfbai.run.assemble import assemble, choose
from mfbai.run.loop import Job, make_job, make_outcome
from mfbai.run.play import Play
from mfbai.run.state import changing, gather, own_model
from mfbai.run.truth import truth_of
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES

STAND_IN = "paper-5x2"  # an instance to check other arguments with, where the given one is at fault


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
    made_of: tuple[Any, ...] = ()  # the arguments of `set_up`

    def __reduce__(self) -> tuple[Any, ...]:
        """Another process sets it up again: functions that make states cannot be sent, and models are large."""
        return set_up, self.made_of


class Run:
    """One run at a time of a simulation, or many one after the other, in the same memory."""

    def __init__(self, setup: Setup, job: Job | None = None) -> None:
        """With a `job`, which other threads may share, `make` makes some of its runs."""
        self.setup = setup
        model, truth, stats = own_model(setup.model), truth_of(setup.instance), make_stats(setup.model.cost.shape)
        state = setup.make_state()
        records = (model, truth, stats, state, setup.make_rule(state), make_outcome(setup.levels))
        (self.model, self.truth, *records), live = gather(records, (changing(model), *records[2:], truth[2:]))
        self.stats, self.state, self.rule, self.outcome = records
        self.pending = np.zeros(setup.model.cost.shape, dtype=np.int64)  # stays zero: values return at once
        self._play = Play(self.model, self.stats, self.state, self.rule, self.outcome, self.pending)
        given = make_job(model, setup.levels, first_words(0, np.zeros(1, dtype=np.int64)), [0]) if job is None else job
        memory = {"live": live, "fresh": live.copy(), "span": np.array([0, 1]), "again": np.zeros(1, dtype=np.bool_)}
        self._job, self.rng = given._replace(**memory), make_rng()
        self._make = self._play.simulate(self.truth, self.rng, self._job)

    def make(self, numbers: range) -> None:
        """Make the runs of these numbers."""
        self._job.again[0], self._job.span[:] = True, (numbers.start, numbers.stop)
        self._make()

    def restart(self, seed: int, run: int) -> None:
        """Begin the run of that number. Its random numbers depend on seed and run alone."""
        self._job.live[:] = self._job.fresh
        reseed(self.rng, first_words(seed, np.array([run]))[0])

    def move_to(self, means: NDArray[np.float64]) -> None:
        """Let evaluations have these means, (K, M), in place of the instance's."""
        problem = self.setup.instance.problem
        self.truth.means[:], self.truth.exact[:] = (
            problem.sign * means[:, seen] for seen in (problem.noisy, problem.exact)
        )

    def advance(self, until: int) -> None:
        """Go on until every level is decided or `until` evaluations are made."""
        self._job.again[0], self._job.until[0] = False, until
        self._make()

    @property
    def counts(self) -> NDArray[np.int64]:
        """(K, M) evaluations of each cell so far."""
        return self.setup.instance.problem.whole(self.stats.count, ~np.isnan(self.model.exact.value)).astype(np.int64)

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0] == self.setup.levels)


def needed(setup: Setup) -> list[Wanted]:
    """The compiled parts that its runs take."""
    state, shape = setup.make_state(), setup.model.cost.shape
    records = (make_stats(shape), state, setup.make_rule(state), make_outcome(setup.levels))
    play = Play(setup.model, *records, np.zeros(shape, dtype=np.int64))
    job = make_job(setup.model, setup.levels, first_words(0, np.zeros(1, dtype=np.int64)), [0])
    return play.needed(truth_of(setup.instance), make_rng(), job)


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
    """The simulation of a strategy and a rule; their options are checked."""
    for kind, name, known in (("strategy", strategy, STRATEGIES), ("stopping rule", stopping, RULES)):
        if name is not None and name not in known:  # a worker has not imported the module that registers it
            raise unknown_name(kind, name, known)
    parts = assemble(instance, strategy, stopping, deltas, options, tolerance, audit)
    made_of = (instance, strategy, stopping, deltas, options, tolerance, audit)
    return Setup(instance, strategy, stopping, parts.model, len(deltas), parts.make_state, parts.make_rule, made_of)
