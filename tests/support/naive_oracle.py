"""The oracle by slow and obvious means, and random instances of every kind to try the fast one on.

Nothing here knows the kernels of mfbai. Divergences are those of `naive`, minima come from its grid and golden-section
search, and the semi-infinite program is a plain linear program over a grid of top means.

As a script it measures the fast oracle on many random instances: python tests/naive_oracle.py [200 of each family]
"""

import sys
import time
from itertools import product
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, linprog, nnls

from mfbai.errors import InvalidInput
from mfbai.model.families import FAMILIES, Gaussian, SubGaussian
from mfbai.model.instance import Instance
from support import naive

NAMES = ["gaussian", "subgaussian", "bernoulli", "poisson", "exponential"]
BOUNDS = (-0.5, 1.5)  # of the rewards of random sub-Gaussian instances


class Duel(NamedTuple):
    """The question to be answered: is arm `best` within the tolerance of all others? Top means are u = sign * x."""

    instance: Instance
    tolerance: float
    best: int

    @property
    def rivals(self):
        """The arms that could be better at all."""
        low, high = self.range()
        return np.array([a for a in range(len(low)) if a != self.best and low[a] <= high[a]], dtype=int)

    def range(self):
        """(K,) least and greatest top mean of `best` at which a rival may meet it."""
        top = self.instance.problem.sign * self.instance.means[:, -1]
        least, most = possible_tops(self.instance.problem)
        low, high = (
            np.maximum(top - self.tolerance, least[self.best]),
            np.minimum(top[self.best], most - self.tolerance),
        )
        return low, high

    def rates(self, arms, etas):
        """(P, K, M) what a unit of cost buys in each cell if `best` had the top mean eta, and the arm the same."""
        table = np.zeros((len(arms), *self.instance.shape))
        own = information(self.instance, np.full(len(arms), self.best), etas[:, None])[:, 0]
        theirs = information(self.instance, arms, etas[:, None] + self.tolerance)[:, 0]
        table[:, self.best], table[np.arange(len(arms)), arms] = own, theirs
        return table

    def minima(self, weights):
        """All local minima over eta of what the weights (costs) buy against each rival: arms, etas, values."""

        def bought(arms, etas):
            own = information(self.instance, np.full(len(arms), self.best), etas)
            theirs = information(self.instance, arms, etas + self.tolerance)
            return _spent(weights[self.best][None, None], own) + _spent(weights[arms][:, None], theirs)

        arms, etas, values = naive._local_minima(
            bought, self.rivals, *self.range(), self._marks(), self.instance.problem.family.name
        )
        return arms, etas.astype(float), values.astype(float)

    def _marks(self):
        """(K, 4M) the ends of the dead zones of `best` and of each arm."""
        problem, means = self.instance.problem, self.instance.means
        ends = problem.sign * np.concatenate([means - problem.bias_low, means - problem.bias_high], axis=1)
        return np.concatenate([np.broadcast_to(ends[self.best], ends.shape), ends - self.tolerance], axis=1)


def _spent(weights, rates):
    with np.errstate(invalid="ignore"):
        return np.where(weights > 0, weights * rates, 0.0).sum(axis=-1)


def possible_tops(problem):
    """(K,) least and greatest u for which every cell has a possible mean."""
    least, most = problem.family.mean_range
    ends = np.sort(
        [problem.sign * (least - problem.bias_high).max(axis=1), problem.sign * (most - problem.bias_low).min(axis=1)],
        axis=0,
    )
    return ends[0], ends[1]


def information(instance, arms, tops):
    """(T, N, M) the divergences over cost in the cells of arms (T,) if their top means were u (T, N)."""
    problem = instance.problem
    x = (problem.sign * tops)[:, :, None]
    mean, low, high, cost, variance = (
        table[arms][:, None]
        for table in (instance.means, problem.bias_low, problem.bias_high, problem.costs, naive.variance_of(problem))
    )
    closest = np.clip(np.clip(mean, x + low, x + high), *problem.family.mean_range)
    return naive.divergence(problem.family.name, mean, closest, variance) / cost


