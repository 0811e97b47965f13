"""What a storage of studies must do, and which class a URL stands for.

A storage keeps the journals of studies. The events are the truth and are only ever added. Leases say until when a trial
belongs to a worker. A snapshot saves replaying: it is only a cache, and deleting it is safe; so is a summary. A label
has what people change of a study: its name, note and tags, and whether it is paused. It is not part of the proof.

A process that writes to a study has it to itself for that moment (`Storage.turn`), and first reads what others wrote.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError

from mfbai.errors import Fault, InvalidInput, UnknownName, unknown_name
from mfbai.study.journal import Event

DEFAULT = "sqlite:///mfbai.db"
IN_MEMORY = "sqlite://"
EXAMPLE = f"give a URL such as {DEFAULT} or postgresql://user@host/database"

STORAGES: dict[str, type[Storage]] = {}  # by the scheme of their URLs


class NameTaken(InvalidInput):
    """A study of that name exists already."""


class Label(NamedTuple):
    """What is kept of a study beside its journal: anyone who may write to it can change this, and it proves nothing."""

    name: str
    paused: bool = False  # it hands out nothing
    note: str = ""  # Markdown
    tags: tuple[str, ...] = ()
    revision: int = 0  # how often it was changed


class Shelved(NamedTuple):
    """A study as it is listed: what can be said of it without replaying its journal."""

    study: int  # its number
    label: Label
    events: int
    created: float  # when, in seconds
    active: float  # when the last event happened


class Turn:
    """A study in the hands of one writer. What is written counts if the turn ends without an error."""

    def now(self) -> float:
        """The time in seconds, by a clock that all workers share."""
        raise NotImplementedError

    def read(self, first: int) -> Iterator[Event]:
        """The events of the journal from a number on."""
        raise NotImplementedError

    def events_of(self, trial: int) -> list[Event]:
        """The events of a trial, in their order."""
        raise NotImplementedError

    def append(self, first: int, rows: Sequence[tuple[int | None, Event]]) -> None:
        """Add events with their trials; the first of them has that number in the journal."""
        raise NotImplementedError

    def expired(self, now: float, most: int) -> list[int]:
        """Trials whose lease has run out, the oldest trials first."""
        raise NotImplementedError

    def requested(self, name: str) -> list[int]:
        """Trials with a lease that were handed out to the request of that name, the oldest first."""
        raise NotImplementedError

    def lease(self, trial: int, until: float, request: str | None) -> None:
        """Add the lease of a trial that has none."""
        raise NotImplementedError

    def lease_all(self, trials: Sequence[int], until: float, request: str | None) -> None:
        """Add the leases of several trials; by default one by one."""
        for trial in trials:
            self.lease(trial, until, request)

    def hand_over(self, trial: int, until: float, request: str | None) -> None:
        """Give the lease of a trial to another request."""
        raise NotImplementedError

    def renew(self, trial: int, until: float) -> None:
        """Change when a lease runs out. Does nothing to a trial without a lease."""
        raise NotImplementedError

    def end_lease(self, trial: int) -> None:
        """Remove the lease of a trial."""
        raise NotImplementedError

    def end_leases(self, trials: Sequence[int]) -> None:
        """Remove the leases of several trials; by default one by one."""
        for trial in trials:
            self.end_lease(trial)

    def label(self) -> Label | None:
        """The label; None if the study was deleted."""
        raise NotImplementedError

    def relabel(self, label: Label) -> None:
        """Replace the label. Raises `name_taken(name)` if another study has that name."""
        raise NotImplementedError

    def delete(self) -> None:
        """Remove the study with all that is kept of it. Its number is never given to another one."""
        raise NotImplementedError

    def assign(self, trials: Sequence[int], worker: str) -> None:
        """Remember to which worker trials were just leased, or handed over; by default that is not kept."""

    def snapshot_at(self) -> int:
        """How many events the snapshot covers; 0 if there is none."""
        raise NotImplementedError

    def keep_snapshot(self, n: int, form: str, body: bytes) -> None:
        """Replace the snapshot: it covers n events, and its format is `form`."""
        raise NotImplementedError

    def keep_summary(self, n: int, form: str, text: str) -> None:
        """Replace the summary, in the same way; by default none is kept."""


class Storage:
    """A place for studies. `Storage(url)` opens one of the class in `STORAGES` that the scheme of the URL stands for.

    It must exist already (see `unknown_storage`), unless `create` is true. `mfbai.testing.check_storage` checks what
    is promised here.
    """

    def __new__(cls, url: str = "", **options: Any) -> Storage:
        return super().__new__(_class_of(url) if cls is Storage else cls)

    def __init__(self, url: str, *, create: bool = False) -> None:
        raise NotImplementedError

    @property
    def url(self) -> str:
        """As given, but without a password."""
        raise NotImplementedError

    def names(self) -> list[str]:
        """The names of all studies, in the order they were created."""
        raise NotImplementedError

    def create(self, name: str, first: Sequence[Event]) -> int:
        """Add a study with its first events; returns its number. Raises `name_taken(name)` if there is one."""
        raise NotImplementedError

    def find(self, name: str) -> int:
        """The number of a study. Raises `UnknownName` (see `unknown_study`) if there is none of that name."""
        raise NotImplementedError

    def read(self, study: int, first: int) -> Iterator[Event]:
        """The events of a study from a number on. Nothing is locked while the caller looks at them."""
        raise NotImplementedError

    def length(self, study: int) -> int:
        """How many events a study has."""
        raise NotImplementedError

    def label(self, study: int) -> Label | None:
        """The label of a study; None if it was deleted."""
        raise NotImplementedError

    def workers(self, study: int) -> dict[int, str]:
        """The worker that each trial was handed out to last, as far as it is known; by default it is not."""
        return {}

    def overview(self) -> list[Shelved]:
        """All studies, in the order they were created; by default from the other methods."""
        return [found for name in self.names() if (found := self._shelved(self.find(name))) is not None]

    def _shelved(self, study: int) -> Shelved | None:
        label, events = self.label(study), self.length(study)
        if label is None or events == 0:
            return None
        first, last = (next(self.read(study, n)).body["at"] for n in (0, events - 1))
        return Shelved(study, label, events, first, last)

    def find_key(self, key: str) -> int | None:
        """The number of the study whose trials' ids end in that key; None if there is none. By default it looks at the
        first event of each."""
        numbers = map(self.find, self.names())
        return next((study for study in numbers if next(self.read(study, 0)).body.get("key") == key), None)

    def summaries(self, form: str) -> dict[int, tuple[int, str]]:
        """Of studies, by number: how many events a summary is of, and its text; only of that format. By default none
        are kept."""
        return {}

    def snapshot(self, study: int, form: str) -> bytes | None:
        """The body of the snapshot; None if there is none of that format."""
        raise NotImplementedError

    def turn(self, study: int) -> AbstractContextManager[Turn]:
        """Wait for a turn to write to a study. All that is written is kept when the block ends, and on disk if the
        storage has one; nothing is kept if the block raises."""
        raise NotImplementedError

    def close(self) -> None:
        """Let go of files and connections."""

    def unknown_study(self, name: str) -> UnknownName:
        """The error for a name that no study has."""
        known = self.names()
        if not known:
            return UnknownName([Fault("unknown study", f"{name!r}: there are no studies in {self.url}")], "study")
        return unknown_name("study", name, known)


def name_taken(name: str) -> NameTaken:
    """The error for a new study whose name another one has."""
    told = "exists already in this storage: choose another name, or load that study"
    return NameTaken([Fault(f"study {name!r}", told)])


def unknown_storage(url: str) -> UnknownName:
    """The error for a storage that does not exist and is not to be created."""
    return UnknownName([Fault(f"storage {url}", "has no studies: create one first, or check the URL")], "storage")


def invalid_url(url: Any, reason: str = "") -> InvalidInput:
    """The error for a URL that no storage can be opened with."""
    return InvalidInput([Fault("storage", f"is {hide_password(url)!r}{reason}")])


def hide_password(url: Any) -> str:
    """The URL as text that may be shown."""
    hidden = re.sub(r"(//[^/?#]*?:)[^/?#]*(?=@)", r"\1***", str(url))
    return re.sub(r"(?i)(password=)[^&#]*", r"\1***", hidden)


def _class_of(url: Any) -> type[Storage]:
    try:
        if not str(url).isprintable():
            raise ValueError
        scheme = sa.make_url(url).get_backend_name()
    except (ArgumentError, ValueError):
        raise invalid_url(url, f": {EXAMPLE}") from None
    if scheme not in STORAGES:
        *others, last = (kind.__name__ for kind in STORAGES.values())
        raise invalid_url(url, f": only {', '.join(others)} and {last} are supported; {EXAMPLE}")
    return STORAGES[scheme]
