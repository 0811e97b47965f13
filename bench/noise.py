"""What it costs not to know the noise: `make bench-noise`. Writes its tables into docs/guides/families.md.

Both sides have the same instances and the same seeds; each figure is a geometric mean of ratios of mean costs over the
instances of a group, with its 95 % interval and the largest ratio.
"""

import argparse
import sys
from collections.abc import Iterator
from math import exp
from pathlib import Path

import numpy as np

import mfbai
from strategies import Case, paper

DELTAS = (0.05, 0.01, 1e-10)
FEW = 0.01  # the variance of random instances that need few evaluations of each arm
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "families.md"
BEGIN, END = "<!-- tables: make bench-noise -->", "<!-- end of noise -->"
LONGEST = 10_000_000  # evaluations after which a run is given up


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=400, help="on each of the paper's instances (400)")
    parser.add_argument("--random", type=int, default=40, help="how many random instances in each group (40)")
    parser.add_argument("--seed", type=int, default=7, help="of the runs and of the random instances (7)")
    parser.add_argument("--print", action="store_true", help="leave docs/guides/families.md as it is")
    given = parser.parse_args()
    few = max(given.runs // 4, 2)
    known = list(paper(given.runs))
    random = list(few_evaluations(given.random, given.seed, few))
    scores = list(accuracies(given.random // 2, given.seed + 1, few))
    rows = {
        "Symmetric over a known variance: the paper's 8 instances, `race`": (known, symmetric, same, "race"),
        "the same with `frugal` and the e-process": (known, symmetric, same, "frugal"),
        "random instances that need few evaluations, `race`": (random, symmetric, same, "race"),
        "Bounded over `SubGaussian(bounds=(0, 1))`: accuracies, default strategies": (scores, same, bounds, None),
        "Bounded over a known variance: the same accuracies": (scores, same, normal, None),
    }
    lines = [
        f"{given.runs} runs on each of the paper's instances, {few} on each of the others; {len(random)} random "
        f"instances, {len(scores)} of accuracies; seed {given.seed}.",
        "",
        "| cost over cost, at delta = | " + " | ".join(f"{delta:g}" for delta in DELTAS) + " |",
        "|---|" + "---|" * len(DELTAS),
    ]
    for name, (cases, mine, theirs, strategy) in rows.items():
        cells = [ratio(cases, mine, theirs, strategy, delta, given.seed) for delta in DELTAS]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        text = "\n".join(lines)
        PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


def few_evaluations(count: int, seed: int, runs: int) -> Iterator[Case]:
    """Instances of 2-20 arms and 1-6 fidelities."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        arms, fidelities = int(rng.integers(2, 21)), int(rng.integers(1, 7))
        instance = mfbai.random_instance(arms, fidelities, seed=int(rng.integers(1 << 31)), variance=FEW)
        yield Case("few", f"few {n}", instance, runs)


def accuracies(count: int, seed: int, runs: int) -> Iterator[Case]:
    """Scores between 0 and 1: the best is ahead by 0.005 to 0.02; half of the instances have a cheap fidelity."""
    rng = np.random.default_rng(seed)
    for n in range(count):
        K, M = int(rng.integers(4, 9)), 1 + n % 2
        gap, best = rng.uniform(0.005, 0.02), rng.uniform(0.96, 0.98)
        tops = np.maximum(best - gap - rng.uniform(0, 0.04, K), 0.9)
        tops[0], tops[1] = best, best - gap
        means = np.stack([tops + rng.uniform(-0.005, 0.005, K), tops], axis=1)[:, -M:]
        yield Case(
            "accuracies",
            f"accuracies {n}",
            mfbai.Instance(
                means,
                costs=[0.1, 1.0][-M:],
                biases=[0.005, 0.0][-M:],
                family=mfbai.Bounded(0.0, 1.0),
                deviation=rng.uniform(0.01, 0.02, (K, M)),
            ),
            runs,
        )


def same(instance: mfbai.Instance) -> mfbai.Instance:
    return instance


def with_family(instance: mfbai.Instance, family, deviation=None) -> mfbai.Instance:
    problem = instance.problem.replace(family=family)
    return problem.instance(instance.means, name=instance.name, deviation=deviation)


def symmetric(instance: mfbai.Instance) -> mfbai.Instance:
    """The same, but nobody knows the variance; the range of the top means is twice as wide as theirs."""
    tops = instance.means[:, -1]
    room = (tops.max() - tops.min()) / 2
    family = mfbai.Symmetric(float(tops.min() - room), float(tops.max() + room))
    return with_family(instance, family, np.sqrt(np.broadcast_to(instance.problem.family.variance, instance.shape)))


def normal(instance: mfbai.Instance) -> mfbai.Instance:
    return with_family(instance, mfbai.Gaussian(instance.deviation**2))


def bounds(instance: mfbai.Instance) -> mfbai.Instance:
    """What people had before: the variance that values between 0 and 1 can have at most, and so do in a simulation."""
    return with_family(instance, mfbai.SubGaussian(bounds=(0.0, 1.0)))


def ratio(cases, mine, theirs, strategy, delta, seed) -> str:
    ratios, widths, errors = [], [], 0
    for case in cases:
        pair = []
        for change in (mine, theirs):
            print(f"{case.name}, {change.__name__}, {strategy}, {delta:g}", file=sys.stderr, flush=True)
            runs = case.runs if change is not bounds else max(case.runs // 10, 2)  # these take long, and vary little
            pair.append(mfbai.simulate(change(case.instance), strategy, delta, runs, seed=seed, max_steps=LONGEST))
        ratios.append(float(pair[0].mean_cost / pair[1].mean_cost))
        widths.append(np.hypot(*(float(found.cost_ci95 / found.mean_cost) for found in pair)))
        errors += int((pair[0].answers != case.instance.best).sum())
    mean, width = np.log(ratios).mean(), np.sqrt(np.square(widths).sum()) / len(widths)
    runs = sum(case.runs for case in cases)
    wrong = f"; {errors} of {runs:,} wrong" if errors else ""
    return f"**{exp(mean):.3g}** ({exp(mean - width):.3g}-{exp(mean + width):.3g}; {max(ratios):.3g}{wrong})"


if __name__ == "__main__":
    main()
