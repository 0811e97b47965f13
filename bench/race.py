"""What race and common seeds save over frugal: `make bench-race`. Writes its tables into docs/theory/league.md.

Both sides have the same instances and the same seeds; each figure is a geometric mean of ratios of mean costs over the
instances of a group, with its 95 % interval and the largest ratio.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from math import exp
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import mfbai
from strategies import Case, paper, random_ones

DELTAS = (0.05, 0.01, 1e-10)
ARMS = (4, 8, 20)  # of the instances with one fidelity and common seeds
RHOS = (0.0, 0.5, 0.8)
GAP = 0.1
PAGE = Path(__file__).parents[1] / "docs" / "theory" / "league.md"
BEGIN, END = "<!-- tables: make bench-race -->", "<!-- end of race -->"
LONGEST = 10_000_000  # evaluations after which a run is given up


class Costs(NamedTuple):
    mean: float
    width: float  # half that of the 95 % interval
    errors: int


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="on each of the paper's instances (400)")
    parser.add_argument("--random", type=int, default=50, help="how many random instances in each group (50)")
    parser.add_argument("--seed", type=int, default=7, help="of the runs and of the random instances (7)")
    parser.add_argument("--print", action="store_true", help="leave docs/theory/league.md as it is")
    given = parser.parse_args()
    text = "\n".join(
        [
            f"{given.runs} runs on each of the paper's instances, {max(given.runs // 4, 2)} on each of the others; "
            f"{given.random} instances in a group ({given.random // 3} with one fidelity); seed {given.seed}.",
            "",
            *independent(given),
            "",
            *common(given),
        ]
    )
    print(text)
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def independent(given) -> Iterator[str]:
    few = max(given.runs // 4, 2)
    random = list(random_ones(given.random, given.seed, few))
    groups = {
        "paper, 8 instances": list(paper(given.runs)),
        "random": [case for case in random if case.group == "random"],
        "one fidelity": [case for case in random if case.group == "one fidelity"],
        "in between": list(biased("in between", 0.2 * GAP, 1.5 * GAP, given.random, given.seed + 1, few)),
        "useless, over the top alone": list(biased("useless", 1.0, 2.0, given.random, given.seed + 2, few)),
    }
    yield "| `race` with `contrasts` over `frugal` with `e-process` | " + " | ".join(f"{d:g}" for d in DELTAS) + " |"
    yield "|---|" + "---|" * len(DELTAS)
    for name, cases in groups.items():
        against = top_alone if name.startswith("useless") else same
        cells = [together(cases, delta, given.seed, same, against) for delta in DELTAS]
        yield f"| {name} | " + " | ".join(cells) + " |"
    cells = [
        together(groups["paper, 8 instances"], d, given.seed, same, same, ("mf-grad-const", "stylised")) for d in DELTAS
    ]
    yield "| paper, over `mf-grad-const` with `stylised` | " + " | ".join(cells) + " |"


def common(given) -> Iterator[str]:
    """Common seeds, and no variance known, over frugal with the variance known and independent seeds."""
    rows: list[tuple[str, list[Case]]] = [("paper, 8 instances", list(paper(given.runs)))]
    for K in ARMS:
        means = np.full((K, 1), -GAP)
        means[0] = 0.0
        instance = mfbai.Instance(means, costs=[1.0], biases=[0.0], family=mfbai.Gaussian((3 * GAP) ** 2))
        rows.append((f"one fidelity, K = {K}", [Case("common", f"common-{K}", instance, given.runs)]))
    heads = [f"{rho:g}; {delta:g}" for rho in RHOS for delta in DELTAS[:2]]
    yield "| common seeds: correlation; delta | " + " | ".join(heads) + " |"
    yield "|---|" + "---|" * len(heads)
    for name, cases in rows:
        cells = [together(cases, delta, given.seed, at_once(rho), same) for rho in RHOS for delta in DELTAS[:2]]
        yield f"| {name} | " + " | ".join(cells) + " |"


def biased(kind: str, low: float, high: float, count: int, seed: int, runs: int) -> Iterator[Case]:
    """Random instances whose lower fidelities have bias bounds in that range, and any price."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        arms, fidelities = int(rng.integers(2, 21)), int(rng.integers(2, 7))
        costs = np.append(np.sort(10 ** rng.uniform(-2.5, -0.15, fidelities - 1)), 1.0)
        biases = np.append(np.sort(rng.uniform(low, high, fidelities - 1))[::-1], 0.0)
        variance, own = float(rng.choice((0.01, 0.1))), int(rng.integers(1 << 31))
        instance = mfbai.random_instance(
            arms, fidelities, seed=own, gap=GAP, variance=variance, costs=costs, biases=biases
        )
        yield Case(kind, f"{kind} {n}", instance, runs)


def same(instance: mfbai.Instance) -> mfbai.Instance:
    return instance


def top_alone(instance: mfbai.Instance) -> mfbai.Instance:
    problem = instance.problem
    return mfbai.Instance(instance.means[:, -1:], problem.costs[:, -1:], [0.0], problem.family)


def at_once(rho: float) -> Callable[[mfbai.Instance], mfbai.Instance]:
    def change(instance: mfbai.Instance) -> mfbai.Instance:
        problem = instance.problem
        biases = (problem.bias_low, problem.bias_high)
        return mfbai.Instance(
            instance.means, problem.costs, biases, problem.family, seeds="common", correlation=rho or None
        )

    return change


KNOWN: dict[Any, Costs] = {}  # what was simulated already


def costs(case: Case, change: Any, strategy: str, rule: str, delta: float, seed: int) -> Costs:
    key = (case.name, case.runs, strategy, delta, change)
    if key not in KNOWN or change not in (same, top_alone):
        print(f"{case.name}, {strategy}, {delta:g}", file=sys.stderr, flush=True)
        found = mfbai.simulate(
            change(case.instance), strategy, delta, case.runs, seed=seed, stopping=rule, max_steps=LONGEST
        )
        if not found.stopped.all():
            print(f"{case.name}: {(~found.stopped).sum()} runs of {strategy} did not stop", file=sys.stderr, flush=True)
        errors = int((found.stopped & (found.answers != case.instance.best)).sum())
        KNOWN[key] = Costs(float(found.mean_cost), float(found.cost_ci95), errors)
    return KNOWN[key]


def together(cases, delta, seed, mine, theirs, base=("frugal", "e-process")) -> str:
    ratios, widths, errors = [], [], 0
    for case in cases:
        race = costs(case, mine, "race", "contrasts", delta, seed)
        other = costs(case, theirs, *base, delta, seed)
        ratios.append(race.mean / other.mean)
        widths.append(np.hypot(race.width / race.mean, other.width / other.mean))
        errors += race.errors
    mean, width = np.log(ratios).mean(), np.sqrt(np.square(widths).sum()) / len(widths)
    runs = sum(case.runs for case in cases)
    wrong = f"; {errors} of {runs:,} wrong" if errors else ""
    most = f"; {max(ratios):.2f}" if len(ratios) > 1 else ""
    return f"**{exp(mean):.3f}** ({exp(mean - width):.3f}-{exp(mean + width):.3f}{most}{wrong})"


if __name__ == "__main__":
    main()
