"""Slow, obvious versions of the betting martingales and of what they prove. NumPy and SciPy.

Everything is in the user's own coordinates but the top means that are searched over, u = sign * x: larger is better.
Minima over u are looked for on a dense grid and then by `scipy.optimize` around the best points, so what is found can
be above the minimum, never below it.
"""

from math import inf, log, pi, sqrt

import numpy as np
from scipy import integrate, optimize, special

SCALES = [4.0, 32.0, 0.5, 256.0, 2048.0, 16384.0]
WEIGHTS = np.array([1 / ((k + 1) * (k + 2)) for k in range(6)])
WEIGHTS /= WEIGHTS.sum()
BET = 0.7
GAUSSIAN = ("gaussian", "subgaussian")

_points, _shares = special.roots_legendre(16)
_points = 1.75 * (_points + 1)
_shares = _shares * np.exp(-(_points**2) / 2)
# 16 points of the half-normal, and 12 below them, each 0.3 of the one before, with 5 % of the weight together
NODES = np.array([*_points, *(_points[0] * 0.3**n for n in range(1, 13))])
NODE_WEIGHTS = np.array([*(0.95 * _shares / _shares.sum()), *([0.05 / 12] * 12)])


def integrated(count, mean, q, up, scale, variance):
    """ln E of a Gaussian cell by integration: the likelihood ratio of a drift, over its half-normal prior."""
    distance = (mean - q) if up else (q - mean)

    def exponent(drift):
        ratio = (drift * count * distance - count * drift**2 / 2) / variance
        return ratio - scale * drift**2 / (2 * variance)

    peak = max(count * distance / (count + scale), 0.0)
    width = sqrt(variance / (count + scale))
    steep = max(1.0, -count * distance / (variance / width))  # how fast it falls, if the peak is at 0
    most = exponent(peak)
    ends = max(-peak / width, -40.0), 40.0 / steep
    total = integrate.quad(
        lambda u: np.exp(exponent(peak + width * u) - most), *ends, epsabs=0, epsrel=1e-11, limit=200
    )
    won = log(2 * sqrt(scale / (2 * pi * variance)) * width * total[0]) + most
    return float(np.logaddexp(log(1 - BET), log(BET) + won))


def likelihood_ratio(family, count, mean, q, tilt):
    """ln of the tilted law's likelihood over that of mean q, with its limits at the ends of the means' range."""
    total = count * mean
    match family:
        case "bernoulli":
            q = np.clip(q, 0.0, 1.0)
            inside = (q > 0) & (q < 1)
            safe = np.where(inside, q, 0.5)
            norm = 1 - safe + safe * np.exp(tilt)
            success, failure = safe * np.exp(tilt) / norm, (1 - safe) / norm
            ratio = total * np.log(success / safe) + (count - total) * np.log(failure / (1 - safe))
            return np.where(inside, ratio, np.where(q <= 0, total * tilt, (total - count) * tilt))
        case "poisson":
            q = np.maximum(q, 0.0)
            theta = q * np.exp(tilt)
            return total * tilt - np.where(np.isinf(q), inf * tilt, count * (theta - np.where(np.isinf(q), 0.0, q)))
        case "exponential":
            safe = np.where(q > 0, q, 1.0)
            theta = safe * np.exp(tilt)
            ratio = -count * tilt + np.where(np.isinf(safe), 0.0, total / safe - total / theta)
            return np.where(q > 0, ratio, inf * tilt)
    raise AssertionError(family)


