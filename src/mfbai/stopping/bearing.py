"""What a proof of `contrasts` can bear: whether a rival would still be ruled out if bias bounds were wider.

The bets are those of the run (`exclusion.Notes`), with the tilts that they had; only what is bet against is harder to
beat. A tilt was chosen before its values were seen, so the capital is a supermartingale under the wider bounds too.
"""

from itertools import pairwise

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.stopping.books import Books, log_capital, log_first
from mfbai.stopping.round_bets import largest_tilt
from mfbai.stopping.rounds import Rounds, multiply


def bets_against(rule: Books | Rounds) -> list[np.ndarray]:
    """For each rival the bets that were noted, in their order."""
    notes = rule.notes.bets[: rule.notes.row[1]]
    rivals = notes[:, 2 if isinstance(rule, Rounds) else 0].astype(int)
    order = np.argsort(rivals, kind="stable")
    ends = np.searchsorted(rivals[order], np.arange(rule.proven.shape[1] + 1))
    return [notes[order[start:end]] for start, end in pairwise(ends)]


def is_ruled_out(model, rule: Books | Rounds, bets: np.ndarray, factor: float) -> bool:
    """Whether bets reach the target at some time, with the bounds of `model`, which are that many times as wide."""
    if isinstance(rule, Rounds):
        return bool(rounds_reach(model, rule, bets, np.zeros(rule.scales.size)))
    return bool(books_reach(rule, bets, factor - 1.0))


@kernel
def books_reach(rule, bets, wider):
    early, target = 0.0, rule.target[rule.target.size - 1]
    for n in range(bets.shape[0]):
        if bets[n, 1] == 1.0:
            value = log_first(rule, bets[n, 2] - wider * bets[n, 5], bets[n, 3], bets[n, 4])
            early = 0.0 if np.isnan(value) else value
        elif log_capital(rule, bets[n, 2] - wider * bets[n, 4], bets[n, 3]) + early >= target:
            return True
    return False


@kernel
def rounds_reach(model, rule, bets, capital):
    target = rule.target[rule.target.size - 1]
    for n in range(bets.shape[0]):
        i, m, j, k = int(bets[n, 0]), int(bets[n, 1]), int(bets[n, 2]), int(bets[n, 3])
        contrast = bets[n, 5] - model.bias_high[i, m] + model.bias_low[j, k] + model.tolerance
        most = largest_tilt(model.law, model, i, m, j, k)
        if multiply(model, rule, capital, bets[n, 4], most, contrast) >= target:
            return True
    return False