def certifiable(instance, tolerance):
    """The arms that are within the tolerance of all others, and not at its very edge."""
    top = instance.problem.sign * instance.means[:, -1]
    return [i for i in range(len(top)) if top[i] + tolerance > np.delete(top, i).max()]


class Optimality(NamedTuple):
    """How far from optimal weights are: each is 0 at an optimum, but for rounding."""

    shortfall: float  # by how much the weakest transport cost is below 1
    excess: float  # by how much the largest one of a rival that is paid for is above 1
    residual: (
        float  # of the best prices: paid cells must be worth their cost, others no more; NaN if too close to a pole
    )


def optimality(duel, weights):
    """The optimality conditions at weights that are costs. Prices come from nonnegative least squares, with a slack
    variable for every cell that is not paid for."""
    arms, etas, values = duel.minima(weights)
    least = np.array([values[arms == a].min() for a in duel.rivals])
    paid = weights > 1e-9 * weights.sum()
    shortfall, excess = 1 - least.min(), (least[paid[duel.rivals].any(axis=1)] - 1).max(initial=0.0)
    bind = values <= 1 + 1e-7
    rates = duel.rates(arms[bind], etas[bind]).reshape(-1, weights.size) * weights.sum()
    if not np.isfinite(rates).all():
        return Optimality(shortfall, excess, np.nan)
    table = np.concatenate([rates.T, np.eye(weights.size)[:, ~paid.ravel()]], axis=1)
    residual = nnls(table, np.ones(weights.size))[1]
    steep = residual > 1e-6 and _steep(duel, arms[bind], etas[bind], weights.sum())
    return Optimality(shortfall, excess, np.nan if steep else residual)


def _steep(duel, arms, etas, scale):
    """Whether rates change within what a golden-section search cannot resolve: close to the end of a range where a
    divergence is infinite."""
    low, high = (end[arms] for end in duel.range())
    near = [np.clip(etas + side * 1e-9 * (high - low), low, high) for side in (-1, 0, 1)]
    with np.errstate(invalid="ignore"):
        return not np.ptp([scale * duel.rates(arms, eta) for eta in near], axis=0).max() <= 1e-6


def grid_bound(duel, allowed=None, rounds=4):
    """A lower bound on C*, by linear programs over a grid that gets finer where it binds; close to C* in the end.

    The bound is that of the prices, which holds whatever the solver's own tolerances. `allowed` (K, M) restricts the
    cells that may be used.
    """
    low, high = duel.range()
    allowed = np.ones(duel.instance.shape, dtype=bool) if allowed is None else allowed
    arms, etas, steps = (
        np.concatenate(part) for part in zip(*(_points(a, low[a], high[a]) for a in duel.rivals), strict=True)
    )
    bound = 0.0
    for _ in range(rounds):
        rates = duel.rates(arms, etas)[:, allowed]
        keep = np.isfinite(rates).all(axis=1)  # where a rate is infinite the least weight is enough
        arms, etas, steps, rates = arms[keep], etas[keep], steps[keep], rates[keep]
        norm = rates.max(axis=1)
        if not norm.all():
            return np.inf
        tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
        right = 1 / norm / (1 / norm).max()
        done = linprog(np.ones(rates.shape[1]), -rates / norm[:, None], -right, method="highs", options=tolerances)
        prices = np.maximum(-done.ineqlin.marginals / norm, 0)
        bound = max(bound, prices.sum() / (prices @ rates).max())
        bind = np.flatnonzero(prices > 1e-9 * prices.sum())
        near = np.linspace(-1, 1, 41)
        new = np.clip(etas[bind, None] + steps[bind, None] * near, low[arms[bind], None], high[arms[bind], None])
        arms, etas, steps = (
            np.concatenate([arms[bind], np.repeat(arms[bind], len(near))]),
            np.concatenate([etas[bind], new.ravel()]),
            np.concatenate([steps[bind], np.repeat(steps[bind] / 20, len(near))]),
        )
    return bound