def capitals(family, count, mean, q, up, variance=1.0):
    """(scales, len(q)) ln E of who bets that a cell's mean is above q (`up`) or below it."""
    q, scale, side = np.atleast_1d(np.asarray(q, dtype=float)), np.array(SCALES)[:, None], (1 if up else -1)
    with np.errstate(all="ignore"):
        if family in GAUSSIAN:
            z = side * (mean - q) * count / np.sqrt(variance * (count + scale))
            left = np.log(special.erfcx(np.maximum(-z, 0.0) / sqrt(2)) / 2)
            right = np.maximum(z, 0.0) ** 2 / 2 + special.log_ndtr(z)
            won = np.log(2 * np.sqrt(scale / (count + scale))) + np.where(z < 0, left, right)
        else:
            tilts = side * NODES / np.sqrt(scale) * (2 if family == "bernoulli" else 1)
            ratios = likelihood_ratio(family, count, mean, q[:, None], tilts[:, None, :])
            won = log_sum(np.log(NODE_WEIGHTS) + ratios, axis=2)
        return np.logaddexp(log(1 - BET), log(BET) + won)


def log_sum(terms, axis):
    """ln of the sum of exponentials."""
    most = terms.max(axis=axis)
    safe = np.where(np.isfinite(most), most, 0.0)
    return safe + np.log(np.exp(terms - np.expand_dims(safe, axis)).sum(axis=axis))


def mixture(rows):
    """ln of the sum over the scales."""
    with np.errstate(all="ignore"):
        return log_sum(np.log(WEIGHTS)[:, None] + rows, axis=0)


class Claims:
    """What counts and means prove in a problem."""

    def __init__(self, problem, counts, means, tolerance=0.0):
        self.problem, self.family, self.sign = problem, problem.family.name, problem.sign
        self.count, self.mean = np.asarray(counts, dtype=float), np.asarray(means, dtype=float)
        self.tolerance = tolerance
        proxy = problem.family.proxy if self.family == "subgaussian" else getattr(problem.family, "variance", 1.0)
        self.variance = np.broadcast_to(np.asarray(proxy, dtype=float), problem.shape)
        self.K, self.M = problem.shape
        low, high = problem.family.mean_range
        ends = low - problem.bias_high, high - problem.bias_low
        ends = (ends[0].max(axis=1), ends[1].min(axis=1))
        self.least, self.most = ends if self.sign > 0 else (-ends[1], -ends[0])  # of u

    def cell(self, arm, m, u, better):
        """(scales, len(u)) of who bets that a cell is too good, or too bad, for a top mean of u."""
        up = better == (self.sign > 0)
        bias = (self.problem.bias_high if up else self.problem.bias_low)[arm, m]
        return capitals(
            self.family, self.count[arm, m], self.mean[arm, m], self.sign * u + bias, up, self.variance[arm, m]
        )

    def tail(self, arm, u, better):
        """ln E of the claim that the arm's top mean is better than u, or worse."""
        used = np.flatnonzero(self.count[arm])
        return mixture(sum((self.cell(arm, m, u, better) for m in used), np.zeros((6, 1))))

    def pair(self, i, j, u):
        """ln E_ij at u, before the minimum is taken."""
        u = np.atleast_1d(np.asarray(u, dtype=float))
        rows = np.zeros((6, len(u)))
        for m in range(self.M):
            if self.count[i, m] > 0:
                rows += self.cell(i, m, u, better=True)
            if self.count[j, m] > 0:
                rows += self.cell(j, m, u + self.tolerance, better=False)
        return mixture(rows)

    def clash(self, arm, u, only=None):
        """ln E at u of the claim that the cells of an arm (one and the top) contradict each other."""
        u = np.atleast_1d(np.asarray(u, dtype=float))
        rows = np.zeros((6, len(u)))
        for m in range(self.M):
            if self.count[arm, m] > 0 and (only is None or m in (only, self.M - 1)):
                rows += np.logaddexp(self.cell(arm, m, u, True), self.cell(arm, m, u, False)) - log(2)
        return mixture(rows)

    def edges(self, arms, gaps):
        """Where the cells' bets change from losing to winning, in u."""
        found = []
        for arm, gap in zip(arms, gaps, strict=True):
            for m in np.flatnonzero(self.count[arm]):
                for bias in (self.problem.bias_low, self.problem.bias_high):
                    found.append(self.sign * (self.mean[arm, m] - bias[arm, m]) - gap)
        return np.array(found or [0.0])

    def least_pair(self, i, j):
        """min over u of ln E_ij."""
        low, high = self.least[i], self.most[j] - self.tolerance
        return minimum(lambda u: self.pair(i, j, u), self.edges((i, j), (0.0, self.tolerance)), low, high)

    def least_clash(self, arm, only=None):
        return minimum(lambda u: self.clash(arm, u, only), self.edges((arm,), (0.0,)), self.least[arm], self.most[arm])

    def evidence(self):
        """(K, K) ln E_ij, infinite on the diagonal."""
        table = np.full((self.K, self.K), inf)
        for i in range(self.K):
            for j in range(self.K):
                if i != j:
                    table[i, j] = self.least_pair(i, j)
        return table

    def interval(self, arm, target):
        """The top means that are not ruled out, in the user's coordinates."""
        edges = self.edges((arm,), (0.0,))
        ends = [self._end(arm, better, edges, target) for better in (True, False)]
        return ends if self.sign > 0 else [-ends[1], -ends[0]]

    def _end(self, arm, better, edges, target):
        """Where ln E of the claim "better than u" (or worse) falls to the target."""
        side = 1 if better else -1
        limit = self.least[arm] if better else self.most[arm]
        inside, reach = (edges.max() if better else edges.min()), 1e-3

        def missing(u):
            return float(self.tail(arm, u, better)[0]) - target

        while missing(inside) >= 0:
            inside += side * reach
            reach *= 2
        outside = edges.min() if better else edges.max()
        reach = 1e-3
        while missing(outside) < 0:
            if side * (outside - limit) <= 0 or abs(outside) > 1e15:
                return limit
            outside -= side * reach
            reach *= 2
        return optimize.brentq(lambda u: np.clip(missing(u), -1.0, 1.0), outside, inside, xtol=1e-13, rtol=1e-14)


