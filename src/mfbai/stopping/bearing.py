"""What a proof can bear: whether rivals would still be ruled out if bias bounds were wider.

For `contrasts`, the bets are those of the run (`exclusion.Notes`), with the tilts that they had; only what is bet
against is harder to beat. A tilt was chosen before its values were seen, so the capital is a supermartingale under the
wider bounds too. For the e-process, the statistics say it.

All functions here return the first rival, of those from `start` to before `end`, that would not be ruled out, or `end`.
"""

import numpy as np

from mfbai.kernels import e_values
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import has_data
from mfbai.stopping.books import Books, log_capital, log_first
from mfbai.stopping.round_bets import largest_tilt
from mfbai.stopping.rounds import Rounds, multiply


def bets_against(rule: Books | Rounds) -> tuple[np.ndarray, np.ndarray]:
    """The bets that were noted, by rivals and in their order; (K + 1,) where those against each begin."""
    notes = rule.notes.bets[: rule.notes.row[1]]
    rivals = notes[:, 2 if isinstance(rule, Rounds) else 0].astype(int)
    order = np.argsort(rivals, kind="stable")
    return notes[order], np.searchsorted(rivals[order], np.arange(rule.proven.shape[1] + 1))


def first_left_by_bets(model, rule: Books | Rounds, answer, bets, starts, factor: float, start, end) -> int:
    """By bets that reach the target at some time, with the bounds of `model`, which are that many times as wide."""
    if isinstance(rule, Rounds):
        return int(rounds_left(model, rule, answer, bets, starts, np.zeros(rule.scales.size), start, end))
    return int(books_left(model, rule, answer, bets, starts, factor - 1.0, start, end))


@kernel
def is_beaten(model, answer, rival):
    """Whether deterministic fidelities show for certain that a rival is not better than the answer."""
    return model.beaten[rival] or model.top_high[rival] <= model.top_low[answer] + model.tolerance


@kernel
def first_left(model, stats, answer, target, fits, work, start, end):
    """By the e-process of these statistics."""
    for j in range(start, end):
        if j == answer or is_beaten(model, answer, j):
            continue
        if not (has_data(stats, answer) and has_data(stats, j)):
            return j
        fits.psi[answer], fits.misfit[answer] = 0.0, 0.0  # as if it were the first: so the order does not matter
        if not e_values.reaches(model, stats, answer, j, target, fits, work):
            return j
    return end


@kernel
def books_left(model, rule, answer, bets, starts, wider, start, end):
    for j in range(start, end):
        if (
            j != answer
            and not is_beaten(model, answer, j)
            and not books_reach(rule, bets, starts[j], starts[j + 1], wider)
        ):
            return j
    return end


@kernel
def books_reach(rule, bets, start, end, wider):
    early, target = 0.0, rule.target[rule.target.size - 1]
    for n in range(start, end):
        if bets[n, 1] == 1.0:
            value = log_first(rule, bets[n, 2] - wider * bets[n, 5], bets[n, 3], bets[n, 4])
            early = 0.0 if np.isnan(value) else value
        elif log_capital(rule, bets[n, 2] - wider * bets[n, 4], bets[n, 3]) + early >= target:
            return True
    return False


@kernel
def rounds_left(model, rule, answer, bets, starts, capital, start, end):
    for j in range(start, end):
        if j == answer or is_beaten(model, answer, j):
            continue
        capital[:] = 0.0
        if not rounds_reach(model, rule, bets, starts[j], starts[j + 1], capital):
            return j
    return end


@kernel
def rounds_reach(model, rule, bets, start, end, capital):
    target = rule.target[rule.target.size - 1]
    for n in range(start, end):
        i, m, j, k = int(bets[n, 0]), int(bets[n, 1]), int(bets[n, 2]), int(bets[n, 3])
        contrast = bets[n, 5] - model.bias_high[i, m] + model.bias_low[j, k] + model.tolerance
        most = largest_tilt(model.law, model, i, m, j, k)
        if multiply(model, rule, capital, bets[n, 4], most, contrast) >= target:
            return True
    return False
