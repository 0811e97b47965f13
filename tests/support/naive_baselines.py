"""Slow, obvious versions of the baselines, to test the compiled ones against. Plain Python and NumPy.

Each is one object: `ask()` names the next cell, `tell(arm, fidelity, x)` takes in what it returned, with x reflected
for a problem that minimises, and `answer` is -1 until the rule of its own has decided. Track-and-Stop and the oracle
stop by other rules; they give `preferences`, a score for every cell: rounding decides between equally good cells.
"""

from math import inf, log, sqrt

import numpy as np
from scipy.optimize import brentq

import mfbai
from support import naive

NEGLIGIBLE = 1e-9  # an optimal share up to this is one that rounding left


class Told:
    """The problem, as one that maximises, and everything told so far."""

    def __init__(self, instance):
        problem = instance.problem
        self.problem, self.sign = problem, problem.sign
        self.K, self.M = problem.shape
        self.cost = problem.costs
        self.bias_low, self.bias_high = problem.bias_low, problem.bias_high
        if problem.direction == "minimise":
            self.bias_low, self.bias_high = -problem.bias_high, -problem.bias_low
        self.v = np.full(problem.shape, 0.25) if problem.family.name == "bernoulli" else naive.variance_of(problem)
        self.count, self.total = np.zeros(problem.shape), np.zeros(problem.shape)

    @property
    def t(self):
        return self.count.sum()

    @property
    def mean(self):
        """(K, M), NaN where nothing was told."""
        return np.divide(self.total, self.count, out=np.full(self.count.shape, np.nan), where=self.count > 0)

    def add(self, arm, fidelity, x):
        self.count[arm, fidelity] += 1
        self.total[arm, fidelity] += x


class Iise:
    """Successive elimination, one fidelity after the other."""

    def __init__(self, instance, delta):
        self.told, self.delta, self.answer = Told(instance), delta, -1
        told = self.told
        self.xi = [max(max(abs(told.bias_low[:, m])), max(abs(told.bias_high[:, m]))) for m in range(told.M)]
        self.c = [told.cost[:, m].mean() for m in range(told.M)]
        self.survivors = list(range(told.K))
        self.phase = self.next_phase(0)
        self.begin_round()

    def next_phase(self, m):
        """The first fidelity from m on that no later one beats in both cost and bias."""
        while any(self.c[k] <= self.c[m] and self.xi[k] <= self.xi[m] for k in range(m + 1, self.told.M)):
            m += 1
        return m

    def begin_round(self):
        self.before = {a: self.told.count[a, self.phase] for a in self.survivors}

    def ask(self):
        return min(self.survivors, key=lambda a: self.told.count[a, self.phase]), self.phase

    def tell(self, arm, fidelity, x):
        self.told.add(arm, fidelity, x)
        if all(self.told.count[a, self.phase] > self.before[a] for a in self.survivors):
            self.drop()
            if len(self.survivors) == 1:
                self.answer = self.survivors[0]
            if self.is_exhausted():
                self.phase = self.next_phase(self.phase + 1)
            self.begin_round()

    def drop(self):
        told, m = self.told, self.phase
        beyond_doubt = log(told.K * told.M / self.delta) + log(log(told.t))
        lower, upper = {}, {}
        for a in self.survivors:
            r = sqrt(2 * told.v[a, m] * beyond_doubt / told.count[a, m])
            lower[a] = told.mean[a, m] - told.bias_high[a, m] - r
            upper[a] = told.mean[a, m] - told.bias_low[a, m] + r
        best = max(self.survivors, key=lower.get)
        self.survivors = [a for a in self.survivors if a == best or upper[a] > lower[best]]

    def is_exhausted(self):
        """Whether a later fidelity is the cheaper one to tell apart what is still left."""
        told, m, c, xi = self.told, self.phase, self.c, self.xi
        if m == told.M - 1:
            return False
        theta = -inf
        for k in range(m + 1, told.M):
            if c[k] > c[m]:
                theta = max(theta, 4 * xi[m] + 4 * (xi[m] - xi[k]) * sqrt(c[m]) / (sqrt(c[k]) - sqrt(c[m])))
        n = min(told.count[a, m] for a in self.survivors)
        r0 = sqrt(2 * max(told.v[:, m]) * log(4 * n**2 * told.K * told.M / self.delta) / n)
        return theta - 4 * xi[m] >= 4 * r0


