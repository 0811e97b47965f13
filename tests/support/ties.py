"""Exact ties at the edge of the bias bounds, and samplers that try to rule out the best arm. For tests and benchmarks.

The last arm is the best, as are all others: its claim to be it is true. It looks as bad as its bounds allow at lower
fidelities, and the others as good. With a tolerance it is better by just as much. Runs go on after an answer.
"""

from math import erf, exp, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai import Gaussian, Instance
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import ROOM, SEEDS, make_stats, record
from mfbai.model.families import Bounded, Symmetric
from mfbai.run.state import arrays_of, changing
from mfbai.stopping.books import books_observe
from mfbai.stopping.rounds import Rounds, rounds_observe
from mfbai.strategies import STRATEGIES, ask, tell

VARIANCE = 0.01
TOP = 0.5
RADII = {1: [0.0], 2: [0.1, 0.0], 5: [0.1, 0.08, 0.05, 0.03, 0.0]}
COSTS = {1: [1.0], 2: [0.2, 1.0], 5: [0.05, 0.1, 0.2, 0.4, 5.0]}
SIZE = sqrt(VARIANCE)
LAWS = ("normal", "laplace", "t3")
SYMMETRIC = ("normal", "cauchy", "uniform", "two points", "changing")  # laws of noise whose size nobody states
CODES = (*LAWS, *SYMMETRIC[1:], "beta")
# Of bounded values: the top mean, and the sum of the parameters of a Beta law; 0 for the two ends alone.
BOUNDED = {
    "bernoulli 0.05": (0.05, 0.0),
    "bernoulli 0.5": (0.5, 0.0),
    "bernoulli 0.95": (0.95, 0.0),
    "beta 0.2 0.2": (0.5, 0.4),
    "beta 90 10": (0.9, 100.0),
}
TOGETHER = 4  # seeds of a round for which noise is drawn


class Setting(NamedTuple):
    """A tie, and who samples."""

    seeds: str
    arms: int
    fidelities: int
    sampler: str = "race"  # or "cheat"
    correlation: float = 0.0  # between arms at the same seed
    law: str = "normal"
    family: str = "gaussian"  # symmetric or bounded: nobody states the size of the noise
    under_way: int = 1  # evaluations, told in the order of asking
    failing: float = 0.0  # part of them, whatever their values
    tolerance: float = 0.0


def tie(setting):
    """The instance; a tie must be allowed."""
    radii, top = np.array(RADII[setting.fidelities]), TOP
    family = Symmetric(0.0, 1.0) if setting.family == "symmetric" else Gaussian(VARIANCE)
    if setting.family == "bounded":
        family, (top, _) = Bounded(0.0, 1.0), BOUNDED[setting.law]
        radii *= 4.0 * min(top, 1.0 - top, 0.25)  # the means stay inside
    means = top + np.tile(radii, (setting.arms, 1))
    means[-1] = top + setting.tolerance - radii
    bounds = radii + 1e-12 * (radii > 0)  # the means are rounded
    spread = SIZE if family.learns else None  # not used
    costs = COSTS[setting.fidelities]
    return Instance(means, costs, bounds, family, seeds=setting.seeds, ties=True, deviation=spread)


def count_false(setting, delta, runs, steps, seed):
    """In how many runs the best arm is ever ruled out, by so many evaluations."""
    instance = tie(setting)
    model = instance.problem.model(setting.tolerance)
    stats, state = make_stats(instance.shape), STRATEGIES["race"].make(instance, delta, tolerance=setting.tolerance)
    pending = np.zeros(instance.shape, dtype=np.int64)
    fresh = [(array, array.copy()) for array in arrays_of((changing(model), stats, state, pending))]
    noise = np.zeros((setting.arms, TOGETHER))
    plan = np.zeros((4, 4 * (setting.arms + 1)), dtype=np.int64)
    queue = np.zeros((2, setting.under_way), dtype=np.int64)
    truth, law = instance.means.copy(), CODES.index(setting.law if setting.law in CODES else "beta")
    size = BOUNDED[setting.law][1] if setting.law in BOUNDED else -1.0
    cheat, in_rounds = setting.sampler == "cheat", isinstance(state.rule, Rounds)
    errors = 0
    for run in range(runs):
        for array, start in fresh:
            array[...] = start
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
        if in_rounds:
            given = (plan, noise, rng, steps, law, size, setting.correlation, setting.failing)
            play, who = (cheat_in_rounds, state.rule) if cheat else (race_in_rounds, state)
            errors += play(model, truth, stats, who, *given)
        elif cheat:
            errors += cheat_with_books(model, truth, stats, state.rule, rng, steps)
        else:
            errors += race_with_books(model, truth, stats, state, pending, queue, rng, steps, setting.failing)
    return errors


