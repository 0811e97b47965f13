"""Values of many trials that are told together: all of them are looked at before the first is kept."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from mfbai.checks import SHOWN_CELLS
from mfbai.errors import Fault, Faults, InvalidInput, TrialClosed
from mfbai.study.parts import Told, read_told
from mfbai.study.storage import Turn

if TYPE_CHECKING:
    from mfbai.study.study import Study


def read_pairs(study: Study, pairs: Iterable[Any]) -> dict[int, Told]:
    """What is told of each trial, by its number."""
    faults = Faults()
    if not isinstance(pairs, Iterable):
        raise InvalidInput([Fault("pairs", f"are {pairs!r:.60}: give pairs of a trial and its value")])
    given: dict[int, Told] = {}
    for n, pair in enumerate(pairs):
        with faults.absorb(lambda fault, n=n: fault._replace(field=f"pairs[{n}]: {fault.field}")):  # type: ignore[misc]
            number, told = _read_pair(study, pair)
            if given.setdefault(number, told) != told:
                what = f"has two values here, {given[number]!r:.60} and {told!r:.60}: give one"
                raise InvalidInput([Fault(f"trial '{number}-{study.settings.key}'", what)])
    _raise_first(faults)
    return given


def _read_pair(study: Study, pair: Any) -> tuple[int, Told]:
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise InvalidInput([Fault("pair", f"is {pair!r:.60}: give a trial and its value")])
    return study._number(pair[0]), read_told(study.settings, pair[1])


def entries_of_all(study: Study, turn: Turn, given: dict[int, Told]) -> dict[int, dict[str, Any]]:
    """What the events say that tell these trials, but for those that were told the same before."""
    faults = Faults()
    kinds: set[type[InvalidInput]] = set()
    new: dict[int, dict[str, Any]] = {}
    known: dict[tuple[int, int], float] = {}  # of deterministic cells
    for number, told in given.items():
        with faults.absorb(), _noting(kinds):
            entries = study._new_entries(turn, number, told)
            if entries is not None:
                _check_alike(study, known, number, entries["value"])
                new[number] = entries
    _raise_first(faults, TrialClosed if kinds == {TrialClosed} else InvalidInput)
    return new


def _check_alike(study: Study, known: dict[tuple[int, int], float], number: int, value: float) -> None:
    """Two trials of a deterministic cell that are told together must have the same value."""
    cell = study._fold.open[number]
    if study.problem.deterministic[cell[1]] and known.setdefault(cell, value) != value:
        told = f"is {value!r}, and {known[cell]!r} for another trial of the same deterministic cell: give one value"
        raise InvalidInput([Fault("value", told)])


@contextmanager
def _noting(kinds: set[type[InvalidInput]]) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        kinds.add(type(error))
        raise


def _raise_first(faults: Faults, kind: type[InvalidInput] = InvalidInput) -> None:
    """Raise the first of many faults, and say how many more there are."""
    more = len(faults) - SHOWN_CELLS
    if faults:
        rest = [Fault("pairs", f"have {more} more faults")] if more > 0 else []
        raise kind([*faults.first(SHOWN_CELLS), *rest], "values")
