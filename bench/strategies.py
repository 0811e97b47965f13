"""The league of strategies: `make bench-strategies`. Writes its tables into docs/theory/league.md.

Every strategy, on the paper's instances and on a fixed set of random ones, at two risks and two variances, under the
paper's heuristic rule and under the proven one. What counts is the mean cost, relative to `mf-grad-const` under the
heuristic (the paper's fastest) and to `oracle`, which knows the truth, under the proven rule.
"""

import argparse
import sys
from collections.abc import Iterator
from math import exp
from pathlib import Path
from typing import NamedTuple

import numpy as np

import mfbai
from mfbai.model.spec import check_instance
from mfbai.simulation.confidence import half_width
from mfbai.strategies import STRATEGIES

PAPER = ("paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3")
VARIANCES = (0.01, 0.1)
DELTAS = (0.01, 1e-10)
RULES = ("stylised", "e-process")
BASE, FLOOR = ("mf-grad-const", "stylised"), ("oracle", "e-process")
SHOWN = ("race", "frugal", "mf-grad-row", "mf-grad-const", "mf-grad", "track-and-stop", "grad-const", "grad", "uniform")
OWN = ("iise", "lucb")  # they stop by rules of their own
PAGE = Path(__file__).parents[1] / "docs" / "theory" / "league.md"
BEGIN, END = "<!-- tables: make bench-strategies -->", "<!-- end of tables -->"
LONGEST = 2_000_000  # evaluations after which a run is given up


