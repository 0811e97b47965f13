"""Slow, obvious versions of the rule `contrasts`: books and rounds that keep every value. NumPy, SciPy and fractions.

Values and biases are turned so that larger is better.
"""

from collections import defaultdict
from fractions import Fraction
from math import exp, floor, log, log1p, sqrt, tanh

import numpy as np
from scipy.optimize import brentq

from mfbai.kernels.stats import ROOM

SCALES = [2 ** (1 - k / 2) for k in range(10)]


def weights(middle):
    """Of the scales: 0.98 in all, the most for the one in the middle."""
    raw = np.array([1 / (1 + (k - middle) ** 2) for k in range(10)])
    return 0.98 * raw / raw.sum()


class Claims:
    """What is ruled out: in one row, or with a tolerance in one for each leader."""

    def __init__(self, problem, deltas, tolerance):
        self.problem, self.K, self.M, self.tolerance = problem, *problem.shape, tolerance
        self.sign = problem.sign
        low, high = problem.bias_low, problem.bias_high
        self.low, self.high = (low, high) if self.sign > 0 else (-high, -low)
        self.targets = [log((self.K - 1 if tolerance > 0 else 1) / delta) for delta in deltas]
        self.rows = self.K if tolerance > 0 else 1
        self.proven = np.zeros((self.rows, self.K))

    def row(self, leader):
        return leader if self.rows > 1 else 0

    def prove(self, row, j, evidence):
        self.proven[row, j] = max(self.proven[row, j], evidence)

    def answer(self, leader, level):
        """The best arm, or -1."""
        left = [j for j in range(self.K) if self.proven[self.row(leader), j] < self.targets[level]]
        if leader < 0 or len([j for j in left if self.rows == 1 or j != leader]) > (self.rows == 1):
            return -1
        return left[0] if left and self.rows == 1 else leader


class NaiveBooks(Claims):
    """For each row and rival a list of bets (tilt, value less bias, variance), leaders' tilts positive, its own not."""

    def __init__(self, problem, deltas, tolerance=0.0):
        super().__init__(problem, deltas, tolerance)
        self.variance = np.broadcast_to(np.asarray(problem.family.variance, dtype=float), problem.shape)
        self.natural = np.sqrt(problem.costs / self.variance)
        self.bets = defaultdict(list)
        self.size = defaultdict(Fraction)
        self.first = {}  # arm: (what is bet, variance)
        self.early = {}  # (row, arm): nats
        self.closing = set()  # (row, arm) of books of which a part was closed

    def observe(self, arm, m, value, leader, share, tilt):
        """A value, and what the strategy had written into the books before it."""
        x, variance = self.sign * value, self.variance[arm, m]
        for row in range(self.rows):
            if self.size[row, arm] > 0:
                parts = max(floor(float(self.size[row, arm]) / self.natural[arm, m] + 0.5), 1)
                part = self.exposure(row, arm) / parts
                self.bets[row, arm].append((-part, x - self.low[arm, m], variance))
                self.size[row, arm] -= self.size[row, arm] / parts
                self.closing.discard((row, arm))
                if parts > 1:
                    self.closing.add((row, arm))
                self.test(row, arm)
        self.first.setdefault(arm, (self.low[arm, m] - x, variance))
        if arm != leader:
            return
        row, beyond = self.row(leader), x - self.high[arm, m] + self.tolerance
        for j in range(self.K):
            if j == leader or share[j] == 0 or j not in self.first:
                continue
            if (row, j) not in self.early:
                self.early[row, j] = self.bet_on_first(*self.first[j], beyond, variance)
                self.test(row, j)
            elif (row, j) not in self.closing:
                size = Fraction(share[j] * self.natural[arm, m])
                self.size[row, j] += size
                self.bets[row, j].append((Fraction(tilt[j, m] * float(size)), beyond, variance))

    def exposure(self, row, arm):
        return sum((g for g, _, _ in self.bets[row, arm]), Fraction(0))

    def bet_on_first(self, own, variance, beyond, other):
        """ln of the capital that a tenth of it makes of the pair of an arm's first value and the leader's."""
        tilts = [sqrt(self.targets[-1] / variance / pairs) for pairs in (1, 2, 4)]
        return log(0.9 + 0.1 * np.mean([exp(g * (own + beyond) - g * g * (variance + other) / 2) for g in tilts]))

    def test(self, row, arm):
        """Only of a book that is balanced."""
        if self.exposure(row, arm) != 0 or self.size[row, arm] != 0:
            return
        gain = sum(float(g) * beyond for g, beyond, _ in self.bets[row, arm])
        noise = sum(float(g) ** 2 * variance for g, _, variance in self.bets[row, arm])
        capital = sum(w * exp(t * gain - t * t * noise / 2) for t, w in zip(SCALES, weights(2.5), strict=True))
        self.prove(row, arm, log(0.02 + capital) + self.early.get((row, arm), 0.0))


