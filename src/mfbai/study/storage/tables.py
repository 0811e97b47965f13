"""The tables of a storage, and the statements on them."""

import sqlalchemy as sa

# Version 3 has the tables of version 2: it keeps mfbai 0.1.0, which would draw the seeds of new studies in its own way,
# from writing to them. Version 4 has labels, which earlier versions would not heed.
SCHEMA = 4
# From each version to the next; tables that are missing are made, too.
UPGRADES = {
    1: ["ALTER TABLE mfbai_leases ADD COLUMN request TEXT"],
    2: [],
    3: [
        "ALTER TABLE mfbai_studies ADD COLUMN paused INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE mfbai_studies ADD COLUMN note TEXT NOT NULL DEFAULT ''",
        "ALTER TABLE mfbai_studies ADD COLUMN tags TEXT NOT NULL DEFAULT '[]'",
        "ALTER TABLE mfbai_studies ADD COLUMN revision INTEGER NOT NULL DEFAULT 0",
        "ALTER TABLE mfbai_studies ADD COLUMN deleted INTEGER NOT NULL DEFAULT 0",
    ],
}

tables = sa.MetaData()
schema = sa.Table("mfbai_schema", tables, sa.Column("version", sa.Integer, nullable=False))
studies = sa.Table(
    "mfbai_studies",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
    sa.Column("paused", sa.Integer, nullable=False, server_default="0"),
    sa.Column("note", sa.Text, nullable=False, server_default=""),
    sa.Column("tags", sa.Text, nullable=False, server_default="[]"),  # as JSON
    sa.Column("revision", sa.Integer, nullable=False, server_default="0"),
    # The row of a deleted study is kept, so that its number is not used again, with a name that no study can have.
    sa.Column("deleted", sa.Integer, nullable=False, server_default="0"),
)
events = sa.Table(
    "mfbai_events",
    tables,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("n", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("trial", sa.Integer),
    sa.Column("body", sa.Text, nullable=False),
    sa.Column("hash", sa.Text, nullable=False),
    sa.Index("mfbai_events_of_trial", "study", "trial"),
    sqlite_with_rowid=False,
)
leases = sa.Table(
    "mfbai_leases",
    tables,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("until", sa.Double, nullable=False),
    sa.Column("request", sa.Text),
    sqlite_with_rowid=False,
)
snapshots = sa.Table(
    "mfbai_snapshots",
    tables,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("body", sa.LargeBinary, nullable=False),
)
workers = sa.Table(
    "mfbai_workers",
    tables,
    sa.Column("study", sa.Integer, primary_key=True),
    sa.Column("trial", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("worker", sa.Text, nullable=False),
    sqlite_with_rowid=False,
)
summaries = sa.Table(
    "mfbai_summaries",
    tables,
    sa.Column("study", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("format", sa.Text, nullable=False),
    sa.Column("body", sa.Text, nullable=False),
)
OWNED = (events, leases, snapshots, workers, summaries)  # tables with rows of studies

# Statements made once: building them costs as much as running them.
READ_EVENTS = (
    sa.select(events.c.body, events.c.hash)
    .where(events.c.study == sa.bindparam("id"), events.c.n >= sa.bindparam("first"))
    .order_by(events.c.n)
    .limit(sa.bindparam("most"))
)
READ_TRIAL = (
    sa.select(events.c.body, events.c.hash)
    .where(events.c.study == sa.bindparam("id"), events.c.trial == sa.bindparam("number"))
    .order_by(events.c.n)
)
LENGTH = sa.select(sa.func.coalesce(sa.func.max(events.c.n) + 1, 0)).where(events.c.study == sa.bindparam("id"))
EXPIRED = (
    sa.select(leases.c.trial)
    .where(leases.c.study == sa.bindparam("id"), leases.c.until <= sa.bindparam("now"))
    .order_by(leases.c.trial)
    .limit(sa.bindparam("most"))
)
RENEW = (
    sa.update(leases)
    .where(leases.c.study == sa.bindparam("id"), leases.c.trial == sa.bindparam("number"))
    .values(until=sa.bindparam("end"))
)
HAND_OVER = RENEW.values(request=sa.bindparam("name"))
REQUESTED = (
    sa.select(leases.c.trial)
    .where(leases.c.study == sa.bindparam("id"), leases.c.request == sa.bindparam("name"))
    .order_by(leases.c.trial)
)
APPEND = sa.insert(events)
ADD_LEASE = sa.insert(leases)
FIND = sa.select(studies.c.id).where(studies.c.name == sa.bindparam("wanted"))
LABELS = sa.select(studies.c.name, studies.c.paused, studies.c.note, studies.c.tags, studies.c.revision).where(
    studies.c.deleted == 0
)
LABEL = LABELS.where(studies.c.id == sa.bindparam("id"))
RELABEL = (
    sa.update(studies)
    .where(studies.c.id == sa.bindparam("number"))
    .values({name: sa.bindparam(f"new_{name}") for name in ("name", "paused", "note", "tags", "revision")})
)
WORKERS = sa.select(workers.c.trial, workers.c.worker).where(workers.c.study == sa.bindparam("id"))
FORGET_WORKER = sa.delete(workers).where(
    workers.c.study == sa.bindparam("id"), workers.c.trial == sa.bindparam("number")
)
ADD_WORKER = sa.insert(workers)
_first, _last = events.alias(), events.alias()
_end = sa.select(sa.func.max(events.c.n)).where(events.c.study == studies.c.id).scalar_subquery()
# The first event has the whole problem and may be long; its time is at its beginning.
OVERVIEW = (
    LABELS.add_columns(
        studies.c.id,
        _last.c.n,
        sa.func.substr(_first.c.body, 1, 64),
        sa.case((_last.c.n == 0, ""), else_=_last.c.body),
    )
    .join(_first, sa.and_(_first.c.study == studies.c.id, _first.c.n == 0))
    .join(_last, sa.and_(_last.c.study == studies.c.id, _last.c.n == _end))
    .order_by(studies.c.id)
)
WITH_KEY = sa.select(events.c.study).where(events.c.n == 0, events.c.body.contains(sa.bindparam("text")))
SUMMARIES = sa.select(summaries.c.study, summaries.c.n, summaries.c.body).where(
    summaries.c.format == sa.bindparam("form")
)
SNAPSHOT_AT = sa.select(snapshots.c.n).where(snapshots.c.study == sa.bindparam("id"))
END_LEASE = sa.delete(leases).where(leases.c.study == sa.bindparam("id"), leases.c.trial == sa.bindparam("number"))
