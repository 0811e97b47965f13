"""Rounds: bets on contrasts where arms share seeds, or the size of the noise is unknown.

A round evaluates the leader, and then its rivals, each at one fidelity and some times. Where arms share seeds, they
have those of the round in turn, the first for all; else every value has a seed of its own. Who takes part, at which
fidelities and how often, is settled before the first of the round's values. With D the mean of the leader's values less
that of the rival's, the claim "j is the best" says that

    D - B has a mean of 0 at most,    B = bias_high of the leader's cell - bias_low of the rival's

A factor that has a mean of 1 at most then (`round_bets`) is bet on it, with a tilt that was chosen before the round.
The product of the factors over the rounds rules out j once it reaches 1 / delta; several tilts are tried side by side,
and some of the capital is not bet. docs/theory/guarantee.md.

The tilt is what would be best if the means, variances and correlations estimated from earlier rounds were right; so
what a round tells is learnt when it is over. With seeds of their own, values are known to be uncorrelated. A rival that
lost one of its values in a round is not bet on in that round, and if the leader lost one of its, nobody is: nothing
depends on the values.

A study also keeps the capital of the bets on contrasts between fidelities that need no bias bound: what is proven
without trust in any. Whether a contrast is one of these is settled before its round, like its tilt.
"""

from math import exp, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import ROOM, SEEDS, has_data
from mfbai.kernels.transport import Work, fit, make_work, renew
from mfbai.stopping.exclusion import (
    Notes,
    all_left,
    exclude,
    exclude_certain,
    exclusion_decide,
    make_notes,
    note,
    row_of,
    rows_of,
    targets,
)
from mfbai.stopping.interface import decide, observe
from mfbai.stopping.round_bets import largest_tilt, log_factor, tilt_of

CASH = 0.02  # the part of the capital that is not bet
SCALES = 2.0 ** (1.0 - 0.5 * np.arange(10.0))  # multiples of the estimated l
WEIGHTS = 1.0 / (1.0 + (np.arange(10.0) - 3.0) ** 2)
WEIGHTS *= (1.0 - CASH) / WEIGHTS.sum()
SHRINK = 0.25  # of an estimated gap, in terms of its squared error over the gap
FLOOR = 0.01  # deviations: the least gap that is bet on
POOL = 8.0  # values that a fidelity's pooled variance stands for in that of a cell, and all fidelities' in that
DOUBT = 30.0  # pairs of values without correlation that are added to those seen
OWN = 4.0  # contrasts with the expected variance that are added to those seen of a rival
HIGHEST = 0.97  # correlation that is believed


class Rounds(NamedTuple):
    target: np.ndarray  # (levels,) the evidence in nats that rules out a rival, for a growing certainty
    proven: np.ndarray  # (rows, K) the most evidence there was, ever
    left: np.ndarray  # (rows, levels) arms that are not ruled out
    seen: np.ndarray  # (1,) evaluations taken in: a strategy and the run may both report them
    capital: np.ndarray  # (rows, K, scales) nats
    free: np.ndarray  # (M,) whether a fidelity needs no bias bound; empty if nobody asks, as in simulations
    unaided: np.ndarray  # (rows, K, scales) the capital of contrasts between such fidelities
    unaided_most: np.ndarray  # (rows, K) the most evidence that this ever was
    scales: np.ndarray
    weights: np.ndarray
    notes: Notes  # leader, its fidelity, rival, its fidelity, tilt, difference of their means
    # The round under way.
    leader: np.ndarray  # (2,) arm and fidelity; -1 before the first round
    number: np.ndarray  # (1,)
    missing: np.ndarray  # (1,) evaluations that are still to come
    leads: np.ndarray  # (2,) values that the leader has in it; those that came
    value: np.ndarray  # (1,) the sum of these
    got: np.ndarray  # (K,) values of each arm so far
    sum: np.ndarray  # (K,) of these
    paired: np.ndarray  # (K,) the one at the round's first seed; NaN if there is none
    where: np.ndarray  # (K,) its fidelity
    fresh: np.ndarray  # (1,) values of the round in all
    arms: np.ndarray  # of these
    fidelities: np.ndarray
    values: np.ndarray
    # What was learnt of earlier ones.
    learnt: np.ndarray  # (1,) how often
    count: np.ndarray  # type: ignore[assignment]  # (K, M)
    mean: np.ndarray  # (K, M)
    squares: np.ndarray  # (K, M) sums of squared deviations from the means
    pooled: np.ndarray  # (2, M) their sums over the arms, and their degrees of freedom
    between: np.ndarray  # (1,) the variance of the arms' first means: stands for that of their values in the beginning
    noise: np.ndarray  # (K, M) variances
    products: np.ndarray  # (2,) the sum of products of residuals at the same seed, and how many
    correlation: np.ndarray  # (1,) of values with the same seed
    squared: np.ndarray  # (2, K) sums of squared residuals of contrasts, over what was expected of them; how many
    ratio: np.ndarray  # (K,) the variance of a rival's contrasts, over that expected of variances and correlation
    weight: np.ndarray  # (K, M) counts, in terms of the stated variances
    work: Work  # the arms' fits


