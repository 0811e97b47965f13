"""Where journals are kept: SQLite for one machine, PostgreSQL for many.

The events are the truth and are only ever added. Leases say until when a trial is in the hands of a worker. Snapshots
save replaying, and could be lost without harm.

Whoever writes to a study holds it alone for that moment (`turn`), and reads beforehand what others have written. An
event is on disk when the turn ends: SQLite syncs its log, PostgreSQL does by default.
"""

from __future__ import annotations

import os
import re
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.exc import ArgumentError, DBAPIError, IntegrityError
from sqlalchemy.pool import StaticPool

from mfbai.errors import Fault, InvalidInput, StorageError, UnknownName, unknown_name
from mfbai.study.journal import Event
from mfbai.study.storage.tables import (
    APPEND,
    CLOCK,
    END_LEASE,
    EXPIRED,
    FIND,
    HAND_OVER,
    LEASE,
    LENGTH,
    READ_EVENTS,
    READ_TRIAL,
    RENEW,
    REQUESTED,
    SCHEMA,
    SNAPSHOT_AT,
    UPGRADES,
    schema,
    snapshots,
    studies,
    tables,
)

try:
    import fcntl
except ImportError:  # Windows: SQLite's own waiting, which is not fair
    fcntl = None  # type: ignore[assignment]

DEFAULT = "sqlite:///mfbai.db"
IN_MEMORY = "sqlite://"
PATIENCE = 60_000  # milliseconds to wait for a SQLite database that another program has locked
ADVISORY = 0x6D666261  # PostgreSQL: held while tables are made
BATCH = 10_000  # events read at once


class NameTaken(InvalidInput):
    """There is a study of that name already."""


class Turn:
    """A study in the hands of one writer. What is written counts when the turn ends without an error."""

    def __init__(self, connection: sa.Connection, study: int) -> None:
        self._connection = connection
        self._study = study

    def now(self) -> float:
        """By the clock of the database, which all workers share."""
        if self._connection.dialect.name == "postgresql":
            return float(self._connection.execute(CLOCK).scalar_one())
        return time.time()

    def read(self, first: int) -> Iterator[Event]:
        return _read(self._connection, self._study, first)

    def events_of(self, trial: int) -> list[Event]:
        rows = self._connection.execute(READ_TRIAL, {"id": self._study, "number": trial})
        return [Event(*row) for row in rows]

    def append(self, first: int, rows: Sequence[tuple[int | None, Event]]) -> None:
        """Add events with their trials; the first of them has that number in the journal."""
        values = [
            {"study": self._study, "n": first + k, "trial": trial, "body": event.text, "hash": event.hash}
            for k, (trial, event) in enumerate(rows)
        ]
        self._connection.execute(APPEND, values)

    def expired(self, now: float, most: int) -> list[int]:
        """Trials whose lease is over, the oldest first."""
        where = {"id": self._study, "now": now, "most": most}
        return list(self._connection.execute(EXPIRED, where).scalars())

    def requested(self, name: str) -> list[int]:
        """Trials that were handed out to a request of that name, and are still under way."""
        return list(self._connection.execute(REQUESTED, {"id": self._study, "name": name}).scalars())

    def lease(self, trial: int, until: float, request: str | None) -> None:
        """For a trial that has none yet."""
        self._connection.execute(LEASE, {"study": self._study, "trial": trial, "until": until, "request": request})

    def hand_over(self, trial: int, until: float, request: str | None) -> None:
        """For a trial whose lease is over."""
        self._connection.execute(HAND_OVER, {"id": self._study, "number": trial, "end": until, "name": request})

    def renew(self, trial: int, until: float) -> None:
        self._connection.execute(RENEW, {"id": self._study, "number": trial, "end": until})

    def end_lease(self, trial: int) -> None:
        self._connection.execute(END_LEASE, {"id": self._study, "number": trial})

    def snapshot_at(self) -> int:
        """How many events the last snapshot covers."""
        return self._connection.execute(SNAPSHOT_AT, {"id": self._study}).scalar() or 0

    def keep_snapshot(self, n: int, form: str, body: bytes) -> None:
        """In the place of the last one."""
        self._connection.execute(sa.delete(snapshots).where(snapshots.c.study == self._study))
        self._connection.execute(sa.insert(snapshots), {"study": self._study, "n": n, "format": form, "body": body})


