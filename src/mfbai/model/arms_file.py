"""Arms from a CSV file: `arms = "arms.csv"` in the [problem] of a spec file.

    arm,cost:coarse,bias:coarse,mean:coarse,mean:fine
    plain,0.05,0.1,0.80,0.84
    wide,0.06,0.1,0.91,0.98

There is a row for each arm and a column `arm` with their names. All other columns are a word and a fidelity, and stand
in place of what a spec file would say with a list:

    cost:NAME                        the cost of that [[fidelity]]
    bias:NAME                        its bias, as radii; or bias_low:NAME and bias_high:NAME
    variance:NAME                    that of the [family], for all fidelities
    mean:NAME, deviation:NAME        those of the [truth], for all fidelities

The file is read where a spec *file* is loaded, and nowhere else: a spec that came as text or as tables has no folder,
and must not make a server open files. What was read becomes ordinary tables, so that journals hold the whole problem.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from math import nan
from pathlib import Path
from typing import Any

from mfbai.checks import MOST_NAMES, SHOWN_CELLS
from mfbai.errors import Fault, Faults, InvalidInput, suggestion
from mfbai.text import printable, read_number

ARM = "arm"
WORDS = ("cost", "bias", "bias_low", "bias_high", "variance", "mean", "deviation")
ENDS = ("bias_low", "bias_high")
# Words that stand for a whole table, (K, M): where they are said in the spec file.
TABLES = {"variance": ("family", "variance"), "mean": ("truth", "means"), "deviation": ("truth", "deviation")}
# The fields of Problem and Instance, and the words of the columns that they may be read from.
WORDS_OF = {
    "costs": ("cost",),
    "biases": ("bias", *ENDS),
    "bias_low": ("bias_low", "bias"),
    "bias_high": ("bias_high", "bias"),
    "variance": ("variance",),
    "means": ("mean",),
    "deviation": ("deviation",),
}
NO_FILE = (
    "give how many there are, or a list of their names; a CSV file of arms is read only together with a spec file, and "
    "this spec is none"
)


@dataclass(frozen=True)
class ArmsFile:
    """What a file of arms holds."""

    label: str  # how messages call it
    names: list[str]
    columns: dict[str, list[float]]  # by their headings, such as "cost:coarse"
    lines: list[int]  # where each arm stands in the file

    def place_of(self, field: str, index: list[str], fidelities: list[Any]) -> str | None:
        """Where an entry of a Problem comes from, such as costs[3, 0]; None if it does not come from this file."""
        if field == "arms":
            return f"{self.label} line {self.lines[int(index[0])]}, column {ARM!r}" if len(index) == 1 else None
        if len(index) != 2 or int(index[0]) >= len(self.lines):
            return None
        headings = [f"{word}:{fidelities[int(index[1])]}" for word in WORDS_OF.get(field, ())]
        found = next((heading for heading in headings if heading in self.columns), None)
        return None if found is None else f"{self.label} line {self.lines[int(index[0])]}, column {found!r}"


def with_arms(document: Mapping[str, Any], folder: Path) -> tuple[dict[str, Any], ArmsFile | None]:
    """The tables of a spec file, with those of its file of arms in the place of that, and the file; None if it has
    none. Raises InvalidInput with all that is wrong with the file, or said twice."""
    problem = document.get("problem")
    given = problem.get("arms") if isinstance(problem, Mapping) else None
    if not isinstance(given, str):
        return dict(document), None
    faults = Faults()
    file = read_arms(folder / given, given)
    assert isinstance(problem, Mapping)
    merged = {**document, "problem": {**problem, "arms": file.names}}
    fidelities = document.get("fidelity")
    if isinstance(fidelities, list) and fidelities and all(isinstance(table, Mapping) for table in fidelities):
        names = [str(table.get("name", f"fidelity {i + 1}")) for i, table in enumerate(fidelities)]
        _refuse_unknown(faults, file, names)
        merged["fidelity"] = [_fidelity(faults, file, *each) for each in zip(names, fidelities, strict=True)]
        for word in TABLES:
            _add_table(faults, file, names, merged, word)
    faults.raise_if_any(f"file {file.label}")
    return merged, file


def read_arms(path: Path, label: str) -> ArmsFile:
    """The file at this path. Raises InvalidInput with the first faults, and how many more there are."""
    label = printable(label)
    faults = Faults()
    rows = _rows(path, label)
    _, heading = next(rows, (1, []))
    if not _check_heading(faults, label, heading):
        faults.raise_if_any(f"file {label}")
    names: list[str] = []
    lines: list[int] = []
    cells: list[list[str]] = []
    place = heading.index(ARM)
    uneven: list[tuple[int, int]] = []
    for line, row in rows:
        if len(row) != len(heading):
            uneven.append((line, len(row)))
        elif len(names) < MOST_NAMES:
            names.append(row[place])
            lines.append(line)
            cells.append(row)
        else:
            faults.add(f"{label} line {line}:", f"there are more than {MOST_NAMES:,} arms")
            break
    for line, count in uneven[:SHOWN_CELLS]:
        told = f"has {count} cells, and the first line has {len(heading)}: give one for each column"
        faults.add(f"{label} line {line}", f"{told}, with quotation marks around commas")
    if len(uneven) > SHOWN_CELLS:
        faults.add(label, f"has {len(uneven) - SHOWN_CELLS} more lines with the same fault")
    columns = {
        name: _numbers(faults, label, name, [row[n] for row in cells], lines)
        for n, name in enumerate(heading)
        if name != ARM
    }
    faults.raise_if_any(f"file {label}")
    return ArmsFile(label, names, columns, lines)


def _rows(path: Path, label: str) -> Iterator[tuple[int, list[str]]]:
    """The number of each line that is not blank, and its cells."""
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:  # some editors write a mark at the start
            reader = csv.reader(file, skipinitialspace=True, strict=True)
            for row in reader:
                if any(row):
                    yield reader.line_num, [cell.strip() for cell in row]
    except (OSError, ValueError) as error:  # not text, or a path that cannot be
        cause = error.strerror if isinstance(error, OSError) else "it is not text in UTF-8"
        told = f"cannot be read: {cause}; arms in [problem] is a CSV file, its path relative to the spec file's folder"
        raise InvalidInput([Fault(label, told)]) from None
    except csv.Error as error:
        raise InvalidInput([Fault(f"{label} line {reader.line_num}:", f"it is not CSV: {error}")]) from None


def _check_heading(faults: Faults, label: str, heading: list[str]) -> bool:
    """Whether the first line says what is in the columns."""
    before = len(faults)
    if ARM not in heading:
        other = next((mark for mark in ";\t" if any(mark in cell for cell in heading)), None)
        hint = "" if other is None else f", and separate columns by commas, not {other!r}"
        faults.add(f"{label} line 1:", f"there is no column {ARM!r}: name the columns there, the arms' {ARM!r}{hint}")
    for n, name in enumerate(heading):
        if name in heading[:n]:
            faults.add(f"{label} line 1:", f"there are two columns {name!r:.80}: leave one of them out")
        elif name != ARM and (":" not in name or name.partition(":")[0] not in WORDS):
            told = f"{suggestion(name.partition(':')[0], WORDS)}; then a colon and a fidelity, as in cost:coarse"
            faults.add(f"{label} line 1:", f"column {name!r:.80} is unknown: {told}")
    return len(faults) == before


def _numbers(faults: Faults, label: str, name: str, texts: list[str], lines: list[int]) -> list[float]:
    found = _read_all(texts)
    bad = [n for n, number in enumerate(found) if number != number]
    for n in bad[:SHOWN_CELLS]:
        told = f"is {texts[n]!r:.60}" if texts[n] else "is empty"
        faults.add(f"{label} line {lines[n]}, column {name!r}", f"{told}: give a number")
    if len(bad) > SHOWN_CELLS:
        faults.add(f"{label} column {name!r}", f"has {len(bad) - SHOWN_CELLS} more cells with the same fault")
    return found


def _read_all(texts: list[str]) -> list[float]:
    """NaN for what is no number. A hundred thousand good ones are read at once."""
    together = "".join(texts)
    if together.isascii() and "_" not in together:
        with suppress(ValueError):
            return list(map(float, texts))
    return [_read(text) for text in texts]


def _read(text: str) -> float:
    try:
        return read_number(text)
    except ValueError:
        return nan


def _refuse_unknown(faults: Faults, file: ArmsFile, names: list[str]) -> None:
    for heading in file.columns:
        fidelity = heading.partition(":")[2]
        if fidelity not in names:
            known = suggestion(fidelity, names)
            faults.add(f"{file.label} line 1:", f"column {heading!r:.80} is of no [[fidelity]]: {known}")


def _fidelity(faults: Faults, file: ArmsFile, name: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """The table of a [[fidelity]] with its columns."""
    found = dict(table)
    cost, radius, *ends = (file.columns.get(f"{word}:{name}") for word in WORDS[:4])
    if cost is not None:
        _refuse_twice(faults, file, f'[[fidelity]] "{name}"', table, "cost", f"cost:{name}")
        found["cost"] = cost
    if radius is not None:
        _refuse_twice(faults, file, f'[[fidelity]] "{name}"', table, "bias", f"bias:{name}")
        _refuse_negative(faults, file, f"bias:{name}", radius)
        found["bias"] = [[0.0 - r, r] for r in radius]  # pairs: of two arms, two radii could be bounds
    given = [word for word, end in zip(ENDS, ends, strict=True) if end is not None]
    if len(given) == 1:
        other = next(word for word in ENDS if word not in given)
        faults.add(f"{file.label} line 1:", f"there is {given[0]}:{name} without {other}:{name}: add that column")
    elif given and radius is not None:
        faults.add(f"{file.label} line 1:", f"there is bias:{name} beside {ENDS[0]}:{name}: leave out one of them")
    elif given:
        _refuse_twice(faults, file, f'[[fidelity]] "{name}"', table, "bias", f"{ENDS[0]}:{name}")
        found["bias"] = [list(pair) for pair in zip(*ends, strict=True)]
    return found


def _refuse_negative(faults: Faults, file: ArmsFile, heading: str, radii: list[float]) -> None:
    bad = [n for n, radius in enumerate(radii) if radius < 0]
    why = "a radius cannot be negative; for bounds take bias_low and bias_high"
    for n in bad[:SHOWN_CELLS]:
        faults.add(f"{file.label} line {file.lines[n]}, column {heading!r}", f"is {radii[n]!r}: {why}")
    if len(bad) > SHOWN_CELLS:
        faults.add(f"{file.label} column {heading!r}", f"has {len(bad) - SHOWN_CELLS} more cells with the same fault")


def _add_table(faults: Faults, file: ArmsFile, names: list[str], merged: dict[str, Any], word: str) -> None:
    """Put the columns of a word that is said of all fidelities at once in their place."""
    headings = [f"{word}:{name}" for name in names]
    given = [heading for heading in headings if heading in file.columns]
    if not given:
        return
    for heading in headings:
        if heading not in given:
            told = f"there is {given[0]!r} without {heading!r}: add that column, as all fidelities need one"
            faults.add(f"{file.label} line 1:", told)
    where, entry = TABLES[word]
    table = merged.get(where, {})
    if not isinstance(table, Mapping):
        return  # `from_dict` says what it should be
    _refuse_twice(faults, file, f"[{where}]", table, entry, given[0])
    if len(given) == len(headings):
        columns = (file.columns[heading] for heading in headings)
        merged[where] = {**table, entry: [list(row) for row in zip(*columns, strict=True)]}


def _refuse_twice(
    faults: Faults, file: ArmsFile, where: str, table: Mapping[str, Any], entry: str, heading: str
) -> None:
    if entry in table:
        faults.add(where, f"has {entry!r}, and {file.label} has a column {heading!r}: leave out one of them")
