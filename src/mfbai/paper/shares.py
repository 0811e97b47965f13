"""How MF-GRAD spreads its cost over 10^5 steps, at both rates (Section 5, appendix D.2 and D.4)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.oracle import oracle
from mfbai.model.instance import Instance
from mfbai.paper.claims import UNDECIDED, Claim, above, near
from mfbai.paper.intervals import Interval, mean
from mfbai.paper.pieces import SEED, Columns, Computation, Figure, Made, Noise, Part, Results, Scale, complete
from mfbai.plots.traces import plot_shares
from mfbai.simulation import Trace, trace

GROUP = "shares"
INSTANCES = ("paper-4x5", "paper-5x2")
STRATEGIES = ("mf-grad", "mf-grad-const")
PRINTED = 0.031  # the distance to omega* that the paper prints
PRINTED_WEIGHTS = np.array([[0.09621, 0.0]] * 4 + [[0.0, 0.61516]])  # omega* of paper-5x2
ERROR = 0.0006 + 0.0005  # the half width of its interval, and its rounding
STEPS = 100_000  # after which it was measured
MOVED = 1000  # steps at which the two rates are compared


def computations(noise: Noise) -> Iterator[Computation]:
    for instance in INSTANCES:
        for strategy in STRATEGIES:
            about = {"instance": instance, "variance": noise.variance}
            work = partial(compute, instance, strategy, noise)
            yield Computation(name(instance, strategy, noise), 3.0, (strategy,), ("share_runs", "steps"), about, work)


def name(instance: str, strategy: str, noise: Noise) -> str:
    return noise.name(f"shares-{instance}-{strategy}")


def compute(instance: str, strategy: str, noise: Noise, scale: Scale) -> Columns:
    """A row for each run and time, with a column for each cell, such as "2@1" for the second arm's first fidelity."""
    found = trace(noise.load(instance), strategy, scale.steps, scale.share_runs, SEED)
    runs, points, K, M = found.shares.shape
    cells = {f"{a + 1}@{m + 1}": found.shares[:, :, a, m].ravel() for a in range(K) for m in range(M)}
    table = {"run": np.repeat(np.arange(runs), points), "step": np.tile(found.steps, runs), **cells}
    return complete(table, scale.share_runs)


def shares_of(table: Columns, shape: tuple[int, int]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The steps, (points,), and the shares, (runs, points, K, M)."""
    steps = np.unique(table["step"])
    cells = np.stack([table[f"{a + 1}@{m + 1}"] for a in range(shape[0]) for m in range(shape[1])], axis=-1)
    return steps, cells.reshape(-1, len(steps), *shape)


def figures(noise: Noise) -> Iterator[Figure]:
    sources = {"mf-grad": "Section 5 and App. D.2", "mf-grad-const": "App. D.4"}
    for strategy in STRATEGIES:
        for instance in INSTANCES:
            caption = f"Cost shares of {strategy} on {instance} (the paper's {sources[strategy]}); dashed: omega*."
            figure = name(instance, strategy, noise)
            yield Figure(figure, GROUP, (figure,), caption, partial(draw, instance, strategy, noise))


def draw(instance: str, strategy: str, noise: Noise, results: Results, files: Sequence[Path]) -> None:
    problem = noise.load(instance)
    steps, shares = shares_of(results[name(instance, strategy, noise)], problem.shape)
    found = Trace(problem, strategy, steps, shares)
    plot_shares(found, oracle(problem).weights, files, f"{strategy} on {instance}, variance {noise.variance:g}")


def claims(made: Made, noise: Noise) -> Iterator[Claim]:
    results = made.results
    yield from distance_claims(results, noise)
    for instance in INSTANCES:
        tables = [results[name(instance, s, noise)] for s in STRATEGIES if name(instance, s, noise) in results]
        if len(tables) == len(STRATEGIES) and tables[0]["step"].max() >= MOVED:
            costs = noise.load(instance).problem.costs
            theory, constant = (distance_at(table, costs / costs.sum(), MOVED) for table in tables)
            yield Claim(
                f"MF-GRAD-CONST moves away from the initial shares way sooner than MF-GRAD on {instance}",
                "App. D.4",
                f"after some {MOVED:,} steps it is {apart(constant)} away from them, MF-GRAD {apart(theory)}",
                above(Interval(0.0, constant.low - theory.high, constant.high - theory.low), 0.0),
            )


def distance_claims(results: Results, noise: Noise) -> Iterator[Claim]:
    """The distance is judged by the exact omega*: the paper does not say whether its own is from the printed one."""
    table = results.get(name("paper-5x2", "mf-grad", noise))
    if table:
        last = int(table["step"].max())
        found = distance_at(table, oracle(noise.load("paper-5x2")).weights, last)
        from_printed = distance_at(table, PRINTED_WEIGHTS, last)
        yield Claim(
            f"On paper-5x2, MF-GRAD's shares after 10^5 steps are at a distance of {PRINTED} ± 0.0006 from omega*",
            "Section 5",
            f"{apart(found)} from the exact omega*, {apart(from_printed)} from the one that the paper prints; after "
            f"{last:,} steps, {len(np.unique(table['run']))} runs",
            near(found, PRINTED - ERROR, PRINTED + ERROR) if last >= STEPS else UNDECIDED,
        )
    table = results.get(name("paper-4x5", "mf-grad", noise))
    if table:
        yield sparsity_claim(table, noise.load("paper-4x5"))


def sparsity_claim(table: Columns, instance: Instance) -> Claim:
    _, shares = shares_of(table, instance.shape)
    used = oracle(instance).weights > 1e-6
    last, most = int(table["step"].max()), used.sum(axis=1).max()
    found = mean((shares[:, -1] * used).sum(axis=(1, 2)))
    return Claim(
        "On paper-4x5 the sparsity pattern emerges as well: one fidelity an arm",
        "App. D.2",
        f"omega* uses {'one fidelity' if most == 1 else f'up to {most} fidelities'} an arm; these cells have "
        f"{100 * found.estimate:.0f} ± {100 * found.half:.0f} % of the cost after {last:,} steps",
        above(found, 0.5) if last >= STEPS else UNDECIDED,
    )


def distance_at(table: Columns, weights: NDArray[np.float64], step: int) -> Interval:
    """Euclidean, to the weights, at the recorded time nearest to `step`."""
    steps, shares = shares_of(table, (weights.shape[0], weights.shape[1]))
    at = int(np.argmin(abs(steps - step)))
    return mean(np.sqrt(((shares[:, at] - weights) ** 2).sum(axis=(1, 2))))


def apart(found: Interval) -> str:
    return f"{found.estimate:.4f} ± {found.half:.4f}"


PART = Part(GROUP, "How MF-GRAD spreads its cost", figures, claims, computations)
