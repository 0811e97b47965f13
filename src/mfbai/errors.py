"""What mfbai raises, and the collector that lets every fault of an input be told at once.

    MfbaiError
    ├── EvaluationFailed    raised by your own code: a trial has no value, and is not tried again
    ├── InvalidInput        also a ValueError; `.faults` lists what is wrong, field by field
    │   ├── TrialClosed     a trial that was told another value already, or has failed
    │   └── UnknownName     a name that is in no list, with the nearest one suggested
    ├── NothingToAsk        a study has nothing to hand out before results are back
    ├── StorageError        a database that cannot be reached, or is not what it should be
    └── StudyOver           a study that has its verdict has nothing more to ask

A message says what is wrong, where, and what to do:

    costs[1] is -0.5: a cost must be positive; check the [[fidelity]] "coarse" entry
"""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# A table of 10,000 wrong costs is one mistake: show some of its cells and count the others.
SHOWN_CELLS = 10
MOST_KNOWN = 30  # names listed for someone who gave another
MOST_NAMES = 1_000_000  # arms: more is a mistake, and would fill the memory


class Fault(NamedTuple):
    """One thing that is wrong: reads as the sentence "field message"."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field} {self.message}"

    def at(self, place: str) -> Fault:
        """The same fault, pointing the reader at `place` instead.

        >>> print(Fault("costs[0]", "is -1.0: a cost must be positive; check fidelity 'coarse'").at("line 3"))
        costs[0] is -1.0: a cost must be positive; check line 3
        """
        what, _, _ = self.message.partition("; check ")
        return self._replace(message=f"{what}; check {place}")


class MfbaiError(Exception):
    """Everything that mfbai raises on purpose."""


class InvalidInput(MfbaiError, ValueError):  # noqa: N818 - says what the matter is, as httpx names them
    """An input that cannot be used; `.faults` holds every reason."""

    def __init__(self, faults: Iterable[Fault], what: str = "input") -> None:
        self.faults = tuple(faults)
        self.what = what
        super().__init__(self.faults, what)  # both, so that the exception can be pickled between processes

    def __str__(self) -> str:
        if len(self.faults) == 1:
            return str(self.faults[0])
        lines = [f"{len(self.faults)} faults in the {self.what}:", *map(str, self.faults)]
        return "\n  ".join(lines)


class TrialClosed(InvalidInput):
    """A trial that was told another value already, or has failed."""


class UnknownName(InvalidInput):
    """A name that is in no list."""


class EvaluationFailed(MfbaiError):  # noqa: N818
    """A trial has no value, for the reason given: it counts as failed, and the study goes on."""


class NothingToAsk(MfbaiError):  # noqa: N818
    """A study has nothing to hand out before results are back: wait for them, then ask again."""


class StorageError(MfbaiError):
    """A database that cannot be reached, or is not what it should be. What was acknowledged is safe: try again."""


class StudyOver(MfbaiError):  # noqa: N818
    """The study has its verdict: there is nothing more to evaluate."""


def suggestion(name: str, known: Iterable[str]) -> str:
    """What to write instead.

    >>> suggestion("mf-gard", ["mf-grad", "uniform"])
    "did you mean 'mf-grad'? known: mf-grad, uniform"
    """
    known = list(known)
    near = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    others = f" and {len(known) - MOST_KNOWN} more" if len(known) > MOST_KNOWN else ""
    return f"{hint}known: {', '.join(known[:MOST_KNOWN])}{others}"


def unknown_name(kind: str, name: str, known: Iterable[str]) -> UnknownName:
    """The exception for a `kind` of thing that has no such name; for the caller to raise."""
    return UnknownName([Fault(f"unknown {kind}", f"{name!r}: {suggestion(name, known)}")], kind)


class Faults:
    """Collects what is wrong, so that one exception tells all of it."""

    def __init__(self) -> None:
        self._found: list[Fault] = []

    def __len__(self) -> int:
        return len(self._found)

    def add(self, field: str, message: str) -> None:
        self._found.append(Fault(field, message))

    @contextmanager
    def absorb(self, relocate: Callable[[Fault], Fault] = lambda fault: fault) -> Iterator[None]:
        """Collect the faults of an InvalidInput raised inside the block, instead of stopping there."""
        try:
            yield
        except InvalidInput as error:
            self._found += map(relocate, error.faults)

    def raise_if_any(self, what: str) -> None:
        if self._found:
            raise InvalidInput(dict.fromkeys(self._found), what)  # each told once


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
    for i, name in enumerate(names):
        if not isinstance(given[i], str) or not name.strip() or not name.isprintable():
            faults.add(f"{field}[{i}]", f"is {_shortened(given[i])}: a name must be printable text and not blank")
        elif first.setdefault(name, i) != i:
            faults.add(f"{field}[{i}]", f"is {name!r}, as is {field}[{first[name]}]: names must be unique")
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

    def read(self, field: str, value: Any, *, full: bool = False) -> NDArray[np.float64] | None:
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
        self.refuse(field, array, ~np.isfinite(array), "give a finite number")
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
