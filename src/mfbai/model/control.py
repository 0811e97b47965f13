"""Controlled fidelities: evaluations at the same seed make an unbiased fidelity out of a biased one.

With X_top(s) and X_by(s) at one seed s, and X_by alone at r other seeds,

    Y = X_top(s) - coefficient X_by(s) + coefficient * mean of X_by(s_1), ..., X_by(s_r)

has the mean of the top whatever the bias of `by`. The more top and `by` have in common at the same seed, the less it
varies. So a controlled fidelity is one with a bias of 0, at the cost of all its parts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import fsum
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfbai.checks import Cells, real
from mfbai.errors import Faults, suggestion

MOST_OTHERS = 10_000  # seeds of one evaluation
ENTRIES = ("top", "by", "others", "coefficient")


class Control(NamedTuple):
    """What a controlled fidelity is made of."""

    by: int  # the fidelity that is evaluated beside the top
    others: int  # seeds at which it is evaluated alone
    coefficient: float

    @property
    def n_parts(self) -> int:
        return 2 + self.others

    def fidelities(self, top: int) -> list[int]:
        """Of the parts: the top and `by` at one seed, then `by` at the other seeds."""
        return [top, self.by, *[self.by] * self.others]

    def value(self, parts: Sequence[float]) -> float:
        """Y, from the values of the parts."""
        at_top, beside, *alone = parts
        return at_top - self.coefficient * beside + self.coefficient * (fsum(alone) / self.others)

    def cost(self, costs: NDArray[np.float64]) -> NDArray[np.float64]:
        """(K,) of all parts, from the costs of the fidelities, (K, M)."""
        return costs[:, -1] + (1 + self.others) * costs[:, self.by]

    def deviation(self, deviations: NDArray[np.float64], correlation: NDArray[np.float64]) -> NDArray[np.float64]:
        """(K,) of Y, from those of the fidelities, (K, M), and the correlation of top and `by` at one seed, (K,)."""
        top, beside = deviations[:, -1], self.coefficient * deviations[:, self.by]
        squares = top**2 + beside**2 * (1 + 1 / self.others) - 2 * correlation * top * beside
        return np.asarray(np.sqrt(np.maximum(squares, 0.0)))


ControlsLike: TypeAlias = Mapping[str, Mapping[str, Any] | Control] | None


def read_controls(cells: Cells, given: Any) -> tuple[Control | None, ...]:
    """(M,) of each fidelity its control, if it has one; a fault for each that cannot be."""
    controls: list[Control | None] = [None] * len(cells.fidelities)
    if given is not None and not isinstance(given, Mapping):
        told = "give a table for each controlled fidelity, by its name; or use Problem.controlled"
        cells.faults.add("controls", f"is {given!r:.60}: {told}")
        return tuple(controls)
    entries = given or {}
    for name, table in entries.items():
        field = f"controls[{name!r:.60}]"
        if name not in cells.fidelities[:-1]:
            known = suggestion(str(name), cells.fidelities[:-1])
            cells.faults.add(field, f"is no fidelity below the top: {known}")
        else:
            controls[cells.fidelities.index(name)] = _read_control(cells, field, table, set(entries))
    return tuple(controls)


def _read_control(cells: Cells, field: str, table: Any, controlled: set[str]) -> Control | None:
    faults, names = cells.faults, cells.fidelities
    if isinstance(table, Control):
        table = table._asdict()
    if not isinstance(table, Mapping):
        faults.add(field, f'is {table!r:.60}: give a table such as {{by = "coarse", others = 12, coefficient = 0.9}}')
        return None
    before = len(faults)
    for key in table:
        if key not in ENTRIES:
            faults.add(field, f"has an unknown entry {key!r:.60}: {suggestion(str(key), ENTRIES)}")
    for key in ENTRIES[1:]:
        if key not in table:
            faults.add(field, f"has no {key!r}: give by, others and coefficient")
    if len(faults) > before:
        return None
    by = table.get("by")
    index = names.index(by) if isinstance(by, str) and by in names else by
    plain = [name for name in names[:-1] if name not in controlled]
    if type(index) is not int or not 0 <= index < len(names) or names[index] not in plain:
        hint = suggestion(str(by), plain) if plain else "there is no other fidelity below the top"
        faults.add(field, f"has by = {by!r:.60}: give a fidelity to control by; {hint}")
    if table.get("top", names[-1]) not in (names[-1], len(names) - 1):
        faults.add(field, f"has top = {table['top']!r:.60}: what is controlled is the true fidelity, {names[-1]!r}")
    others, coefficient = table.get("others"), real(table.get("coefficient"))
    if type(others) is not int or not 1 <= others <= MOST_OTHERS:
        faults.add(field, f"has others = {others!r:.60}: give how many other seeds, from 1 to {MOST_OTHERS:,}")
    if coefficient is None or not 0 < abs(coefficient) < 1e6:
        given = table.get("coefficient")
        faults.add(field, f"has coefficient = {given!r:.60}: give a number other than 0, such as 0.9")
    if len(faults) > before:
        return None
    assert index is not None
    return Control(index, others, float(coefficient))  # type: ignore[arg-type]


def refuse_exact_parts(
    faults: Faults, names: Sequence[str], controls: Sequence[Control | None], exact: NDArray[np.bool_]
) -> None:
    """What has no noise cannot be controlled, nor control anything."""
    for m, control in enumerate(controls):
        if control is None:
            continue
        for part in (m, control.by, len(names) - 1):
            if exact[part]:
                told = f"{names[part]!r} is deterministic, and control is about noise"
                faults.add(f"controls[{names[m]!r}]", f"cannot be had: {told}")
