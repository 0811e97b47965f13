"""Slow, obvious versions of the kernels, to test the fast ones against. Plain Python and NumPy.

f_ij is found by brute force, for any family: a grid over the top means, then a golden-section search in extended
precision around every local minimum of the grid. Nothing is assumed to be convex, and nothing is remembered from one
call to the next. All pairs of arms of many cases are solved side by side, for speed alone.

`gaussian_evidence` is a second version, for the Gaussian family only, fast enough to run plain MF-GRAD with.
"""

from math import log, sqrt
from typing import NamedTuple

import numpy as np

GOLDEN = (np.sqrt(np.longdouble(5)) - 1) / 2


class Case(NamedTuple):
    """What F is a function of; the means as told, not reflected."""

    problem: object
    counts: np.ndarray  # (K, M)
    means: np.ndarray  # (K, M)
    tolerance: float


class Arms(NamedTuple):
    """The arms of many cases, A in all, of one family. Top means are u = sign * x: larger is better."""

    family: str
    limits: tuple  # the range of the family's means
    sign: np.ndarray  # (A,)
    count: np.ndarray  # (A, M), as are the next four
    mean: np.ndarray
    low: np.ndarray
    high: np.ndarray
    variance: np.ndarray
    ends: np.ndarray  # (A, 2M) ends of the cells' dead zones in u; NaN where there are no data
    lower: np.ndarray  # (A,) the range of u to search: all that is possible, or all that can matter
    upper: np.ndarray
    home: np.ndarray  # (A,) index of the case


class Solution(NamedTuple):
    """Each (K, K): all f_ij, infinite on the diagonal, and the top means of i and j where each is attained."""

    f: np.ndarray
    x: np.ndarray
    y: np.ndarray

    def evidence(self, leader=None):
        """F, leader, challenger and their two top means; or the same of the row of a given leader."""
        leader = int(self.f.min(axis=1).argmax() if leader is None else leader)
        challenger = int(self.f[leader].argmin())
        pair = leader, challenger
        return float(self.f[pair]), leader, challenger, float(self.x[pair]), float(self.y[pair])


def divergence(family, p, q, variance=1.0):
    """d(p, q) from its textbook formula, with ln(p/q) = ln(1 + (p-q)/q); infinite where q makes p impossible."""
    with np.errstate(all="ignore"):
        match family:
            case "gaussian" | "subgaussian":
                return (p - q) ** 2 / (2 * variance)
            case "bernoulli":
                return _log_ratio(p, q) + _log_ratio(1 - p, 1 - q)
            case "poisson":
                return q - p + _log_ratio(p, q)
            case "exponential":
                return np.where(q > 0, (p - q) / q - np.log1p((p - q) / q), np.inf)
    raise AssertionError(family)


def _log_ratio(p, q):
    """p ln(p / q)."""
    return np.where(p > 0, p * np.log1p((p - q) / q), 0.0)


def profile(arms, a, u):
    """g of the arms `a` (T,) at the top means u (T, N)."""
    x = arms.sign[a, None] * u
    total = np.zeros_like(x)
    for m in range(arms.mean.shape[1]):
        count, mean, low, high, variance = (part[a, m, None].astype(u.dtype) for part in arms[3:8])
        q = np.clip(np.clip(mean, x + low, x + high), *arms.limits)
        total += np.where(count > 0, _times(count, divergence(arms.family, mean, q, variance)), 0.0)
    return total


def _times(count, value):
    return np.where(count > 0, count, 1.0) * value


def solve(cases):
    """The Solution of each case; all of one family and one number of fidelities."""
    arms = gather(cases)
    same_case = (arms.home[:, None] == arms.home) & ~np.eye(len(arms.home), dtype=bool)
    i, j = np.nonzero(same_case)
    gap = np.array([case.tolerance for case in cases])[arms.home[i]]
    f, x, y = _pairs(arms, i, j, gap)
    solutions = []
    for n, case in enumerate(cases):
        K = len(case.counts)
        mine, off_diagonal = arms.home[i] == n, ~np.eye(K, dtype=bool)
        tables = [np.full((K, K), np.inf), np.full((K, K), np.nan), np.full((K, K), np.nan)]
        for table, values in zip(tables, (f, case.problem.sign * x, case.problem.sign * y), strict=True):
            table[off_diagonal] = values[mine]
        solutions.append(Solution(*tables))
    return solutions


