"""The contracts of the package's extension points, as checks that anyone can run on their own."""

from mfbai.testing.storages import check_storage
from mfbai.testing.strategies import check_strategy

__all__ = ["check_storage", "check_strategy"]
