"""Values that were measured elsewhere, as a table: all of it is looked at before the first value is counted."""

from __future__ import annotations

from collections import Counter
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
    """Values count once: a table is refused if it seems to hold some that were added before, as a file that has grown.

    That is so if every cell that had values added before has the same ones, alone or followed by others; or if half of
    the values that can tell are the same. Those that occur once can: scores of 0 and 1 are often the same by chance.
    """
    earlier: dict[Cell, list[tuple[int, list[float]]]] = {}
    for event in events:
        body = event.body
        cell = body.get("arm"), body.get("fidelity")
        if body["kind"] == "add" and cell in table:
            earlier.setdefault(cell, []).append((body["n"], body["values"]))
    same = [any(_holds(table[cell], values) for _, values in added) for cell, added in earlier.items()]
    if earlier and (all(same) or _is_half_known(earlier, table)):
        told = f"were added before (event {min(added[0][0] for added in earlier.values())} of the journal)"
        onward = "nothing was added. Give new ones alone; if they only happen to be the same, `Study.add` counts them"
        raise InvalidInput([Fault("these values, or some of them,", f"{told}, and count once: {onward}")])


def _holds(values: list[float], earlier: list[float]) -> bool:
    """Whether they begin with earlier ones, or are the same in another order."""
    return values[: len(earlier)] == earlier or sorted(values) == sorted(earlier)


def _is_half_known(earlier: dict[Cell, list[tuple[int, list[float]]]], table: dict[Cell, list[float]]) -> bool:
    known = _once((cell, x) for cell, added in earlier.items() for _, values in added for x in values)
    given = _once((cell, x) for cell in earlier for x in table[cell])
    shared = len(known & given)
    return shared >= 2 and 2 * shared >= min(len(known), len(given))


def _once(values: Iterable[tuple[Cell, float]]) -> set[tuple[Cell, float]]:
    """Those whose number occurs once in all cells."""
    given = list(values)
    counts = Counter(x for _, x in given)
    return {(cell, x) for cell, x in given if counts[x] == 1}