def make_rounds(model, deltas) -> Rounds:
    K, M = model.cost.shape
    rows, room = rows_of(model), SEEDS * (K + 1)
    return Rounds(
        target=targets(model, deltas),
        proven=np.zeros((rows, K)),
        left=all_left(model, len(deltas)),
        seen=np.zeros(1, dtype=np.int64),
        capital=np.zeros((rows, K, SCALES.size)),
        free=np.zeros(0, dtype=np.bool_),
        unaided=np.zeros((0, 0, 0)),
        unaided_most=np.zeros((0, 0)),
        scales=SCALES.copy(),
        weights=WEIGHTS.copy(),
        notes=make_notes(),
        leader=np.full(2, -1, dtype=np.int64),
        number=np.full(1, -1, dtype=np.int64),
        missing=np.zeros(1, dtype=np.int64),
        leads=np.zeros(2, dtype=np.int64),
        value=np.zeros(1),
        got=np.zeros(K, dtype=np.int64),
        sum=np.zeros(K),
        paired=np.full(K, np.nan),
        where=np.zeros(K, dtype=np.int64),
        fresh=np.zeros(1, dtype=np.int64),
        arms=np.zeros(room, dtype=np.int64),
        fidelities=np.zeros(room, dtype=np.int64),
        values=np.zeros(room),
        learnt=np.zeros(1, dtype=np.int64),
        count=np.zeros((K, M)),
        mean=np.zeros((K, M)),
        squares=np.zeros((K, M)),
        pooled=np.zeros((2, M)),
        between=np.zeros(1),
        noise=np.ones((K, M)),
        products=np.zeros(2),
        correlation=np.zeros(1),
        squared=np.zeros((2, K)),
        ratio=np.ones(K),
        weight=np.zeros((K, M)),
        work=make_work(model),
    )


@kernel
def values_of(part):
    """The values that an arm has in a round, given the part of one of them."""
    return -part // ROOM + 1 if part < 0 else part


@kernel
def rounds_observe(model, stats, rule, arm, fidelity, x):
    if rule.seen[0] == stats.steps[0]:
        return
    rule.seen[0] = stats.steps[0]
    number, part = stats.seed[0], stats.seed[1]
    if part < 0 and number // SEEDS != rule.number[0]:
        learn(model, rule)
        rule.leader[0], rule.leader[1] = arm, fidelity
        rule.number[0], rule.missing[0] = number // SEEDS, -part % ROOM
        rule.leads[0], rule.leads[1], rule.value[0] = values_of(part), 0, 0.0
        rule.got[:], rule.paired[:] = 0, np.nan
    here = number // SEEDS == rule.number[0]
    if here and number % SEEDS == 0:
        rule.paired[arm], rule.where[arm] = x, fidelity
    if here and arm == rule.leader[0]:
        rule.leads[1] += 1
        rule.value[0] += x
    elif here:
        if rule.got[arm] == 0:
            rule.sum[arm] = 0.0
        rule.got[arm] += 1
        rule.sum[arm] += x
        if rule.got[arm] == part:
            bet(model, rule, arm, fidelity, part)
    if rule.fresh[0] < rule.arms.size:  # it is, unless the leaders of many rounds failed
        n = rule.fresh[0]
        rule.arms[n], rule.fidelities[n], rule.values[n] = arm, fidelity, x
        rule.fresh[0] += 1
    if here:
        rule.missing[0] -= 1
        if rule.missing[0] == 0:
            learn(model, rule)


