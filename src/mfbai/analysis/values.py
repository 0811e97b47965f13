"""Reading evaluations one by one: which arm, at which fidelity, which value."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import SHOWN_CELLS, real
from mfbai.errors import Fault, Faults, InvalidInput, suggestion
from mfbai.model.problem import Problem
from mfbai.text import read_number
from mfbai.textfiles import Source, called, read_text

COLUMNS = ("arm", "fidelity", "value")
PAIRED = ("arm", "fidelity", "seed", "value")
DIGITS = 9  # of an index, at most
LONGEST_NAME = 200  # characters of an unknown name that are compared with those that are known
Values: TypeAlias = Any  # rows of (arm, fidelity, value), as tuples or as dicts; a DataFrame; or a CSV file


class Table(NamedTuple):
    """Evaluations in the order of their making."""

    arms: NDArray[np.int64]
    fidelities: NDArray[np.int64]
    values: NDArray[np.float64]


class Row(NamedTuple):
    """One evaluation, and where it was told."""

    place: str
    arm: int
    fidelity: int
    value: float
    seed: str  # or item; empty if nobody asked for it
    trial: str  # the id, if the table was exported from a study


def read_values(problem: Problem, given: Values, key: str = "") -> Table:
    """What was evaluated. Every fault is told, with its row; one is a trial of the study with this key."""
    faults = Faults()
    told = []
    for row in read_rows(faults, problem, given):
        if problem.parts_only[row.fidelity]:
            why = f"is of {problem.fidelities[row.fidelity]!r}, which counts only as part of a controlled fidelity"
            faults.add(row.place, f"{why}: leave it out")
        if key and row.trial.endswith(f"-{key}"):
            faults.add(row.place, f"is trial {row.trial!r:.60} of this study, and counts already: leave it out")
        told.append((row.arm, row.fidelity, row.value))
    faults.raise_if_any("values")
    arms, fidelities, values = zip(*told, strict=True) if told else ((), (), ())
    return Table(np.array(arms, dtype=np.int64), np.array(fidelities, dtype=np.int64), np.array(values, dtype=float))


def read_rows(faults: Faults, problem: Problem, given: Values, columns: tuple[str, ...] = COLUMNS) -> Iterable[Row]:
    """The evaluations that can be read, in order; the first faults are noted."""
    a_file = isinstance(given, str | Path) or hasattr(given, "read")
    rows = _rows_of_file(faults, given, columns) if a_file else _rows(given, columns)
    exact: dict[tuple[int, int], float] = {}
    fidelities = {name: m for m, name in enumerate(problem.fidelities)}
    for place, row, index, trial in rows:
        arm = index(faults, place, "arm", row[0], problem.arm_indices)
        fidelity = index(faults, place, "fidelity", row[1], fidelities)
        x = _value(faults, place, row[-1], problem, fidelity)
        if arm is not None and fidelity is not None and x is not None:
            yield Row(place, arm, fidelity, x, str(row[2]).strip() if len(columns) > 3 else "", str(trial))
            if problem.deterministic[fidelity] and exact.setdefault((arm, fidelity), x) != x:
                name, first = problem.fidelities[fidelity], exact[arm, fidelity]
                faults.add(place, f"the value is {x!r}: it was {first!r} before, and {name!r} is deterministic")
        if len(faults) >= SHOWN_CELLS:
            faults.add(place, "has more faults, or the rows after it do: these are the first")
            break


def _rows_of_file(
    faults: Faults, given: Source, columns: tuple[str, ...]
) -> Iterable[tuple[str, tuple[Any, ...], Any, Any]]:
    """In a file arms and fidelities may be numbered, from 1."""
    reader = csv.DictReader(read_text(given, "give a CSV file").splitlines())
    try:
        yield from _rows_of_csv(faults, called(given), reader, columns)
    except csv.Error as error:  # such as a cell of a hundred thousand characters
        raise InvalidInput(
            [Fault(f"{called(given)} line {reader.reader.line_num}", f"cannot be read: {error}")]
        ) from None


def _rows_of_csv(
    faults: Faults, called: str, reader: csv.DictReader[str], columns: tuple[str, ...]
) -> Iterable[tuple[str, tuple[Any, ...], Any, Any]]:
    header = reader.fieldnames = [name.strip() for name in reader.fieldnames or ()]
    found = _in_place_of(columns, header)
    for column in found:
        if header.count(column) != 1:
            told = f"has {'two columns' if column in header else 'no column'} {column!r} in its header"
            raise InvalidInput([Fault(called, f"{told}, {','.join(header)!r:.80}: give {','.join(columns)}")])
    for row in reader:
        place = f"{called} line {reader.line_num}:"
        if None in row:
            faults.add(place, f"has more fields than the first line names: {','.join(row[None])!r:.60} are too many")
        fields = [row[column] for column in found]  # None where the line is short
        yield place, (*fields[:-1], _number(fields[-1])), _index_in_text, row.get("trial") or ""


def _in_place_of(columns: tuple[str, ...], given: Any) -> tuple[str, ...]:
    """The columns to read: what some call a seed, others call an item."""
    return tuple("item" if name == "seed" and "seed" not in given else name for name in columns)


def _rows(given: Any, columns: tuple[str, ...]) -> Iterable[tuple[str, tuple[Any, ...], Any, Any]]:
    trials: list[Any] = []
    if hasattr(given, "columns"):  # a DataFrame
        known = _in_place_of(columns, given.columns)
        missing = [column for column in known if column not in given.columns]
        if missing:
            raise InvalidInput([Fault("values", f"has no column {missing[0]!r}: {', '.join(columns)} are needed")])
        trials = given["trial"].tolist() if "trial" in given.columns else []
        given = zip(*(given[column].tolist() for column in known), strict=True)
    *names, last = columns
    if not isinstance(given, Iterable) or isinstance(given, bytes | Mapping):
        told = f"give rows of {', '.join(names)} and {last}, a DataFrame with these columns, or the path of a CSV file"
        raise InvalidInput([Fault("values", f"is {given!r:.60}: {told}")])
    for n, row in enumerate(given):
        found, trial = row, trials[n] if trials else ""
        if isinstance(row, Mapping):
            found, trial = tuple(row.get(column) for column in _in_place_of(columns, row)), row.get("trial", "")
        if not isinstance(found, tuple | list) or len(found) != len(columns):
            told = f"give {', '.join(names)} and {last}, in this order or by these names"
            raise InvalidInput([Fault(f"values[{n}]", f"is {row!r:.60}: {told}")])
        yield f"values[{n}]", tuple(found), _index, trial


def _number(text: str | None) -> float | str | None:
    try:
        return read_number(text or "")
    except ValueError:
        return text


def _index_in_text(faults: Faults, place: str, kind: str, text: str | None, names: Mapping[str, int]) -> int | None:
    for name in (text or "", (text or "").strip()):
        if name in names:
            return names[name]
    if name.isdecimal() and len(name) <= DIGITS and 1 <= int(name) <= len(names) and not _are_numbers(names):
        return int(name) - 1
    faults.add(place, f"unknown {kind} {name!r:.60}: {suggestion(name[:LONGEST_NAME], names)}")
    return None


def _index(faults: Faults, place: str, kind: str, given: Any, names: Mapping[str, int]) -> int | None:
    if isinstance(given, str) and given in names:
        return names[given]
    known = suggestion(str(given)[:LONGEST_NAME], names)
    if _are_numbers(names):
        if _is_whole(given) and str(given) in names:
            return names[str(given)]
    else:
        if _is_whole(given) and 0 <= given < len(names):
            return int(given)
        known = f"{known}; or an index from 0 to {len(names) - 1}"
    faults.add(place, f"has an unknown {kind}, {given!r:.60}: {known}")
    return None


def _is_whole(given: Any) -> bool:
    return not isinstance(given, bool) and isinstance(given, int | np.integer)


def _are_numbers(names: Mapping[str, int]) -> bool:
    """Whether a whole number might be a name: then it is one, and no index. Tables turn the name "2" into a number."""
    return any(name.strip().isdecimal() for name in names)


def _value(faults: Faults, place: str, given: Any, problem: Problem, fidelity: int | None) -> float | None:
    x = real(given)
    if x is None:
        faults.add(place, "has no value" if given is None else f"the value is {given!r:.60}: give a number")
    elif fidelity is not None and not problem.admits(x, fidelity):
        faults.add(place, f"the value is {x!r}: a {problem.family.name} evaluation cannot return that")
        return None
    return x