def supergradient(case, arm_means):
    """(K, M) the divergences over cost of the arms {arm: top mean}, by definition; zero for all others."""
    problem, gradient = case.problem, np.zeros_like(case.means)
    for arm, x in arm_means.items():
        q = np.clip(case.means[arm], x + problem.bias_low[arm], x + problem.bias_high[arm])
        gradient[arm] = divergence(problem.family.name, case.means[arm], q, variance_of(problem)[arm])
    return gradient / problem.costs


def variance_of(problem):
    family = problem.family
    variance = getattr(family, "proxy", getattr(family, "variance", 1.0))
    return np.broadcast_to(np.asarray(variance, dtype=float), problem.shape)


def gather(cases):
    def stack(tables):
        return np.concatenate(list(tables))

    problems = [case.problem for case in cases]
    family, (least, most) = problems[0].family.name, problems[0].family.mean_range
    home = np.repeat(np.arange(len(cases)), [len(case.counts) for case in cases])
    sign = np.array([problem.sign for problem in problems])[home]
    count, mean = stack(case.counts for case in cases), stack(case.means for case in cases)
    low, high = stack(problem.bias_low for problem in problems), stack(problem.bias_high for problem in problems)
    ends = np.concatenate([mean - low, mean - high], axis=1)
    ends = np.where(np.tile(count > 0, (1, 2)), sign[:, None] * ends, np.nan)
    lower, upper = np.sort([sign * (least - high).max(axis=1), sign * (most - low).min(axis=1)], axis=0)
    # Beyond all of these nothing changes but for the worse; one more unit leaves room for arms without data.
    marks = np.column_stack([ends, lower, upper])
    marks = np.where(np.isfinite(marks), marks, 0.0)
    room = 1.0 + np.array([case.tolerance for case in cases])[home]
    lower = np.maximum(lower, np.array([marks[home == n].min() for n in home]) - room)
    upper = np.minimum(upper, np.array([marks[home == n].max() for n in home]) + room)
    variance = stack(map(variance_of, problems))
    return Arms(family, (least, most), sign, count, mean, low, high, variance, ends, lower, upper, home)


def _pairs(arms, i, j, gap):
    """f, x, y of each pair: the arms meet, as close as allowed, or each rests in a local minimum of its own profile."""
    lower, upper = np.maximum(arms.lower[i], arms.lower[j] - gap), np.minimum(arms.upper[i], arms.upper[j] - gap)
    can_meet = np.flatnonzero(lower <= upper)

    def together(p, u):
        return profile(arms, i[p], u) + profile(arms, j[p], u + gap[p, None])

    marks = np.concatenate([arms.ends[i], arms.ends[j] - gap[:, None]], axis=1)
    pair, x, value = _local_minima(together, can_meet, lower, upper, marks, arms.family)
    y = x + gap[pair]

    wells_x, wells_value = _wells(arms)
    xs, ys = wells_x[i][:, :, None], wells_x[j][:, None, :]
    apart = np.where(ys >= xs + gap[:, None, None], wells_value[i][:, :, None] + wells_value[j][:, None, :], np.inf)
    best = apart.reshape(len(i), -1).argmin(axis=1)
    first, second = np.unravel_index(best, apart.shape[1:])
    everyone = np.arange(len(i))
    return _least(
        np.concatenate([pair, everyone]),
        np.concatenate([value, apart[everyone, first, second]]),
        np.concatenate([x, wells_x[i, first]]),
        np.concatenate([y, wells_x[j, second]]),
    )


def _least(owner, value, x, y):
    order = np.lexsort([value, owner])
    _, first = np.unique(owner[order], return_index=True)
    return tuple(part[order][first].astype(float) for part in (value, x, y))


def _wells(arms):
    """(A, W) all local minima of each arm's profile, both ends of a flat one, and their values; filled up with inf."""
    everyone = np.arange(len(arms.home))
    owner, x, value = _local_minima(
        lambda a, u: profile(arms, a, u), everyone, arms.lower, arms.upper, arms.ends, arms.family
    )
    order = np.lexsort([x, owner])
    owner, x, value = owner[order], x[order], value[order]
    column = np.arange(len(owner)) - np.searchsorted(owner, owner)
    shape = len(everyone), column.max() + 1
    xs, values = np.zeros(shape, dtype=x.dtype), np.full(shape, np.inf, dtype=x.dtype)
    xs[owner, column], values[owner, column] = x, value
    return xs, values


