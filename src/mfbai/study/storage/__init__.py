"""Where the journals of studies are kept.

storage     what a storage and a turn must do; STORAGES, the classes by the scheme of their URLs
sql         what all storages in a database have in common
sqlite      SQLite, for one machine
postgres    PostgreSQL, for many
tables      the tables, and the statements on them
"""

from mfbai.study.storage.postgres import PostgreSQL
from mfbai.study.storage.sqlite import SQLite
from mfbai.study.storage.storage import (
    DEFAULT,
    IN_MEMORY,
    STORAGES,
    Label,
    NameTaken,
    Shelved,
    Storage,
    Turn,
    name_taken,
    unknown_storage,
)

__all__ = [
    "DEFAULT",
    "IN_MEMORY",
    "STORAGES",
    "Label",
    "NameTaken",
    "Shelved",
    "Storage",
    "Turn",
    "name_taken",
    "unknown_storage",
]

STORAGES.update(sqlite=SQLite, postgresql=PostgreSQL)
