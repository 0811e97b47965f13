"""Balanced books: bets on contrasts where values are independent and their variances known.

There is a book for each rival j, against the claim "j is the best". It holds A, V and an exposure b. Every value gets
its tilt g before it is seen:

    a leader's value X    A += g (X - bias_high),    V += g^2 variance,    b += g
    the rival's own Y     A += g (bias_low - Y),     V += g^2 variance,    b -= g

If the claim is true, exp(t (A - b x) - t^2 V / 2) is a supermartingale for every t, with x the top mean of j, whoever
leads. Whenever b is 0 it does not depend on x, and sum_t weight_t exp(t A - t^2 V / 2) may be tested: j is out for good
once it reaches 1 / delta. Only one arm is truly the best, so there is no union over arms. docs/theory/guarantee.md.

With a tolerance an arm may be the best and its rival a right answer, so there is a book for each pair (leader, rival),
in the row of the leader, and all of them must hold: ln((K - 1) / delta).

A value closes the books of its own arm, or a whole part of what is open; the leader's value also opens those of its
rivals. Who leads, and the tilts, are the strategy's affair: any choice is valid that does not look ahead.
"""

from math import exp, floor, log
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.stopping.interface import decide, observe

CASH = 0.02  # the part of the capital that is not bet
SCALES = 2.0 ** (1.0 - 0.5 * np.arange(10.0))  # t, as multiples of the strategy's tilts
WEIGHTS = (1.0 - CASH) / (1.0 + (np.arange(10.0) - 2.5) ** 2)
WEIGHTS /= (1.0 / (1.0 + (np.arange(10.0) - 2.5) ** 2)).sum()


class Books(NamedTuple):
    target: np.ndarray  # (levels,) the evidence in nats that rules out a rival, for a growing certainty
    seen: np.ndarray  # (1,) evaluations taken in: a strategy and the run may both report them
    # Set by the strategy before each value.
    leader: np.ndarray  # (1,) -1: no books are opened
    share: np.ndarray  # (K,) exposure of each rival to a leader's value, over the value's natural tilt
    tilt: np.ndarray  # (K, M) a tilt for each rival and fidelity of the leader's value, over the exposure
    natural: np.ndarray  # (K, M) sqrt(cost) / deviation: the tilts at which cells' parts in a contrast cost the same
    # One row, or with a tolerance one for each leader.
    gain: np.ndarray  # (rows, K) A
    noise: np.ndarray  # (rows, K) V
    exposure: np.ndarray  # (rows, K) b
    size: np.ndarray  # (rows, K) b in natural tilts
    proven: np.ndarray  # (rows, K) the most evidence there was, ever
    left: np.ndarray  # (rows, levels) rivals that are not ruled out; in a single row the leader is one of them
    scales: np.ndarray  # t
    weights: np.ndarray


def make_books(model, deltas) -> Books:
    K, M = model.cost.shape
    rows = K if model.tolerance > 0.0 else 1
    sure = np.asarray(deltas, dtype=np.float64)
    return Books(
        target=np.log((K - 1 if rows > 1 else 1) / sure),
        seen=np.zeros(1, dtype=np.int64),
        leader=np.full(1, -1, dtype=np.int64),
        share=np.zeros(K),
        tilt=np.zeros((K, M)),
        natural=np.sqrt(model.cost * model.law.precision),
        gain=np.zeros((rows, K)),
        noise=np.zeros((rows, K)),
        exposure=np.zeros((rows, K)),
        size=np.zeros((rows, K)),
        proven=np.zeros((rows, K)),
        left=np.full((rows, len(sure)), K - 1 if rows > 1 else K, dtype=np.int64),
        scales=SCALES.copy(),
        weights=WEIGHTS.copy(),
    )


@kernel
def books_observe(model, stats, rule, arm, fidelity, x):
    if rule.seen[0] == stats.steps[0]:
        return
    rule.seen[0] = stats.steps[0]
    noise = 1.0 / model.law.precision[arm, fidelity]
    for row in range(rule.size.shape[0]):
        if rule.size[row, arm] > 0.0:
            close(model, rule, row, arm, fidelity, x, noise)
    if arm != rule.leader[0]:
        return
    row = arm if rule.size.shape[0] > 1 else 0
    beyond = x - model.bias_high[arm, fidelity] + model.tolerance
    for j in range(rule.share.size):
        if j != arm and rule.share[j] > 0.0:
            size = rule.share[j] * rule.natural[arm, fidelity]
            g = rule.tilt[j, fidelity] * size
            rule.gain[row, j] += g * beyond
            rule.noise[row, j] += g * g * noise
            rule.exposure[row, j] += g
            rule.size[row, j] += size


@kernel
def close(model, rule, row, arm, fidelity, x, noise):
    """Close an arm's book by a value of its own, or one of as many parts as the book has natural tilts."""
    parts = max(floor(rule.size[row, arm] / rule.natural[arm, fidelity] + 0.5), 1.0)
    g = rule.exposure[row, arm] / parts
    rule.gain[row, arm] += g * (model.bias_low[arm, fidelity] - x)
    rule.noise[row, arm] += g * g * noise
    rule.exposure[row, arm] -= g
    rule.size[row, arm] -= rule.size[row, arm] / parts
    if parts > 1.0:
        return
    rule.exposure[row, arm], rule.size[row, arm] = 0.0, 0.0
    before = rule.proven[row, arm]
    now = log_capital(rule.gain[row, arm], rule.noise[row, arm], rule.scales, rule.weights)
    if now > before:
        rule.proven[row, arm] = now
        for level in range(rule.target.size):
            if before < rule.target[level] <= now:
                rule.left[row, level] -= 1


@kernel
def log_capital(gain, noise, scales, weights):
    """ln(cash + sum_t weight_t exp(t A - t^2 V / 2))."""
    top = 0.0
    for k in range(scales.size):
        top = max(top, scales[k] * (gain - 0.5 * scales[k] * noise))
    total = CASH * exp(-top)
    for k in range(scales.size):
        total += weights[k] * exp(scales[k] * (gain - 0.5 * scales[k] * noise) - top)
    return top + log(total)


@kernel
def books_decide(model, stats, rule, level):
    rows = rule.left.shape[0]
    s = rule.leader[0]
    if s < 0:
        return -1
    if rows > 1:
        return s if rule.left[s, level] == 0 else -1
    if rule.left[0, level] > 1:
        return -1
    answer = s
    for j in range(rule.share.size):
        if rule.proven[0, j] < rule.proven[0, answer]:
            answer = j
    return answer


@kernel
def is_out(rule, row, arm):
    """Whether an arm is ruled out, for the largest of the certainties."""
    return rule.proven[row, arm] >= rule.target[rule.target.size - 1]


observe.register(Books, books_observe)
decide.register(Books, books_decide)