class Storage:
    """A database of studies, by its SQLAlchemy URL; it must be there already, unless `create` says otherwise."""

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._engine = _engine(url)
        self._writer = self._engine.execution_options(mfbai_writes=True)
        self._is_sqlite = self._engine.dialect.name == "sqlite"
        self._mutex = threading.RLock()  # SQLite: one thread at a time
        database = self._engine.url.database  # its path, which must stay the same if the working folder changes
        self._path = os.path.abspath(str(database)) if self._is_sqlite and _is_file(database) else None
        self._lock: IO[bytes] | None = None
        self._file: tuple[int, int] | None = None  # which one a SQLite database is
        _open.add(self)
        weakref.finalize(self, self._engine.dispose)
        missing = not create and self._path is not None and not os.path.exists(self._path)  # SQLite would make a file
        if missing or not self._is_ready():
            if not create:
                told = "has no studies: create one first, or check the URL"
                raise UnknownName([Fault(f"storage {self.url}", told)], "storage")
            with self._writing() as connection:
                _make_tables(connection)
        if self._path is not None:
            self._file = _identity(self._path)

    @property
    def url(self) -> str:
        """As given, but without a password."""
        return _without_password(self._engine.url.render_as_string(hide_password=True))

    def names(self) -> list[str]:
        """Of all studies, in the order they were created."""
        with self._reading() as connection:
            return list(connection.execute(sa.select(studies.c.name).order_by(studies.c.id)).scalars())

    def create(self, name: str, first: Sequence[Event]) -> int:
        """A new study with its first events."""
        with self._writing() as connection:
            if connection.execute(FIND, {"wanted": name}).scalar() is not None:
                raise _taken(name)
            try:
                study = connection.execute(sa.insert(studies).returning(studies.c.id), {"name": name}).scalar_one()
            except IntegrityError:  # PostgreSQL: another process was quicker
                raise _taken(name) from None
            Turn(connection, study).append(0, [(None, event) for event in first])
            return int(study)

    def find(self, name: str) -> int:
        with self._reading() as connection:
            found = connection.execute(FIND, {"wanted": name}).scalar()
        if found is None:
            known = self.names()
            if not known:
                raise UnknownName([Fault("unknown study", f"{name!r}: there are no studies in {self.url}")], "study")
            raise unknown_name("study", name, known)
        return int(found)

    def read(self, study: int, first: int) -> Iterator[Event]:
        """The events of a study from a number on."""
        while True:
            with self._reading() as connection:  # not while the caller is at work: it may be long, and fork
                batch = _read_batch(connection, study, first)
            yield from batch
            if len(batch) < BATCH:
                return
            first += BATCH

    def length(self, study: int) -> int:
        """How many events a study has."""
        with self._reading() as connection:
            return int(connection.execute(LENGTH, {"id": study}).scalar_one())

    def snapshot(self, study: int, form: str) -> bytes | None:
        """The last one, if it is of that format."""
        wanted = sa.select(snapshots.c.body).where(snapshots.c.study == study, snapshots.c.format == form)
        with self._reading() as connection:
            return connection.execute(wanted).scalar()

    @contextmanager
    def turn(self, study: int) -> Iterator[Turn]:
        """Wait for one's turn to write to a study."""
        with self._writing() as connection:
            if connection.dialect.name == "postgresql":
                connection.execute(sa.select(studies.c.id).where(studies.c.id == study).with_for_update())
            yield Turn(connection, study)

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._errors(), self._one_thread(), self._engine.begin() as connection:
            self._check_file()
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._errors(), self._one_thread(), self._alone():
            with self._writer.begin() as connection:
                self._check_file()
                yield connection
            self._check_file()

    def _is_ready(self) -> bool:
        """Whether the database has our tables; refused if they are not those of this version."""
        with self._reading() as connection:
            if not sa.inspect(connection).has_table(schema.name):
                return False
            version = connection.execute(sa.select(schema.c.version)).scalar()
        if version in UPGRADES:
            with self._writing() as connection:
                version = _upgrade(connection)
        if version != SCHEMA:
            age = "an older" if version is None or version < SCHEMA else "a newer"
            told = f"{self.url} was made by {age} mfbai (tables of version {version}, here {SCHEMA})"
            raise StorageError(f"{told}: export its studies with that version, or install it again")
        return True

    def _check_file(self) -> None:
        """A file that was removed or replaced can still be written to, as long as we have it open: into nowhere."""
        if self._path is not None and self._file is not None and _identity(self._path) != self._file:
            raise StorageError(f"{self.url} was removed or replaced while it was in use: open it again")

    @contextmanager
    def _one_thread(self) -> Iterator[None]:
        with self._mutex if self._is_sqlite else nullcontext():
            yield

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """For SQLite, a queue before the database: its own waiting sleeps ever longer, and those who wait starve."""
        if self._path is None or fcntl is None:
            yield
            return
        if self._lock is None:
            self._lock = open(f"{self._path}-lock", "ab")  # noqa: SIM115 - kept, and closed with the storage
            weakref.finalize(self, self._lock.close)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        try:
            yield
        finally:
            fcntl.flock(self._lock, fcntl.LOCK_UN)

    def _before_fork(self) -> None:
        """SQLite must have no file open then: a child would take the parent's locks for its own, and when the parent
        ends, what the child has written since is lost, even by a connection of its own."""
        self._mutex.acquire()
        if self._path is not None:
            self._engine.dispose()

    def _after_fork(self, child: bool) -> None:
        if not child:
            self._mutex.release()
            return
        self._mutex = threading.RLock()
        if not self._is_sqlite:
            self._engine.dispose(close=False)  # the connections are the parent's
        if self._lock is not None:
            self._lock.close()  # else our parent's lock would outlive it
            self._lock = None

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Errors of the database, as ours."""
        try:
            yield
        except (DBAPIError, OSError) as error:
            cause = str(error.orig if isinstance(error, DBAPIError) else error).strip().splitlines()
            raise StorageError(f"{self.url} cannot be used: {cause[0] if cause else error}; {_advice(self)}") from error


def _engine(url: Any) -> sa.Engine:
    told = f"give a URL such as {DEFAULT} or postgresql://user@host/database"
    shown = _without_password(url)
    try:
        if not str(url).isprintable():
            raise ValueError
        parsed = sa.make_url(url)
        backend = parsed.get_backend_name()
        if backend == "sqlite":
            return _sqlite_engine(parsed)
        if backend == "postgresql":
            parsed = parsed.set(drivername="postgresql+psycopg")
            engine = sa.create_engine(parsed, pool_pre_ping=True, isolation_level="READ COMMITTED")
            sa.event.listen(engine, "connect", _connect_postgresql)
            return engine
    except (ArgumentError, ValueError):
        raise InvalidInput([Fault("storage", f"is {shown!r}: {told}")]) from None
    except ModuleNotFoundError:
        needed = "pip install 'mfbai[postgres]'" if backend == "postgresql" else told
        raise InvalidInput([Fault("storage", f"is {shown!r}, whose driver is not installed: {needed}")]) from None
    raise InvalidInput([Fault("storage", f"is {shown!r}: only SQLite and PostgreSQL are supported; {told}")])


def _sqlite_engine(url: sa.URL) -> sa.Engine:
    in_memory = {"poolclass": StaticPool, "connect_args": {"check_same_thread": False}}
    engine = sa.create_engine(url, **({} if _is_file(url.database) else in_memory))
    sa.event.listen(engine, "connect", _connect_sqlite)
    sa.event.listen(engine, "begin", _begin_sqlite)
    return engine


def _connect_postgresql(connection: Any, record: Any) -> None:
    connection.execute("SET synchronous_commit TO on")  # whatever the server's default is
    connection.commit()


def _connect_sqlite(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # we begin transactions ourselves
    until = time.monotonic() + PATIENCE / 1000
    for pragma in (f"busy_timeout={PATIENCE}", "journal_mode=WAL", "synchronous=FULL"):
        while True:
            try:
                connection.execute(f"PRAGMA {pragma}").close()
                break
            except sqlite3.OperationalError as error:  # the first change to WAL does not wait for others by itself
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)


def _begin_sqlite(connection: sa.Connection) -> None:
    """Writers take their place at once; a reader that turns writer half-way could be refused."""
    writes = connection.get_execution_options().get("mfbai_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _taken(name: str) -> NameTaken:
    told = "exists already in this storage: choose another name, or go on with that one"
    return NameTaken([Fault(f"study {name!r}", told)])


def _without_password(url: Any) -> str:
    url = str(url)
    url = re.sub(r"(//[^/?#]*?:)[^/?#]*(?=@)", r"\1***", url)
    return re.sub(r"(?i)(password=)[^&#]*", r"\1***", url)


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _is_file(database: str | None) -> bool:
    return bool(database) and database != ":memory:" and not str(database).startswith("file:")


def _upgrade(connection: sa.Connection) -> int:
    """Make the tables of an older version ours; their version now."""
    _wait_for_others(connection)
    version: int = connection.execute(sa.select(schema.c.version)).scalar_one()
    while version in UPGRADES:  # another process may have been quicker
        for statement in UPGRADES[version]:
            connection.execute(sa.text(statement))
        version += 1
        connection.execute(sa.update(schema).values(version=version))
    return version


def _wait_for_others(connection: sa.Connection) -> None:
    """Who are making tables; with SQLite, whoever writes is alone anyway."""
    if connection.dialect.name == "postgresql":
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(ADVISORY)))


def _make_tables(connection: sa.Connection) -> None:
    _wait_for_others(connection)
    if not sa.inspect(connection).has_table(schema.name):  # another process may have been quicker
        tables.create_all(connection)
        connection.execute(sa.insert(schema), {"version": SCHEMA})


def _read(connection: sa.Connection, study: int, first: int) -> Iterator[Event]:
    while True:
        batch = _read_batch(connection, study, first)
        yield from batch
        if len(batch) < BATCH:
            return
        first += BATCH


def _read_batch(connection: sa.Connection, study: int, first: int) -> list[Event]:
    rows = connection.execute(READ_EVENTS, {"id": study, "first": first, "most": BATCH})
    return [Event(*row) for row in rows]


def _advice(storage: Storage) -> str:
    if storage._engine.dialect.name == "sqlite":
        return "the folder must exist, and the file in it must be writable (for reading too) and a SQLite database"
    return "check that the server runs, and the user, password and database of the URL; then try again"


_open: weakref.WeakSet[Storage] = weakref.WeakSet()
_forking = threading.Lock()
_held: list[Storage] = []


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
