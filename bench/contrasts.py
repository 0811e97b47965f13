"""How often `contrasts` errs where it is hardest, and whether `race` always ends: part of `make bench-guarantee`.

Prints a table. The arm that is counted is tied with all others, and looks as bad as its bias bounds allow, as in
bench/guarantee.py; a run has gone wrong if that arm was ever ruled out, whatever the answer. `cheat` is a sampler that
knows the truth and does all it may to rule that arm out: tests/support/ties.py.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.ties import BOUNDED, LAWS, SYMMETRIC, Setting, count_false
from support.wilds import race, tied_field, wild

DELTA = 0.1
SIZES = [(K, M) for K in (2, 4, 10) for M in (1, 2, 5)]
CORRELATIONS = (0.0, 0.5, 0.9, 0.99, -0.3)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=1000, help="evaluations of a run at ties (1000)")
    parser.add_argument("--problems", type=int, default=10_000, help="random ones, for each kind of seeds (10000)")
    parser.add_argument("--longest", type=int, default=10**7, help="evaluations of a run on these at most (10^7)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    about = f"{given.runs:,} runs of {given.steps:,} evaluations at delta = {DELTA:g}, seed {given.seed}"
    print(f"How often the best arm is ruled out, in {about}:\n")
    print("| seeds | sampler | K | M | noise | ruled out | upper 99 % limit |")
    print("|---|---|---|---|---|---|---|", flush=True)
    worst = max(line(setting, given) for setting in settings())
    print(f"\nThe largest of the upper limits is {100 * worst:.2f} %; {100 * DELTA:g} % are allowed.\n", flush=True)
    for seeds in ("independent", "common"):
        endless(seeds, given)
    for seeds in ("independent", "common"):
        second_looks(seeds, given)


def settings():
    """What is tried."""
    for K, M in SIZES:
        yield Setting("independent", K, M)
    for K, M in SIZES:
        yield Setting("independent", K, M, "cheat")
    yield Setting("independent", 4, 2, under_way=8)
    yield Setting("independent", 4, 2, failing=0.2)
    yield Setting("independent", 10, 5, under_way=8, failing=0.2)
    for sampler in ("race", "cheat"):
        yield Setting("independent", 4, 2, sampler, tolerance=0.05)
    for K, M in SIZES:
        yield Setting("common", K, M, correlation=0.5)
    for law in LAWS:
        for correlation in CORRELATIONS:
            yield Setting("common", 4, 2, correlation=correlation, law=law)
    yield Setting("common", 2, 2, correlation=-0.3)
    for K, M in SIZES:
        yield Setting("common", K, M, "cheat", correlation=0.5)
    for law in LAWS[1:]:
        yield Setting("common", 4, 2, "cheat", correlation=0.9, law=law)
    for law in LAWS:
        yield Setting("common", 4, 2, correlation=0.5, law=law, failing=0.2)
    for sampler in ("race", "cheat"):
        yield Setting("common", 4, 2, sampler, correlation=0.5, tolerance=0.05)
    yield from unknown_sizes()


def unknown_sizes():
    """The families for which nobody states the size of the noise."""
    for family, laws in {"symmetric": SYMMETRIC, "bounded": tuple(BOUNDED)}.items():
        for sampler in ("race", "cheat"):
            for law in laws:
                for K, M in ((2, 1), (4, 2), (4, 5)):
                    yield Setting("independent", K, M, sampler, law=law, family=family)
        yield Setting("independent", 4, 2, law=laws[-1], family=family, failing=0.2)
        yield Setting("independent", 4, 2, law=laws[1], family=family, tolerance=0.02)
    for correlation in CORRELATIONS:
        yield Setting("common", 4, 2, correlation=correlation, law="bernoulli 0.5", family="bounded")
        yield Setting("common", 4, 2, correlation=correlation, family="symmetric")


def line(setting, given):
    """Print a line of the table; returns the upper limit."""
    errors = count_false(setting, DELTA, given.runs, given.steps, given.seed)
    limit = float(beta.ppf(0.99, errors + 1, given.runs - errors))
    noise = [setting.family, setting.law] if setting.family != "gaussian" else [setting.law]
    noise += [f"correlation {setting.correlation:g}"] * (setting.seeds == "common")
    noise += [f"{setting.under_way} under way"] * (setting.under_way > 1)
    noise += [f"{setting.failing:.0%} fail"] * (setting.failing > 0)
    noise += [f"tolerance {setting.tolerance:g}"] * (setting.tolerance > 0)
    print(
        f"| {setting.seeds} | {setting.sampler} | {setting.arms} | {setting.fidelities} | {', '.join(noise)} "
        f"| {100 * errors / given.runs:.2f} % | {100 * limit:.2f} % |",
        flush=True,
    )
    return limit


def endless(seeds, given):
    """Race once on each of many random problems."""
    steps, wrong, allowed = [], 0, 0.0
    for number in range(given.problems):
        problem = wild(number, seeds)
        end = race(problem, given.seed, given.longest)
        steps.append(end.steps)
        wrong += end.answer >= 0 and not end.right
        allowed += problem.delta
        if end.answer < 0:
            print(f"wild({number}, {seeds!r}) has not ended after {end.steps:,} evaluations", flush=True)
    print(
        f"{given.problems:,} random problems with {seeds} seeds: {wrong} wrong answers, {allowed:.0f} allowed; "
        f"evaluations: median {np.median(steps):.0f}, 99 % {np.quantile(steps, 0.99):.0f}, most {max(steps):,}",
        flush=True,
    )


def second_looks(seeds, given):
    """Four arms of which three tie, at delta 0.3: if the best is ruled out, the others race until it comes back."""
    problem = tied_field(seeds)
    ends = [race(problem, run, given.longest) for run in range(given.problems)]
    unended = sum(end.answer < 0 for end in ends)
    wrong = sum(end.answer >= 0 and not end.right for end in ends)
    most = [end.steps for end in ends]
    print(
        f"{given.problems:,} runs where all others tie, {seeds} seeds, delta {problem.delta:g}: {wrong} wrong answers, "
        f"{unended} without an end; evaluations: median {np.median(most):.0f}, 99 % {np.quantile(most, 0.99):.0f}, "
        f"most {max(most):,}",
        flush=True,
    )


if __name__ == "__main__":
    main()
