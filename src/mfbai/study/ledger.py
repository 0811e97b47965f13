"""The journal of a study as one process has it: what was read, what it amounts to, and writing in turns."""

from __future__ import annotations

import json
import os
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import RLock
from typing import Any

from mfbai.errors import InvalidInput, MfbaiError, StorageError, StudyGone, StudyUnreadable
from mfbai.study.fold import Fold, snapshot_format
from mfbai.study.journal import NOTHING, Event, Journal, canonical, seal
from mfbai.study.settings import Settings, read_settings
from mfbai.study.storage import Label, Storage, Turn

SNAPSHOT_EVERY = 10_000  # events
# What reading a damaged event raises.
MEANINGLESS = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class Ledger:
    """A study's journal in a storage, which other threads and processes write to as well."""

    def __init__(self, storage: Storage, study: int) -> None:
        self._storage = storage
        self._study = study
        self._mutex = RLock()
        label = storage.label(study)
        if label is None:
            raise gone(None)
        self._label = label  # as it was last read
        self._settings: Settings | None = None
        with suppress(InvalidInput, StudyUnreadable):  # raised on use: such a study can still be renamed or deleted
            self._settings = self._read_settings()
        self._known: Fold | None = None  # what the journal amounts to, as far as it was read
        self._log: list[tuple[int | None, Event]] = []  # events of this turn
        self._shared: Turn | None = None  # that of a block whose calls are kept together
        self._deleted = False  # in this turn
        self._spoilt = False  # a call of that block went wrong half-way
        _open.add(self)

    @property
    def settings(self) -> Settings:
        """What the study was created with: `problem`, `delta`, `strategy`, `stopping`, `tolerance`, `max_cost`,
        `options`, `audit` and `on_alarm`."""
        if self._settings is None:
            self._settings = self._read_settings()
        return self._settings

    def _read_settings(self) -> Settings:
        first = next(self._storage.read(self._study, 0), None)
        if first is None:
            raise gone(self.name)
        try:
            return read_settings(first.body)
        except InvalidInput:  # such as a strategy that is registered elsewhere
            raise
        except MEANINGLESS as error:
            raise unreadable(self.name, 0) from error

    def warm_up(self) -> None:
        """Compile what the study needs, or load it from disk: half a minute the first time, then a second."""
        with self._mutex:
            self._fold.compile()

    @property
    def name(self) -> str:
        """Its name, as it was when anything of the study was last read or written: it can be changed."""
        return self._label.name

    def journal(self, first: int = 0) -> Journal:
        """The events from a number on, in the order they happened, each with its `text`, `hash` and `body`: a sequence,
        which reads what is looked at."""
        return Journal(self._events, self.length, first)

    def _events(self, first: int) -> Iterator[Event]:
        """Those from a number on. Raises `StudyGone` if there are none as the study was deleted."""
        event = None
        for event in self._storage.read(self._study, first):
            yield event
        if event is None:
            self.read_label()

    def length(self) -> int:
        """How many events the journal has."""
        found = self._storage.length(self._study)
        if found == 0:
            self.read_label()
        return found

    def mark(self) -> tuple[int, int]:
        """Two numbers, of which one grows with every event, the other with every change of the name, the note, the
        tags, or a pause. While they stay the same, nothing but leases can have changed."""
        with self._mutex:
            return self.length(), self.read_label().revision

    def read_label(self) -> Label:
        """Its name, note and tags and whether it is paused, as they are now. Raises `StudyGone` if it was deleted."""
        with self._mutex:
            self._label = self._checked(self._storage.label(self._study))
            return self._label

    def _checked(self, label: Label | None) -> Label:
        """A label that was read; an error if the study was deleted."""
        if label is None:
            raise gone(self._label.name)
        return label

    @contextmanager
    def together(self) -> Iterator[None]:
        """Let the calls of this thread share one turn: what they did is on disk when the block ends, and not before.

        A call that is rejected leaves the others as they are. A block within another one is a call of that.
        """
        with self._mutex, self._turn() as turn:
            if self._shared is not None:
                yield
                return
            self._shared, self._spoilt = turn, False
            try:
                yield
                if self._spoilt:
                    raise StorageError(f"study {self.name!r}: a call went wrong half-way, nothing was kept; try again")
            finally:
                self._shared = None

    @property
    def _fold(self) -> Fold:
        """What is known of the journal; from the last snapshot, if nothing is."""
        if self._known is None:
            self._known = self._recall()
        return self._known

    def _recall(self) -> Fold:
        dumped = self._storage.snapshot(self._study, snapshot_format())
        if dumped is not None:
            with suppress(Exception):  # damaged: the journal has it all
                fold = Fold.load(self.settings, dumped)
                if next(self._storage.read(self._study, fold.events - 1)).hash == fold.head:
                    return fold
        return Fold(self.settings)

    def _look(self) -> None:
        """Read what others have written."""
        self.read_label()
        try:
            self._take_in(self._storage.read(self._study, self._fold.events))
        except BaseException:
            self._known = None
            raise

    def _take_in(self, events: Iterable[Event]) -> None:
        fold = self._fold
        for event in events:
            try:
                fold.apply(event.body, event.hash)
            except MEANINGLESS as error:
                self._known = None
                raise unreadable(self.name, fold.events) from error

    @contextmanager
    def _turn(self) -> Iterator[Turn]:
        """Lock the study, and know all of its journal. Events of the block are kept if it ends without an error."""
        with self._mutex:
            if self._shared is not None:
                with self._part(self._shared) as turn:
                    yield turn
                return
            fold = self._fold
            self._log.clear()
            try:
                with self._turn_beside() as turn:
                    self._take_in(turn.read(fold.events))
                    yield turn
                    if self._log and not self._deleted:
                        turn.append(fold.events - len(self._log), self._log)
                        self._keep_snapshot(turn, fold)
            except BaseException as error:
                # If the connection broke at the wrong moment, nobody knows whether they were kept: read again.
                if self._log or not isinstance(error, MfbaiError):
                    self._known = None
                raise

    @contextmanager
    def _turn_beside(self) -> Iterator[Turn]:
        """Lock the study for what is kept beside the journal, which need not be read, or readable."""
        with self._mutex:
            if self._shared is not None:
                with self._part(self._shared) as turn:
                    yield turn
                return
            self._deleted = False
            with self._storage.turn(self._study) as turn:
                self._label = self._checked(turn.label())
                yield turn

    @contextmanager
    def _part(self, shared: Turn) -> Iterator[Turn]:
        """A call within a block of calls: one that is rejected must not have done anything."""
        if self._deleted:
            raise gone(self.name)
        before = len(self._log)
        try:
            yield shared
        except BaseException as error:
            self._spoilt |= len(self._log) > before or not isinstance(error, MfbaiError)
            raise

    def _append(self, body: Mapping[str, Any]) -> None:
        self._log.append((body.get("trial"), next_event(self._fold, body)))

    def _settle(self) -> None:
        """Append the verdict, if it is due."""
        verdict = self._fold.conclusion()
        if verdict is not None:
            self._append(verdict)

    def _keep_snapshot(self, turn: Turn, fold: Fold) -> None:
        if fold.events // SNAPSHOT_EVERY == (fold.events - len(self._log)) // SNAPSHOT_EVERY:
            return
        if fold.events - turn.snapshot_at() >= SNAPSHOT_EVERY // 2:
            turn.keep_snapshot(fold.events, snapshot_format(), fold.dump())


