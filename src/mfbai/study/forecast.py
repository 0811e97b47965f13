"""What is still to come if the results so far are right: the optimal shares of the cost, the cost to the verdict."""

from __future__ import annotations

import time

import numpy as np

from mfbai.analysis.evidence import split_tables
from mfbai.analysis.oracle import Oracle, oracle
from mfbai.errors import Faults, InvalidInput
from mfbai.kernels import transport
from mfbai.model.given import refuse_tie
from mfbai.model.means import instance_of, place, positions_of
from mfbai.model.problem import Array
from mfbai.study.settings import is_proven
from mfbai.study.status import Status
from mfbai.study.study import Study

REST = 5.0  # times as long as computing the optimal shares took, until they are computed again


class Forecast:
    """The forecast of one study. It computes the optimal shares only now and then, as that takes time."""

    def __init__(self, study: Study) -> None:
        self._study = study
        self._optimal: Oracle | None = None
        self._status: Status | None = None  # that they were last looked up for
        self._not_before = 0.0

    def optimal(self, status: Status) -> Oracle | None:
        """The oracle at the current estimate of the means, or at a recent one; None while the best arms tie, and with
        common seeds, where it depends on how the arms' values vary together."""
        if status.problem.seeds == "common":
            return None
        now = time.monotonic()
        if status is self._status or (now < self._not_before and status.result is None):
            return self._optimal
        self._status = status
        try:
            truth = instance_of(status.problem, estimate(status), deviation=self._study._deviation())
            self._optimal = oracle(truth, self._study.settings.tolerance, start=self._optimal)
        except InvalidInput:  # the best arms tie, by the data so far
            self._optimal = None
        self._not_before = now + (1 + REST) * (time.monotonic() - now)
        return self._optimal

    def remaining(self, status: Status) -> float | None:
        """The cost until the verdict, if the estimates are right and the money is spent in the optimal shares.

        Then the least evidence grows by 1 for every C*. None if that is unknown, or another rule decides.
        """
        if status.result is not None:
            return 0.0
        if status.leader is None or not is_proven(status.stopping):
            return None
        best = self.optimal(status)
        if best is None:
            return None
        return best.cost_complexity * max(status.needed - max(float(status.evidence.min()), 0.0), 0.0)


def estimate(status: Status) -> Array:
    """(K, M) the means that fit the data best, of those that the bias bounds allow. InvalidInput if the best arms tie.

    Cells without data are in the middle of their bounds; arms without any are as good as the average of the others.
    """
    problem = status.problem
    model, seen = problem.model(), status.counts.any(axis=1)
    counts, means = split_tables(problem, model, status.counts, problem.sign * np.nan_to_num(status.means))
    work = transport.make_work(model)
    transport.fit_all(model, counts, means, work)
    fit = np.zeros(problem.n_arms)
    fit[seen] = (work.psi_low[seen] + work.psi_high[seen]) / 2
    tops = np.where(seen, fit, fit[seen].mean() if seen.any() else 0.0)
    faults = Faults()
    refuse_tie(faults, problem.arms, tops)  # below, arms with more data are moved less: that is no difference
    faults.raise_if_any("data")
    tops = problem.sign * _inside(tops, model.top_low, model.top_high, status.counts.sum(axis=1))
    observed = np.where(status.counts > 0, status.means, np.nan)
    observed[:, -1] = tops
    positions = np.nan_to_num(positions_of(problem, observed[None]), nan=0.5)
    found: Array = place(problem, tops[None], np.clip(positions, 0.0, 1.0))[0]
    return found


def _inside(tops: Array, low: Array, high: Array, counts: Array) -> Array:
    """Away from the ends of a bounded range, at which an arm would seem to be known for certain."""
    with np.errstate(invalid="ignore"):
        margin = np.where(np.isfinite(high - low), (high - low) / (counts + 2), 0.0)
    clipped: Array = np.clip(tops, low + margin / 2, high - margin / 2)
    return clipped
