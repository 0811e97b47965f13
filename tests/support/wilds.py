"""Random problems for race, from the easiest to hard ones, and whether it comes to an end. For tests and benchmarks."""

from typing import NamedTuple

import numpy as np

from mfbai import Gaussian, Instance
from mfbai.kernels.stats import make_stats
from mfbai.model.families import Bounded, Symmetric
from mfbai.run.assemble import assemble
from mfbai.run.loop import advance, make_outcome
from mfbai.run.truth import make_truth


class Wild(NamedTuple):
    instance: Instance
    delta: float
    tolerance: float


class End(NamedTuple):
    steps: int
    cost: float
    answer: int  # -1: there is none
    right: bool


def noise_of(kind, means, variance):
    """The kinds are independent and common, which say how seeds are and have a known variance; symmetric and bounded,
    with independent seeds and none: the family, and the deviation if it does not say it."""
    if kind in ("independent", "common"):
        return {"family": Gaussian(variance)}
    spread = np.sqrt(variance) * np.ones_like(means)
    if kind == "symmetric":
        return {"family": Symmetric(means.min() - 1.0, means.max() + 1.0), "deviation": spread}
    low, high = (means - 4.0 * spread).min(axis=0), (means + 4.0 * spread).max(axis=0)
    return {"family": Bounded(low, high), "deviation": spread}


def wild(number, kind):
    """The problem of that number: 2 to 8 arms, 1 to 4 fidelities; in a fifth of them arms other than the best tie."""
    seeds = "common" if kind == "common" else "independent"
    rng = np.random.default_rng([number, seeds == "common"])
    K, M = int(rng.integers(2, 9)), int(rng.integers(1, 5))
    gap = 10 ** rng.uniform(-1.2, 1.0)
    tops = -gap * 10 ** rng.uniform(0, 1.0, K)
    tops[0] = 0.0
    if K > 2 and rng.random() < 0.2:
        tops[1 : int(rng.integers(3, K + 1))] = -gap
    tops += rng.choice([0.0, 1.0, 100.0])
    radii = gap * 10 ** rng.uniform(-2, 1.5, M) * (rng.random(M) < 0.8)
    radii[-1] = 0.0
    off = rng.uniform(-1, 1, (K, M))
    if rng.random() < 0.3:
        off = np.sign(off)
    variance = 10 ** rng.uniform(-4, 0.0, M) * np.ones((K, M))
    variance[:, -1] = 1.0
    if rng.random() < 0.3:
        variance *= 10 ** rng.uniform(-0.5, 0.5, (K, M))
    costs = 10 ** rng.uniform(-3, 0, M) * np.ones((K, M))
    costs[:, -1] = 1.0
    if rng.random() < 0.3:
        costs *= 10 ** rng.uniform(-0.5, 0.5, (K, M))
    tolerance = gap * 10 ** rng.uniform(-1, 0.5) if rng.random() < 0.4 else 0.0
    order = rng.permutation(K)
    means = (tops[:, None] + radii * off)[order]
    direction = "minimise" if rng.random() < 0.5 else "maximise"
    sign = -1.0 if direction == "minimise" else 1.0
    bounds = radii + 1e-9 * (radii > 0)
    shared = {"correlation": rng.choice([0.0, 0.5, 0.9, 0.99])} if seeds == "common" else {}
    noise = noise_of(kind, sign * means, variance)
    instance = Instance(sign * means, costs, bounds, direction=direction, seeds=seeds, **noise, **shared)
    return Wild(instance, rng.choice([0.1, 0.01]), tolerance)


def tied_field(kind):
    """One arm is the best, by half a deviation, and the three others tie."""
    means = np.full((4, 1), 0.5)
    means[3] = 0.55
    seeds = "common" if kind == "common" else "independent"
    return Wild(Instance(means, [1.0], [0.0], seeds=seeds, **noise_of(kind, means, 0.01)), 0.3, 0.0)


def race(problem, run, longest):
    """How a race ends, or that it does not within so many evaluations."""
    instance, delta, tolerance = problem
    parts = assemble(instance, "race", "contrasts", np.array([delta]), {}, tolerance)
    stats, state, outcome = make_stats(instance.shape), parts.make_state(), make_outcome(1)
    means = instance.problem.sign * instance.means
    truth = make_truth(means, instance.correlation)
    rng, pending = np.random.default_rng([run, 1]), np.zeros(instance.shape, dtype=np.int64)
    advance(parts.model, truth, stats, state, parts.make_rule(state), outcome, pending, rng, longest)
    answer = int(outcome.answer[0])
    right = answer >= 0 and means[answer, -1] + tolerance >= means[:, -1].max()
    return End(int(stats.steps[0]), float(stats.spent[0]), answer, bool(right))