def gone(name: str | None) -> StudyGone:
    """The error for a study that was deleted."""
    named = "the study" if name is None else f"study {name!r}"
    return StudyGone(f"{named} was deleted: nothing of it is left, and results of its trials are not needed any more")


def unreadable(name: str, place: int | None = None) -> StudyUnreadable:
    """The error for a journal with an event that means nothing here: which one, if that is known."""
    what = "its journal" if place is None else f"event {place} of its journal"
    told = "was damaged, or needs a newer mfbai: restore the database from a backup, or delete the study"
    return StudyUnreadable(f"study {name!r} cannot be read: {what} {told}")


@contextmanager
def readable(name: str) -> Iterator[None]:
    """For what looks at events without applying them: raises `StudyUnreadable` if one of them means nothing."""
    try:
        yield
    except MfbaiError:
        raise
    except MEANINGLESS as error:
        raise unreadable(name) from error


def next_event(fold: Fold, body: Mapping[str, Any]) -> Event:
    """Make the next event of a journal, and apply it to the fold."""
    whole = {"n": fold.events, "at": round(time.time(), 3), **body}
    text = canonical(whole)
    event = Event(text, seal(fold.head or NOTHING, text))
    fold.apply(json.loads(text) if body["kind"] == "verdict" else whole, event.hash)
    return event


_open: weakref.WeakSet[Ledger] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    """Another thread of the parent may have been at work."""
    for ledger in list(_open):
        ledger._mutex, ledger._known, ledger._log, ledger._shared = RLock(), None, [], None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork_in_child)