def _points(arm, low, high):
    """A first grid: even, and denser towards both ends; with the distance to the next point."""
    towards = np.logspace(-7, 0, 120)
    part = np.unique(np.concatenate([np.linspace(0, 1, 120), towards, 1 - towards]))
    etas = low + (high - low) * part
    steps = (high - low) * np.maximum(np.diff(part, prepend=0), np.diff(part, append=1))
    return np.full(len(etas), arm), etas, steps


def best_single_fidelities(duel):
    """The least cost if every arm is evaluated at one fidelity only, by trying them all."""
    K, M = duel.instance.shape
    return min(grid_bound(duel, np.arange(M) == np.array(choice)[:, None]) for choice in product(range(M), repeat=K))


def characteristic_time(instance):
    """T* of Garivier and Kaufmann (2016, Theorem 5), for one fidelity of cost 1.

    x_a(y) is the weight at which rival a has transport cost y, if the best arm's is 1. At the optimal y the sum over a
    of d(best, m_a) / d(a, m_a) is 1, at the weighted means m_a.
    """
    family, variance, means = (
        instance.problem.family.name,
        naive.variance_of(instance.problem)[0, 0],
        instance.means[:, 0],
    )
    best = instance.best
    rivals = np.delete(means, best)

    def d(p, q):
        return float(naive.divergence(family, np.longdouble(p), np.longdouble(q), variance))

    def middle(a, x):
        return (means[best] + np.longdouble(x) * a) / (1 + np.longdouble(x))

    def ratio(a, y):
        def short(log_x):
            m = middle(a, np.exp(log_x))
            return d(means[best], m) + np.exp(log_x) * d(a, m) - y

        return float(np.exp(brentq(short, -25, 25, xtol=1e-15)))

    def balance(y):
        middles = [middle(a, ratio(a, y)) for a in rivals]
        return sum(d(means[best], m) / d(a, m) for a, m in zip(rivals, middles, strict=True)) - 1

    most = min(d(means[best], a) for a in rivals)
    y = brentq(balance, 1e-4 * most, (1 - 1e-4) * most, xtol=1e-16 * most)
    return (1 + sum(ratio(a, y) for a in rivals)) / y


def random_instance(rng, name, K=None, M=None, wild=1.0):
    """Any instance of the family. Costs, variances, biases and scales range over `wild` powers of ten, up and down.

    Biases are symmetric, lopsided, one-sided or zero, the same for all arms or not; means are inside their bounds, at
    their edges or at those of the family's range. Some have fidelities or rivals that are copies of each other.
    """
    K, M = int(K or rng.integers(2, 7)), int(M or rng.integers(1, 5))
    rows = int(rng.choice([1, K]))  # the same for every arm, or not
    costs = 10.0 ** (wild * rng.uniform(-1, 1, size=(rows, M)))
    if rng.random() < 0.5:
        costs.sort(axis=1)
    tops = _random_tops(rng, name, K, wild)
    low, high = _random_bounds(rng, np.ptp(tops), (rows, M), wild)
    family = _random_family(rng, name, (rows, M), wild)
    costs, low, high = (np.array(np.broadcast_to(table, (K, M))) for table in (costs, low, high))
    means = random_means(rng, tops, low, high, family)
    if M > 2 and rng.random() < 0.15:
        for table in (means, costs, low, high):
            table[:, 0] = table[:, 1]
    if K > 2 and rng.random() < 0.15:
        for table in (means, costs, low, high):
            table[rng.integers(K)] = table[tops.argmin()]
    direction = str(rng.choice(["maximise", "minimise"]))
    try:
        return Instance(means, costs, (low, high), family, direction=direction)
    except InvalidInput:  # biases that leave no possible mean, or two best arms
        return random_instance(rng, name, K, M, wild)


def _random_tops(rng, name, K, wild):
    spread = wild * rng.choice([0.1, 0.3, 1.0]) * rng.uniform(-1, 1, size=K)
    extreme = (rng.random() < 0.2) * (np.arange(K) == 0)
    match name:
        case "gaussian":
            return 10 ** (wild * rng.uniform(-1, 1)) * rng.normal(size=K)
        case "subgaussian":
            return np.where(extreme, rng.choice(BOUNDS), rng.uniform(*BOUNDS, size=K))
        case "bernoulli":
            return np.where(extreme, float(rng.integers(2)), rng.uniform(0.02, 0.98, size=K))
        case "poisson":
            return np.where(extreme, 0.0, 10**spread)
    return 10**spread


