"""How many workers help: `make bench-workers`. Writes its tables into docs/guides/scaling.md, and a picture.

Studies with 1 to 64 workers are simulated on a clock of their own (tests/support/pools.py), with and without the rule
that holds back evaluations (`mfbai.study.surplus`). Speed-up and cost are ratios of means to those of one worker with
the same values; what is under way at the verdict counts as spent. The 95 % intervals are those of ratios of paired
means, by the delta method.
"""

import argparse
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mfbai
from mfbai.plots.style import COLOURS, DASHES, FAINT, figure, plain_log_ticks
from mfbai.study.fold import Fold

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support import pools

WORKERS = (1, 2, 4, 8, 16, 32, 64)
DOCS = Path(__file__).parents[1] / "docs"
PAGE, PICTURE = DOCS / "guides" / "scaling.md", DOCS / "images" / "workers.png"
BEGIN, END = "<!-- tables: make bench-workers -->", "<!-- end of workers -->"


class Case(NamedTuple):
    name: str
    instance: mfbai.Instance
    strategy: str | None
    delta: float
    durations: pools.Durations = pools.random
    share: float = 1.0  # of the runs


class Figure(NamedTuple):
    speed: float
    speed_width: float  # half that of the 95 % interval
    cost: float
    cost_width: float
    idle: float


def cases() -> list[Case]:
    four, five = mfbai.load("paper-4x5"), mfbai.load("paper-5x2")
    designs = mfbai.Instance(
        [[0.84, 0.85], [0.82, 0.84], [0.96, 0.98]], [0.05, 5.0], [0.03, 0.0], mfbai.Gaussian(0.01), name="designs"
    )
    alone = [mfbai.random_instance(K, 1, seed=3, gap=0.1, variance=0.09, costs=[1.0], biases=[0.0]) for K in (3, 20)]
    many = mfbai.random_instance(100, 3, seed=5, gap=0.05)
    unknown = mfbai.Instance(
        [[0.2, 0.2], [0.35, 0.3], [0.45, 0.5]], [0.1, 1.0], [0.05, 0.0], mfbai.Symmetric(0.0, 1.0), deviation=0.1
    )
    shared = mfbai.Instance(
        [[0.2, 0.2], [0.35, 0.3], [0.35, 0.4], [0.4, 0.45]],
        [0.1, 1.0],
        [0.05, 0.0],
        mfbai.Gaussian(0.01),
        seeds="common",
        correlation=0.8,
    )
    return [
        Case("designs of the README, race, 0.01", designs, "race", 0.01),
        Case("paper-4x5, race, 0.05", four, "race", 0.05),
        Case("the same, all take equally long", four, "race", 0.05, pools.constant),
        Case("the same, time grows with cost", four, "race", 0.05, pools.by_cost),
        Case("paper-4x5, frugal, 0.05", four, "frugal", 0.05),
        Case("paper-4x5, mf-grad, 0.05", four, "mf-grad", 0.05),
        Case("paper-5x2, race, 0.01", five, "race", 0.01),
        Case("3 arms, 1 fidelity, race, 0.05", alone[0], "race", 0.05),
        Case("20 arms, 1 fidelity, race, 0.05", alone[1], "race", 0.05),
        Case("20 arms, 1 fidelity, frugal, 0.05", alone[1], "frugal", 0.05),
        Case("100 arms, 3 fidelities, race, 0.05", many, "race", 0.05, share=0.2),
        Case("unknown noise, race, 0.05", unknown, "race", 0.05),
        Case("common seeds, race, 0.05", shared, "race", 0.05),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="of each case and number of workers (200)")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--print", action="store_true", help="leave docs as they are")
    given = parser.parse_args()
    found = {case.name: {} for case in cases()}
    jobs = [(case, made, given.runs) for case in cases() for made in (pools.Unlimited, Fold)]
    with ProcessPoolExecutor(given.processes) as pool:
        for (case, made, _), (evaluations, figures) in zip(jobs, pool.map(measure, jobs), strict=True):
            found[case.name][made] = evaluations, figures
            print(case.name, made.__name__, *(f"{f.speed:.2f}/{f.cost:.2f}" for f in figures), file=sys.stderr)
    text = "\n".join(table(found, given.runs))
    print(text)
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")
        draw(found)


