"""mfbai against procedures of textbooks and practice, on the values of the examples: `make bench-real`.

Writes its tables into the README.md of each example.

Every arm is evaluated once at every fidelity and every seed of a long row, which takes an hour and is kept in
build/real. Each repetition draws its seeds from that row at random, with replacement, so that the true means are those
of the row. All procedures of a repetition see the same draws.
"""

import argparse
import hashlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
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
from mfbai.run.assemble import assemble, choose
from mfbai.run.play import Play
from mfbai.simulation.confidence import half_width
from mfbai.stopping.contrasts import in_rounds
from mfbai.strategies import STRATEGIES
from mfbai.strategies.interface import SEEDS

ROOT = Path(__file__).parents[1]
EXAMPLES, BUILD = ROOT / "examples", ROOT / "build" / "real"
BEGIN, END = "<!-- table: make bench-real -->", "<!-- end of table -->"
DELTA = 0.05
CHARGED = 0.01  # the level of variances that come from a pilot
CHUNK = 50  # seeds that a process evaluates at a time
MORE_SEEDS = 32  # that a pilot may ask for
MANY = 100_000  # seeds that are drawn for each purpose


class Found(NamedTuple):
    """What one run of a procedure came to."""

    arm: int
    cost: float
    pilot: float = 0.0  # what was spent before


class Draws:
    """The seeds of one repetition, as rows of the table of all values."""

    def __init__(self, problem: mfbai.Problem, values: np.ndarray, repetition: int) -> None:
        self.values = dict(zip(problem.fidelities, values.transpose(2, 1, 0), strict=True))  # (K, seeds) each
        self.top = problem.fidelities[-1]
        rng = np.random.default_rng(repetition)
        self.own, self.others, self.pilot = rng.integers(len(values), size=(3, MANY))

    def value(self, arm: int, number: int) -> float:
        """At the top."""
        return float(self.values[self.top][arm, self.own[number % MANY]])

    def parts(self, by: str, others: int, arm: int, number: int) -> list[float]:
        """Of a controlled value: the first two share a seed."""
        beside = self.values[by][arm]
        alone = self.others[np.arange(number * others, (number + 1) * others) % MANY]
        return [self.value(arm, number), float(beside[self.own[number % MANY]]), *beside[alone].tolist()]


Procedure = Callable[[Draws], Found]


class Example(NamedTuple):
    spec: str
    seeds: int  # in the row
    contest: Callable[[mfbai.Problem], Iterator[tuple[str, Procedure]]]  # names of procedures, and what they do


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("examples", nargs="*", default=list(CONTESTS), help=", ".join(CONTESTS))
    parser.add_argument("--repetitions", type=int, default=200)
    parser.add_argument("--print", action="store_true", help="leave the README.md files as they are")
    given = parser.parse_args()
    for name in given.examples:
        spec, seeds, contest = CONTESTS[name]
        problem = mfbai.load(EXAMPLES / name / spec)
        values = table(name, problem, seeds)
        lines = [*about(problem, values), "", *results(problem, values, contest(problem), given.repetitions)]
        text = "\n".join(lines)
        print(text, flush=True)
        page = EXAMPLES / name / "README.md"
        if not given.print:
            before, rest = page.read_text().split(BEGIN)
            page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


# --- the values


def table(example: str, problem: mfbai.Problem, seeds: int) -> np.ndarray:
    """(seeds, K, M): evaluated in parallel, or read if the example's program is still the one that was evaluated."""
    digest = hashlib.sha256((EXAMPLES / example / "evaluate.py").read_bytes()).hexdigest()[:12]
    file = BUILD / f"{example}-{digest}-{seeds}.npy"
    if not file.exists():
        cells = repeat(problem.arms), repeat(problem.fidelities)
        with ProcessPoolExecutor() as pool:
            parts = []
            for part in pool.map(evaluate_chunk, repeat(example), *cells, range(0, seeds, CHUNK)):
                parts.append(part)
                print(f"{example}: {len(parts) * CHUNK:,} of {seeds:,} seeds", file=sys.stderr, flush=True)
        BUILD.mkdir(parents=True, exist_ok=True)
        np.save(file, np.concatenate(parts))
    return np.load(file).reshape(seeds, *problem.shape)


def evaluate_chunk(example: str, arms: tuple[str, ...], fidelities: tuple[str, ...], begin: int) -> np.ndarray:
    evaluate = module(EXAMPLES / example / "evaluate.py").evaluate
    with threadpool_limits(1):  # all cores are busy
        seeds = range(begin, begin + CHUNK)
        return np.array([[[evaluate(arm, m, seed) for m in fidelities] for arm in arms] for seed in seeds])


