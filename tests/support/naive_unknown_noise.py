"""Slow, obvious versions of the bets of the families that learn their noise: from the values, one by one.

In the user's own coordinates; only the top means that are searched over, u = sign * x, are larger if better. What is
found on a grid can be above a minimum, never below it.
"""

from math import inf, log

import numpy as np
from scipy import optimize, special

BET = 0.7
TILTS = [2.0**k for k in range(-8, 13)]
SHARES = np.array([1 / (1 + ((k - 3) / 4) ** 2) for k in range(-8, 13)])
BETS = [0.99, 0.9, 0.75, 0.5, 0.3, 0.15, 0.07, 0.035, 0.017, 0.008, 0.004, 0.002]
LEVELS = 65


def symmetric(values, q, up, low, high):
    """ln of the capital that is bet on the mean being above q, or below it."""
    total = []
    for tilt, share in zip(TILTS, SHARES / SHARES.sum(), strict=True):
        y = (np.array(values) - q) * (1 if up else -1) * tilt / (high - low)
        total.append(log(BET * share) + (y - y**2 / 2).sum())
    return special.logsumexp([log(1 - BET), *total])


def bounded(values, q, up, low, high):
    """The same for values in [low, high], each of them at the two levels around it."""
    place = (np.array(values) - low) / (high - low) * (LEVELS - 1)
    below = np.minimum(np.floor(place), LEVELS - 2)
    total = []
    for bet in BETS:
        won = log(BET / len(BETS))
        for level, part in ((below, below + 1 - place), (below + 1, place - below)):
            height = low + level * (high - low) / (LEVELS - 1)
            ratio = (height - low) / (q - low) if up else (high - height) / (high - q)
            won += (part * np.log(1 - bet + bet * ratio)).sum()
        total.append(won)
    return special.logsumexp([log(1 - BET), *total])


class Claims:
    """What rows of (arm, fidelity, value) say of a problem, at a top mean of u = sign * x."""

    def __init__(self, problem, rows, tolerance=0.0):
        self.problem, self.tolerance, self.sign = problem, tolerance, problem.sign
        K, M = problem.shape
        self.values = [[[x for a, m, x in rows if (a, m) == (arm, fid)] for fid in range(M)] for arm in range(K)]
        low, high = problem.family.ranges(M)
        tops = np.stack([low - problem.bias_high, high - problem.bias_low])
        ends = tops[0].max(axis=1), tops[1].min(axis=1)
        self.least, self.most = ends if self.sign > 0 else (-ends[1], -ends[0])

    def capital(self, arm, m, q, up):
        family = self.problem.family
        if family.name == "symmetric":
            return symmetric(self.values[arm][m], q, up, family.low, family.high)
        low, high = family.ranges(self.problem.n_fidelities)
        return bounded(self.values[arm][m], q, up, low[m], high[m])

    def tail(self, arm, u, better):
        """That the arm's top mean is better than x, or poorer."""
        up = better == (self.sign > 0)
        bias = self.problem.bias_high[arm] if up else self.problem.bias_low[arm]
        cells = [m for m, values in enumerate(self.values[arm]) if values]
        return sum(self.capital(arm, m, self.sign * u + bias[m], up) for m in cells)

    def both(self, arm, u):
        """That the arm's cells contradict each other: each bets half on either side."""
        total = 0.0
        for m, values in enumerate(self.values[arm]):
            if values:
                x = self.sign * u
                up = self.capital(arm, m, x + self.problem.bias_high[arm, m], True)
                down = self.capital(arm, m, x + self.problem.bias_low[arm, m], False)
                total += special.logsumexp([up, down]) - log(2)
        return total

    def pair(self, i, j):
        """ln E_ij: that j is not better than i."""
        least, most = self.least[i], min(self.most[i], self.most[j] - self.tolerance)
        if least > most:
            return inf
        return _least(lambda u: self.tail(i, u, True) + self.tail(j, u + self.tolerance, False), least, most)

    def contradiction(self, arm):
        return _least(lambda u: self.both(arm, u), self.least[arm], self.most[arm])

    def first_left(self, arm, target, points=400):
        """Of a grid of top means from the poorest on, the first that is not ruled out as too poor."""
        grid = np.linspace(self.least[arm], self.most[arm], points)
        left = [u for u in grid[1:-1] if self.tail(arm, u, True) < target]
        return min(left, default=self.most[arm])


def _least(function, low, high, points=120):
    grid = np.linspace(low, high, points)
    inside = np.clip(grid, low + 1e-9, high - 1e-9)  # at the very ends of a range a bounded mean is certain
    values = np.array([function(u) for u in inside])
    best = inside[values.argmin()]
    step = grid[1] - grid[0]
    found = optimize.minimize_scalar(function, bounds=(max(best - step, inside[0]), min(best + step, inside[-1])))
    return min(values.min(), float(found.fun))
