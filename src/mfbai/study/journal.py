"""The journal of a study: events in the order they happened, each sealed by a hash of itself and all before it.

    create    what was asked: the problem, delta, strategy, rule; always the first
    ask       an evaluation was handed out: trial, arm, fidelity, seed; with common seeds also its place in its round
    tell      its value came back
    fail      it will not come back
    add       values that were measured elsewhere
    verdict   the answer, or that there is none within the budget; at most one

An event is a JSON object, and is stored as the text that was hashed, so that nothing changes between writing and
reading.
"""

from __future__ import annotations

import hashlib
import json
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple, overload

PAGE = 1000  # events that are read to look at one
NOTHING = "0" * 64  # what the first event is chained to


class Event(NamedTuple):
    """One line of a journal."""

    text: str  # canonical JSON
    hash: str

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.text)
        return body


class Journal(Sequence[Event]):
    """The events of a journal from a number on, as a list that is read where it is looked at, and grows.

    read     gives the events from a number on
    length   how many events the whole journal has
    """

    def __init__(self, read: Callable[[int], Iterator[Event]], length: Callable[[], int], first: int = 0) -> None:
        self._read, self._length, self._first = read, length, first
        self._page: tuple[int, list[Event]] = 0, []  # events that were read for one of them, and where they begin

    def __iter__(self) -> Iterator[Event]:
        return self._read(self._first)

    def __len__(self) -> int:
        return max(self._length() - self._first, 0)

    @overload
    def __getitem__(self, index: int) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: int | slice) -> Event | list[Event]:
        if not isinstance(index, slice):
            return self._at(index)
        chosen = range(len(self))[index]
        if not chosen:
            return []
        low, high = min(chosen[0], chosen[-1]), max(chosen[0], chosen[-1])
        some = list(islice(self._read(self._first + low), high - low + 1))
        return [some[n - low] for n in chosen]

    def _at(self, index: int) -> Event:
        place = operator.index(index)
        place += len(self) if place < 0 else 0
        begin, page = self._page
        if place >= 0 and not begin <= place < begin + len(page):
            begin, page = self._page = place, list(islice(self._read(self._first + place), PAGE))
        if place < 0 or not page:
            raise IndexError(f"event {index} of a journal that has {len(self)}")
        return page[place - begin]

    def __repr__(self) -> str:
        return f"<Journal of {len(self)} events>"


def canonical(body: Mapping[str, Any]) -> str:
    """The one text of an event; numbers are written so that they are read back exactly."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def seal(before: str, text: str) -> str:
    """The hash of an event, given that of the one before it."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
