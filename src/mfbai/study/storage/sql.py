"""What all storages in a database have in common: the tables, reading and writing them, forks, and errors."""

from __future__ import annotations

import json
import os
import re
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError

from mfbai.errors import StorageError
from mfbai.study.journal import Event
from mfbai.study.storage import tables as t
from mfbai.study.storage.storage import (
    EXAMPLE,
    Label,
    Shelved,
    Storage,
    Turn,
    hide_password,
    invalid_url,
    name_taken,
    unknown_storage,
)

BATCH = 10_000  # events read at once


class SqlTurn(Turn):
    """A transaction in which one study is locked."""

    def __init__(self, storage: SqlStorage, connection: sa.Connection, study: int) -> None:
        self._storage = storage
        self._connection = connection
        self._study = study

    def now(self) -> float:
        return self._storage._now(self._connection)

    def read(self, first: int) -> Iterator[Event]:
        return _in_batches(lambda at: _read_batch(self._connection, self._study, at), first)

    def events_of(self, trial: int) -> list[Event]:
        rows = self._connection.execute(t.READ_TRIAL, {"id": self._study, "number": trial})
        return [Event(*row) for row in rows]

    def append(self, first: int, rows: Sequence[tuple[int | None, Event]]) -> None:
        values = [
            {"study": self._study, "n": first + k, "trial": trial, "body": event.text, "hash": event.hash}
            for k, (trial, event) in enumerate(rows)
        ]
        self._connection.execute(t.APPEND, values)

    def expired(self, now: float, most: int) -> list[int]:
        where = {"id": self._study, "now": now, "most": most}
        return list(self._connection.execute(t.EXPIRED, where).scalars())

    def requested(self, name: str) -> list[int]:
        return list(self._connection.execute(t.REQUESTED, {"id": self._study, "name": name}).scalars())

    def lease(self, trial: int, until: float, request: str | None) -> None:
        row = {"study": self._study, "trial": trial, "until": until, "request": request}
        self._connection.execute(t.ADD_LEASE, row)

    def lease_all(self, trials: Sequence[int], until: float, request: str | None) -> None:
        rows = [{"study": self._study, "trial": trial, "until": until, "request": request} for trial in trials]
        if rows:
            self._connection.execute(t.ADD_LEASE, rows)

    def hand_over(self, trial: int, until: float, request: str | None) -> None:
        self._connection.execute(t.HAND_OVER, {"id": self._study, "number": trial, "end": until, "name": request})
        self._connection.execute(t.FORGET_WORKER, {"id": self._study, "number": trial})

    def renew(self, trial: int, until: float) -> None:
        self._connection.execute(t.RENEW, {"id": self._study, "number": trial, "end": until})

    def end_lease(self, trial: int) -> None:
        self._connection.execute(t.END_LEASE, {"id": self._study, "number": trial})

    def end_leases(self, trials: Sequence[int]) -> None:
        if trials:
            self._connection.execute(t.END_LEASE, [{"id": self._study, "number": trial} for trial in trials])

    def label(self) -> Label | None:
        return _label(self._connection, self._study)

    def relabel(self, label: Label) -> None:
        other = self._connection.execute(t.FIND, {"wanted": label.name}).scalar()
        if other not in (None, self._study):
            raise name_taken(label.name)
        row = {**label._asdict(), "paused": int(label.paused), "tags": json.dumps(label.tags)}
        entries = {f"new_{name}": value for name, value in row.items()}
        try:
            with self._connection.begin_nested():  # or PostgreSQL would refuse the rest of the turn
                self._connection.execute(t.RELABEL, {"number": self._study, **entries})
        except IntegrityError:  # another process was quicker
            raise name_taken(label.name) from None

    def delete(self) -> None:
        for table in t.OWNED:
            self._connection.execute(sa.delete(table).where(table.c.study == self._study))
        gone = {"name": f"\n{self._study}", "note": "", "tags": "[]", "deleted": 1}
        self._connection.execute(sa.update(t.studies).where(t.studies.c.id == self._study).values(gone))

    def assign(self, trials: Sequence[int], worker: str) -> None:
        if trials:
            rows = [{"study": self._study, "trial": trial, "worker": worker} for trial in trials]
            self._connection.execute(t.ADD_WORKER, rows)

    def snapshot_at(self) -> int:
        return self._connection.execute(t.SNAPSHOT_AT, {"id": self._study}).scalar() or 0

    def keep_snapshot(self, n: int, form: str, body: bytes) -> None:
        self._replace(t.snapshots, n, form, body)

    def keep_summary(self, n: int, form: str, text: str) -> None:
        self._replace(t.summaries, n, form, text)

    def _replace(self, table: sa.Table, n: int, form: str, body: bytes | str) -> None:
        self._connection.execute(sa.delete(table).where(table.c.study == self._study))
        self._connection.execute(sa.insert(table), {"study": self._study, "n": n, "format": form, "body": body})


