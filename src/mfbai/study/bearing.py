"""What the verdict of a study can bear: how much wider the bias bounds may be, and its risk without any of them.

Evidence of the e-process follows from the statistics of the cells. That of `contrasts` follows from every single bet:
a study keeps its values, and when it is decided they are replayed once, with the bets noted.
"""

from __future__ import annotations

from array import array
from functools import partial
from math import exp, inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis import bearing
from mfbai.analysis.guarantee import find_risk
from mfbai.kernels import e_values, transport
from mfbai.kernels.exact import certain
from mfbai.kernels.stats import make_stats
from mfbai.model.compiled import Model
from mfbai.model.problem import Array
from mfbai.run.loop import make_outcome
from mfbai.run.play import Play
from mfbai.run.state import own_model
from mfbai.stopping import contrasts, e_process
from mfbai.stopping.bearing import bets_against, first_left, first_left_by_bets
from mfbai.stopping.exclusion import row_of
from mfbai.stopping.rounds import Rounds

if TYPE_CHECKING:
    from mfbai.study.fold import Fold


class Values:
    """All values that kernels have seen, in order."""

    def __init__(self) -> None:
        self._columns = [array(kind) for kind in "iidqi"]

    def add(self, *columns: Any) -> None:
        for kept, new in zip(self._columns, columns, strict=True):
            kept.extend(new.tolist())

    def __len__(self) -> int:
        return len(self._columns[0])

    def columns(self) -> list[Any]:
        """Arms and fidelities, as kernels see them, values, numbers of seeds, parts: as `add` takes them."""
        return [np.array(column, dtype=float if column.typecode == "d" else np.int64) for column in self._columns]


def breakdown(fold: Fold, answer: int) -> float | None:
    """The largest factor by which all bias bounds can be multiplied while every rival of an answer stays ruled out.

    Infinite if no value counted that needs a bound. None if it cannot be said: the rule is neither contrasts nor the
    e-process, deterministic values contradict each other, or all bounds in question are 0.
    """
    settings, problem, model = fold.settings, fold.settings.problem, fold.model
    counted = _counted_on_trust(fold)
    if not counted.any():
        return inf
    if model.exact.contradicts.any() or not (counted & ((problem.bias_low != 0) | (problem.bias_high != 0))).any():
        return None
    K = problem.n_arms
    if fold.certain() == answer:
        return bearing.largest_factor(problem, model, lambda wider, factor, n, end: int(certain(wider) == answer), 1)
    if settings.bets_on_contrasts:
        rule = _noted(fold, answer)
        return bearing.largest_factor(problem, model, partial(_by_bets, rule, answer, bets_against(rule)), K)
    if settings.rule != e_process.RULES[0].name:
        return None
    factor = bearing.largest_factor(problem, model, partial(_by_statistics, fold, answer), K)
    # A rival that was ruled out earlier stays so, though the statistics of today do not show it: with these bounds.
    return 1.0 if factor is None and (fold.risk(answer).log_evidence >= fold.needed()).all() else factor


def _counted_on_trust(fold: Fold) -> NDArray[np.bool_]:
    """(K, M) the cells with values that count only if a bias bound holds."""
    found: NDArray[np.bool_] = (fold.counts > 0) & bearing.trusted(fold.settings.problem)
    return found


def _by_bets(
    rule: Any, answer: int, bets: tuple[Array, Array], model: Model, factor: float, start: int, end: int
) -> int:
    return first_left_by_bets(model, rule, answer, *bets, factor, start, end)


def _by_statistics(fold: Fold, answer: int, model: Model, factor: float, start: int, end: int) -> int:
    fits, work = transport.make_work(model), e_values.make_work()
    return int(first_left(model, fold.stats, answer, fold.needed(), fits, work, start, end))


def _noted(fold: Fold, answer: int) -> Any:
    """The rule after a replay of all values, with the bets of the proof."""
    arms, fidelities, values, numbers, parts = fold.values.columns()
    made, K = fold.settings.parts, fold.settings.problem.n_arms
    state = contrasts.noting(made.make_state(), answer, 2 * len(arms) + K)
    model = own_model(made.model)
    stats, pending = make_stats(model.cost.shape), np.zeros(model.cost.shape, dtype=np.int64)
    play = Play(model, stats, state, made.make_rule(state), make_outcome(1), pending)
    play.replay(arms, fidelities, values, np.stack([numbers, parts], axis=1))
    return state.rule


def untrusted(fold: Fold, answer: int | None, risk: float) -> float:
    """The risk of an answer by what needs no bias bound: top and controlled fidelities; `risk` is that by all of them.
    Contrasts in rounds have a capital of their own for it, elsewhere the e-process says it, which needs no order."""
    problem = fold.settings.problem
    if answer is None:
        return 1.0
    if not _counted_on_trust(fold).any():
        return risk
    model, stats = bearing.without_bounds(problem, fold.model, fold.stats)
    if certain(model) == answer:
        return 0.0
    if not (fold.settings.bets_on_contrasts and isinstance(fold.rule, Rounds)):
        return find_risk(model, stats, answer=answer).level
    row = fold.rule.unaided_most[row_of(fold.rule, answer)]
    rivals = np.flatnonzero(~(model.beaten | (model.top_high <= model.top_low[answer] + model.tolerance)))
    tests = problem.n_arms - 1 if len(fold.rule.proven) > 1 else 1
    return min(tests * exp(-min((float(row[j]) for j in rivals if j != answer), default=inf)), 1.0)
