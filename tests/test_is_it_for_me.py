"""The figures of docs/guides/is_it_for_me.md that its own examples do not make: Kim-Nelson's procedure and mfbai.

`python tests/test_is_it_for_me.py` writes them into the page.
"""

from pathlib import Path

import numpy as np

import mfbai
from support.programs import load

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "guides" / "is_it_for_me.md"
BEGIN, END = "<!-- table: tests/test_is_it_for_me.py -->\n\n", "\n<!-- end of table -->"
ARMS, ZONES, GAP, RUNS, DELTA = (2, 5, 20), (0.5, 0.25, 0.125), 0.5, 200, 0.05
CORRELATIONS = {"independent": 0.0, "common": 0.8}
ENOUGH = 10_000  # values of an arm, more than any run takes


def kim_nelson(arms, zone, seeds):
    """Mean evaluations, for normal values of deviation 1; the first arm is ahead of all others by the gap."""
    select, correlation, spent = load("examples/baselines.py").kim_nelson, CORRELATIONS[seeds], []
    for run in range(RUNS):
        rng = np.random.default_rng([arms, run])
        own, shared = rng.normal(size=(arms, ENOUGH)), rng.normal(size=ENOUGH)
        values = own * (1 - correlation) ** 0.5 + shared * correlation**0.5
        values[0] += GAP
        found = select(lambda arm, n, of=values: of[arm, n], arms, zone, DELTA, common=seeds == "common")
        spent.append(found.evaluations)
    return np.mean(spent)


def ours(arms, seeds):
    problem = mfbai.Problem(arms, costs=1.0, biases=0.0, family=mfbai.Symmetric(-3, 3), seeds=seeds)
    correlation = CORRELATIONS[seeds] or None
    truth = problem.instance([[GAP], *[[0.0]] * (arms - 1)], deviation=1.0, correlation=correlation)
    return float(mfbai.simulate(truth, delta=DELTA, runs=RUNS, seed=1).mean_cost)


def rows():
    for seeds in CORRELATIONS:
        for arms in ARMS:
            costs = [*(kim_nelson(arms, zone, seeds) for zone in ZONES), ours(arms, seeds)]
            yield f"| {arms}, {seeds} | " + " | ".join(f"{cost:,.0f}" for cost in costs) + " |\n"


def test_the_table_of_ranking_and_selection_is_what_comes_out():
    shown = PAGE.read_text().partition(BEGIN)[2].partition(END)[0]
    assert shown.splitlines(keepends=True)[2:] == list(rows())


if __name__ == "__main__":
    before, begin, rest = PAGE.read_text().partition(BEGIN)
    table, end, after = rest.partition(END)
    heading = table.splitlines(keepends=True)[:2]
    PAGE.write_text(before + begin + "".join([*heading, *rows()]) + end + after)
