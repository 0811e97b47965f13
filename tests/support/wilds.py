"""Random problems for race, from the easiest to hard ones, and whether it comes to an end. For tests and benchmarks."""

from typing import NamedTuple

import numpy as np

from mfbai import Gaussian, Instance
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import make_stats, record
from mfbai.run.assemble import assemble
from mfbai.run.loop import advance, make_outcome
from mfbai.stopping.interface import decide
from mfbai.strategies.interface import ask, seed, tell
from support.ties import TOGETHER, draw_round


class Wild(NamedTuple):
    instance: Instance
    delta: float
    tolerance: float
    correlation: float


class End(NamedTuple):
    steps: int
    answer: int  # -1: there is none
    right: bool


def wild(number, seeds):
    """The problem of that number: 2 to 8 arms, 1 to 4 fidelities; in a fifth of them arms other than the best tie."""
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
    instance = Instance(sign * means, costs, bounds, Gaussian(variance), direction=direction, seeds=seeds)
    return Wild(instance, rng.choice([0.1, 0.01]), tolerance, rng.choice([0.0, 0.5, 0.9, 0.99]))


def tied_field(seeds):
    """One arm is the best, by half a deviation, and the three others tie."""
    means = np.full((4, 1), 0.5)
    means[3] = 0.55
    return Wild(Instance(means, [1.0], [0.0], Gaussian(0.01), seeds=seeds), 0.3, 0.0, 0.5)


def race(problem, run, longest):
    """How a race ends, or that it does not within so many evaluations."""
    instance, delta, tolerance, correlation = problem
    parts = assemble(instance, "race", "contrasts", np.array([delta]), {}, tolerance)
    stats, state, outcome = make_stats(instance.shape), parts.make_state(), make_outcome(1)
    truth = instance.problem.sign * instance.means
    rng = np.random.default_rng([run, 1])
    pending = np.zeros(instance.shape, dtype=np.int64)
    if instance.problem.seeds == "common":
        noise = np.zeros((instance.shape[0], TOGETHER))
        given = (pending, noise, rng, longest, correlation)
        answer = race_with_factor(parts.model, truth, stats, state, *given)
    else:
        advance(parts.model, truth, stats, state, parts.make_rule(state), outcome, pending, rng, longest)
        answer = int(outcome.answer[0])
    right = answer >= 0 and truth[answer, -1] + tolerance >= truth[:, -1].max()
    return End(int(stats.steps[0]), answer, bool(right))


@kernel
def race_with_factor(model, truth, stats, state, pending, noise, rng, until, correlation):
    answer = -1
    while stats.steps[0] < until and answer < 0:
        if state.position[0] == 0:
            draw_round(rng, 0, correlation, noise)
        arm, m = ask(model, stats, state, pending)
        own = state.plan[2, state.position[0]]
        stats.seed[0], stats.seed[1] = seed(model, stats, state, pending)
        x = truth[arm, m] + model.law.deviation[arm, m] * noise[arm, own]
        record(model, stats, arm, m, x)
        tell(model, stats, state, arm, m, x)
        answer = decide(model, stats, state.rule, 0)
    return answer
