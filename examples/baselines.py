"""Procedures from textbooks and practice, to compare mfbai with.

All take `value(arm, number)`: the arm's value at its evaluation of that number, 0, 1, 2, ...; larger is better. With
common random numbers it has the same seed for all arms. All return the arm that they choose and the evaluations made.

The first three are given a risk, alpha, and spend what it takes. The others are given a budget and state no risk; so
do those of pruning.py, which are Optuna's.
"""

from math import ceil, log2
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit


class Choice(NamedTuple):
    arm: int
    evaluations: int


class Spent(NamedTuple):
    """A choice for which evaluations of several costs were made."""

    arm: int
    cost: float


def kim_nelson(value, arms, zone, alpha, first=10, common=True):
    """KN of Kim and Nelson, "A fully sequential procedure for indifference-zone selection in simulation" (2001), c = 1.

    If the best arm is ahead of all others by the indifference zone at least, it is chosen with probability 1 - alpha,
    for normal values of unknown variances. Each of the arms is evaluated `first` times. From then on, after r
    evaluations of the arms that are left, i stays if for every other l that is left

        mean_i - mean_l >= -W_il(r),    W_il(r) = max(0, zone / (2 r) (h^2 S_il^2 / zone^2 - r)),

    with S_il^2 the variance of the first stage's differences, h^2 = 2 eta (first - 1) and eta from `slope`.
    """
    h_square = 2 * slope(arms, alpha, first, common) * (first - 1)
    values = np.array([[value(arm, number) for number in range(first)] for arm in range(arms)])
    sums, r, evaluations = values.sum(axis=1), first, values.size
    spread = np.var(values[:, None] - values[None, :], axis=2, ddof=1)
    left = np.arange(arms)
    while True:
        width = np.maximum(0, zone / (2 * r) * (h_square * spread[np.ix_(left, left)] / zone**2 - r))
        means = sums[left] / r
        left = left[(means[:, None] - means[None, :] >= -width).all(axis=1)]
        if left.size == 1:
            return Choice(int(left[0]), evaluations)
        sums[left] += [value(arm, r) for arm in left.tolist()]
        r, evaluations = r + 1, evaluations + left.size


def slope(arms, alpha, first, common):
    """eta, which solves (1 + 2 eta)^(-(first - 1) / 2) / 2 = beta, the error that each pair may have.

    Arms with common random numbers share alpha as Bonferroni does, independent ones a little better.
    """
    beta = alpha / (arms - 1) if common else 1 - (1 - alpha) ** (1 / (arms - 1))
    return ((2 * beta) ** (-2 / (first - 1)) - 1) / 2


def paired_t(value, arms, alpha, batch=10, looks=20):
    """Look after each batch, and drop the arms that a paired t-test finds worse than the one of the best mean.

    The tests are one-sided at the level alpha / ((arms - 1) looks), Bonferroni's share: for normal values the best arm
    is ever dropped with a probability of alpha at most, whichever arm leads. After the last look the arm of the best
    mean is chosen, and no test stands behind that.
    """
    level = alpha / ((arms - 1) * looks)
    left = np.arange(arms)
    values = np.empty((arms, 0))
    evaluations = 0
    for look in range(1, looks + 1):
        fresh = np.full((arms, batch), np.nan)
        for arm in left.tolist():
            fresh[arm] = [value(arm, number) for number in range((look - 1) * batch, look * batch)]
        values, evaluations = np.hstack([values, fresh]), evaluations + batch * left.size
        leader = left[values[left].mean(axis=1).argmax()]
        behind = values[leader] - values[left]
        limit = stdtrit(look * batch - 1, 1 - level) * behind.std(axis=1, ddof=1) / np.sqrt(look * batch)
        left = left[(left == leader) | (behind.mean(axis=1) <= limit)]
        if left.size == 1:
            break
    return Choice(int(leader), evaluations)


def equal_allocation(value, arms, zone, alpha, first=10):
    """Evaluate all arms equally often, and take the best mean. Clark and Yang (1986) say how often.

    If the best arm is ahead of all others by the zone at least, it is chosen with probability 1 - alpha, for normal
    values, with common random numbers or without. From the first evaluations comes the largest variance S^2 of a
    difference. For n = t^2 S^2 / zone^2, another mean is ahead of the best arm's with probability alpha / (arms - 1) at
    most, if t is Student's quantile at that level for first - 1 degrees of freedom.
    """
    begin = np.array([[value(arm, number) for number in range(first)] for arm in range(arms)])
    spread = np.var(begin[:, None] - begin[None, :], axis=2, ddof=1).max()
    quantile = stdtrit(first - 1, 1 - alpha / (arms - 1))
    n = max(first, ceil(quantile**2 * spread / zone**2))
    sums = [begin[arm].sum() + sum(value(arm, number) for number in range(first, n)) for arm in range(arms)]
    return Choice(int(np.argmax(sums)), arms * n)


def successive_halving(value, arms, budget, keep=True):
    """Halve the arms in each round, of which all have the same share of the budget: the number of evaluations.

    This is sequential halving of Karnin, Koren and Somekh, "Almost optimal exploration in multi-armed bandits" (2013):
    ceil(log2 arms) rounds, in each of which the arms left are evaluated equally often, and the better half goes on.
    There is no stated risk. The paper bounds it for values in [0, 1], but by the unknown means, and for `keep=False`,
    where each round forgets the values of earlier ones. People keep them.
    """
    rounds = ceil(log2(arms))
    left, sums, done, evaluations = np.arange(arms), np.zeros(arms), 0, 0
    for _ in range(rounds):
        times = max(1, budget // (left.size * rounds))
        fresh = [sum(value(arm, number) for number in range(done, done + times)) for arm in left.tolist()]
        sums[left] = sums[left] * keep + fresh
        done, evaluations = done + times, evaluations + times * left.size
        left = best_of(left, sums[left], ceil(left.size / 2))
    return Choice(int(left[0]), evaluations)


def halving_over_fidelities(value, arms, costs, budget):
    """What people do with cheap tests: drop arms at each fidelity, and evaluate fewer and fewer as it gets dearer.

    `value(arm, fidelity, number)` has values of all fidelities, and `costs` those of one evaluation at each, from the
    cheapest to the true one. Each fidelity has an equal share of the budget, as the rounds have in Jamieson and
    Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization" (2016). It is spent on the arms
    left, evaluated equally often, at least once. Their number falls geometrically, to two at the true fidelity.

    There is no stated risk. If the best arm looks bad at a cheap fidelity, no budget saves it.
    """
    sizes = np.geomspace(arms, 2, len(costs)).round().astype(int)
    left, cost = np.arange(arms), 0.0
    for fidelity, (size, price) in enumerate(zip([*sizes[1:].tolist(), 1], costs, strict=True)):
        times = max(1, int(budget / len(costs) / (price * left.size)))
        sums = [sum(value(arm, fidelity, number) for number in range(times)) for arm in left.tolist()]
        cost += price * times * left.size
        left = best_of(left, sums, size)
    return Spent(int(left[0]), cost)


def best_of(left, sums, size):
    """Of the arms left, those with the largest sums; the first if some are equal."""
    return left[np.sort(np.argsort(-np.asarray(sums), kind="stable")[:size])]