def log1p_tanh(y):
    return log1p(tanh(y)) if y > -9 else log(2) + 2 * y - log1p(exp(2 * y))


class NaiveRounds(Claims):
    """Keeps all values of every cell, and all contrasts with their tilts."""

    def __init__(self, problem, deltas, tolerance=0.0):
        super().__init__(problem, deltas, tolerance)
        self.bounded, self.common = problem.family.name == "bounded", problem.seeds == "common"
        ends = [self.sign * end for end in problem.family.ranges(self.M)]
        self.least, self.most = np.minimum(*ends), np.maximum(*ends)  # of the values, if bounded
        model = problem.model(tolerance)
        self.tops = np.stack([model.top_low, model.top_high])
        self.told = defaultdict(list)  # (arm, fidelity): values that are learnt
        self.fresh = []  # values that are not
        self.across = [], -1  # entries at the leader's seed of the round, and its leader
        self.contrasts = defaultdict(list)  # (row, rival): (tilt, the most of it, contrast)
        self.products = []  # of standardised residuals at the same seed
        self.squares = defaultdict(list)  # rival: squared residuals of contrasts, over what was expected
        self.noise = np.ones(problem.shape)
        self.correlation = 0.0
        self.ratio = np.ones(self.K)  # of the variance of a rival's contrasts to what was expected
        self.between = None

    def round(self, entries):
        """A round's (seed within it, arm, fidelity, part, value), the value None if it is missing."""
        came = [(own, arm, m, part, self.sign * value) for own, arm, m, part, value in entries if value is not None]
        leaders = [entry for entry in came if entry[3] < 0]
        if leaders:
            self.learn()
            _, s, m, part, _ = leaders[0]
            x, all_here = np.mean([entry[4] for entry in leaders]), len(leaders) == -part // ROOM + 1
            self.across = [entry for entry in came if entry[0] == 0], s
            for j in sorted({arm for _, arm, _, _, _ in came} - {s}):
                block = [entry for entry in came if entry[1] == j]
                if all_here and len(block) == block[0][3] and self.is_known(s) and self.is_known(j):
                    y, values, k = np.mean([entry[4] for entry in block]), len(block), block[0][2]
                    self.bet(self.row(s), s, m, x, len(leaders), j, k, y, values, self.ratio[j])
                    if self.common:
                        self.note_residuals(s, m, x, block)
        self.fresh += [(arm, m, x) for _, arm, m, _, x in came]
        if leaders and len(came) == len(entries):
            self.learn()

    def is_known(self, arm):
        return any(self.told[arm, m] for m in range(self.M))

    def bet_across(self):
        """With a tolerance, on all pairs of a round's values with the leader's seed, but those of its own row."""
        entries, s = self.across
        for _, i, m, _, x in entries:
            for _, j, k, _, y in entries:
                if self.rows > 1 and i not in (s, j) and self.is_known(i) and self.is_known(j):
                    ratio = self.ratio[i] if j == s else max(self.ratio[i], self.ratio[j])
                    self.bet(i, i, m, x, 1, j, k, y, 1, ratio)
        self.across = [], -1

    def bet(self, row, s, m, x, ns, j, k, y, nj, ratio):
        """On x, the mean of ns values of arm s at m, less y, that of nj of arm j at k."""
        bound = self.high[s, m] - self.low[j, k] - self.tolerance
        worst = self.least[m] - self.most[k] - bound  # that the contrast can be, if values are bounded
        most = 0.99 / -worst if self.bounded else np.inf
        self.contrasts[row, j].append((self.tilt(s, m, ns, j, k, nj, ratio), most, x - y - bound))
        log_factor = log1p if self.bounded else log1p_tanh
        capitals = []
        for scale in SCALES:
            capitals.append(sum(log_factor(min(scale * g, most) * d) for g, most, d in self.contrasts[row, j]))
        most = max(capitals)
        shares = zip(capitals, weights(3.0), strict=True)
        self.prove(row, j, most + log(0.02 * exp(-most) + sum(w * exp(c - most) for c, w in shares)))

    def tilt(self, s, m, ns, j, k, nj, ratio):
        """What would be best if the estimates were right: the gap over the variance of the contrast, or for bounded
        values over the mean of its square."""
        (us, es), (uj, ej) = self.estimate(s, m, self.high), self.estimate(j, k, self.low)
        noise = ratio * self.contrast_noise(s, m, ns, j, k, nj)
        error = ratio * (1 - self.correlation) * (es + ej)
        gap = us - uj + self.tolerance
        gap = gap - 0.25 * error / gap if gap > 0 else 0.0
        gap = max(gap, 0.01 * sqrt(noise))
        return gap / (noise + error + self.bounded * gap**2)

    def contrast_noise(self, s, m, ns, j, k, nj):
        """If they share as many seeds as the one with fewer values has."""
        vs, vj, shared = self.noise[s, m], self.noise[j, k], min(ns, nj)
        return vs / ns + vj / nj - 2 * shared * self.correlation * sqrt(vs * vj) / (ns * nj)

    def estimate(self, arm, m, bias):
        values = self.told[arm, m]
        if values:
            return np.mean(values) - bias[arm, m], self.noise[arm, m] / len(values)
        low, high = self.low[arm, m], self.high[arm, m]
        return self.middle(arm) + (low + high) / 2 - bias[arm, m], self.noise[arm, m] + (high - low) ** 2 / 12

    def middle(self, arm):
        """The middle of the top means that fit an arm's data best."""
        cells = [m for m in range(self.M) if self.told[arm, m]]
        means = {m: np.mean(self.told[arm, m]) for m in cells}
        least = max(means[m] - self.high[arm, m] for m in cells)
        most = min(means[m] - self.low[arm, m] for m in cells)
        lowest, highest = self.tops[:, arm]
        if max(least, lowest) <= min(most, highest):
            return (max(least, lowest) + min(most, highest)) / 2

        def slope(x):
            total = 0.0
            for m in cells:
                weight = len(self.told[arm, m]) / self.noise[arm, m]
                total += weight * max(x - (means[m] - self.low[arm, m]), 0.0)
                total += weight * min(x - (means[m] - self.high[arm, m]), 0.0)
            return total

        if least <= most:  # but outside of what is possible
            return np.clip(least, lowest, highest)
        return np.clip(brentq(slope, most, least, xtol=1e-15, rtol=1e-14), lowest, highest)

    def note_residuals(self, s, m, x, block):
        """How far leader and rival are from their means so far: for correlation and variances of later rounds."""
        j, k = block[0][1], block[0][2]
        if not (self.told[s, m] and self.told[j, k]):
            return
        mine, middle = x - np.mean(self.told[s, m]), np.mean(self.told[j, k])
        es, ej = self.noise[s, m] / len(self.told[s, m]), self.noise[j, k] / len(self.told[j, k])
        expected = self.contrast_noise(s, m, 1, j, k, len(block)) + (1 - self.correlation) * (es + ej)
        off = mine - (np.mean([entry[4] for entry in block]) - middle)
        self.squares[j].append(off**2 / expected)
        for own, _, _, _, y in block:
            if own == 0:
                scale = sqrt((self.noise[s, m] + es) * (self.noise[j, k] + ej))
                self.products.append(mine * (y - middle) / scale)

    def learn(self):
        if not self.fresh:
            return
        self.bet_across()
        for arm, m, x in self.fresh:
            self.told[arm, m].append(x)
        self.fresh = []
        if self.between is None:
            means = [np.mean(values) for values in self.told.values() if values]
            self.between = max(np.var(means, ddof=1) if len(means) > 1 else 0.0, 1e-24 * (1 + np.mean(means) ** 2))
        self.noise = self.variances()
        if not self.common:
            return
        self.correlation = np.clip(sum(self.products) / (len(self.products) + 30), 0, 0.97)
        for j in range(self.K):
            self.ratio[j] = (sum(self.squares[j]) + 4) / (len(self.squares[j]) + 4)

    def variances(self):
        """A cell's, drawn towards its fidelity's, which is drawn towards that of all."""
        squares, degrees = np.zeros((self.K, self.M)), np.zeros((self.K, self.M))
        for (arm, m), values in self.told.items():
            if values:
                squares[arm, m], degrees[arm, m] = np.var(values) * len(values), len(values) - 1
        everywhere = (self.between + squares.sum()) / (1 + degrees.sum())
        here = (squares.sum(axis=0) + 8 * everywhere) / (degrees.sum(axis=0) + 8)
        return (squares + 8 * here) / (degrees + 8)
