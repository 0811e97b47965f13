"""Pilots with known truths."""

from math import sqrt

import numpy as np

import mfbai
from mfbai.analysis.pairs import Pairs
from mfbai.analysis.pilot import make_pilot

SYMMETRIC = mfbai.Symmetric(-100, 100)


def make_problem(arms=6, cheap=1, family=SYMMETRIC, **options):
    """Cheap fidelities cost a hundredth, and nothing is known of their biases."""
    return mfbai.Problem(arms, [0.01] * cheap + [1.0], [np.inf] * cheap + [0.0], family, **options)


def draw_pilot(rng, problem, rho=0.9, shared=0.0, arms=6, seeds=8):
    """A pilot of the first arms, and the true biases of all. At one seed, `rho` is the correlation of two fidelities of
    an arm, and `shared` that of two arms at a fidelity; all deviations are 1."""
    K, M = problem.shape
    biases = np.column_stack([rng.normal(0.0, 3.0, (K, M - 1)), np.zeros(K)])

    def noise(count):
        common = rng.standard_normal((count, seeds, 1))
        return sqrt(rho) * common + sqrt(1 - rho) * rng.standard_normal((count, seeds, M))

    values = biases[:arms, None, :] + sqrt(shared) * noise(1) + sqrt(1 - shared) * noise(arms)
    pairs = Pairs(list(range(arms)), list(range(M)), list(map(str, range(seeds))), values)
    return make_pilot(problem, pairs), biases


def changed(pilot, values):
    """The pilot of the same arms and seeds, had it had other values, (arms, seeds, fidelities)."""
    return make_pilot(pilot.given, pilot.pairs._replace(values=values))


def rows_of(pilot):
    """The values as someone would tell them."""
    pairs = pilot.pairs
    return [
        (arm, m, seed, float(pairs.values[i, s, n]))
        for i, arm in enumerate(pairs.arms)
        for s, seed in enumerate(pairs.seeds)
        for n, m in enumerate(pairs.fidelities)
    ]