def module(path: Path) -> Any:
    """The examples have modules of the same name."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


# --- mfbai


class Records:
    """What a run is made of, without a journal."""

    def __init__(self, problem: mfbai.Problem, tolerance: float) -> None:
        self.strategy, stopping = choose(problem, None, None, tolerance)
        parts = assemble(problem, self.strategy, stopping, np.array([DELTA]), {}, tolerance)
        self.model, self.state = parts.model, parts.make_state()
        self.stats, self.outcome = make_stats(self.model.cost.shape), loop.make_outcome(1)
        records = (self.model, self.stats, self.state, parts.make_rule(self.state), self.outcome)
        self.play = Play(*records, np.zeros(self.model.cost.shape, dtype=np.int64))

    @property
    def decided(self) -> bool:
        return bool(self.outcome.levels[0])


def study(problem: mfbai.Problem, draws: Draws, tolerance: float = 0.0) -> Found:
    """As `mfbai.identify` does it, by the strategy and the rule that it chooses."""
    records = Records(problem, tolerance)
    run = run_rounds if in_rounds(records.model) else run_singly
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
    """At the top or a controlled fidelity, as kernels know it; larger is better."""
    fidelity = problem.noisy[seen]
    control = problem.controls[fidelity]
    if control is None:
        return problem.sign * draws.value(arm, number)
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
) -> Procedure:
    """A pilot, enlarged once if it says so, and a study of the problem that it says to go on with."""

    def run(draws: Draws) -> Found:
        found = pilot(problem, draws, seeds, arms)
        if found.more_seeds is not None and found.more_seeds <= MORE_SEEDS:
            found = pilot(problem, draws, seeds + found.more_seeds, arms)
        arm, cost, _ = study(go_on(found), draws, tolerance)
        return Found(arm, cost, found.cost)

    return run


def alone(problem: mfbai.Problem, tolerance: float = 0.0, **changes: Any) -> Procedure:
    """The top, and nothing else."""
    top = problem.only([problem.n_fidelities - 1]).replace(**changes)
    return lambda draws: study(top, draws, tolerance)


# --- what people do today


def baselines(problem: mfbai.Problem, zone: float, batch: int, first: int = 10) -> Iterator[tuple[str, Procedure]]:
    """On common seeds, at the top."""
    given, arms, cost = module(EXAMPLES / "baselines.py"), problem.n_arms, float(problem.costs[0, -1])

    def common(choose: Callable[..., Any], *settings: float) -> Procedure:
        def run(draws: Draws) -> Found:
            arm, evaluations = choose(lambda arm, n: problem.sign * draws.value(arm, n), arms, *settings)
            return Found(arm, evaluations * cost)

        return run

    yield f"Kim-Nelson, zone {zone:g}, first stage {first}", common(given.kim_nelson, zone, DELTA, first)
    yield f"paired t-tests, 20 looks after {batch} seeds each", common(given.paired_t, DELTA, batch, 20)
    yield f"equal allocation, zone {zone:g}, first stage {first}", common(given.equal_allocation, zone, DELTA, first)


# --- the examples


def rod(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    """Three kinds of knowledge of the noise, each with controlled values and without. The pilot has two of the arms."""
    sys.path.insert(0, str(EXAMPLES / "diffusion"))
    noise = module(EXAMPLES / "diffusion" / "noise.py")
    stated = problem.replace(family=mfbai.SubGaussian([noise.PROXY] * problem.n_fidelities))
    two = [problem.arms.index(arm) for arm in ("even", "edges")]

    def with_proxy(found: mfbai.Pilot) -> mfbai.Problem:
        best = found.control
        assert best is not None
        used = [stated.fidelities.index(best.fidelity), stated.n_fidelities - 1]
        variance = noise.controlled_proxy(best.fidelity, best.others, best.coefficient)
        return stated.only(used).controlled(best.fidelity, best.others, best.coefficient, variance=variance)

    def with_limits(found: mfbai.Pilot) -> mfbai.Problem:
        return found.problem(variances=CHARGED)

    def top_with_limits(found: mfbai.Pilot) -> mfbai.Problem:
        limited = with_limits(found)
        plain = [m for m, control in enumerate(limited.controls) if control is None]
        return limited.only(plain).only([len(plain) - 1])

    yield "mfbai, controlled; proxies stated", piloted(stated, with_proxy, arms=two)
    yield "mfbai, n512 alone; proxy stated", alone(stated)
    yield "mfbai, controlled; variances from the pilot", piloted(problem, with_limits, arms=two)
    yield "mfbai, n512 alone; variances from the pilot", piloted(problem, top_with_limits, arms=two)
    yield "mfbai, as the pilot says; differences symmetric", piloted(problem, mfbai.Pilot.problem, arms=two)
    yield "mfbai, n512 alone; noise symmetric", alone(problem)
    yield "mfbai, n512 alone; differences symmetric, common seeds", alone(problem, seeds="common")
    yield from baselines(problem, zone=0.05, batch=5, first=5)


def call_centre(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    zone = 5.0
    for tolerance in (0.0, zone):
        allowed = f"tolerance {tolerance:g}"
        yield f"mfbai, controlled, {allowed}", piloted(problem, mfbai.Pilot.problem, tolerance=tolerance)
        yield f"mfbai, quarters alone, {allowed}", alone(problem, tolerance)
    yield from baselines(problem, zone, batch=10)


def judge(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    yield "mfbai, controlled", piloted(problem, mfbai.Pilot.problem)
    yield "mfbai, humans alone", alone(problem)
    yield from baselines(problem, zone=0.03, batch=20)


def digits(problem: mfbai.Problem) -> Iterator[tuple[str, Procedure]]:
    yield "mfbai", alone(problem)
    yield from baselines(problem, zone=0.0008, batch=5)


CONTESTS = {
    "diffusion": Example("designs.toml", 4_000, rod),
    "call_centre": Example("plans.toml", 300, call_centre),
    "judge": Example("prompts.toml", 20_000, judge),
    "digits": Example("classifiers.toml", 10_000, digits),
}


# --- the tables


def about(problem: mfbai.Problem, values: np.ndarray) -> Iterator[str]:
    """What is true: the means, and how much seeds in common help."""
    *cheap, top = problem.fidelities
    at_top = problem.sign * values[:, :, -1]
    means, best = at_top.mean(axis=0), int(at_top.mean(axis=0).argmax())
    behind = at_top[:, [best]] - at_top
    yield (
        f"The truth, from {len(values):,} seeds: `{problem.arms[best]}` is the best. Of the others, how far they are "
        "behind it, the deviation and the skewness of that difference at one seed, and their correlation with it"
        + ("; and of all, the correlation of cheap and true values at one seed:" if cheap else ":")
    )
    yield ""
    titles = ["arm", *(f"mean, {name}" for name in problem.fidelities), "behind by", "deviation", "skewness"]
    yield f"| {' | '.join([*titles, 'correlation', *(f'{name} with {top}' for name in cheap)])} |"
    yield "|---" * (5 + problem.n_fidelities + len(cheap)) + "|"
    for k in np.argsort(-means):
        cells = [f"`{problem.arms[k]}`", *(f"{mean:.4g}" for mean in values[:, k].mean(axis=0))]
        if k == best:
            cells += [""] * 4
        else:
            gap, spread = behind[:, k].mean(), behind[:, k].std(ddof=1)
            shared = np.corrcoef(at_top[:, best], at_top[:, k])[0, 1]
            cells += [f"{gap:.3g}", f"{spread:.3g}", f"{skew(behind[:, k]):.1f}", f"{shared:.2f}"]
        cells += [f"{np.corrcoef(values[:, k, m], values[:, k, -1])[0, 1]:.4g}" for m in range(len(cheap))]
        yield f"| {' | '.join(cells)} |"


def results(
    problem: mfbai.Problem, values: np.ndarray, contest: Iterator[tuple[str, Procedure]], repetitions: int
) -> Iterator[str]:
    best = int((problem.sign * values[:, :, -1].mean(axis=0)).argmax())
    yield f"{repetitions} repetitions at delta = {DELTA:g}, with 95 % intervals:"
    yield ""
    has_pilots = problem.n_fidelities > 1
    yield f"| procedure | mean cost | 80 % of runs |{' pilot before |' * has_pilots} wrong answers |"
    yield "|---|---|---|---|" + "---|" * has_pilots
    for name, run in contest:
        print(name, file=sys.stderr, flush=True)
        found = [run(Draws(problem, values, repetition)) for repetition in range(repetitions)]
        costs, errors = np.array([one.cost for one in found]), sum(one.arm != best for one in found)
        low, high = np.quantile(costs, [0.1, 0.9])
        before = float(np.mean([one.pilot for one in found]))
        cells = [
            name,
            f"**{costs.mean():,.0f}** ± {half_width(costs):,.0f}",
            f"{low:,.0f} to {high:,.0f}",
            *([f"{before:,.0f}" if before else ""] * has_pilots),
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
