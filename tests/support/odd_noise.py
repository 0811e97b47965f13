"""Exact ties at the edge of the bias bounds with noise of any kind, for families that learn it. For tests and bench.

The last arm is the best, as are all others: it looks as bad as its bounds allow at lower fidelities, and the others as
good. It must not be ruled out. Simulations of the package draw normals, or from Beta laws; here others are drawn, too.
"""

from math import exp, sqrt
from typing import NamedTuple

import numpy as np

from mfbai import Bounded, Instance, Symmetric
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import make_stats, record
from mfbai.run.state import arrays_of, changing
from mfbai.stopping import RULES
from mfbai.stopping.interface import decide, observe
from mfbai.strategies import STRATEGIES, ask, tell

RADII = {1: [0.0], 2: [0.1, 0.0], 5: [0.1, 0.08, 0.05, 0.03, 0.0]}
COSTS = {1: [1.0], 2: [0.2, 1.0], 5: [0.05, 0.1, 0.2, 0.4, 5.0]}
ARMS = 3


class Noise(NamedTuple):
    family: str
    kind: int  # of `draw`
    size: float  # of the noise; its skewness; or of bounded values, the sum of the two parameters of a Beta law
    top: float = 0.5  # the mean


NOISES = {
    "normal": Noise("symmetric", 0, 0.1),
    "Cauchy": Noise("symmetric", 1, 0.05),
    "uniform": Noise("symmetric", 2, 0.2),
    "two points": Noise("symmetric", 3, 0.1),
    "changing size": Noise("symmetric", 4, 0.1),
    "Bernoulli(.05)": Noise("bounded", 5, 0.0, 0.05),
    "Bernoulli(.5)": Noise("bounded", 5, 0.0),
    "Bernoulli(.95)": Noise("bounded", 5, 0.0, 0.95),
    "Beta(.2, .2)": Noise("bounded", 6, 0.4),
    "Beta(90, 10)": Noise("bounded", 6, 100.0, 0.9),
}
SKEWED = {  # in the way that favours an error: small gains and rare large losses, mirrored for the best arm
    "normal": Noise("symmetric", 0, 0.1),
    "normal, with an exponential loss: skewness -0.5": Noise("symmetric", 7, 0.5),
    "the same, more of it: -1": Noise("symmetric", 7, 1.0),
    "an exponential loss alone: -2": Noise("symmetric", 7, 2.0),
    "a rare failure (2 %), and hardly any other noise: -6.9": Noise("symmetric", 8, 0.02),
}
SAMPLERS = ("frugal", "uniform", "luck")  # the last goes on with a cell while its values favour an error


def tie(noise, fidelities):
    """The instance; its deviation plays no part."""
    radii = np.array(RADII[fidelities])
    if noise.family == "bounded":
        radii = radii * min(1.0, 4.0 * noise.top, 4.0 * (1.0 - noise.top))
    means = noise.top + np.tile(radii, (ARMS, 1))
    means[-1] = noise.top - radii
    family = Symmetric(0.0, 1.0) if noise.family == "symmetric" else Bounded(0.0, 1.0)
    bounds = radii + 1e-12 * (radii > 0)  # the means are rounded
    return Instance(means, COSTS[fidelities], bounds, family, ties=True, deviation=0.1)


def count_false(noise, fidelities, sampler, delta, runs, steps, seed):
    """In how many runs the best arm is ruled out, by so many evaluations."""
    instance = tie(noise, fidelities)
    model, stats = instance.model(), make_stats(instance.shape)
    state = STRATEGIES["uniform" if sampler == "luck" else sampler].make(instance, delta)
    rule = state.rule if sampler == "frugal" else RULES["e-process"].init(model, np.array([delta]), fidelities)
    fresh = [(array, array.copy()) for array in arrays_of((changing(model), stats, state, rule))]
    pending, truth, errors = np.zeros(instance.shape, dtype=np.int64), instance.means.copy(), 0
    for run in range(runs):
        for array, start in fresh:
            array[...] = start
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
        given = (pending, truth, noise.kind, noise.size, sampler == "luck", rng, steps)
        errors += rules_out_the_best(model, stats, state, rule, *given)
    return errors


@kernel
def rules_out_the_best(model, stats, state, rule, pending, truth, kind, size, luck, rng, until):
    K, M = truth.shape
    best, arm, fidelity, x = K - 1, 0, 0, 0.0
    while stats.steps[0] < until:
        if not luck or stats.steps[0] < K * M:
            arm, fidelity = ask(model, stats, state, pending)
        elif (x < truth[arm, fidelity]) == (arm < best):  # not what was hoped for
            arm, fidelity = int(K * rng.random()), int(M * rng.random())
        x = draw(rng, kind, size, truth[arm, fidelity], 1.0 if arm < best else -1.0, x)
        record(model, stats, arm, fidelity, x)
        tell(model, stats, state, arm, fidelity, x)
        observe(model, stats, rule, arm, fidelity, x)
        answer = decide(model, stats, rule, 0)
        for row in range(rule.proven.shape[0]):
            if rule.proven[row, best] >= rule.target[0]:
                return 1
        if answer >= 0:
            return 0
    return 0


@kernel
def draw(rng, kind, size, mean, side, before):
    """A value. `before` is the last one, by which some noise changes its size; skewed noise is mirrored by `side`."""
    if kind == 0:
        return mean + size * rng.standard_normal()
    if kind == 1:
        return mean + size * rng.standard_normal() / rng.standard_normal()
    if kind == 2:
        return mean + size * (2.0 * rng.random() - 1.0)
    if kind == 3:
        return mean + (size if rng.random() < 0.5 else -size)
    if kind == 4:
        scale = size * exp(6.0 * rng.random() - 3.0) * (1.0 if before > 0.5 else 0.1)
        return mean + scale * rng.standard_normal()
    if kind == 5:
        return 1.0 if rng.random() < mean else 0.0
    if kind == 6:
        a, b = rng.standard_gamma(size * mean), rng.standard_gamma(size * (1.0 - mean))
        return a / (a + b) if a + b > 0.0 else mean
    if kind == 7:
        part = (0.5 * size) ** (2.0 / 3.0)
        loss = sqrt(part) * (1.0 - rng.standard_exponential())
        return mean + 0.1 * (sqrt(1.0 - part) * rng.standard_normal() + side * loss)
    failed = 1.0 if rng.random() < size else 0.0
    return mean + 0.1 * (side * (size - failed) / sqrt(size * (1.0 - size)) + 0.05 * rng.standard_normal())
