"""What the page shows of a study: its status in numbers and sentences, the forecast, the latest events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from math import isfinite
from typing import Any

from mfbai.model.problem import Array
from mfbai.study import sentences
from mfbai.study.forecast import Forecast
from mfbai.study.history import Point
from mfbai.study.journal import Event
from mfbai.study.rows import Search, most_relevant, rows_of, stated_of, status_of, totals_of
from mfbai.study.settings import is_proven
from mfbai.study.status import Status, proven
from mfbai.study.study import Study

RECENT = 30  # events shown
CONTEXT = 120  # events read to find the cells of those shown
OPEN = 20  # trials shown
MOST_FORECAST = 10_000  # arms: with more of them, computing the optimal shares takes minutes
ALARMS = 100  # of each kind that are spelt out
PARTS = 400  # of these, at most: a view is sent often


class Viewer:
    """Makes the page's view of one study. It remembers what takes long to compute."""

    def __init__(self, study: Study) -> None:
        self.study = study
        self._forecast = Forecast(study)
        self._search = Search(study.problem.arms)
        self._known: tuple[tuple[int, int], Status] | None = None  # the last status, and the study's mark by then
        self._first: dict[str, Any] | None = None  # what is shown of the first event, which has the whole problem

    def view(self) -> dict[str, Any]:
        """Everything that the page shows, for JSON."""
        study = self.study
        (events, _), status = self._status()
        label = study.label
        points = study.history()
        problem = status.problem
        optimal = self._optimal(status)
        shown = most_relevant(status)
        return {
            "status": status_of(status, shown),
            "shown": shown,
            **totals_of(status, optimal),
            "forecasts": problem.n_arms <= MOST_FORECAST,
            "sentence": sentences.state_of(status),
            "alarms": [sentences.alarm(alarm, problem) for alarm in status.alarms[:ALARMS]],
            "variance_alarms": [sentences.variance_alarm(alarm, problem) for alarm in status.variance_alarms[:ALARMS]],
            "rule": sentences.rule(status.stopping),
            "proof_decides": is_proven(status.stopping),
            "progress": proven(status),
            "events": events,
            "key": study.settings.key,
            "paused": status.paused,
            "note": label.note,
            "tags": list(label.tags),
            "created": self._created(),
            **stated_of(problem, shown, optimal),
            "history": {
                "cost": [point.cost for point in points],
                "risk": [point.risk for point in points],
                "evidence": [point.evidence if isfinite(point.evidence) else None for point in points],
                "leader": [point.leader for point in points],
                "spent": _shares(points, shown),
            },
            "remaining": None if optimal is None and status.result is None else self._forecast.remaining(status),
            "recent": self._recent(events),
            "open": open_trials(study),
        }

    def arms(self, search: str, limit: int, offset: int) -> dict[str, Any]:
        """What the page shows of the arms whose names contain a text, for JSON."""
        _, status = self._status()
        found = self._search.find(search)
        rows = rows_of(status, found[offset : offset + limit], self._optimal(status))
        return {**rows, "total": len(found), "n_arms": status.problem.n_arms}

    def _status(self) -> tuple[tuple[int, int], Status]:
        mark = self.study.mark()  # first: if the rest is newer, the next view comes soon
        if self._known is None or self._known[0] != mark:
            self._known = mark, self.study.status()
        return self._known

    def _created(self) -> float:
        at: float = self._beginning()["at"]
        return at

    def _beginning(self) -> dict[str, Any]:
        if self._first is None:
            (self._first,) = recent(self.study, islice(self.study.journal(), 1))
        return self._first

    def _optimal(self, status: Status) -> Array | None:
        if status.problem.n_arms > MOST_FORECAST:
            return None
        best = self._forecast.optimal(status)
        return None if best is None else best.weights

    def _recent(self, events: int) -> list[dict[str, Any]]:
        """The latest events in words, the newest first."""
        start = max(1, events - CONTEXT)
        shown = recent(self.study, self.study.journal(start))
        if start > 1 or len(shown) >= RECENT:
            return shown
        return [*shown, self._beginning()]


def _shares(points: Sequence[Point], shown: Sequence[int]) -> list[list[float]] | None:
    """What was spent on each arm that is shown, at each point; None if that was not kept."""
    if not all(point.spent for point in points):
        return None
    return [[point.spent[arm] for point in points] for arm in shown]


def recent(study: Study, events: Iterable[Event]) -> list[dict[str, Any]]:
    """The latest events in words, the newest first."""
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
    """Some of the trials under way."""
    problem = study.problem
    shown: list[dict[str, Any]] = []
    calls = 0
    for trial, (arm, fidelity), seed in study.under_way(OPEN):
        parts = [{"fidelity": part.fidelity, "seed": part.seed} for part in study.parts(trial)]
        calls += len(parts)
        if shown and calls > PARTS:
            break
        shown.append(
            {
                "id": trial,
                "arm": problem.arms[arm],
                "fidelity": problem.fidelities[fidelity],
                "cost": float(problem.costs[arm, fidelity]),
                "seed": seed,
                **({"parts": parts} if parts else {}),
            }
        )
    return shown
