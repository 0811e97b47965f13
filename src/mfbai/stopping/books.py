"""Balanced books: bets on contrasts where values are independent and their variances known.

There is a book for each rival j, against the claim "j is the best". It holds A, V and an exposure b. Every value gets
its tilt g before it is seen:

    a leader's value X    A += g (X - bias_high),    V += g^2 variance,    b += g
    the rival's own Y     A += g (bias_low - Y),     V += g^2 variance,    b -= g

If the claim is true, exp(t (A - b x) - t^2 V / 2) is a supermartingale for every t, with x the top mean of j, however
often the leader changes. Whenever b is 0 it does not depend on x, and sum_t weight_t exp(t A - t^2 V / 2) may be
tested: j is out for good once it reaches 1 / delta. Only one arm is truly the best, so there is no union over arms.
docs/theory/guarantee.md has the proof.

With a tolerance an arm may be the best and its rival a right answer, so there is a book for each pair (leader, rival),
in the row of the leader, and all of them must hold: ln((K - 1) / delta).

A value closes the books of its own arm, or a whole part of what is open; the leader's value also opens those of its
rivals, but for books that are being closed. Who leads, and the tilts, are the strategy's affair: any choice is valid
that does not look ahead.

An arm's first value is bet on in a book of its own, beside the others: open until there is a leader, closed by its next
value, which opens no other book then. Its tilts are large, as if very few values could tell the arms apart; if they
can, the first look at each arm is not lost. The capital is the product of what both books bring.

A is linear in the bias bounds: the sum of tilt x bound beside it says what it would be with wider ones (`bearing`).
"""

from math import exp, floor, log, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.stopping.exclusion import (
    Notes,
    all_left,
    exclude,
    exclusion_decide,
    make_notes,
    note,
    row_of,
    rows_of,
    targets,
)
from mfbai.stopping.interface import decide, observe

CASH = 0.02  # the part of the capital that is not bet
SCALES = 2.0 ** (1.0 - 0.5 * np.arange(10.0))  # t, as multiples of the strategy's tilts
WEIGHTS = 1.0 / (1.0 + (np.arange(10.0) - 2.5) ** 2)
WEIGHTS *= (1.0 - CASH) / WEIGHTS.sum()
FIRST = 0.1  # the part of the capital that is bet on first values
LOOKS = 3  # tilts for these: best if 1, 2 or 4 pairs of values were enough


class Books(NamedTuple):
    target: np.ndarray  # (levels,) the evidence in nats that rules out a rival, for a growing certainty
    proven: np.ndarray  # (rows, K) the most evidence there was, ever
    left: np.ndarray  # (rows, levels) arms that are not ruled out
    seen: np.ndarray  # (1,) evaluations taken in: a strategy and the run may both report them
    # Set by the strategy before each value.
    leader: np.ndarray  # (1,) -1: no books are opened
    share: np.ndarray  # (K,) exposure of each rival to a leader's value, over the value's natural tilt
    tilt: np.ndarray  # (K, M) a tilt for each rival and fidelity of the leader's value, over the exposure
    natural: np.ndarray  # (K, M) sqrt(cost) / deviation: the tilts at which cells' parts in a contrast cost the same
    # The books: in one row, or with a tolerance in one for each leader.
    gain: np.ndarray  # (rows, K) A
    trust: np.ndarray  # (rows, K) what A falls by if all bias bounds are twice as wide
    noise: np.ndarray  # (rows, K) V
    exposure: np.ndarray  # (rows, K) b
    size: np.ndarray  # (rows, K) b in natural tilts
    closing: np.ndarray  # (rows, K) whether part of it was closed: it is not opened further before it is 0
    first: np.ndarray  # (3, K) of each arm's first value Y: bias_low - Y, its variance, |bias_low|; NaN before
    early: np.ndarray  # (rows, K) what the bets on them brought, in nats; NaN before
    scales: np.ndarray  # t
    weights: np.ndarray
    notes: Notes  # of tests: arm, 0, A, V, trust, 0; of bets on first values: arm, 1, contrast, variances, trust


