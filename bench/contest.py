"""What takes part in the comparisons of `make bench-gallery`: mfbai, and the procedures of examples/baselines.py."""

import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mfbai
from mfbai.kernels.stats import make_stats
from mfbai.run import loop
from mfbai.run.assemble import assemble, choose
from mfbai.run.play import Play
from mfbai.stopping.contrasts import in_rounds
from mfbai.strategies import STRATEGIES
from mfbai.strategies.interface import SEEDS

EXAMPLES = Path(__file__).parents[1] / "examples"
DELTA = 0.05
MORE_SEEDS = 32  # that a pilot may ask for
MANY = 100_000  # seeds that are drawn for each purpose, and twice as many where a rare study takes more


class Found(NamedTuple):
    """What one run of a procedure came to."""

    arm: int
    cost: float
    pilot: float = 0.0  # what was spent before


class Draws:
    """The seeds of one repetition, as rows of the table of all values."""

    def __init__(self, problem: mfbai.Problem, values: np.ndarray, repetition: int) -> None:
        self.values = dict(zip(problem.fidelities, values.transpose(2, 1, 0), strict=True))  # (K, seeds) each
        self.repetition = repetition
        self.top = problem.fidelities[-1]
        rng = np.random.default_rng(repetition)
        own, self.others, self.pilot = rng.integers(len(values), size=(3, MANY))
        self.of_arms = rng.integers(len(values), size=(problem.n_arms, MANY))
        self.own = np.concatenate([own, rng.integers(len(values), size=MANY)])

    def value(self, arm: int, number: int) -> float:
        """At the top."""
        return float(self.values[self.top][arm, self.own[number]])

    def apart(self, arm: int, number: int) -> float:
        """At the top, where every arm has seeds of its own."""
        return float(self.values[self.top][arm, self.of_arms[arm, number]])

    def at(self, arm: int, fidelity: str, number: int) -> float:
        """At any fidelity, on common seeds."""
        return float(self.values[fidelity][arm, self.own[number]])

    def parts(self, by: str, others: int, arm: int, number: int) -> list[float]:
        """Of a controlled value: the first two share a seed."""
        beside = self.values[by][arm]
        alone = self.others[np.arange(number * others, (number + 1) * others)]
        return [self.value(arm, number), float(beside[self.own[number]]), *beside[alone].tolist()]


Procedure = Callable[[Draws], Found]


class Contest(NamedTuple):
    """What a comparison needs to know beside the problem."""

    seeds: int  # in the row of values that repetitions draw from
    zone: float  # the smallest difference that matters: Kim and Nelson, Clark and Yang have to be told one
    batch: int = 10  # seeds between two looks of the paired t-tests
    first: int = 10  # seeds of the first stage of Kim and Nelson, Clark and Yang
    pilot: int = 8  # seeds of mfbai's pilot
    ours: Callable[[mfbai.Problem], Iterator[tuple[str, Procedure]]] | None = None  # in place of `ours`, below


# --- mfbai


class Records:
    """What a run is made of, without a journal."""

    def __init__(self, problem: mfbai.Problem, tolerance: float, strategy: str | None, stopping: str | None) -> None:
        self.strategy, stopping = choose(problem, strategy, stopping, tolerance)
        risk = DELTA - problem.charged  # what a pilot stated may be wrong: both risks together are that of the others
        parts = assemble(problem, self.strategy, stopping, np.array([risk]), {}, tolerance)
        self.model, self.state = parts.model, parts.make_state()
        self.stats, self.outcome = make_stats(self.model.cost.shape), loop.make_outcome(1)
        records = (self.model, self.stats, self.state, parts.make_rule(self.state), self.outcome)
        self.play = Play(*records, np.zeros(self.model.cost.shape, dtype=np.int64))

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0])


def study(
    problem: mfbai.Problem,
    draws: Draws,
    tolerance: float = 0.0,
    strategy: str | None = None,
    stopping: str | None = None,
) -> Found:
    """As `mfbai.identify` does it, by the strategy and the rule that it chooses unless they are given."""
    records = Records(problem, tolerance, strategy, stopping)
    plans_rounds = STRATEGIES[records.strategy].round is not None
    run = run_rounds if plans_rounds and in_rounds(records.model) else run_singly
    run(problem, draws, records)
    return Found(int(records.outcome.answer[0]), float(records.outcome.cost[0]))


def run_rounds(problem: mfbai.Problem, draws: Draws, records: Records) -> None:
    begin = STRATEGIES[records.strategy].round
    assert begin is not None
    rounds, used = 0, 0
    while not records.decided:
        arms, fidelities, replicates, parts = map(np.array, zip(*begin(records.state), strict=True))
        numbers = used + (replicates if problem.seeds == "common" else np.arange(len(arms)))
        values = [value(problem, draws, *one) for one in zip(arms, fidelities, numbers.tolist(), strict=True)]
        seeds = np.column_stack([rounds * SEEDS + replicates, parts])
        records.play.replay(arms, fidelities, np.array(values), seeds)
        rounds, used = rounds + 1, int(numbers.max()) + 1


def run_singly(problem: mfbai.Problem, draws: Draws, records: Records) -> None:
    used = 0
    while not records.decided:
        arm, fidelity = records.play.ask()
        found = value(problem, draws, arm, fidelity, used)
        records.play.replay(np.array([arm]), np.array([fidelity]), np.array([found]))
        used += 1


def value(problem: mfbai.Problem, draws: Draws, arm: int, seen: int, number: int) -> float:
    """As kernels know it; larger is better."""
    fidelity = problem.noisy[seen]
    control = problem.controls[fidelity]
    if control is None:
        return problem.sign * draws.at(arm, problem.fidelities[fidelity], number)
    parts = draws.parts(problem.fidelities[control.by], control.others, arm, number)
    return problem.sign * problem.compose(fidelity, parts)