@kernel
def bet(model, rule, j, k, n):
    """Bet on the contrast between the leader's values and the n of rival j at fidelity k, if all are here."""
    s, m, leads = rule.leader[0], rule.leader[1], rule.leads[0]
    if rule.leads[1] < leads or not (has_data(rule, s) and has_data(rule, j)):
        return
    x, y = rule.value[0] / leads, rule.sum[j] / n
    expected = stake(model, rule, row_of(rule, s), s, m, x, leads, j, k, y, n, rule.ratio[j])
    if model.common and rule.count[s, m] > 0.0 and rule.count[j, k] > 0.0:
        mine, its = x - rule.mean[s, m], y - rule.mean[j, k]
        rule.squared[0, j] += (mine - its) ** 2 / expected * rule.ratio[j]
        rule.squared[1, j] += 1.0
        if rule.paired[j] == rule.paired[j]:
            vs = rule.noise[s, m] * (1.0 + 1.0 / rule.count[s, m])
            vj = rule.noise[j, k] * (1.0 + 1.0 / rule.count[j, k])
            rule.products[0] += (rule.paired[s] - rule.mean[s, m]) * (rule.paired[j] - rule.mean[j, k]) / sqrt(vs * vj)
            rule.products[1] += 1.0


@kernel
def bet_across(model, rule):
    """With a tolerance, also bet on the contrasts of all other pairs: who leads may change, and proofs be needed."""
    s = rule.leader[0]
    if rule.proven.shape[0] == 1 or s < 0:
        return
    for i in range(rule.got.size):
        if i == s or np.isnan(rule.paired[i]) or not has_data(rule, i):
            continue
        for j in range(rule.got.size):
            if j != i and not np.isnan(rule.paired[j]) and has_data(rule, j):
                ratio = rule.ratio[i] if j == s else max(rule.ratio[i], rule.ratio[j])
                x, y = rule.paired[i], rule.paired[j]
                stake(model, rule, i, i, rule.where[i], x, 1, j, rule.where[j], y, 1, ratio)


@kernel
def stake(model, rule, row, i, m, x, ni, j, k, y, nj, ratio):
    """Bet that x, the mean of ni values of i at m, less y, that of nj of j at k, is too large for "j is the best".

    Returns the variance that was expected of it.
    """
    ui, ei = estimate(model, rule, i, m, model.bias_high)
    uj, ej = estimate(model, rule, j, k, model.bias_low)
    noise = ratio * contrast_noise(rule, i, m, ni, j, k, nj)
    error = ratio * (ei + ej) * (1.0 - rule.correlation[0])
    gap = ui - uj + model.tolerance
    gap = max(gap - SHRINK * error / gap if gap > 0.0 else 0.0, FLOOR * sqrt(noise))
    tilt, most = tilt_of(model.law, gap, noise + error), largest_tilt(model.law, model, i, m, j, k)
    contrast = x - y - model.bias_high[i, m] + model.bias_low[j, k] + model.tolerance
    note(rule, row, i, m, j, k, tilt, x - y)
    exclude(rule, row, j, multiply(model, rule, rule.capital[row, j], tilt, most, contrast))
    if rule.free.size > 0 and rule.free[m] and rule.free[k]:
        evidence = multiply(model, rule, rule.unaided[row, j], tilt, most, contrast)
        rule.unaided_most[row, j] = max(rule.unaided_most[row, j], evidence)
    return noise + error


@kernel
def multiply(model, rule, capital, tilt, most, contrast):
    """Multiply the capital at each scale, (scales,) in nats, by its factor; ln of what there is in all."""
    top = 0.0
    for n in range(rule.scales.size):
        capital[n] += log_factor(model.law, min(tilt * rule.scales[n], most), contrast)
        top = max(top, capital[n])
    total = CASH * exp(-top)
    for n in range(rule.scales.size):
        total += rule.weights[n] * exp(capital[n] - top)
    return top + log(total)