def make_books(model, deltas) -> Books:
    K, M = model.cost.shape
    rows = rows_of(model)
    return Books(
        target=targets(model, deltas),
        proven=np.zeros((rows, K)),
        left=all_left(model, len(deltas)),
        seen=np.zeros(1, dtype=np.int64),
        leader=np.full(1, -1, dtype=np.int64),
        share=np.zeros(K),
        tilt=np.zeros((K, M)),
        natural=np.sqrt(model.cost * model.law.precision),
        gain=np.zeros((rows, K)),
        trust=np.zeros((rows, K)),
        noise=np.zeros((rows, K)),
        exposure=np.zeros((rows, K)),
        size=np.zeros((rows, K)),
        closing=np.zeros((rows, K), dtype=np.bool_),
        first=np.full((3, K), np.nan),
        early=np.full((rows, K), np.nan),
        scales=SCALES.copy(),
        weights=WEIGHTS.copy(),
        notes=make_notes(),
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
    if np.isnan(rule.first[0, arm]):  # and no book of this arm was open: it opens when this value has been bet on
        low = model.bias_low[arm, fidelity]
        rule.first[0, arm], rule.first[1, arm], rule.first[2, arm] = low - x, noise, abs(low)
    if arm != rule.leader[0]:
        return
    row = row_of(rule, arm)
    high = model.bias_high[arm, fidelity]
    beyond = x - high + model.tolerance
    for j in range(rule.share.size):
        if j == arm or rule.share[j] == 0.0:
            continue
        if np.isnan(rule.early[row, j]):
            close_first(rule, row, j, beyond, noise, abs(high))
        elif not rule.closing[row, j]:
            size = rule.share[j] * rule.natural[arm, fidelity]
            g = rule.tilt[j, fidelity] * size
            rule.gain[row, j] += g * beyond
            rule.trust[row, j] += g * abs(high)
            rule.noise[row, j] += g * g * noise
            rule.exposure[row, j] += g
            rule.size[row, j] += size


@kernel
def close(model, rule, row, arm, fidelity, x, noise):
    """Close an arm's book by a value of its own, or one of as many parts as the book has natural tilts."""
    parts = max(floor(rule.size[row, arm] / rule.natural[arm, fidelity] + 0.5), 1.0)
    g = rule.exposure[row, arm] / parts
    low = model.bias_low[arm, fidelity]
    rule.gain[row, arm] += g * (low - x)
    rule.trust[row, arm] += g * abs(low)
    rule.noise[row, arm] += g * g * noise
    rule.exposure[row, arm] -= g
    rule.size[row, arm] -= rule.size[row, arm] / parts
    rule.closing[row, arm] = parts > 1.0
    if parts == 1.0:
        rule.exposure[row, arm], rule.size[row, arm] = 0.0, 0.0
        test(rule, row, arm)


@kernel
def close_first(rule, row, arm, beyond, noise, bound):
    """Close the bet on an arm's first value by the leader's."""
    contrast, its = beyond + rule.first[0, arm], rule.first[1, arm]
    rule.early[row, arm] = log_first(rule, contrast, noise, its)
    note(rule, row, arm, 1.0, contrast, noise, its, bound + rule.first[2, arm])
    if rule.size[row, arm] == 0.0:
        test(rule, row, arm)


@kernel
def log_first(rule, contrast, noise, its):
    """What a bet on a contrast of first values brings, in nats: of the leader's, and of the rival's with its variance.
    The tilts depend on the latter alone, which is known before both."""
    total = 0.0
    for k in range(LOOKS):
        g = sqrt(rule.target[rule.target.size - 1] / its * 0.5**k)
        total += exp(min(g * (contrast - 0.5 * g * (noise + its)), 700.0)) / LOOKS  # no overflow
    return log(1.0 - FIRST + FIRST * total)


@kernel
def test(rule, row, arm):
    gain, noise = rule.gain[row, arm], rule.noise[row, arm]
    note(rule, row, arm, 0.0, gain, noise, rule.trust[row, arm], 0.0)
    early = 0.0 if np.isnan(rule.early[row, arm]) else rule.early[row, arm]
    exclude(rule, row, arm, log_capital(rule, gain, noise) + early)


@kernel
def log_capital(rule, gain, noise):
    """ln(cash + sum_t weight_t exp(t A - t^2 V / 2))."""
    top = 0.0
    for k in range(rule.scales.size):
        top = max(top, rule.scales[k] * (gain - 0.5 * rule.scales[k] * noise))
    total = CASH * exp(-top)
    for k in range(rule.scales.size):
        total += rule.weights[k] * exp(rule.scales[k] * (gain - 0.5 * rule.scales[k] * noise) - top)
    return top + log(total)


observe.register(Books, books_observe)
decide.register(Books, exclusion_decide)
