"""What a report shows: all of it follows from the journal, which is replayed for it, but for whether it is paused."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from mfbai.study import sentences
from mfbai.study.journal import Event, canonical
from mfbai.study.status import Status
from mfbai.study.storage import Label, Storage
from mfbai.study.study import Study
from mfbai.study.verdict import assumptions_of
from mfbai.study.view import Viewer
from mfbai.text import digits

LEFT_OUT = ("tags", "paused", "note", "recent", "open")  # of a view: what is beside the journal, or in the table


class Replayed(Storage):
    """A journal that was read: one study, to look at."""

    def __init__(self, *, events: Sequence[Event], label: Label) -> None:
        self._events, self._label = events, label

    @property
    def url(self) -> str:
        return "a certificate"

    def read(self, study: int, first: int) -> Iterator[Event]:
        return islice(self._events, first, None)

    def length(self, study: int) -> int:
        return len(self._events)

    def label(self, study: int) -> Label:
        return self._label

    def snapshot(self, study: int, form: str) -> None:
        return None


def replayed(certificate: Mapping[str, Any], *, paused: bool) -> Study:
    """The study that a certificate is of. Nobody can write to it."""
    bodies = ({entry: value for entry, value in event.items() if entry != "hash"} for event in certificate["journal"])
    hashes = (event["hash"] for event in certificate["journal"])
    events = [Event(canonical(body), seal) for body, seal in zip(bodies, hashes, strict=True)]
    return Study(Replayed(events=events, label=Label(certificate["study"], paused=paused)), 0)


def shown_of(study: Study) -> dict[str, Any]:
    """All that pictures and sentences are made of, for JSON. It follows from the journal."""
    view = Viewer(study).view()
    status = study.status()
    return {
        "view": {name: value for name, value in view.items() if name not in LEFT_OUT},
        "grounds": grounds_of(status),
        "facts": facts_of(status),
    }


def grounds_of(status: Status) -> dict[str, Any]:
    """What the answer rests on, and how much of it may be wrong."""
    problem = status.problem
    stated = [_bound(status, m) for m in range(problem.n_fidelities - 1)]
    return {
        "rests_on": [f"{text[0].upper()}{text[1:]}." for text in assumptions_of(problem, status.stopping)],
        "bounds": [text for text in stated if text],
        "bears": bears(status),
    }


def _bound(status: Status, m: int) -> str:
    """How far a fidelity may be off, as was stated."""
    problem, name = status.problem, status.problem.fidelities[m]
    low, high = problem.bias_low[:, m], problem.bias_high[:, m]
    if problem.controls[m] is not None:
        return f"{name!r} is without bias, being corrected at shared seeds."
    if problem.unbounded[m]:
        return f"{name!r} may be off by any amount: nothing rests on it."
    if (low == low[0]).all() and (high == high[0]).all():
        least, most = digits(float(low[0]), 6), digits(float(high[0]), 6)
        off = f"by {most} at most" if low[0] == -high[0] else f"by {least} to {most}"
        return f"{name!r} is off {off}."
    off = digits(float(max(abs(low).max(), abs(high).max())), 6)
    return f"{name!r} is off by {off} at most; some arms have narrower bounds."


def bears(status: Status) -> str:
    """The breakdown factor, in words."""
    verdict = status.result
    if verdict is not None and verdict.state == "decided":
        return sentences.bearing(verdict).strip()
    if verdict is not None:
        return "There is no answer, and so nothing that could bear more."
    return "There is no verdict yet: how much an answer can bear is known when there is one."


def facts_of(status: Status) -> list[list[str]]:
    """The key numbers, as pairs of texts."""
    verdict, problem = status.result, status.problem
    factor = None if verdict is None else verdict.breakdown
    wider = "not known" if factor is None else sentences.times_as_wide(factor)
    budget = "" if status.max_cost is None else f" of {digits(status.max_cost)}"
    return [
        ["State", "paused" if status.paused else status.state],
        ["Goal: risk of a wrong answer", f"{status.delta:g}"],
        ["Cost", f"{digits(status.cost)}{budget}"],
        ["Evaluations", f"{status.told:,}"],
        ["Arms", f"{problem.n_arms:,}"],
        ["Fidelities", ", ".join(problem.fidelities)],
        ["Breakdown factor: times that every bias bound may be as wide", wider],
        ["Strategy and rule", f"{status.strategy}, {status.stopping}"],
        ["Alarms", str(len(status.alarms) + len(status.variance_alarms))],
    ]