@kernel
def is_false(rule):
    """Whether the last arm is ruled out, in a leader's row if each has one."""
    best = rule.proven.shape[1] - 1
    for row in range(rule.proven.shape[0]):
        if rule.proven[row, best] >= rule.target[0]:
            return True
    return False


@kernel
def race_with_books(model, truth, stats, state, pending, queue, rng, until, failing):
    asked, came, room = 0, 0, queue.shape[1]
    while stats.steps[0] < until:
        while asked < came + room:
            arm, m = ask(model, stats, state, pending)
            queue[0, asked % room], queue[1, asked % room] = arm, m
            pending[arm, m] += 1
            asked += 1
        arm, m = queue[0, came % room], queue[1, came % room]
        pending[arm, m] -= 1
        came += 1
        if rng.random() >= failing:
            x = truth[arm, m] + model.law.deviation[arm, m] * rng.standard_normal()
            record(model, stats, arm, m, x)
            tell(model, stats, state, arm, m, x)
            if is_false(state.rule):
                return 1
    return 0


@kernel
def cheat_with_books(model, truth, stats, rule, rng, until):
    """Knows the truth. Opens the best arm's book with tilts of all sizes, looks, changes leaders after bad looks, adds
    more or leaves the book open while it would lose, and closes it when it seems to win."""
    K, M = model.cost.shape
    best = K - 1
    for arm in range(K):
        look(model, truth, stats, rule, rng, arm, int(M * rng.random()))
    rule.share[:], rule.share[best] = 0.0, 1.0
    s = int(best * rng.random())
    while stats.steps[0] < until:
        rule.leader[0] = s
        row = s if rule.proven.shape[0] > 1 else 0
        m, k = int(M * rng.random()), int(M * rng.random())
        hope = 0.02  # the capital if the book could be closed at the truth
        for n in range(rule.scales.size):
            t = rule.scales[n]
            gain = rule.gain[row, best] - rule.exposure[row, best] * truth[best, M - 1]
            hope += rule.weights[n] * exp(t * (gain - 0.5 * t * rule.noise[row, best]))
        if rule.exposure[row, best] > 0.0 and log(hope) > rule.target[0] * rng.random():
            look(model, truth, stats, rule, rng, best, k)
        else:
            pairs = 2.0 ** (6.0 * rng.random() - 1.0)  # after which the tilt would be right
            size = rule.natural[s, m]
            rule.tilt[best, m] = sqrt(rule.target[0] * model.law.precision[s, m] / pairs) / size
            if look(model, truth, stats, rule, rng, s, m) < truth[s, m]:
                s = int(best * rng.random())
        if is_false(rule):
            return 1
    return 0


@kernel
def look(model, truth, stats, rule, rng, arm, m):
    x = truth[arm, m] + model.law.deviation[arm, m] * rng.standard_normal()
    record(model, stats, arm, m, x)
    books_observe(model, stats, rule, arm, m, x)
    return x


