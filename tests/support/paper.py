"""Numbers as the paper's chapters would have computed them, and the verdicts on them."""

import math

import numpy as np

from mfbai.paper import costs
from mfbai.paper.pieces import DELTAS, Made, Noise, Scale, stacked

NOISE = Noise()
CERTAIN, FINAL = DELTAS
FALSE_ALARM = 1e-6  # the probability with which a statistical check fails though all is as stated
TINY = Scale(runs=20, steps=2000, pulls=20_000, instances=5)


def verdicts(part, results, *noise):
    """{what the paper says: verdict}; no claim is made twice."""
    found = list(part.claims(Made(results, {}), *noise))
    assert len({claim.text for claim in found}) == len(found)
    return {claim.text: claim.verdict for claim in found}


def sample(middle, n, spread):
    """n values in shuffled order of this mean, exactly, and about this relative deviation."""
    rng = np.random.default_rng(n)
    return middle * (1 + spread * math.sqrt(3) * rng.permutation(np.linspace(-1, 1, n)))


COSTS = {
    ("mf-grad", CERTAIN): 1000.0,
    ("mf-grad", FINAL): 2000.0,
    ("iise", CERTAIN): 3000.0,
    ("iise", FINAL): 7000.0,
    ("grad", CERTAIN): 1500.0,
    ("grad", FINAL): 4000.0,
    ("mf-grad-const", CERTAIN): 800.0,
    ("mf-grad-const", FINAL): 1500.0,
}


def cost_table(changes=None, errors=None, n=100, spread=0.1):
    """As computed: mean costs and numbers of errors by strategy and delta."""
    means, wrong = {**COSTS, **(changes or {})}, errors or {}
    tables = {}
    for strategy in costs.STRATEGIES:
        errs = np.stack([np.arange(n) < wrong.get((strategy, delta), 0) for delta in DELTAS], axis=1).ravel()
        tables[strategy] = {
            "run": np.repeat(np.arange(n), 2),
            "delta": np.tile(DELTAS, n),
            "cost": np.stack([sample(means[strategy, delta], n, spread) for delta in DELTAS], axis=1).ravel(),
            "stopped": np.ones(2 * n, dtype=bool),
            "correct": ~errs,
        }
    return stacked(tables, "strategy")


def cost_results(**options):
    """The same numbers for all four instances."""
    return {costs.name(instance, NOISE): cost_table(**options) for instance in costs.INSTANCES}
