"""SQLite: a file on one machine, or memory. An event is on disk when its turn ends: SQLite syncs its log."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

import sqlalchemy as sa
from sqlalchemy.pool import StaticPool

from mfbai.errors import StorageError
from mfbai.study.storage.sql import SqlStorage

try:
    import fcntl
except ImportError:  # Windows: SQLite's own waiting, which is not fair
    fcntl = None  # type: ignore[assignment]

LOCKED_FOR = 60.0  # seconds to wait for a database that another program has locked


class SQLite(SqlStorage):
    """One writer at a time, in this process by a mutex, among processes by a lock on a file beside the database."""

    def __init__(self, url: str, *, create: bool = False) -> None:
        self._mutex = threading.RLock()
        self._path: str | None = None  # of the file, which must stay the same if the working folder changes
        self._file: tuple[int, int] | None = None  # which file that is
        self._lock: IO[bytes] | None = None
        super().__init__(url, create=create)
        self._file = None if self._path is None else _identity(self._path)

    def _make_engine(self, url: sa.URL) -> sa.Engine:
        if _is_file(url.database):
            self._path = os.path.abspath(str(url.database))
            engine = sa.create_engine(url)
        else:
            engine = sa.create_engine(url, poolclass=StaticPool, connect_args={"check_same_thread": False})
        sa.event.listen(engine, "connect", _connect)
        sa.event.listen(engine, "begin", _begin)
        return engine

    def _advice(self) -> str:
        return "the folder must exist, and the file in it must be writable (for reading too) and a SQLite database"

    def _now(self, connection: sa.Connection) -> float:
        return time.time()

    def _lock_study(self, connection: sa.Connection, study: int) -> None:
        """A writer has all of the database to itself anyway."""

    def _lock_tables(self, connection: sa.Connection) -> None:
        """The same."""

    def _is_missing(self, create: bool) -> bool:
        return not create and self._path is not None and not os.path.exists(self._path)

    @contextmanager
    def _reading(self) -> Iterator[sa.Connection]:
        with self._mutex, super()._reading() as connection:
            self._check_file()
            yield connection

    @contextmanager
    def _writing(self) -> Iterator[sa.Connection]:
        with self._errors(), self._mutex, self._alone():
            with super()._writing() as connection:
                self._check_file()
                yield connection
            self._check_file()

    def _check_file(self) -> None:
        """A file that was removed or replaced can still be written to while it is open, but nobody would find it."""
        if self._path is not None and self._file is not None and _identity(self._path) != self._file:
            raise StorageError(f"{self.url} was removed or replaced while it was in use: open it again")

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """A queue before the database: SQLite's own waiting sleeps longer and longer, so that some writers starve."""
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
        if self._lock is not None:
            self._lock.close()  # else our parent's lock would outlive it
            self._lock = None


def _connect(connection: Any, record: Any) -> None:
    connection.isolation_level = None  # we begin transactions ourselves
    until = time.monotonic() + LOCKED_FOR
    for pragma in (f"busy_timeout={LOCKED_FOR * 1000:.0f}", "journal_mode=WAL", "synchronous=FULL"):
        while True:
            try:
                connection.execute(f"PRAGMA {pragma}").close()
                break
            except sqlite3.OperationalError as error:  # the first change to WAL does not wait for others by itself
                if "locked" not in str(error) or time.monotonic() > until:
                    raise
                time.sleep(0.01)


def _begin(connection: sa.Connection) -> None:
    """A writer locks the database at once: a reader that starts to write half-way could be refused."""
    writes = connection.get_execution_options().get("mfbai_writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


def _identity(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _is_file(database: str | None) -> bool:
    return bool(database) and database != ":memory:" and not str(database).startswith("file:")
