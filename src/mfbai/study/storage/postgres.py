"""PostgreSQL: a server for many machines. An event is on disk when its turn ends, whatever the server's default is."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa

from mfbai.study.storage.sql import SqlStorage
from mfbai.study.storage.tables import studies

MAKING_TABLES = 0x6D666261  # the advisory lock that is held while tables are made


class PostgreSQL(SqlStorage):
    """One writer a study, by a lock on its row; the server's clock for all."""

    driver = "pip install 'mfbai[postgres]'"

    def _make_engine(self, url: sa.URL) -> sa.Engine:
        url = url.set(drivername="postgresql+psycopg")
        engine = sa.create_engine(url, pool_pre_ping=True, isolation_level="READ COMMITTED")
        sa.event.listen(engine, "connect", _connect)
        return engine

    def _advice(self) -> str:
        return "check that the server runs, and the user, password and database of the URL; then try again"

    def _now(self, connection: sa.Connection) -> float:
        return float(connection.execute(CLOCK).scalar_one())

    def _lock_study(self, connection: sa.Connection, study: int) -> None:
        connection.execute(LOCK_STUDY, {"number": study})

    def _lock_tables(self, connection: sa.Connection) -> None:
        connection.execute(sa.select(sa.func.pg_advisory_xact_lock(MAKING_TABLES)))


CLOCK = sa.select(sa.extract("epoch", sa.func.clock_timestamp()))
LOCK_STUDY = sa.select(studies.c.id).where(studies.c.id == sa.bindparam("number")).with_for_update()


def _connect(connection: Any, record: Any) -> None:
    connection.execute("SET synchronous_commit TO on")
    connection.commit()
