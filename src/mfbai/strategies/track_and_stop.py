"""Track-and-Stop on the top fidelity alone, with costs (Garivier and Kaufmann 2016; Kanarios et al. 2024).

After every evaluation the optimal cost shares omega are computed for the means seen so far, and the arms are evaluated
in proportion to pi = normalise(omega / cost): the arm that maximises t pi_a - N_a, unless some arm has fewer than
sqrt(t) - K/2 evaluations ("D-tracking"). While two arms are tied for the best, no shares tell them apart: the arm with
the fewest evaluations is next.
"""

from math import inf, sqrt
from typing import NamedTuple

import numpy as np

from mfbai.kernels.allocation import Work, allocate, make_work, write
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import Stats, make_stats, record
from mfbai.model.compiled import Model
from mfbai.strategies.common import every_cell_seen, top_fidelity
from mfbai.strategies.interface import Strategy, ask, tell


class State(NamedTuple):
    top: Model  # the problem of one fidelity
    stats: Stats  # what was told at it
    work: Work  # where the search for the last shares ended
    share: np.ndarray  # (K, 1) pi; zero while there is none


def init(model):
    top = top_fidelity(model)
    return State(top, make_stats(top.cost.shape), make_work(top), np.zeros(top.cost.shape))


@kernel
def track_ask(model, stats, state, pending):
    last = pending.shape[1] - 1
    K = pending.shape[0]
    total, fewest, least = 0.0, 0, inf
    for a in range(K):
        evaluations = state.stats.count[a, 0] + pending[a, last]
        total += evaluations
        if evaluations < least:
            fewest, least = a, evaluations
    if least == 0.0 or least < sqrt(total) - 0.5 * K:
        return fewest, last
    arm, most = fewest, 0.0
    for a in range(K):
        behind = total * state.share[a, 0] - state.stats.count[a, 0] - pending[a, last]
        if behind > most:
            arm, most = a, behind
    return arm, last


@kernel
def track_tell(model, stats, state, arm, fidelity, x):
    if fidelity != stats.count.shape[1] - 1:
        return
    record(state.top, state.stats, arm, 0, x)
    if not every_cell_seen(state.stats):
        return
    best, second = 0, -inf
    for a in range(1, state.share.size):
        if state.stats.mean[a, 0] > state.stats.mean[best, 0]:
            best, second = a, state.stats.mean[best, 0]
        else:
            second = max(second, state.stats.mean[a, 0])
    if not state.stats.mean[best, 0] > second:
        state.share[:] = 0.0
        return
    allocate(state.top, state.stats.mean, best, state.work)
    write(best, state.work, state.share)
    pulls = 0.0
    for a in range(state.share.size):
        state.share[a, 0] /= state.top.cost[a, 0]
        pulls += state.share[a, 0]
    for a in range(state.share.size):
        state.share[a, 0] /= pulls


ask.register(State, track_ask)
tell.register(State, track_tell)
STRATEGIES = (Strategy("track-and-stop", "optimal shares of the top fidelity, tracked", init, top_only=True),)
