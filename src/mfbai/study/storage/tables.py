"""The tables of a storage, and the statements on them."""

import sqlalchemy as sa

# Version 3 has the tables of version 2: it keeps mfbai 0.1.0, which would draw the seeds of new studies in its own way,
# from writing to them.
SCHEMA = 3
UPGRADES = {1: ["ALTER TABLE mfbai_leases ADD COLUMN request TEXT"], 2: []}  # from each version to the next

tables = sa.MetaData()
schema = sa.Table("mfbai_schema", tables, sa.Column("version", sa.Integer, nullable=False))
studies = sa.Table(
    "mfbai_studies",
    tables,
    sa.Column("id", sa.Integer, primary_key=True),
    sa.Column("name", sa.Text, nullable=False, unique=True),
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
SNAPSHOT_AT = sa.select(snapshots.c.n).where(snapshots.c.study == sa.bindparam("id"))
END_LEASE = sa.delete(leases).where(leases.c.study == sa.bindparam("id"), leases.c.trial == sa.bindparam("number"))
