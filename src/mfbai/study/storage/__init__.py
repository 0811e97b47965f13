"""Where journals are kept."""

from mfbai.study.storage.storage import DEFAULT, IN_MEMORY, NameTaken, Storage, Turn

__all__ = ["DEFAULT", "IN_MEMORY", "NameTaken", "Storage", "Turn"]
