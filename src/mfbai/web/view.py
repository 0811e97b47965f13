"""What the page shows of a study beyond its status: what would be optimal, what it will cost, what happened last."""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from typing import Any

import numpy as np

from mfbai.stopping import DEFAULT
from mfbai.stopping.own import OWN
from mfbai.study import Status, Study
from mfbai.study.forecast import Forecast
from mfbai.study.journal import Event
from mfbai.study.status import proven
from mfbai.text import digits

RECENT = 30  # events shown
CONTEXT = 120  # events looked through for what these are about
OPEN = 20  # trials shown


class Insight:
    """The page's view of a study; remembers what is dear to compute."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._forecast = Forecast(study)

    def view(self) -> dict[str, Any]:
        """Everything that the page shows, for JSON."""
        study = self.study
        events = study.length()  # before the rest: should that be newer, the next view comes soon
        status = study.status()
        points = study.history()
        problem = status.problem
        best = self._forecast.optimal(status)
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
            "remaining": self._forecast.remaining(status),
            "recent": recent(study, study.journal(max(0, events - CONTEXT))),
            "open": open_trials(study),
        }


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