class Lucb:
    """LUCB at the top fidelity. The other two differ in the fidelities used, and in which of them a round has."""

    def __init__(self, instance, delta):
        self.told, self.delta, self.answer = Told(instance), delta, -1
        self.round = [(a, m) for a in range(self.told.K) for m in self.used()]

    def used(self):
        return [self.told.M - 1]

    def ask(self):
        return self.round[0]

    def tell(self, arm, fidelity, x):
        self.told.add(arm, fidelity, x)
        self.round.remove((arm, fidelity))
        if not self.round:
            self.end_round()

    def bounds(self):
        """UCB and LCB of every arm."""
        told, used = self.told, self.used()
        b = np.sqrt(2 * told.v * log(4 * told.K * len(used) * told.t**4 / self.delta) / np.maximum(told.count, 1))
        upper, lower = told.mean - told.bias_low + b, told.mean - told.bias_high - b
        return upper[:, used].min(axis=1), lower[:, used].max(axis=1)

    def end_round(self):
        ucb, lcb = self.bounds()
        leader = int(ucb.argmax())
        rival = max((a for a in range(self.told.K) if a != leader), key=lambda a: ucb[a])
        if lcb[leader] > ucb[rival]:
            self.answer = leader
        self.round = self.cells(leader, is_leader=True) + self.cells(rival, is_leader=False)

    def cells(self, arm, is_leader):
        return [(arm, self.told.M - 1)]


class LucbExplore(Lucb):
    """What A and B share: all fidelities, and the apparent gap of an arm at each."""

    def __init__(self, instance, delta, mu1=None, mu2=None):
        super().__init__(instance, delta)
        second, first = np.sort(instance.problem.sign * instance.means[:, -1])[-2:]
        self.mu1 = first if mu1 is None else instance.problem.sign * mu1
        self.mu2 = second if mu2 is None else instance.problem.sign * mu2

    def used(self):
        return list(range(self.told.M))

    def worth(self, arm, is_leader):
        """(M,) gap over the square root of the cost."""
        told = self.told
        if is_leader:
            gap = told.mean[arm] - told.bias_high[arm] - self.mu2
        else:
            gap = self.mu1 - (told.mean[arm] - told.bias_low[arm])
        return gap / np.sqrt(told.cost[arm])


class LucbExploreA(LucbExplore):
    def cells(self, arm, is_leader):
        cost, count = self.told.cost[arm], self.told.count[arm]
        bonus = np.sqrt(2 * log(count.sum()) / (cost * count))
        return [(arm, int((self.worth(arm, is_leader) + bonus).argmax()))]


class LucbExploreB(LucbExplore):
    def __init__(self, instance, delta, mu1=None, mu2=None):
        super().__init__(instance, delta, mu1, mu2)
        self.fixed = {}

    def cells(self, arm, is_leader):
        told = self.told
        if arm not in self.fixed:
            worth = self.worth(arm, is_leader)
            m = int(worth.argmax())
            doubt = told.v[arm, m] * log(4 * told.K * told.M / self.delta) / (min(told.cost[arm]) * told.count[arm, m])
            if worth[m] >= 3 * sqrt(doubt):
                self.fixed[arm] = m
        fidelities = [self.fixed[arm]] if arm in self.fixed else range(told.M)
        return [(arm, m) for m in fidelities]