class Case(NamedTuple):
    group: str
    name: str
    instance: mfbai.Instance
    runs: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="on each of the paper's instances (1000)")
    parser.add_argument("--random", type=int, default=50, help="how many random instances with several fidelities (50)")
    parser.add_argument("--seed", type=int, default=1, help="of the runs and of the random instances (1)")
    parser.add_argument("--print", action="store_true", help="leave docs/theory/league.md as it is")
    given = parser.parse_args()
    table = {}
    cases = [*paper(given.runs), *random_ones(given.random, given.seed, max(given.runs // 10, 2))]
    for n, case in enumerate(cases):
        print(f"{n + 1} of {len(cases)}: {case.name}", file=sys.stderr, flush=True)
        for strategy in ("oracle", *SHOWN, *OWN):
            for rule in rules_of(strategy):
                table[case.name, strategy, rule] = costs(case, strategy, rule, given.seed)
    text = "\n".join([*summary(cases, table, given), "", *details(cases, table)])
    print(text)
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def rules_of(strategy: str) -> tuple[str, ...]:
    """The rules that a strategy is shown with: the paper's heuristic, and a proven one."""
    plan = STRATEGIES[strategy]
    if plan.own_rule:
        return ("own",)
    return (RULES[0], "contrasts") if plan.keeps == "contrasts" else RULES


def paper(runs: int) -> Iterator[Case]:
    for name in PAPER:
        for variance in VARIANCES:
            yield Case("paper", f"{name}, {variance:g}", check_instance(name, variance), runs)


def random_ones(count: int, seed: int, runs: int) -> Iterator[Case]:
    """Instances of 2-20 arms and 2-6 fidelities, and a third as many of one fidelity."""
    rng = np.random.default_rng(seed)
    for n in range(count + count // 3):
        group = "random" if n < count else "one fidelity"
        arms, fidelities = int(rng.integers(2, 21)), int(rng.integers(2, 7)) if n < count else 1
        variance = float(rng.choice(VARIANCES))
        instance = mfbai.random_instance(arms, fidelities, seed=int(rng.integers(1 << 31)), variance=variance)
        yield Case(group, f"{instance.name}, {variance:g}", instance, runs)


def costs(case: Case, strategy: str, rule: str, seed: int) -> np.ndarray:
    """(runs, deltas)"""
    stopping = rule if rule != "own" else "stylised"
    found = mfbai.simulate(case.instance, strategy, DELTAS, case.runs, seed=seed, stopping=stopping, max_steps=LONGEST)
    return np.where(found.stopped, found.costs, np.nan)


def ratio(case, table, who, base, level):
    """The mean cost over that of the base, and the half-width of its logarithm's 95 % interval."""
    mine, theirs = (table[case.name, *key][:, level] for key in (who, base))
    if np.isnan(mine).any():
        return np.nan, np.nan
    spread = np.hypot(*(half_width(sample) / sample.mean() for sample in (mine, theirs)))
    return mine.mean() / theirs.mean(), spread


def together(cases, table, who, base, levels):
    """The geometric mean of the ratios over cases and levels, with its 95 % interval, and the largest."""
    found = np.array([ratio(case, table, who, base, level) for case in cases for level in levels])
    mean, width = np.log(found[:, 0]).mean(), np.sqrt((found[:, 1] ** 2).sum()) / len(found)
    if np.isnan(mean):
        return "not all stop", "", ""
    return f"{exp(mean):.3f}", f"{exp(mean - width):.3f}-{exp(mean + width):.3f}", f"{found[:, 0].max():.2f}"


def entries() -> Iterator[tuple[str, str]]:
    for strategy in (*SHOWN, "oracle"):
        for rule in rules_of(strategy)[::-1]:
            yield strategy, rule
    for strategy in OWN:
        yield strategy, "own"


def summary(cases, table, given) -> Iterator[str]:
    groups = {group: [case for case in cases if case.group == group] for group in dict.fromkeys(c.group for c in cases)}
    yield (
        f"Mean costs over those of `{BASE[0]}` under `{BASE[1]}`, geometric means over instances and risks, with 95 % "
        f"intervals and the largest; {given.runs} runs of each of the paper's, {max(given.runs // 10, 2)} of each "
        f"random one; seed {given.seed}. The last column is relative to `{FLOOR[0]}` under `{FLOOR[1]}`."
    )
    yield ""
    names = [
        ("paper", DELTAS),
        ("paper", DELTAS[:1]),
        ("paper", DELTAS[1:]),
        ("random", DELTAS),
        ("one fidelity", DELTAS),
    ]
    heads = [
        "paper, both",
        f"paper, {DELTAS[0]:g}",
        f"paper, {DELTAS[1]:g}",
        "random",
        "one fidelity",
        "paper / oracle",
    ]
    yield "| strategy | rule | " + " | ".join(heads) + " |"
    yield "|---|---|" + "---|" * len(heads)
    for who in entries():
        cells = []
        for group, deltas in names:
            levels = [DELTAS.index(delta) for delta in deltas]
            cells.append(cell(together(groups[group], table, who, BASE, levels)) if group in groups else "")
        cells.append(cell(together(groups["paper"], table, who, FLOOR, range(len(DELTAS)))))
        yield f"| `{who[0]}` | {who[1]} | " + " | ".join(cells) + " |"


def cell(found) -> str:
    value, interval, most = found
    return f"**{value}** ({interval}; {most})" if interval else value


def details(cases, table) -> Iterator[str]:
    shown = [case for case in cases if case.group == "paper"]
    yield "Mean costs on the paper's instances (instance, variance; risk), ± half the 95 % interval:"
    yield ""
    heads = [f"{case.name}; {delta:g}" for case in shown for delta in DELTAS]
    yield "| strategy | rule | " + " | ".join(heads) + " |"
    yield "|---|---|" + "---|" * len(heads)
    for who in entries():
        samples = [table[case.name, *who][:, level] for case in shown for level in range(len(DELTAS))]
        yield f"| `{who[0]}` | {who[1]} | " + " | ".join(map(figure, samples)) + " |"


def figure(sample) -> str:
    if np.isnan(sample).any():
        return f"{np.isnan(sample).mean():.0%} do not stop"
    return f"{rounded(sample.mean(), 4)} ± {rounded(half_width(sample), 2)}"


def rounded(value, digits) -> str:
    return f"{float(f'{value:.{digits}g}'):,g}"


if __name__ == "__main__":
    main()
