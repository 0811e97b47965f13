"""Reading what callers give: numbers, tables, names, risks. Every fault is noted, to be raised with all others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.errors import Faults, suggestion

# A table of 10,000 wrong costs is one mistake: show some of its cells and count the others.
MOST_RUNS = 2**32 - 1  # of a simulation: their numbers have 32 bits
SHOWN_CELLS = 10
MOST_NAMES = 1_000_000  # arms: more is a mistake, and would fill the memory


def numbers(faults: Faults, field: str, value: Any) -> NDArray[np.float64] | None:
    """`value` as a new array of floats; None, and a fault, if it is no array of numbers."""
    try:
        array = np.asarray(value)
    except ValueError:
        faults.add(field, "has rows of different lengths: give every row the same number of entries")
        return None
    if array.dtype.kind not in "iuf":  # text such as "0.5" and booleans would convert, and hide a mistake
        faults.add(field, f"is {_shortened(value)}: give numbers")
        return None
    return array.astype(np.float64)


def real(value: Any) -> float | None:
    """A number as a float; None for what is none, such as text, or true and false. Huge ones are infinite.

    >>> real(3), real(True), real("3"), real(10**400)
    (3.0, None, None, inf)
    """
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return np.inf


def refuse_where(
    faults: Faults,
    field: str,
    array: NDArray[np.float64],
    bad: NDArray[np.bool_],
    why: str | Callable[[tuple[int, ...]], str],
) -> None:
    """Add a fault for every bad entry: "field[index] is value: why"."""
    indices = [tuple(map(int, index)) for index in np.argwhere(bad)]
    for index in indices[:SHOWN_CELLS]:
        place = f"{field}[{', '.join(map(str, index))}]" if index else field
        reason = why if isinstance(why, str) else why(index)
        faults.add(place, f"is {float(array[index])!r}: {reason}")
    if len(indices) > SHOWN_CELLS:
        faults.add(field, f"has {len(indices) - SHOWN_CELLS} more entries with the same fault")


def check_delta(faults: Faults, delta: Any) -> None:
    """Every risk, one or several, must lie strictly between 0 and 1."""
    array = numbers(faults, "delta", delta)
    if array is None:
        return
    if array.size == 0:
        faults.add("delta", "is empty: give at least one risk, such as 0.05")
    if array.ndim > 1:
        faults.add("delta", f"has shape {array.shape}: give one risk, or a list of them")
    inside = (array > 0) & (array < 1)  # false for NaN
    refuse_where(faults, "delta", array, ~inside, "a risk must lie strictly between 0 and 1, such as 0.05")


def check_integers(faults: Faults, integers: Mapping[str, Any]) -> None:
    """Each must be a whole number of 1 or more; 0 is a seed, and None leaves max_steps and workers open."""
    for name, value in integers.items():
        if value is None and name in ("max_steps", "workers"):
            continue
        least = 0 if name == "seed" else 1
        if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
            faults.add(name, f"is {value!r}: give a whole number of {least} or more")
        elif name == "runs" and int(value) > MOST_RUNS:
            faults.add(name, f"is {value!r}: there can be {MOST_RUNS:,} at most, each with random numbers of its own")


def check_workers(workers: Any) -> None:
    """None, or a whole number of 1 or more."""
    faults = Faults()
    check_integers(faults, {"workers": workers})
    faults.raise_if_any("call")


def check_choice(faults: Faults, field: str, value: Any, known: Iterable[str]) -> None:
    """`value` must be one of the `known` texts."""
    known = list(known)
    if not isinstance(value, str) or value not in known:
        faults.add(field, f"is {_shortened(value)}: {suggestion(str(value), known)}")


def shape_of(value: Any) -> tuple[int, ...]:
    """The shape of a table as given; () for what is no table."""
    try:
        return np.shape(value)
    except ValueError:  # rows of different lengths: `numbers` reports them
        return ()


def check_names(faults: Faults, field: str, given: Any, *, count: int, least: int) -> tuple[str, ...]:
    """The names of the arms or fidelities, given as such or as their number; `count` of them if given is None.

    With a fault, stand-in names are returned, so that the tables can still be checked.
    """
    given = count if given is None else given
    if isinstance(given, int | np.integer) and given > MOST_NAMES:
        faults.add(field, f"is {_shortened(given)}: there can be {MOST_NAMES:,} at most")
        return _numbered(field, max(count, least))
    if isinstance(given, int | np.integer) and not isinstance(given, bool):
        names = _numbered(field, int(given))
    elif isinstance(given, Iterable) and not isinstance(given, str):
        names = _check_texts(faults, field, list(given))
    else:
        faults.add(field, f"is {_shortened(given)}: give how many there are, or a list of their names")
        return _numbered(field, max(count, least))
    if len(names) < least:
        faults.add(field, f"gives {len(names)} of them: there must be at least {least}")
        return _numbered(field, max(count, least))
    return names


def _numbered(field: str, count: int) -> tuple[str, ...]:
    kind = {"arms": "arm", "fidelities": "fidelity"}[field]
    return tuple(f"{kind} {i + 1}" for i in range(count))


def _check_texts(faults: Faults, field: str, given: list[Any]) -> tuple[str, ...]:
    names = tuple(map(str, given))
    first: dict[str, int] = {}
    found: list[tuple[int, str]] = []
    for i, name in enumerate(names):
        if not isinstance(given[i], str) or not name.strip() or not name.isprintable():
            found.append((i, f"is {_shortened(given[i])}: a name must be printable text and not blank"))
        elif first.setdefault(name, i) != i:
            found.append((i, f"is {name!r:.80}, as is {field}[{first[name]}]: names must be unique"))
    for i, told in found[:SHOWN_CELLS]:
        faults.add(f"{field}[{i}]", told)
    if len(found) > SHOWN_CELLS:
        faults.add(field, f"has {len(found) - SHOWN_CELLS} more names that are no names, or not unique")
    return names


class Cells(NamedTuple):
    """Reads tables of numbers, one for each arm and fidelity, and notes what is wrong by index and by name."""

    faults: Faults
    arms: tuple[str, ...]
    fidelities: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, int]:
        """(K, M)."""
        return len(self.arms), len(self.fidelities)

    def read(self, field: str, value: Any, *, full: bool = False, infinite: bool = False) -> NDArray[np.float64] | None:
        """`value` as an array of shape (), (M,) or (K, M), or (K, M) alone if `full`; None if it is not one.

        Entries noted as faulty, here or by `refuse`, become NaN, so that no comparison reports them again.
        """
        array = numbers(self.faults, field, value)
        if array is None:
            return None
        K, M = self.shape
        if array.shape not in ([(K, M)] if full else [(), (M,), (K, M)]):
            wanted = f"{K} rows of {M}: arms x fidelities"
            short = "" if full else f"one number, {M} (one per fidelity) or "
            self.faults.add(field, f"has shape {array.shape}: give {short}{wanted}")
            return None
        bad = np.isnan(array) if infinite else ~np.isfinite(array)
        self.refuse(field, array, bad, "give a number" if infinite else "give a finite number")
        return array

    def refuse(
        self,
        field: str,
        array: NDArray[np.float64],
        bad: NDArray[np.bool_],
        why: str | Callable[[tuple[int, ...]], str],
    ) -> None:
        """Note every bad entry of an array that `read` returned."""

        def reason(index: tuple[int, ...]) -> str:
            return f"{why if isinstance(why, str) else why(index)}{self._place(index)}"

        refuse_where(self.faults, field, array, bad, reason)
        array[bad] = np.nan

    def _place(self, index: tuple[int, ...]) -> str:
        if not index:
            return ""
        arm = f"arm {self.arms[index[0]]!r}, " if len(index) == 2 else ""
        return f"; check {arm}fidelity {self.fidelities[index[-1]]!r}"


def _shortened(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
