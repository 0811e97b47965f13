"""What a real strategy spends, simulated on the truths, with any of the fidelities."""

from __future__ import annotations

from contextlib import closing, nullcontext
from dataclasses import dataclass, field
from itertools import accumulate
from math import comb, inf
from threading import local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.engines import ambient, open_engine, spread
from mfbai.engines.choose import THREADS
from mfbai.model.correlation import Correlation
from mfbai.model.means import instance_of
from mfbai.model.problem import Array, Problem
from mfbai.planning.controlled import hide_top
from mfbai.planning.variants import Advance
from mfbai.simulation.engine import warm_up
from mfbai.simulation.experiment import Run, Setup, set_up

FIRST = 50  # runs of a simulation
RUNS = 200  # of a simulation whose first runs were quick
PAYS = 0.05  # leaving a fidelity out must save this part of the cost
LEVEL = 0.025  # the risk of saying so, or of a median's interval ending too early, by luck
MOST_SECONDS = 20.0  # for all simulations together, on one core, if no run ends
SECONDS_OF_A_STEP = (4e-7, 1e-8)  # roughly: this, and this for each cell


class Simulated(NamedTuple):
    """What runs spent, each on another truth."""

    spent: Array  # (runs,)
    ended: NDArray[np.bool_]  # (runs,) whether a run ended; else it would have spent more

    @property
    def costs(self) -> Array:
        return np.where(self.ended, self.spent, inf)

    @property
    def median(self) -> float:
        return float(np.quantile(self.costs, 0.5, method="inverted_cdf"))

    @property
    def interval(self) -> tuple[float, float]:
        """Where the median of endlessly many runs lies, by order statistics, with a confidence of 1 - 2 LEVEL."""
        count = len(self.spent)
        rank = max(sum(chance <= LEVEL for chance in at_most(count)), 1)
        return float(np.sort(self.spent)[rank - 1]), float(np.sort(self.costs)[-rank])


def cheaper(one: Simulated, other: Simulated) -> bool:
    """Whether `one` is known to cost less, by the part PAYS, in more than half of all runs: by a sign test.

    Runs of the same number have the same truth. One that did not end counts as what it spent in `other`, and as
    endless in `one`: so nothing is condemned because it was given up.
    """
    count = min(len(one.spent), len(other.spent))
    wins = int((one.costs[:count] < (1 - PAYS) * other.spent[:count]).sum())
    return 2 * wins > count and at_most(count)[count - wins] <= LEVEL


def at_most(count: int) -> list[float]:
    """The chances that so many coins show no head, one head at most, and so on."""
    return [ways / 2**count for ways in accumulate(comb(count, k) for k in range(count + 1))]


@dataclass
class Simulations:
    """Simulations of one problem; each set of fidelities is simulated once."""

    problem: Problem
    truths: Array
    strategy: str
    rule: str
    delta: float
    tolerance: float
    seed: int
    correlation: Correlation | None = None
    deviation: Array | None = None  # (K, M) where the family does not state it
    controlled: list[int] = field(default_factory=list)  # fidelities that stand for the top where they are used
    advance: Advance = lambda count: None
    made: dict[tuple[int, ...], Simulated] = field(default_factory=dict)

    @property
    def expected(self) -> int:
        """About how many will be made: seldom more, and never more than there are sets of fidelities."""
        M = self.problem.n_fidelities
        return min(3 + 2 * M, 1 << (M - 1))

    @property
    def most_steps(self) -> int:
        """After how many evaluations a run is given up. Not by the clock: a plan must be the same on every machine."""
        once, each = SECONDS_OF_A_STEP
        cells = self.problem.costs.size
        return max(int(MOST_SECONDS / (self.expected * min(FIRST, RUNS) * (once + each * cells))), 2 * cells)

    def of(self, fidelities: list[int]) -> Simulated:
        key = tuple(fidelities)
        if key not in self.made:
            used = hide_top(self.controlled, fidelities)
            deviation = None if self.deviation is None else self.deviation[:, used]
            self.made[key] = self._run(self.problem.only(used), self.truths[:, :, used], deviation)
        return self.made[key]

    def worth_learning(self, fidelities: list[int]) -> list[int]:
        """Those left after leaving out, one after the other or all but the top at once, what is known to cost the
        strategy more than it saves."""
        while len(fidelities) > 1:
            fewer = [[m for m in fidelities if m != dropped] for dropped in fidelities[:-1]] + [fidelities[-1:]]
            best = min(fewer, key=lambda rest: self.of(rest).median)
            if not cheaper(self.of(best), self.of(fidelities)):
                break
            fidelities = best
        return fidelities

    def check_useless(self, kept: list[int]) -> list[int]:
        """The `kept` fidelities; all of them if runs with the others are known to cost less: nobody knows the optimal
        shares, by which these seemed useless, from the start."""
        everything = list(range(self.problem.n_fidelities))
        return everything if kept != everything and cheaper(self.of(everything), self.of(kept)) else kept

    def _run(self, problem: Problem, truths: Array, deviation: Array | None) -> Simulated:
        limit = self.most_steps
        instance = instance_of(problem, truths[0], self.correlation, deviation)
        setup = set_up(instance, self.strategy, self.rule, np.array([self.delta]), {}, self.tolerance)
        warm_up(setup)

        runs = PlannedRuns(setup, truths, self.seed, limit)
        first = min(FIRST, RUNS)
        done = self._make(runs, range(first))
        if sum(steps for *_, steps in done) * RUNS <= limit * first**2:  # in the time of `first` slow ones
            done += self._make(runs, range(first, RUNS))
        else:
            self.advance(RUNS - first)
        spent, ended, _ = zip(*done, strict=True)
        return Simulated(np.array(spent), np.array(ended))

    def _make(self, runs: PlannedRuns, numbers: range) -> list[tuple[float, bool, int]]:
        """On threads, or on the executor of the plan."""
        with open_engine(THREADS) if ambient() is None else nullcontext(ambient()) as opened:
            assert opened is not None
            found: dict[int, tuple[float, bool, int]] = {}
            with closing(spread(*opened, runs, numbers, "problem")) as done:
                for number, made in done:
                    found[number] = made
                    self.advance(1)
        return [found[number] for number in numbers]


class PlannedRuns:
    """Makes the run of a number, on another truth each, up to a limit: what it spent, whether it ended, its steps."""

    def __init__(self, setup: Setup, truths: Array, seed: int, limit: int) -> None:
        self._made_of = setup, truths, seed, limit
        self._mine = local()  # a worker may have several threads

    def __reduce__(self) -> tuple[Any, ...]:
        return PlannedRuns, self._made_of

    def __call__(self, number: int) -> tuple[float, bool, int]:
        setup, truths, seed, limit = self._made_of
        if not hasattr(self._mine, "run"):
            self._mine.run = Run(setup)
        run: Run = self._mine.run
        run.move_to(truths[number % len(truths)])
        run.restart(seed, number)
        run.advance(limit)
        return float(run.stats.spent[0]), run.decided, int(run.stats.steps[0])