def _local_minima(function, who, lower, upper, marks, family):
    """All local minima of function(who, .) over [lower, upper]: owners, places, values. Flat ones have two or more."""
    grid = _grid(lower[who], upper[who], marks[who], 40 if family == "exponential" else 0)
    values = np.pad(function(who, grid), ((0, 0), (1, 1)), constant_values=np.inf)
    before, here, after = values[:, :-2], values[:, 1:-1], values[:, 2:]
    low_point = (here <= before) & (here <= after) & ~((here == before) & (here == after))
    row, column = np.nonzero(low_point)
    left, right = _neighbour(grid, row, column, -1), _neighbour(grid, row, column, +1)
    x, value = golden_section(lambda u: function(who[row], u[:, None])[:, 0], left, right)
    exact = grid[row, column].astype(np.longdouble)  # the grid has the marks, so the exact end of what is flat
    everything = np.concatenate([row, row]), np.concatenate([x, exact])
    exact_value = function(who[row], exact[:, None])[:, 0]
    return who[everything[0]], everything[1], np.concatenate([value, exact_value])


def _neighbour(grid, row, column, step):
    """The next point of the grid that is not the same but for rounding."""
    last, width = grid.shape[1] - 1, grid[row, -1] - grid[row, 0]
    there = np.clip(column + step, 0, last)
    for _ in range(8):
        same = abs(grid[row, there] - grid[row, column]) < 1e-9 * width
        there = np.where(same, np.clip(there + step, 0, last), there)
    return grid[row, there]


def _grid(lower, upper, marks, crowd):
    """(T, N) sorted points of [lower, upper]: even ones, the marks, and `crowd` at either side of each mark and end."""
    width = (upper - lower)[:, None]
    even = lower[:, None] + width * np.linspace(0, 1, 33)
    marks = np.concatenate([np.where(np.isnan(marks), lower[:, None], marks), lower[:, None], upper[:, None]], axis=1)
    steps = np.logspace(-7, 0, crowd)
    around = marks[:, :, None] + width[:, :, None] * np.concatenate([-steps, [0], steps])
    points = np.concatenate([even, around.reshape(len(lower), around.shape[1] * around.shape[2])], axis=1)
    points = np.sort(np.clip(points, lower[:, None], upper[:, None]), axis=1)
    again = np.diff(points, axis=1, prepend=-np.inf) == 0  # two equal neighbours would look flat: use them elsewhere
    elsewhere = lower[:, None] + width * (np.arange(points.shape[1]) * float(GOLDEN) % 1)
    return np.sort(np.where(again, elsewhere, points), axis=1)


def golden_section(function, low, high, steps=100):
    """Where each of many unimodal functions is least on [low, high], and its value there; in extended precision."""
    low, high = low.astype(np.longdouble), high.astype(np.longdouble)
    a, b = low, high
    c, d = b - GOLDEN * (b - a), a + GOLDEN * (b - a)
    at_c, at_d = function(c), function(d)
    for _ in range(steps):
        left = at_c <= at_d
        a, b = np.where(left, a, c), np.where(left, d, b)
        probe = np.where(left, b - GOLDEN * (b - a), a + GOLDEN * (b - a))
        at_probe = function(probe)
        c, d = np.where(left, probe, d), np.where(left, c, probe)
        at_c, at_d = np.where(left, at_probe, at_d), np.where(left, at_c, at_probe)
    places = np.array([a + (b - a) / 2, low, high])
    values = np.array([function(x) for x in places])
    best = values.argmin(axis=0), np.arange(len(low))
    return places[best], values[best]


