"""An arm that is as good as any other is hardly ever ruled out, by any sampling. At full size: bench/contrasts.py."""

import pytest
from scipy.stats import binom

from support.ties import Setting, count_false

DELTA, RUNS, STEPS = 0.1, 500, 400
MOST = binom.isf(1e-6, RUNS, DELTA)  # exceeded with a probability of one in a million at most, in each test

SETTINGS = {
    "books": Setting("independent", 4, 2),
    "books, two arms": Setting("independent", 2, 1),
    "books, late and failing": Setting("independent", 10, 5, under_way=8, failing=0.2),
    "books, tolerance": Setting("independent", 4, 2, tolerance=0.05),
    "books, cheat": Setting("independent", 2, 1, "cheat"),
    "books, cheat, many cells": Setting("independent", 10, 5, "cheat"),
    "rounds": Setting("common", 4, 2, correlation=0.5),
    "rounds, two arms": Setting("common", 2, 1, correlation=0.99),
    "rounds, against each other": Setting("common", 4, 2, correlation=-0.3, law="laplace"),
    "rounds, heavy tails, failing": Setting("common", 4, 2, correlation=0.9, law="t3", failing=0.2),
    "rounds, tolerance": Setting("common", 4, 2, correlation=0.5, tolerance=0.05),
    "rounds, cheat": Setting("common", 4, 2, "cheat", correlation=0.5),
    "symmetric": Setting("independent", 4, 2, family="symmetric"),
    "symmetric, cauchy": Setting("independent", 2, 1, law="cauchy", family="symmetric"),
    "symmetric, uniform": Setting("independent", 4, 5, law="uniform", family="symmetric"),
    "symmetric, two points, tolerance": Setting(
        "independent", 4, 1, law="two points", family="symmetric", tolerance=0.05
    ),
    "symmetric, changing, failing": Setting("independent", 4, 2, law="changing", family="symmetric", failing=0.2),
    "symmetric, cheat": Setting("independent", 2, 1, "cheat", family="symmetric"),
    "bounded": Setting("independent", 4, 2, law="bernoulli 0.5", family="bounded"),
    "bounded, rare losses": Setting("independent", 2, 1, law="bernoulli 0.95", family="bounded"),
    "bounded, rare gains, failing": Setting("independent", 4, 2, law="bernoulli 0.05", family="bounded", failing=0.2),
    "bounded, skewed": Setting("independent", 4, 5, law="beta 90 10", family="bounded"),
    "bounded, common seeds": Setting("common", 4, 2, correlation=0.9, law="bernoulli 0.5", family="bounded"),
    "bounded, cheat": Setting("independent", 2, 1, "cheat", law="beta 0.2 0.2", family="bounded"),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_the_best_arm_is_rarely_ruled_out_at_a_tie_at_the_edge_of_the_bounds(name):
    assert count_false(SETTINGS[name], DELTA, RUNS, STEPS, seed=7) <= MOST