def pilot(problem: mfbai.Problem, draws: Draws, seeds: int, arms: Sequence[int] | None = None) -> mfbai.Pilot:
    cells = [(k, name, n) for k in arms or range(problem.n_arms) for name in problem.fidelities for n in range(seeds)]
    rows = [(problem.arms[k], name, n, float(draws.values[name][k, draws.pilot[n]])) for k, name, n in cells]
    return mfbai.pilot(rows, problem)


def piloted(
    problem: mfbai.Problem,
    go_on: Callable[[mfbai.Pilot], mfbai.Problem],
    seeds: int = 8,
    arms: Sequence[int] | None = None,
    tolerance: float = 0.0,
    strategy: str | None = None,
) -> Procedure:
    """A pilot, enlarged once if it says so, and a study of the problem that it says to go on with."""

    def run(draws: Draws) -> Found:
        found = pilot(problem, draws, seeds, arms)
        if found.more_seeds is not None and found.more_seeds <= MORE_SEEDS:
            found = pilot(problem, draws, seeds + found.more_seeds, arms)
        arm, cost, _ = study(go_on(found), draws, tolerance, strategy)
        return Found(arm, cost, found.cost)

    return run


def alone(problem: mfbai.Problem, tolerance: float = 0.0, strategy: str | None = None, **changes: Any) -> Procedure:
    """The top, and nothing else."""
    top = problem.only([problem.n_fidelities - 1]).replace(**changes)
    return lambda draws: study(top, draws, tolerance, strategy)


def played(problem: mfbai.Problem, strategy: str, stopping: str | None = None) -> Procedure:
    """A strategy on all fidelities as they are: their bias bounds are known."""
    return lambda draws: study(problem, draws, 0.0, strategy, stopping)


# --- what people do today


def ours(problem: mfbai.Problem, given: Contest) -> Iterator[tuple[str, Procedure]]:
    """The first is what the page does."""
    top = problem.fidelities[-1]
    if problem.n_fidelities == 1:
        yield "mfbai", alone(problem)
        yield f"mfbai, tolerance {given.zone:g}", alone(problem, given.zone)
        return
    yield "mfbai, as its pilot says", piloted(problem, mfbai.Pilot.problem, given.pilot)
    yield f"mfbai, {top} alone", alone(problem)
    yield (
        f"mfbai, as its pilot says, tolerance {given.zone:g}",
        piloted(problem, mfbai.Pilot.problem, given.pilot, tolerance=given.zone),
    )


def proven(problem: mfbai.Problem, given: Contest) -> Iterator[tuple[str, Procedure]]:
    """Procedures that state a risk."""
    code, cost = module(EXAMPLES / "baselines.py"), float(problem.costs[0, -1])

    def at_top(choose: Callable[..., Any], *settings: float, common: bool = True) -> Procedure:
        def run(draws: Draws) -> Found:
            read = draws.value if common else draws.apart
            arm, evaluations = choose(lambda arm, n: problem.sign * read(arm, n), problem.n_arms, *settings)
            return Found(arm, evaluations * cost)

        return run

    stage = (given.zone, DELTA, given.first)
    yield f"Kim-Nelson, zone {given.zone:g}, common seeds", at_top(code.kim_nelson, *stage)
    cautious = given.zone / 4
    yield f"Kim-Nelson, zone {cautious:g}, common seeds", at_top(code.kim_nelson, cautious, *stage[1:])
    yield f"Kim-Nelson, zone {given.zone:g}, own seeds", at_top(code.kim_nelson, *stage, False, common=False)
    yield "paired t-tests, Bonferroni, 20 looks", at_top(code.paired_t, DELTA, given.batch, 20)
    yield f"equal allocation, zone {given.zone:g}", at_top(code.equal_allocation, *stage)


def budgeted(problem: mfbai.Problem, given: Contest, budget: float) -> Iterator[tuple[str, Procedure]]:
    """Procedures that state no risk, at a cost that is given."""
    code, cost = module(EXAMPLES / "baselines.py"), float(problem.costs[0, -1])
    evaluations = max(problem.n_arms, int(budget / cost))

    def halving(draws: Draws) -> Found:
        arm, spent = code.successive_halving(
            lambda arm, n: problem.sign * draws.value(arm, n), problem.n_arms, evaluations
        )
        return Found(arm, spent * cost)

    def cheap_first(draws: Draws) -> Found:
        def value(arm: int, fidelity: int, number: int) -> float:
            return problem.sign * draws.at(arm, problem.fidelities[fidelity], number)

        return Found(*code.halving_over_fidelities(value, problem.n_arms, problem.costs[0].tolist(), budget))

    def optuna(pruner: str) -> Procedure:
        def run(draws: Draws) -> Found:
            def value(arm: int, n: int) -> float:
                return problem.sign * draws.value(arm, n)

            settings = (problem.n_arms, evaluations, pruner, given.batch, draws.repetition)
            arm, spent = module(EXAMPLES / "pruning.py").optuna_pruned(value, *settings)
            return Found(arm, spent * cost)

        return run

    yield "successive halving", halving
    if problem.n_fidelities > 1:
        yield "successive halving, cheap tests first", cheap_first
    for pruner in ("median", "successive halving", "hyperband", "wilcoxon"):
        yield f"Optuna, {pruner} pruner", optuna(pruner)


@cache
def module(path: Path) -> Any:
    """A file outside any package, as a module. It may import its neighbours."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent))
    try:
        spec.loader.exec_module(found)
    finally:
        sys.path.remove(str(path.parent))
    return found