@kernel
def contrast_noise(rule, s, m, ns, j, k, nj):
    """The variance of the mean of ns values of a leader at m less that of nj of a rival at k, but for `ratio`.

    They share as many seeds as the one of them with fewer values has.
    """
    vs, vj = rule.noise[s, m], rule.noise[j, k]
    return vs / ns + vj / nj - 2.0 * rule.correlation[0] * sqrt(vs * vj) / max(ns, nj)


@kernel
def estimate(model, rule, arm, m, bias):
    """The mean of a cell less its bias bound, and the variance of that; for a cell without data, from the others."""
    if rule.count[arm, m] > 0.0:
        return rule.mean[arm, m] - bias[arm, m], rule.noise[arm, m] / rule.count[arm, m]
    half = 0.5 * (model.bias_high[arm, m] - model.bias_low[arm, m])
    middle = 0.5 * (rule.work.psi_low[arm] + rule.work.psi_high[arm] + model.bias_low[arm, m] + model.bias_high[arm, m])
    return middle - bias[arm, m], rule.noise[arm, m] + half * half / 3.0


@kernel(inline=False)
def learn(model, rule):
    """Learn from the values of the round that is over: means, variances, correlations, fits."""
    if rule.fresh[0] == 0:
        return
    bet_across(model, rule)
    rule.paired[:] = np.nan
    for n in range(rule.fresh[0]):
        arm, m = rule.arms[n], rule.fidelities[n]
        off = rule.values[n] - rule.mean[arm, m]
        rule.count[arm, m] += 1.0
        rule.mean[arm, m] += off / rule.count[arm, m]
        square = off * (rule.values[n] - rule.mean[arm, m])
        rule.squares[arm, m] += square
        rule.pooled[0, m] += square
        rule.pooled[1, m] += 1.0 if rule.count[arm, m] > 1.0 else 0.0
    rule.fresh[0], rule.missing[0] = 0, 0
    rule.learnt[0] += 1
    if rule.learnt[0] == 1:
        rule.between[0] = spread(rule)
    set_noise(model, rule)
    if model.common:
        set_correlation(rule)
    if renew(model, rule.work):
        exclude_certain(model, rule)
    for arm in range(rule.got.size):
        if has_data(rule, arm):
            fit(model, rule.weight, rule.mean, arm, rule.work)


@kernel
def spread(rule):
    """The variance of the arms' means, over all of their cells that have one."""
    n, total, squares = 0.0, 0.0, 0.0
    for arm in range(rule.count.shape[0]):
        for m in range(rule.count.shape[1]):
            if rule.count[arm, m] > 0.0:
                n += 1.0
                off = rule.mean[arm, m] - total
                total += off / n
                squares += off * (rule.mean[arm, m] - total)
    return max(squares / max(n - 1.0, 1.0), 1e-24 + 1e-24 * total * total)


@kernel
def set_noise(model, rule):
    """A cell's variance, drawn towards that of its fidelity, which is drawn towards that of all fidelities."""
    squares, degrees = rule.between[0], 1.0
    for m in range(rule.pooled.shape[1]):
        squares += rule.pooled[0, m]
        degrees += rule.pooled[1, m]
    for m in range(rule.pooled.shape[1]):
        here = (rule.pooled[0, m] + POOL * squares / degrees) / (rule.pooled[1, m] + POOL)
        for arm in range(rule.count.shape[0]):
            n = max(rule.count[arm, m] - 1.0, 0.0)
            rule.noise[arm, m] = (rule.squares[arm, m] + POOL * here) / (n + POOL)
            rule.weight[arm, m] = rule.count[arm, m] / (rule.noise[arm, m] * model.law.precision[arm, m])


@kernel
def set_correlation(rule):
    rule.correlation[0] = min(max(rule.products[0] / (rule.products[1] + DOUBT), 0.0), HIGHEST)
    for j in range(rule.ratio.size):
        rule.ratio[j] = (rule.squared[0, j] + OWN) / (rule.squared[1, j] + OWN)


observe.register(Rounds, rounds_observe)
decide.register(Rounds, exclusion_decide)
