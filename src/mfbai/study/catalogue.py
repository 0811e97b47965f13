"""The studies of a storage as a list: what each is about, filtered and sorted.

Where a study stands is known once its journal was replayed. A summary of that is kept in the storage, if it will stay
true for a while: it is only a cache, like a snapshot.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from mfbai.errors import InvalidInput, StudyUnreadable
from mfbai.study.fold import snapshot_format
from mfbai.study.status import Status, proven
from mfbai.study.storage import Shelved, Storage
from mfbai.study.study import Study

RUNNING, PAUSED, OPENING, UNREADABLE = "running", "paused", "opening", "unreadable"
STATES = (RUNNING, PAUSED, "decided", "undecided", "alarm", UNREADABLE)
QUIET = 60.0  # seconds without an event, after which a running study may stay as it is
NUMBERS = ("leader", "risk", "delta", "cost", "told", "pending")


class Line(NamedTuple):
    """A study in the list."""

    shelved: Shelved
    summary: dict[str, Any] | None  # see `summary_of`; None until the study was opened

    @property
    def state(self) -> str:
        """One of STATES; empty while it is not known."""
        if self.summary is None:
            return ""
        paused = self.shelved.label.paused and self.summary["state"] == RUNNING
        return PAUSED if paused else str(self.summary["state"])

    @property
    def is_quiet(self) -> bool:
        """Whether nothing has happened for a while."""
        return time.time() - self.shelved.active > QUIET

    def to_dict(self) -> dict[str, Any]:
        _, label, _, created, active = self.shelved
        stands = {**(self.summary or {}), "state": self.state or OPENING}
        cared = {"paused": self.state == PAUSED, "tags": list(label.tags), "noted": bool(label.note)}
        return {"name": label.name, **stands, **cared, "created": created, "active": active}


# What a list can be sorted by.
SORTS: dict[str, Callable[[Line], Any]] = {
    "created": lambda line: line.shelved.created,
    "active": lambda line: line.shelved.active,
    "name": lambda line: line.shelved.label.name.casefold(),
    "state": lambda line: STATES.index(line.state) if line.state else len(STATES),
    "risk": lambda line: (line.summary or {}).get("risk", 2.0),
    "cost": lambda line: (line.summary or {}).get("cost", -1.0),
}


def summary_of(status: Status) -> dict[str, Any]:
    """Where a study stands, in a few numbers, for JSON."""
    told = {name: getattr(status, name) for name in ("state", *NUMBERS)}
    shape = {"arms": status.problem.n_arms, "fidelities": status.problem.n_fidelities}
    alarms = {"alarms": len(status.alarms), "variance_alarms": len(status.variance_alarms)}
    return {**told, "progress": proven(status), **alarms, **shape}


def list_lines(storage: Storage) -> list[Line]:
    """All studies in the order they were created, with the summaries that are kept and up to date."""
    kept = storage.summaries(snapshot_format())
    lines = []
    for shelved in storage.overview():
        n, text = kept.get(shelved.study, (-1, ""))
        lines.append(Line(shelved, json.loads(text) if n == shelved.events else None))
    return lines


def summarised(storage: Storage, line: Line, study: Study | None = None) -> Line:
    """With its summary, which is made if it is missing; raises `StudyGone` if the study was deleted. `study` is the
    study itself, if it is open. Of one that cannot be read here, the summary says that alone."""
    if line.summary is not None:
        return line
    shelved = line.shelved
    try:
        summary = summary_of((study or Study(storage, shelved.study)).status())
    except (InvalidInput, StudyUnreadable):  # such as of a strategy that is registered elsewhere
        return line._replace(summary={"state": UNREADABLE})
    if summary["state"] != RUNNING or line.is_quiet:
        with storage.turn(shelved.study) as turn:
            if turn.label() is not None:
                turn.keep_summary(shelved.events, snapshot_format(), json.dumps(summary))
    return line._replace(summary=summary)


def matching(lines: Iterable[Line], state: str | None = None, tag: str | None = None, search: str = "") -> list[Line]:
    """Those in a state, with a tag, and with a text in their name, tags, note or leader, in capitals or not, whatever
    the blanks between its words."""
    wanted = _plain(search)
    return [
        line
        for line in lines
        if (state is None or line.state == state)
        and (tag is None or tag in line.shelved.label.tags)
        and (not wanted or wanted in _words(line))
    ]


def _words(line: Line) -> str:
    _, label, *_ = line.shelved
    told = [label.name, *label.tags, label.note, str((line.summary or {}).get("leader") or "")]
    return "\n".join(map(_plain, told))


def _plain(text: str) -> str:
    return " ".join(text.split()).casefold()


def ordered(lines: Iterable[Line], sort: str = "created", descending: bool = False) -> list[Line]:
    """Sorted by one of SORTS, in the order they were created where that is equal; or all of it the other way round."""
    found = sorted(lines, key=SORTS[sort])
    return found[::-1] if descending else found


def tags_of(lines: Iterable[Line]) -> list[str]:
    """Every tag that there is."""
    return sorted({tag for line in lines for tag in line.shelved.label.tags}, key=str.casefold)
