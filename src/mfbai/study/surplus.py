"""When more evaluations under way would be a waste: workers wait for results instead.

What is under way when the verdict comes is paid for in vain, and what is asked for before results are back is chosen
with less knowledge. Both matter little while it is a small part of what the study has cost, and a study that has just
begun needs a few values of each arm anyway. So an evaluation is always handed out

- if nothing is under way, if its arm has never been asked for, or if it completes a round;
- before the first result: if fewer than FIRST are under way;
- if fewer than FEW are under way, and what has not counted yet is less than UNCOUNTED.

Beyond that, what has not counted yet may cost up to MOST of what has, the next evaluation included; and only LITTLE of
it if PROSPECT times what is under way would decide. That is judged by the evidence f, the means being as they are:
f must exceed what the rule asks for by MARGIN. bench/workers.py measures what this saves.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.outlook import would_decide
from mfbai.kernels.parts import Wanted, needs
from mfbai.kernels.transport import Work, make_work
from mfbai.model.compiled import Model
from mfbai.model.problem import Array
from mfbai.stopping import contrasts, e_process
from mfbai.study.settings import is_proven

if TYPE_CHECKING:
    from mfbai.study.fold import Cell, Fold

FIRST = 40  # evaluations under way that are not too many before the first result is back
FEW = 8  # the same at any time
UNCOUNTED = 22  # results that do not count yet, under way or waiting, that are not too many either
LITTLE, MOST = 0.1, 0.25  # of the cost of what counts
PROSPECT = 2.0  # times what is under way
MARGIN = 3.0  # nats: about by how much f exceeds what is proven


class Scratch(NamedTuple):
    """What judging takes to compute with."""

    work: Work
    weights: Array  # (K, M)
    means: Array  # (K, M)


def make_scratch(model: Model) -> Scratch:
    shape = model.cost.shape
    return Scratch(make_work(model), np.zeros(shape), np.zeros(shape))


def surplus(fold: Fold, cell: Cell) -> str | None:
    """Why an evaluation of a noisy cell would probably be a waste now, and what to do; None if it would not."""
    if not fold.open or _is_first_look(fold, cell[0]):
        return None
    uncounted = int(fold.pending.sum())
    if fold.counted == 0 and uncounted < FIRST:
        return None
    if len(fold.open) < FEW and uncounted < UNCOUNTED:
        return None
    fold.flush()
    cost = float((fold.pending * fold.model.cost).sum() + fold.settings.problem.costs[cell])
    spent = float(fold.stats.spent[0])
    if cost > MOST * spent:
        return f"{fold.under_way()}, and too little is known to choose more; tell the results"
    if cost > LITTLE * spent and may_decide(fold):
        return f"{fold.under_way()}, and the results may well decide; tell them"
    return None


def _is_first_look(fold: Fold, arm: int) -> bool:
    """Whether an arm was never asked for; or, where arms meet in rounds, whether the round has begun: it counts only as
    a whole."""
    if fold.rounds is not None:
        return fold.rounds.begun == 0 or bool(fold.rounds.left)
    return not (fold.pending[arm].any() or fold.stats.count[arm].any())


def may_decide(fold: Fold) -> bool:
    """Whether what is under way, and as much again, would decide if its values are like those before them. Rules that
    are not proven have thresholds of their own: nothing is foreseen there."""
    if not is_proven(fold.settings.rule):
        return False
    needed = fold.needed() + MARGIN
    known = (fold.model, fold.stats, fold.pending)
    return bool(would_decide(*known, PROSPECT, _ruled_out(fold), needed, *fold.scratch))


def needed_for_surplus(fold: Fold) -> list[Wanted]:
    """The compiled parts that `may_decide` takes."""
    known = (fold.model, fold.stats, fold.pending)
    return needs((would_decide, *known, PROSPECT, fold.model.beaten, 0.0, *fold.scratch))


def _ruled_out(fold: Fold) -> NDArray[np.bool_]:
    """(K,) the arms that the rule has ruled out, as far as it knows by itself."""
    out = fold.model.beaten.copy()
    if fold.settings.bets_on_contrasts:
        standing = contrasts.standing(fold.rule)
        out |= standing.evidence >= standing.needed
        leader = standing.leader
    else:
        kept = (fold.rule, getattr(fold.state, "rule", None))
        rule = next((record for record in kept if isinstance(record, e_process.State)), None)
        leader = -1 if rule is None else int(rule.leader[0])
        if rule is not None and leader >= 0:
            out |= rule.proven[rule.leader[1]] >= rule.target[0]
    if leader >= 0:
        out[leader] = False
    return out