def minimum(function, edges, low, high):
    """The least value over [low, high], which may be infinite."""
    if low > high:
        return inf
    size = 1e-3 + abs(edges).max() + np.ptp(edges)
    offsets = np.concatenate([[0.0], size * np.geomspace(1e-5, 1e4, 19)])
    grid = np.concatenate([(edges[:, None] + offsets).ravel(), (edges[:, None] - offsets).ravel()])
    grid = np.concatenate([grid, np.linspace(edges.min(), edges.max(), 60), [low, high]])
    grid = np.unique(np.clip(grid[~np.isnan(grid)], max(low, -1e15), min(high, 1e15)))
    values = function(grid)
    best = float(values.min())
    padded = np.concatenate([[inf], values, [inf]])
    wells = np.flatnonzero((values <= padded[:-2]) & (values <= padded[2:]))
    for n in wells[np.argsort(values[wells])][:2]:
        ends = grid[max(n - 1, 0)], grid[min(n + 1, len(grid) - 1)]
        if ends[0] < ends[1]:
            options = {"xatol": 1e-7 * (ends[1] - ends[0])}
            found = optimize.minimize_scalar(lambda u: function(u)[0], bounds=ends, method="bounded", options=options)
            best = min(best, float(found.fun))
    return best


class Loop:
    """The e-process rule at one delta, tested after every evaluation, with a latch for every pair."""

    def __init__(self, problem, delta):
        self.problem, self.target = problem, log((problem.n_arms - 1) / delta)
        self.proven = np.eye(problem.n_arms, dtype=bool)

    def look(self, counts, means, leader, f):
        """Whether the leader has ruled out all others by now. Where f (K, K) is too small, so is ln E."""
        claims = Claims(self.problem, counts, means)
        for i, j in np.argwhere(~self.proven & (f >= self.target)):
            self.proven[i, j] = self._reached(claims, i, j)
        return bool(self.proven[leader].all())

    def _reached(self, claims, i, j):
        """A single point where the evidence is too small settles it."""
        edges = np.sort(claims.edges((i, j), (0.0, 0.0)))
        points = np.clip(np.linspace(edges[0], edges[-1], 9), claims.least[i], claims.most[j])
        return claims.pair(i, j, points).min() >= self.target and claims.least_pair(i, j) >= self.target
