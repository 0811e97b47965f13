"""Race against procedures of textbooks and practice, on real values: `make bench-real`.

Writes its tables into the README.md of examples/call_centre and of examples/digits.

Every arm is evaluated once at every seed of a long row, which takes half an hour and is kept in build/real. Each
repetition reads its own stretch of the seeds, the same for all procedures; one that needs more reads on. With
independent seeds, arms read stretches that are far apart. The true means are those of the whole row.
"""

import argparse
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.stats import beta, skew
from threadpoolctl import threadpool_limits

import mfbai
from mfbai.kernels.stats import make_stats
from mfbai.run import loop
from mfbai.run.assemble import assemble
from mfbai.simulation.confidence import half_width
from mfbai.strategies import STRATEGIES, ask
from mfbai.strategies.interface import SEEDS

ROOT = Path(__file__).parents[1]
EXAMPLES, BUILD = ROOT / "examples", ROOT / "build" / "real"
BEGIN, END = "<!-- table: make bench-real -->", "<!-- end of table -->"
DELTA = 0.05
CHUNK = 100  # seeds that a process evaluates at a time
Procedure = Callable[["Stretch"], tuple[int, int]]  # the arm chosen, the evaluations made


class Stretch(NamedTuple):
    """The seeds of one repetition."""

    values: np.ndarray  # (seeds, K) of all repetitions; larger is better
    begin: int
    common: bool  # whether all arms have the same seeds

    def value(self, arm: int, number: int) -> float:
        rows, arms = self.values.shape
        apart = 0 if self.common else arm * (rows // arms)
        return float(self.values[(self.begin + apart + number) % rows, arm])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--print", action="store_true", help="leave the README.md files as they are")
    given = parser.parse_args()
    for example, spec, seeds, contest in (
        ("call_centre", "plans.toml", 20_000, call_centre),
        ("digits", "classifiers.toml", 10_000, digits),
    ):
        problem = mfbai.load(EXAMPLES / example / spec)
        values = problem.sign * table(example, problem.arms, seeds)
        text = "\n".join([*about(problem, values), "", *results(values, contest(problem, values), given.repetitions)])
        print(text, flush=True)
        page = EXAMPLES / example / "README.md"
        if not given.print:
            before, rest = page.read_text().split(BEGIN)
            page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


# --- the values


def table(example: str, arms: tuple[str, ...], seeds: int) -> np.ndarray:
    """(seeds, K): evaluated in parallel, or read if the example's program is still the one that was evaluated."""
    digest = hashlib.sha256((EXAMPLES / example / "evaluate.py").read_bytes()).hexdigest()[:12]
    file = BUILD / f"{example}-{digest}-{seeds}.npy"
    if not file.exists():
        with ProcessPoolExecutor() as pool:
            parts = []
            for part in pool.map(evaluate_chunk, repeat(example), repeat(arms), range(0, seeds, CHUNK)):
                parts.append(part)
                print(f"{example}: {len(parts) * CHUNK:,} of {seeds:,} seeds", file=sys.stderr, flush=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        np.save(file, np.concatenate(parts))
    return np.load(file)


def evaluate_chunk(example: str, arms: tuple[str, ...], begin: int) -> np.ndarray:
    program = module(EXAMPLES / example / "evaluate.py")
    with threadpool_limits(1):  # all cores are busy
        return np.array([[program.evaluate(arm, "", seed) for arm in arms] for seed in range(begin, begin + CHUNK)])


def module(path: Path) -> Any:
    """Both examples have a module of the same name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


# --- the procedures


def call_centre(problem: mfbai.Problem, values: np.ndarray) -> Iterator[tuple[str, bool, Procedure]]:
    """(name, whether seeds are common, procedure)."""
    baselines = module(EXAMPLES / "baselines.py")
    zone, arms = 10.0, problem.n_arms
    known = independent(problem, values)
    for tolerance in (zone, 0.0):
        yield f"`race`, tolerance {tolerance:g}", True, race_on_common_seeds(problem, tolerance)
    for first in (10, 20):
        yield (
            f"Kim-Nelson, zone {zone:g}, first stage {first}",
            True,
            lambda stretch, first=first: baselines.kim_nelson(stretch.value, arms, zone, DELTA, first),
        )
    for strategy, tolerance in (("race", zone), ("race", 0.0), ("frugal", zone), ("frugal", 0.0)):
        name = f"`{strategy}`, tolerance {tolerance:g}, variances known"
        yield name, False, one_by_one(known, strategy, tolerance)
    for first in (10, 20):
        yield (
            f"Kim-Nelson, zone {zone:g}, first stage {first}",
            False,
            lambda stretch, first=first: baselines.kim_nelson(stretch.value, arms, zone, DELTA, first, common=False),
        )


def digits(problem: mfbai.Problem, values: np.ndarray) -> Iterator[tuple[str, bool, Procedure]]:
    baselines = module(EXAMPLES / "baselines.py")
    yield "`race`", True, race_on_common_seeds(problem, 0.0)
    for batch in (5, 10):
        yield (
            f"paired t-tests, 20 looks after {batch} splits each",
            True,
            lambda stretch, batch=batch: baselines.paired_t(stretch.value, problem.n_arms, DELTA, batch, looks=20),
        )


def independent(problem: mfbai.Problem, values: np.ndarray) -> mfbai.Problem:
    """The same problem without common seeds, and with the variances that nobody knows in practice."""
    variances = values.var(axis=0, ddof=1)[:, None]
    return problem.replace(family=mfbai.Gaussian(variances), seeds="independent")


class Records:
    """What a run is made of, without a journal."""

    def __init__(self, problem: mfbai.Problem, strategy: str, stopping: str, tolerance: float) -> None:
        parts = assemble(problem, strategy, stopping, np.array([DELTA]), {}, tolerance)
        self.model, self.state = parts.model, parts.make_state()
        self.stats, self.outcome = make_stats(problem.shape), loop.make_outcome(1)
        self.told = (self.model, self.stats, self.state, parts.make_rule(self.state), self.outcome)

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0])

    @property
    def choice(self) -> tuple[int, int]:
        return int(self.outcome.answer[0]), int(self.outcome.steps[0])


def race_on_common_seeds(problem: mfbai.Problem, tolerance: float) -> Procedure:
    def run(stretch: Stretch) -> tuple[int, int]:
        records, rounds, used = Records(problem, "race", "contrasts", tolerance), 0, 0
        begin = STRATEGIES["race"].round
        assert begin is not None
        while not records.decided:
            arms, fidelities, replicates, parts = map(np.array, zip(*begin(records.state), strict=True))
            values = np.array([stretch.value(arm, used + n) for arm, n in zip(arms, replicates, strict=True)])
            seeds = np.column_stack([rounds * SEEDS + replicates, parts])
            loop.replay_rounds(*records.told, arms, fidelities, values, seeds)
            rounds, used = rounds + 1, used + int(replicates.max()) + 1
        return records.choice

    return run


def one_by_one(problem: mfbai.Problem, strategy: str, tolerance: float) -> Procedure:
    stopping = "contrasts" if strategy == "race" else "e-process"
    nothing = np.zeros(problem.shape, dtype=np.int64)

    def run(stretch: Stretch) -> tuple[int, int]:
        records = Records(problem, strategy, stopping, tolerance)
        while not records.decided:
            arm, fidelity = ask(records.model, records.stats, records.state, nothing)
            value = stretch.value(arm, int(records.stats.count[arm, fidelity]))
            loop.replay(*records.told, np.array([arm]), np.array([fidelity]), np.array([value]))
        return records.choice

    return run


# --- the tables


def about(problem: mfbai.Problem, values: np.ndarray) -> Iterator[str]:
    """What is true: the means, and how much common seeds help."""
    means, best = values.mean(axis=0), int(values.mean(axis=0).argmax())
    behind = values[:, [best]] - values
    yield (
        f"The truth, from {len(values):,} seeds: `{problem.arms[best]}` is the best. Of the others, how far they are "
        "behind it on average (± half the 95 % interval), the deviation and the skewness of that difference at one "
        "seed, and their correlation with it:"
    )
    yield ""
    yield "| arm | mean | behind by | deviation | skewness | correlation |"
    yield "|---|---|---|---|---|---|"
    for k in np.argsort(-means):
        row = f"| `{problem.arms[k]}` | {problem.sign * means[k]:.5g} |"
        if k == best:
            yield f"{row} | | | |"
        else:
            gap, width, spread = behind[:, k].mean(), half_width(behind[:, k]), behind[:, k].std(ddof=1)
            correlation = np.corrcoef(values[:, best], values[:, k])[0, 1]
            shape = skew(behind[:, k])
            yield f"{row} {gap:.3g} ± {width:.1g} | {spread:.3g} | {shape:.1f} | {correlation:.2f} |"


def results(values: np.ndarray, contest: Iterator[tuple[str, bool, Procedure]], repetitions: int) -> Iterator[str]:
    best, length = int(values.mean(axis=0).argmax()), len(values) // repetitions
    yield f"{repetitions} repetitions at delta = {DELTA:g}, with 95 % intervals:"
    yield ""
    yield "| procedure | seeds | mean number of evaluations | 80 % of runs | wrong answers |"
    yield "|---|---|---|---|---|"
    for name, common, run in contest:
        print(name, file=sys.stderr, flush=True)
        found = np.array([run(Stretch(values, r * length, common)) for r in range(repetitions)])
        costs, errors = found[:, 1], int((found[:, 0] != best).sum())
        low, high = np.quantile(costs, [0.1, 0.9])
        cells = [
            name,
            "common" if common else "independent",
            f"**{costs.mean():,.0f}** ± {half_width(costs):,.0f}",
            f"{low:,.0f} to {high:,.0f}",
            f"{errors} ({interval(errors, repetitions)})",
        ]
        yield f"| {' | '.join(cells)} |"


def interval(errors: int, runs: int) -> str:
    """Of the error rate, by Clopper and Pearson."""
    low = beta.ppf(0.025, errors, runs - errors + 1) if errors else 0.0
    high = beta.ppf(0.975, errors + 1, runs - errors)
    return f"{100 * low:.1f} to {100 * high:.1f} %"


if __name__ == "__main__":
    main()
