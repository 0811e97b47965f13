"""Values that were measured elsewhere, as a table: all of it is looked at before the first value is counted."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mfbai.analysis.values import Values, read_values
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.study.fold import Cell
from mfbai.study.journal import Event

if TYPE_CHECKING:
    from mfbai.study.study import Study


def read_table(study: Study, rows: Values) -> dict[Cell, list[float]]:
    """The values of each cell, in the order of the rows; every fault is reported."""
    table = read_values(study.problem, rows, study.settings.key)
    found: dict[Cell, list[float]] = {}
    faults = Faults()
    for n, (arm, fidelity, value) in enumerate(zip(*(column.tolist() for column in table), strict=True)):
        with faults.absorb(lambda fault, n=n: fault._replace(field=f"row {n + 1}: {fault.field}")):  # type: ignore[misc]
            found.setdefault((arm, fidelity), []).append(study.check_value(value, fidelity))
    for m in sorted({fidelity for _, fidelity in found}):
        why = study.settings.refusal_to_add(m)
        if why is not None:
            faults.add(f"values of {study.problem.fidelities[m]!r}", f"cannot be added: {why}")
    faults.raise_if_any("values")
    return found


def refuse_repeated(events: Iterable[Event], table: dict[Cell, list[float]]) -> None:
    """Values count once: a table is refused if every cell that had values added before has these again, alone or
    followed by others, as in a file that has grown."""
    earlier: dict[Cell, list[tuple[int, list[float]]]] = {}
    for event in events:
        body = event.body
        cell = body.get("arm"), body.get("fidelity")
        if body["kind"] == "add" and cell in table:
            earlier.setdefault(cell, []).append((body["n"], body["values"]))
    places = [next((n for n, values in added if _holds(table[cell], values)), None) for cell, added in earlier.items()]
    if places and None not in places:
        told = f"were added before (event {min(place for place in places if place is not None)} of the journal)"
        onward = "nothing was added. Give new ones alone; if they only happen to be the same, `Study.add` counts them"
        raise InvalidInput([Fault("these values, or the first of them,", f"{told}, and count once: {onward}")])


def _holds(values: list[float], earlier: list[float]) -> bool:
    """Whether they begin with earlier ones, or are the same in another order."""
    return values[: len(earlier)] == earlier or sorted(values) == sorted(earlier)
