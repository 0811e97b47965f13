"""The trials of a study as a table: a row for each, as pandas or as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, NamedTuple

from mfbai.model.problem import Problem
from mfbai.study.journal import Event

if TYPE_CHECKING:
    from pandas import DataFrame

LINES_AT_ONCE = 1000
UNDER_WAY, TOLD, LATE, FAILED = STATES = ("under way", "told", "late", "failed")  # late: after the verdict

TEXTS = ("trial", "arm", "fidelity", "worker", "state")  # columns


class Row(NamedTuple):
    """A trial."""

    trial: str  # its id
    arm: str
    fidelity: str
    seed: int
    value: float | None  # None while it is under way, and if it failed
    cost: float | None  # what it has cost: nothing if it failed; None while it is under way
    asked: datetime
    told: datetime | None  # when it came back, or failed
    worker: str  # that it was handed out to last; empty if that is not known
    state: str  # one of STATES


def rows_of(problem: Problem, key: str, events: Iterable[Event], workers: dict[int, str]) -> list[Row]:
    """The trials of a journal, in the order they were asked for. Values that were added are no trials."""
    rows: dict[int, Row] = {}
    told = TOLD
    for event in events:
        body = event.body
        kind = body["kind"]
        if kind == "ask":
            number, arm, fidelity = body["trial"], problem.arms[body["arm"]], problem.fidelities[body["fidelity"]]
            worker = workers.get(number, "")
            seed, at = body["seed"], _time(body)
            rows[number] = Row(f"{number}-{key}", arm, fidelity, seed, None, None, at, None, worker, UNDER_WAY)
        elif kind == "tell":
            row = rows[body["trial"]]
            cost = float(problem.costs[problem.arm_indices[row.arm], problem.fidelities.index(row.fidelity)])
            rows[body["trial"]] = row._replace(value=body["value"], cost=cost, told=_time(body), state=told)
        elif kind == "fail":
            rows[body["trial"]] = rows[body["trial"]]._replace(cost=0.0, told=_time(body), state=FAILED)
        elif kind == "verdict":
            told = LATE
        elif kind not in ("create", "add"):
            raise ValueError(f"there is no event {kind!r}")
    return list(rows.values())


def _time(body: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(body["at"], UTC)


def frame_of(rows: list[Row]) -> DataFrame:
    """As a pandas table, with times in UTC."""
    try:
        import pandas as pd
    except ImportError:
        told = "to_frame needs pandas: pip install 'mfbai[frame]'; to_csv works without it"
        raise ImportError(told) from None
    columns = dict(zip(Row._fields, zip(*rows, strict=True), strict=True)) if rows else dict.fromkeys(Row._fields, ())
    frame = pd.DataFrame({name: list(column) for name, column in columns.items()})
    for name in ("asked", "told"):
        frame[name] = pd.to_datetime(frame[name], utc=True).dt.as_unit("us")
    kinds = {"seed": "int64", "value": "float64", "cost": "float64"}
    return frame.astype({**dict.fromkeys(TEXTS, str), **kinds})


def csv_lines(rows: Iterable[Row]) -> Iterator[str]:
    """The same as CSV (RFC 4180), some lines at a time: times in ISO 8601, numbers that read back exactly."""
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(Row._fields)
    for n, row in enumerate(rows):
        writer.writerow(map(_cell, row))
        if n % LINES_AT_ONCE == LINES_AT_ONCE - 1:
            yield text.getvalue()
            text.seek(0)
            text.truncate()
    yield text.getvalue()


def _cell(entry: Any) -> Any:
    if isinstance(entry, datetime):
        return entry.isoformat(timespec="milliseconds")
    return "" if entry is None else entry


def to_dicts(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The same for JSON."""
    return [row._replace(asked=_cell(row.asked), told=_cell(row.told) or None)._asdict() for row in rows]


def read_csv(text: str) -> list[Row]:
    """The reverse of `csv_lines`."""
    found = []
    for entry in csv.DictReader(io.StringIO(text, newline="")):
        numbers = {name: float(entry[name]) if entry[name] else None for name in ("value", "cost")}
        times = {name: datetime.fromisoformat(entry[name]) if entry[name] else None for name in ("asked", "told")}
        found.append(Row(**{**entry, "seed": int(entry["seed"]), **numbers, **times}))  # type: ignore[arg-type]
    return found