@kernel
def race_in_rounds(model, truth, stats, state, plan, noise, rng, until, law, beta, correlation, failing):
    number = 0
    while stats.steps[0] < until:
        size = state.size[0]
        for n in range(size):  # telling the last of its values makes the next one
            plan[0, n], plan[1, n], plan[2, n], plan[3, n] = (
                state.plan[0, n],
                state.plan[1, n],
                state.plan[2, n],
                state.plan[3, n],
            )
        draw_round(rng, law, correlation, noise, number)
        for n in range(size):
            if rng.random() >= failing:
                arm, m, own = plan[0, n], plan[1, n], plan[2, n]
                x = value(rng, beta, truth[arm, m], noise[arm, own])
                stats.seed[0], stats.seed[1] = number * SEEDS + own, plan[3, n]
                record(model, stats, arm, m, x)
                tell(model, stats, state, arm, m, x)
        if is_false(state.rule):
            return 1
        number += 1
    return 0


@kernel
def cheat_in_rounds(model, truth, stats, rule, plan, noise, rng, until, law, beta, correlation, failing):
    """Changes leaders after each round that was lost, bets at random fidelities and numbers of values, and now and then
    leaves the best arm out, to learn of the leader alone."""
    K, M = model.cost.shape
    best, s, number = K - 1, 0, 0
    while stats.steps[0] < until:
        m, k, seeds = int(M * rng.random()), int(M * rng.random()), 1 + int(3 * rng.random())
        row = s if rule.proven.shape[0] > 1 else 0
        before = rule.capital[row, best, 3]
        if number > 0 and rng.random() < 0.1:
            seeds = 0
        leads = 1 if model.common else 1 + int(3 * rng.random())
        draw_round(rng, law, correlation, noise, number)
        for n in range(leads + seeds):
            arm, fidelity, own = (s, m, n) if n < leads else (best, k, n - leads)
            if rng.random() >= failing:
                x = value(rng, beta, truth[arm, fidelity], noise[arm, own])
                part = -(leads - 1) * ROOM - leads - seeds if n < leads else seeds
                stats.seed[0], stats.seed[1] = number * SEEDS + own, part
                record(model, stats, arm, fidelity, x)
                rounds_observe(model, stats, rule, arm, fidelity, x)
        if is_false(rule):
            return 1
        if rule.capital[row, best, 3] < before or number < best:
            s = (s + 1) % best
        number += 1
    return 0


@kernel
def value(rng, beta, mean, noise):
    """With bounded values the noise is normal: it says on which side of the mean an end is, or nothing."""
    if beta < 0.0:
        return mean + SIZE * noise
    if beta == 0.0:
        return 1.0 if 0.5 * (1.0 + erf(noise / sqrt(2.0))) > 1.0 - mean else 0.0
    if mean <= 0.0 or mean >= 1.0:
        return mean
    x, y = rng.standard_gamma(beta * mean), rng.standard_gamma(beta * (1.0 - mean))
    return x / (x + y) if x + y > 0.0 else (1.0 if rng.random() < mean else 0.0)


@kernel
def draw_round(rng, law, correlation, noise, number):
    """The noise of all arms at the seeds of a round: a common factor, or for a negative correlation what is left of
    independent noise when part of its mean is taken away."""
    K = noise.shape[0]
    apart = sqrt(1.0 - correlation)
    for own in range(noise.shape[1]):
        total = 0.0
        for a in range(K):
            noise[a, own] = apart * draw(rng, law, number)
            total += noise[a, own]
        if correlation >= 0.0:
            shared = sqrt(correlation) * draw(rng, law, number)
        else:
            shared = total / K * (sqrt(1.0 + K * correlation / (1.0 - correlation)) - 1.0)
        for a in range(K):
            noise[a, own] += shared


@kernel
def draw(rng, law, number):
    """A value that is symmetric around 0, of variance 1 if it has one that is the same in all rounds."""
    x = rng.standard_normal()
    if law == 0 or law == 7:
        return x
    if law == 3:
        return x / rng.standard_normal()
    if law == 4:
        return sqrt(12.0) * (rng.random() - 0.5)
    if law == 5:
        return 1.0 if x > 0.0 else -1.0
    if law == 6:
        return x * 10.0 ** (number % 5 - 2)
    if law == 1:
        return x * sqrt(rng.standard_exponential())
    squares = rng.standard_normal() ** 2 + rng.standard_normal() ** 2 + rng.standard_normal() ** 2
    return x / sqrt(squares)