class SqlStorage(Storage):
    """A storage in a database that SQLAlchemy knows. What is particular to a database is in the methods that raise
    NotImplementedError here, and in those that say "by default"."""

    driver = EXAMPLE  # what to do if the driver is not installed

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._engine = self._open_engine(url)
        self._writer = self._engine.execution_options(mfbai_writes=True)
        _open.add(self)
        weakref.finalize(self, self._engine.dispose)
        if self._is_missing(create) or not self._has_tables():
            if not create:
                raise unknown_storage(self.url)
            with self._writing() as connection:
                self._make_tables(connection)

    # --- what is particular to a database

    def _make_engine(self, url: sa.URL) -> sa.Engine:
        raise NotImplementedError

    def _advice(self) -> str:
        """What to check if the database cannot be used."""
        raise NotImplementedError

    def _now(self, connection: sa.Connection) -> float:
        """The time in seconds, by a clock that all workers share."""
        raise NotImplementedError

    def _lock_study(self, connection: sa.Connection, study: int) -> None:
        """Let nobody else write to a study until this transaction ends."""
        raise NotImplementedError

    def _lock_tables(self, connection: sa.Connection) -> None:
        """Let nobody else make or change tables until this transaction ends."""
        raise NotImplementedError

    def _is_missing(self, create: bool) -> bool:
        """Whether to connect would make a database although none is wanted; by default it never does."""
        return False

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        """A transaction that reads; by default any number of them run at once."""
        with self._errors(), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        """A transaction that writes; by default any number of them run at once."""
        with self._errors(), self._writer.begin() as connection:
            yield connection

    def _before_fork(self) -> None:
        """Called before this process forks; by default nothing needs to be done."""

    def _after_fork(self, child: bool) -> None:
        """Called after a fork in both processes; by default the child leaves the connections to its parent."""
        if child:
            self._engine.dispose(close=False)

    # --- studies

    @property
    def url(self) -> str:
        return hide_password(self._engine.url.render_as_string(hide_password=True))

    def names(self) -> list[str]:
        with self._reading() as connection:
            living = sa.select(t.studies.c.name).where(t.studies.c.deleted == 0).order_by(t.studies.c.id)
            return list(connection.execute(living).scalars())

    def create(self, name: str, first: Sequence[Event]) -> int:
        with self._writing() as connection:
            if connection.execute(t.FIND, {"wanted": name}).scalar() is not None:
                raise name_taken(name)
            try:
                added = sa.insert(t.studies).returning(t.studies.c.id)
                study = int(connection.execute(added, {"name": name}).scalar_one())
            except IntegrityError:  # another process was quicker
                raise name_taken(name) from None
            SqlTurn(self, connection, study).append(0, [(None, event) for event in first])
            return study

    def find(self, name: str) -> int:
        with self._reading() as connection:
            found = connection.execute(t.FIND, {"wanted": name}).scalar()
        if found is None:
            raise self.unknown_study(name)
        return int(found)

    def read(self, study: int, first: int) -> Iterator[Event]:
        def batch(at: int) -> list[Event]:
            with self._reading() as connection:  # not while the caller is at work: it may be long, and fork
                return _read_batch(connection, study, at)

        return _in_batches(batch, first)

    def length(self, study: int) -> int:
        with self._reading() as connection:
            return int(connection.execute(t.LENGTH, {"id": study}).scalar_one())

    def label(self, study: int) -> Label | None:
        with self._reading() as connection:
            return _label(connection, study)

    def workers(self, study: int) -> dict[int, str]:
        with self._reading() as connection:
            return {row.trial: row.worker for row in connection.execute(t.WORKERS, {"id": study})}

    def overview(self) -> list[Shelved]:
        with self._reading() as connection:
            rows = connection.execute(t.OVERVIEW).all()
        found = []
        for *label, study, last, first, text in rows:
            created = _time(first)
            found.append(Shelved(study, _read_label(*label), last + 1, created, _time(text) if text else created))
        return found

    def find_key(self, key: str) -> int | None:
        with self._reading() as connection:
            found = connection.execute(t.WITH_KEY, {"text": f'"key":"{key}"'}).scalars().all()
        numbers = [study for study in found if next(self.read(study, 0)).body.get("key") == key]
        return numbers[0] if numbers else None

    def summaries(self, form: str) -> dict[int, tuple[int, str]]:
        with self._reading() as connection:
            return {study: (n, body) for study, n, body in connection.execute(t.SUMMARIES, {"form": form})}

    def snapshot(self, study: int, form: str) -> bytes | None:
        wanted = sa.select(t.snapshots.c.body).where(t.snapshots.c.study == study, t.snapshots.c.format == form)
        with self._reading() as connection:
            return connection.execute(wanted).scalar()

    @contextmanager
    def turn(self, study: int) -> Iterator[Turn]:
        with self._writing() as connection:
            self._lock_study(connection, study)
            yield SqlTurn(self, connection, study)

    def close(self) -> None:
        self._engine.dispose()

    # --- tables

    def _open_engine(self, url: Any) -> sa.Engine:
        try:
            return self._make_engine(sa.make_url(url))
        except (ArgumentError, ValueError):
            raise invalid_url(url, f": {EXAMPLE}") from None
        except ModuleNotFoundError:
            raise invalid_url(url, f", whose driver is not installed: {self.driver}") from None

    def _has_tables(self) -> bool:
        """Whether the database has our tables. Older ones are upgraded; an error if they cannot be used."""
        with self._reading() as connection:
            if not sa.inspect(connection).has_table(t.schema.name):
                return False
            version = connection.execute(sa.select(t.schema.c.version)).scalar()
        if version in t.UPGRADES:
            with self._writing() as connection:
                version = self._upgrade(connection)
        if version != t.SCHEMA:
            age = "an older" if version is None or version < t.SCHEMA else "a newer"
            told = f"{self.url} was made by {age} mfbai (tables of version {version}, here {t.SCHEMA})"
            raise StorageError(f"{told}: export its studies with that version, or install it again")
        return True

    def _upgrade(self, connection: sa.Connection) -> int:
        """Make the tables of an older version ours; returns their version now."""
        self._lock_tables(connection)
        version: int = connection.execute(sa.select(t.schema.c.version)).scalar_one()
        while version in t.UPGRADES:  # another process may have been quicker
            for statement in t.UPGRADES[version]:
                connection.execute(sa.text(statement))
            version += 1
            connection.execute(sa.update(t.schema).values(version=version))
        t.tables.create_all(connection)
        return version

    def _make_tables(self, connection: sa.Connection) -> None:
        self._lock_tables(connection)
        if not sa.inspect(connection).has_table(t.schema.name):  # another process may have been quicker
            t.tables.create_all(connection)
            connection.execute(sa.insert(t.schema), {"version": t.SCHEMA})

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the database, as ours."""
        try:
            yield
        except (DBAPIError, OSError) as error:
            cause = str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()
            told = f"{self.url} cannot be used: {cause[0] if cause else error}; {self._advice()}"
            raise StorageError(told) from error


def _in_batches(read: Any, first: int) -> Iterator[Event]:
    while True:
        batch = read(first)
        yield from batch
        if len(batch) < BATCH:
            return
        first += BATCH


def _label(connection: sa.Connection, study: int) -> Label | None:
    row = connection.execute(t.LABEL, {"id": study}).one_or_none()
    return None if row is None else _read_label(*row)


def _read_label(name: str, paused: int, note: str, tags: str, revision: int) -> Label:
    return Label(name, bool(paused), note, tuple(json.loads(tags)), revision)


def _time(text: str) -> float:
    """When an event happened, given the beginning of its text, or all of it."""
    found = re.search(r'"at":([0-9.e+-]+)', text)
    return float(found[1]) if found else 0.0


def _read_batch(connection: sa.Connection, study: int, first: int) -> list[Event]:
    rows = connection.execute(t.READ_EVENTS, {"id": study, "first": first, "most": BATCH})
    return [Event(*row) for row in rows]


_open: weakref.WeakSet[SqlStorage] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[SqlStorage] = []


def _before_fork() -> None:
    _forking.acquire()
    for storage in list(_open):
        storage._before_fork()
        _held.append(storage)


def _after_fork(child: bool) -> None:
    while _held:
        _held.pop()._after_fork(child)
    _forking.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(child=False),
        after_in_child=lambda: _after_fork(child=True),
    )
