"""Truths: tables of means, (truths, K, M), drawn at random among those that fit a guess.

What is not guessed is uniform: a top mean in its range, any other mean within its bias bounds.
"""

from __future__ import annotations

import numpy as np

from mfbai.errors import Fault, InvalidInput
from mfbai.model.guess import Guess
from mfbai.model.means import place, positions_of
from mfbai.model.problem import Array, Problem

MARGIN = 0.05  # of a gap: how far from an impossible mean to keep
TRUTHS = 200  # puts a median within some 4 % of the values' ranks, and takes a second
CELLS = 2000  # in a problem of more of them there are fewer truths, for the same amount of work,
FEWEST = 40  # down to these


def draw(problem: Problem, guess: Guess, tolerance: float, seed: int) -> Array:
    """Truths that fit the guess; only one if it leaves nothing open."""
    rng = np.random.default_rng(seed)
    count = min(TRUTHS, max(TRUTHS * CELLS // problem.costs.size, FEWEST))
    tops = _draw_tops(problem, guess, count, rng)
    if guess.means is not None and guess.means.ndim == 2:
        positions = positions_of(problem, guess.means[None])
    else:
        positions = 1.0 - rng.random((count, *problem.shape))  # not 0: some families exclude their least mean
    means = place(problem, tops, positions)
    if (means == means[0]).all():
        means = means[:1]
    _check_ties(problem, means[:, :, -1], tolerance)
    return means


def _draw_tops(problem: Problem, guess: Guess, count: int, rng: np.random.Generator) -> Array:
    """(count, K)"""
    shape = (count, problem.n_arms)
    if guess.means is not None:
        tops = guess.means[:, -1] if guess.means.ndim == 2 else guess.means
        return np.broadcast_to(tops, shape)
    if guess.gap is not None:
        best = guess.best or 0.0
        tops = np.full(shape, best - problem.sign * guess.gap)
        tops[np.arange(count), rng.permutation(count) % problem.n_arms] = best  # each arm in its turn
        return tops
    assert guess.low is not None
    assert guess.high is not None
    return np.clip(guess.low + (guess.high - guess.low) * rng.random(shape), guess.low, guess.high)  # for rounding


def _check_ties(problem: Problem, tops: Array, tolerance: float) -> None:
    ahead = np.sort(problem.sign * tops, axis=1)
    tied = ahead[:, -1] == ahead[:, -2]
    if tolerance == 0 and tied.any():
        first = tops[tied.argmax()]
        names = [problem.arms[arm] for arm in np.flatnonzero(first == problem.sign * ahead[tied.argmax(), -1])]
        told = f"lets arms {names[0]!r} and {names[1]!r} tie for the best, and no evaluations can tell which it is"
        raise InvalidInput([Fault("guess", f"{told}; move one of them, or set a tolerance")])


def gaps_of(problem: Problem, means: Array) -> Array:
    """(truths,) how far the best arm is ahead of the second."""
    ahead = np.sort(problem.sign * means[:, :, -1], axis=1)
    return np.asarray(ahead[:, -1] - ahead[:, -2])


def widest_gap(problem: Problem) -> float:
    """No gap can be wider."""
    model = problem.model()
    return float(model.top_high.min() - model.top_low.max())


def room(problem: Problem, means: Array) -> float:
    """How far, for half of the truths, the others can fall behind the best arm while that stays where it is."""
    return float(np.median((problem.sign * means[:, :, -1]).max(axis=1)) - problem.model().top_low.max())


def with_gap(problem: Problem, means: Array, gap: float) -> Array:
    """The truths as if the best arm were ahead by `gap`: the others move, and the best only if there is no room."""
    model = problem.model()
    margin = MARGIN * gap if problem.family.open_range else 0.0  # the ends themselves are impossible
    low, high = model.top_low + margin, model.top_high - margin
    tops = problem.sign * means[:, :, -1]
    second, first = np.sort(tops, axis=1)[:, -2:].T[:, :, None]
    best = np.maximum(first, low.max() + gap)
    moved = tops + (best - gap - second)
    np.put_along_axis(moved, tops.argmax(axis=1)[:, None], best, axis=1)
    return place(problem, problem.sign * np.clip(moved, low, high), positions_of(problem, means))