class TrackAndStop:
    """Tracks what would be optimal if the means were the empirical ones, at the top fidelity alone."""

    def __init__(self, instance):
        self.told = Told(instance)

    def tell(self, arm, fidelity, x):
        self.told.add(arm, fidelity, x)

    def preferences(self, pending=0):
        """(K, M) scores, the next cell's the highest; -inf for cells that are out of the question."""
        scores = np.full((self.told.K, self.told.M), -inf)
        scores[:, -1] = self.top_preferences((self.told.count + pending)[:, -1])
        return scores

    def top_preferences(self, count):
        told, t = self.told, count.sum()
        mean = told.mean[:, -1]
        unseen, neglected = count.min() == 0, count.min() < sqrt(t) - told.K / 2
        if unseen or neglected or (mean == mean.max()).sum() > 1:
            return only(int(count.argmin()), told.K)
        return t * self.shares(mean) - count

    def shares(self, mean):
        """(K,) of the evaluations."""
        told = self.told
        if told.problem.family.name == "bernoulli":
            return oracle_shares(told.problem, told.sign * mean)
        return gaussian_shares(mean, told.v[:, -1], told.cost[:, -1])

    def evidence(self):
        """F of the top fidelity, and the empirically best arm; Gaussian."""
        told = self.told
        mean, spread = told.mean[:, -1], told.v[:, -1] / told.count[:, -1]
        best = int(mean.argmax())
        return min(gap_evidence(mean, spread, best, a) for a in range(told.K) if a != best), best


class OracleTracker:
    """Tracks the optimal allocation of the true instance."""

    def __init__(self, instance):
        self.told = Told(instance)
        weights = mfbai.oracle(instance).weights
        pulls = np.where(weights > NEGLIGIBLE, weights, 0.0) / instance.problem.costs
        self.pi = pulls / pulls.sum()

    def tell(self, arm, fidelity, x):
        self.told.add(arm, fidelity, x)

    def preferences(self):
        """(K, M) as above."""
        support, count = self.pi > 0, self.told.count
        new = support & (count == 0)
        if new.any():
            return only(np.unravel_index(new.argmax(), new.shape), new.shape)
        return np.where(support, (self.told.t + 1) * self.pi - count, -inf)


def only(cell, shape):
    """Scores that leave one choice."""
    scores = np.full(shape, -inf)
    scores[cell] = 0.0
    return scores


def gap_evidence(mean, spread, best, arm):
    return (mean[best] - mean[arm]) ** 2 / (2 * (spread[best] + spread[arm]))


def gaussian_shares(mean, v, cost):
    """The shares of the evaluations that cost least, by the condition on the best arm's count y alone.

    Evidence 1 against a needs v_a / n_a + v_best / y = gap_a^2 / 2. The total cost is convex in y.
    """
    best = int(mean.argmax())
    rivals = np.arange(len(mean)) != best
    half = (mean[best] - mean[rivals]) ** 2 / 2
    least = v[best] / half.min()  # y must be above it, for any evidence against the second best

    def slope(y):
        paid_by_rivals = cost[rivals] * v[rivals] * v[best] / (y * half - v[best]) ** 2
        return cost[best] - paid_by_rivals.sum()

    low = high = 1e-3  # relative to `least`, since the root can be very close to it
    while slope(least * (1 + low)) > 0:
        low /= 10
    while slope(least * (1 + high)) < 0:
        high *= 10
    y = least * (1 + brentq(lambda u: slope(least * (1 + u)), low, high, xtol=1e-300, rtol=1e-14))
    count = np.empty(len(mean))
    count[best], count[rivals] = y, v[rivals] / (half - v[best] / y)
    return count / count.sum()


def oracle_shares(problem, mean):
    """The same for any family, from the oracle of the one-fidelity instance with these means (as told to users)."""
    family, direction = problem.family, problem.direction
    top = mfbai.Instance(mean[:, None], problem.costs[:, -1:], [0.0], family, direction=direction)
    return mfbai.oracle(top).pulls[:, 0]