def measure(job: tuple[Case, Callable[..., Fold], int]) -> tuple[float, list[Figure]]:
    """The evaluations of one worker, and what all numbers of workers make of it."""
    case, made, runs = job
    settings, runs = pools.settings_of(case.instance, case.delta, case.strategy), max(int(case.share * runs), 2)
    ends = {W: [pools.run(settings, case.instance, W, n, case.durations, made) for n in range(runs)] for W in WORKERS}
    alone = ends[1]
    figures = []
    for W in WORKERS:
        speed = ratio([end.time for end in alone], [end.time for end in ends[W]])
        cost = ratio([end.cost for end in ends[W]], [end.cost for end in alone])
        figures.append(Figure(*speed, *cost, float(np.mean([end.idle for end in ends[W]]))))
    return float(np.mean([end.told for end in alone])), figures


def ratio(above: list[float], below: list[float]) -> tuple[float, float]:
    """That of two means, and half the width of its 95 % interval."""
    x, y = np.array(above), np.array(below)
    found = x.mean() / y.mean()
    return float(found), float(1.96 * (x - found * y).std(ddof=1) / y.mean() / np.sqrt(len(x)))


def table(found, runs: int):
    """Speed-up and cost, without the rule and with it."""
    yield f"{runs} runs of each (100 arms: {runs // 5}). Speed-up / cost, both relative to one worker:"
    yield ""
    yield "| problem, strategy, delta (evaluations of one worker) | rule | " + " | ".join(map(str, WORKERS[1:])) + " |"
    yield "|---|---|" + "---|" * (len(WORKERS) - 1)
    for name, kinds in found.items():
        for made, word in ((pools.Unlimited, "off"), (Fold, "on")):
            evaluations, figures = kinds[made]
            cells = [f"{f.speed:.1f} / {f.cost:.2f}" for f in figures[1:]]
            head = f"{name} ({evaluations:.0f})" if word == "off" else ""
            yield f"| {head} | {word} | " + " | ".join(cells) + " |"
    figures = [f for kinds in found.values() for _, measured in kinds.values() for f in measured[1:]]
    speed = max(f.speed_width / f.speed for f in figures)
    cost = max(f.cost_width / f.cost for f in figures)
    idle = [kinds[Fold][1][-1].idle for kinds in found.values()]
    yield ""
    yield (
        f"The 95 % intervals are ±{100 * speed:.0f} % of a speed-up and ±{100 * cost:.0f} % of a cost, or less. With "
        f"the rule, 64 workers are idle for {100 * min(idle):.0f} to {100 * max(idle):.0f} % of their time."
    )


def draw(found) -> None:
    with figure(PICTURE, (10.0, 4.8)) as drawn:
        left, right = drawn.subplots(1, 2)
        for colour, name in zip(COLOURS, PICTURED, strict=False):
            for made, dash in ((pools.Unlimited, DASHES[2]), (Fold, DASHES[0])):
                figures = found[name][made][1]
                label = name if made is Fold else None
                left.plot(WORKERS, [f.speed for f in figures], color=colour, linestyle=dash, label=label)
                right.plot(WORKERS, [f.cost for f in figures], color=colour, linestyle=dash)
        left.plot(WORKERS, WORKERS, color=FAINT, linewidth=1.0)
        for axes, title in ((left, "Speed-up (dotted: rule off)"), (right, "Cost, relative to one worker")):
            axes.set(title=title, xlabel="workers", xscale="log", yscale="log")
            plain_log_ticks(axes.xaxis, (1.0,), base=2.0)
            plain_log_ticks(axes.yaxis)
        left.legend()


PICTURED = (
    "paper-4x5, race, 0.05",
    "paper-4x5, mf-grad, 0.05",
    "paper-5x2, race, 0.01",
    "20 arms, 1 fidelity, race, 0.05",
)

if __name__ == "__main__":
    main()