def gaussian_evidence(problem, weights, means, row_only=False):
    """F, leader, challenger and their top means for a Gaussian problem that maximises, by sorted breakpoints.

    All K (K - 1) pairs, every time. With `row_only` the leader is the arm of the largest psi.
    """
    K = len(weights)
    precise = weights / variance_of(problem)
    low, high = means - problem.bias_high, means - problem.bias_low  # the cells' dead zones
    psi_low, psi_high, misfit = _least_quadratics(precise, low, high)
    i, j = np.nonzero(~np.eye(K, dtype=bool))
    both = [np.concatenate([table[i], table[j]], axis=1) for table in (precise, low, high)]
    eta, _, met = _least_quadratics(*both)
    apart = psi_high[j] >= psi_low[i]
    tables = [np.full((K, K), np.inf), np.zeros((K, K)), np.zeros((K, K))]
    results = (
        np.where(apart, misfit[i] + misfit[j], met),
        np.where(apart, psi_low[i], eta),
        np.where(apart, psi_high[j], eta),
    )
    for table, result in zip(tables, results, strict=True):
        table[i, j] = result
    return Solution(*tables).evidence(psi_high.argmax() if row_only else None)


def _least_quadratics(precise, low, high):
    """The minimisers [first, last] and the minimum of each row's sum of precise/2 * distance(x, [low, high])^2."""
    ends = np.sort(np.concatenate([low, high], axis=1), axis=1)

    def distance(x):
        return np.minimum(x - low[:, None], 0) + np.maximum(x - high[:, None], 0)

    slope = (precise[:, None] * distance(ends[:, :, None])).sum(axis=2)
    flat = slope == 0
    rows = np.arange(len(low))
    k = np.clip((slope < 0).sum(axis=1), 1, ends.shape[1] - 1)  # the slope crosses zero between ends k - 1 and k
    middle = (ends[rows, k - 1] + ends[rows, k]) / 2
    below, above = middle[:, None] < low, middle[:, None] > high
    active = precise * (below | above)
    total = active.sum(axis=1)
    x = (active * np.where(below, low, high)).sum(axis=1) / np.where(total > 0, total, 1)
    first = np.where(flat.any(axis=1), ends[rows, flat.argmax(axis=1)], x)
    last = np.where(flat.any(axis=1), ends[rows, ends.shape[1] - 1 - flat[:, ::-1].argmax(axis=1)], x)
    return first, last, 0.5 * (precise * distance(first[:, None, None])[:, 0] ** 2).sum(axis=1)


class Run(NamedTuple):
    """What a run of MF-GRAD did."""

    pulls: list  # (arm, fidelity) in order
    answers: list  # one for each delta that was decided
    stops: list  # and after how many evaluations


def mf_grad_run(problem, rewards, rate, clip, deltas, max_steps, row_only=False):
    """MF-GRAD, line by line, with the stylised rule, on a Gaussian problem; rate 0 is the theory's.

    With `row_only` it climbs the row of the arm of the largest psi in place of F.

    rewards[a, m, n] is what the n-th evaluation of a cell returns. Deltas from the largest to the smallest.
    """
    K, M = problem.shape
    cost = problem.costs
    count, mean = np.zeros((K, M)), np.zeros((K, M))
    omega, gain, gradients = np.full((K, M), 1 / (K * M)), np.zeros((K, M)), 0
    target = np.ones((K, M))  # the sum of pi', one for each cell during initialisation
    run = Run([], [], [])
    for t in range(1, max_steps + 1):
        arm, fidelity = divmod(int((target - count).argmax()), M)
        run.pulls.append((arm, fidelity))
        x = rewards[arm, fidelity, int(count[arm, fidelity])]
        count[arm, fidelity] += 1
        mean[arm, fidelity] += (x - mean[arm, fidelity]) / count[arm, fidelity]
        if t < K * M:
            continue
        value, leader = gaussian_evidence(problem, count, mean)[:2]
        while len(run.stops) < len(deltas) and value >= log(K / deltas[len(run.stops)]) + M * log(log(t) + 1):
            run.answers.append(leader)
            run.stops.append(t)
        if len(run.stops) == len(deltas):
            break
        _, leader, challenger, *meeting = gaussian_evidence(problem, omega / cost, mean, row_only)
        case = Case(problem, count, mean, 0.0)
        gradient = supergradient(case, dict(zip((leader, challenger), meeting, strict=True)))
        pi = omega / cost / (omega / cost).sum()
        gain += np.minimum((cost * pi).sum() * gradient, clip * sqrt(t))
        gradients += 1
        alpha = rate or 1 / sqrt(gradients + 1)
        omega = np.exp(alpha * (gain - gain.max()))
        omega /= omega.sum()
        pi = omega / cost / (omega / cost).sum()
        gamma = 1 / (4 * sqrt(t))
        target += (1 - gamma) * pi + gamma / (K * M)
    return run