def _random_bounds(rng, scale, shape, wild):
    scale *= 10 ** (wild * rng.uniform(-1, 1) * rng.choice([0.3, 1.0]))
    low, high = np.sort(scale * rng.uniform(-1, 1, size=(2, *shape)) * 10 ** rng.uniform(-2, 0, size=shape), axis=0)
    match rng.choice(["symmetric", "lopsided", "any", "partly exact"]):
        case "symmetric":
            low, high = -abs(high), abs(high)
        case "lopsided":
            low, high = -abs(low), abs(high)
        case "partly exact":
            exact = rng.random(shape) < 0.5
            low, high = np.where(exact, 0.0, -abs(low)), np.where(exact, 0.0, abs(high))
    low[:, -1] = high[:, -1] = 0.0
    return low, high


def random_means(rng, tops, low, high, family):
    """(K, M) means within the bounds around the top ones, if there are any; some at the edges of what is possible."""
    least, most = family.mean_range
    least = 1e-3 * tops.min() if family.open_range else least
    first, last = np.maximum(low, least - tops[:, None]), np.minimum(high, most - tops[:, None])
    off = rng.uniform(np.minimum(first, last), last)  # where there is none, the instance will be refused
    edge = rng.random(low.shape) < rng.choice([0.0, 0.3, 1.0])
    off = np.where(edge, np.where(rng.random(low.shape) < 0.5, first, last), off)
    means = np.clip(tops[:, None] + off, least, most)
    means[:, -1] = tops
    return means


def _random_family(rng, name, shape, wild):
    if name == "gaussian":
        variance = 10.0 ** (wild * rng.uniform(-1, 1, size=shape) * rng.choice([0, 1]))
        return Gaussian(variance if shape[0] > 1 else variance[0])
    return SubGaussian(bounds=BOUNDS) if name == "subgaussian" else FAMILIES[name]()


def random_tolerance(rng, instance):
    """None, mostly; or one that is below, at or above the gap."""
    return float(rng.choice([0.0, 0.0, 0.0, 0.5, 1.001, 2.5])) * instance.gap


class Measured(NamedTuple):
    """How well an oracle did on a random instance."""

    seed: tuple  # for `random_case`, to see the instance again
    gap: float
    seconds: float


def random_case(name, seed, n):
    """The n-th of the random instances of a sweep, with a tolerance."""
    rng = np.random.default_rng([NAMES.index(name), seed, n])
    most = 50 if name == "gaussian" else 12
    wild = float(rng.choice([1.0, 3.0]))
    instance = random_instance(rng, name, rng.integers(2, most + 1), rng.integers(1, 8), wild)
    return instance, random_tolerance(rng, instance)


def sweep(oracle, name, count, seed=0):
    """The oracle's certified gap and its time on random instances of a family."""
    for n in range(count):
        instance, tolerance = random_case(name, seed, n)
        begun = time.perf_counter()
        gap = oracle(instance, tolerance).gap
        yield Measured((name, seed, n), gap, time.perf_counter() - begun)


def main(scale=200):
    from mfbai.analysis.oracle import oracle

    print(f"{'family':12}{'instances':>10}{'largest gap':>14}{'above 1e-9':>12}{'mean ms':>10}{'worst ms':>10}")
    for name in NAMES:
        count = scale * (10 if name == "gaussian" else 1)
        measured = list(sweep(oracle, name, count, seed=1))[1:]  # the first one compiles
        gaps, times = np.array([row.gap for row in measured]), 1e3 * np.array([row.seconds for row in measured])
        bad = (~(gaps <= 1e-9)).sum()
        print(f"{name:12}{count:10}{gaps.max():14.1e}{bad:12}{times.mean():10.2f}{times.max():10.1f}", flush=True)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:2]))
