"""What the page shows of a study beyond its status: what would be optimal, what it will cost, what happened last."""

from __future__ import annotations

import time
from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np

from mfbai.analysis.oracle import Oracle, oracle
from mfbai.errors import InvalidInput
from mfbai.kernels import transport
from mfbai.model.problem import Array
from mfbai.planning.truths import instance_of, place, positions_of
from mfbai.stopping import DEFAULT
from mfbai.stopping.own import OWN
from mfbai.study import Status, Study
from mfbai.study.journal import Event
from mfbai.study.status import proven
from mfbai.text import digits

RECENT = 30  # events shown
CONTEXT = 120  # events looked through for what these are about
OPEN = 20  # trials shown
REST = 5.0  # times as long as computing the optimal shares took, until they are computed again


class Insight:
    """The page's view of a study; remembers what is dear to compute."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._optimal: Oracle | None = None
        self._not_before = 0.0

    def view(self) -> dict[str, Any]:
        """Everything that the page shows, for JSON."""
        study = self.study
        events = study.length()  # before the rest: should that be newer, the next view comes soon
        status = study.status()
        points = study.history()
        self._update_optimal(status)
        problem = status.problem
        best = self._optimal
        return {
            "status": status.to_dict(),
            "sentence": sentence(status),
            "progress": proven(status),
            "events": events,
            "costs": problem.costs.tolist(),
            "biases": np.stack([problem.bias_low, problem.bias_high], axis=2).tolist(),
            "history": {
                "cost": [point.cost for point in points],
                "risk": [point.risk for point in points],
                "evidence": [point.evidence if isfinite(point.evidence) else None for point in points],
                "leader": [point.leader for point in points],
            },
            "optimal": None if best is None else best.weights.tolist(),
            "remaining": remaining(status, best),
            "recent": recent(study, study.journal(max(0, events - CONTEXT))),
            "open": open_trials(study),
        }

    def _update_optimal(self, status: Status) -> None:
        """The optimal shares at the current estimate, unless computing them takes too much of our time."""
        now = time.monotonic()
        if now < self._not_before and status.result is None:
            return
        try:
            truth = instance_of(status.problem, estimate(status))
            self._optimal = oracle(truth, self.study.settings.tolerance, start=self._optimal)
        except InvalidInput:  # the best arms tie, by the data so far
            self._optimal = None
        self._not_before = now + (1 + REST) * (time.monotonic() - now)


def estimate(status: Status) -> Array:
    """(K, M) the means that fit the data best, of those that the bias bounds allow.

    Cells without data are in the middle of their bounds; arms without any are as good as the average of the others.
    """
    problem = status.problem
    model, seen = problem.model(), status.counts.any(axis=1)
    means = problem.sign * np.nan_to_num(status.means)
    work = transport.make_work(model)
    for arm in np.flatnonzero(seen):
        transport.fit(model, status.counts, means, arm, work)
    fit = (work.psi_low + work.psi_high) / 2
    tops = np.where(seen, fit, fit[seen].mean() if seen.any() else 0.0)
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


def remaining(status: Status, best: Oracle | None) -> float | None:
    """The cost until the verdict, if the estimates are right and the money is spent in the optimal shares.

    Then the least evidence grows by 1 for every C*. None if nobody knows, or another rule decides.
    """
    if status.result is not None:
        return 0.0
    if best is None or status.leader is None or status.stopping != DEFAULT:
        return None
    return best.cost_complexity * max(status.needed - max(float(status.evidence.min()), 0.0), 0.0)


def sentence(status: Status) -> str:
    """The verdict, or how far it is."""
    if status.result is not None:
        return str(status.result)
    if status.leader is None:
        return "Nothing is known yet: the first result is awaited."
    sure = "nothing is proven yet" if status.risk >= 1 else f"the risk is {digits(status.risk, 2)} now"
    if status.stopping != DEFAULT:
        rule = "the strategy's own rule" if status.stopping == OWN else f"the rule {status.stopping!r}"
        return f"{status.leader!r} leads; {sure}, but {rule} decides. It has cost {digits(status.cost)} so far."
    return f"{status.leader!r} leads; {sure}, and {status.delta:g} is wanted. It has cost {digits(status.cost)} so far."


def recent(study: Study, events: Iterable[Event]) -> list[dict[str, Any]]:
    """The last events, the last one first, in words."""
    bodies = [event.body for event in events]
    cells = {body["trial"]: body for body in bodies if body["kind"] == "ask"}
    shown = []
    for body in reversed(bodies[-RECENT:]):
        told = _describe(study, {**cells.get(body.get("trial"), {}), **body})
        shown.append({"n": body["n"], "at": body["at"], "kind": body["kind"], "text": told})
    return shown


def _describe(study: Study, body: dict[str, Any]) -> str:
    problem, kind = study.problem, body["kind"]
    what = f"{problem.arms[body['arm']]!r} at {problem.fidelities[body['fidelity']]!r}" if "fidelity" in body else ""
    where = f" ({what})" if what else ""
    if kind == "ask":
        return f"trial {body['trial']}: evaluate {what}"
    if kind == "tell":
        return f"trial {body['trial']}: {body['value']:.6g}{where}"
    if kind == "fail":
        reason = f": {body['reason']}" if body["reason"] else ""
        return f"trial {body['trial']} failed{where}{reason}"
    if kind == "add":
        count = len(body["values"])
        return f"{count} value{'s' if count > 1 else ''} from elsewhere: {what}"
    return "the study was created" if kind == "create" else f"verdict: {body['state']}"


def open_trials(study: Study) -> list[dict[str, Any]]:
    """Some of what is under way."""
    problem, settings = study.problem, study.settings
    return [
        {
            "id": trial,
            "arm": problem.arms[arm],
            "fidelity": problem.fidelities[fidelity],
            "cost": float(problem.costs[arm, fidelity]),
            "seed": settings.seed(int(trial.partition("-")[0])),
        }
        for trial, (arm, fidelity) in study.trials()[:OPEN]
    ]
