"""The contracts of the package's extension points, as checks that anyone can run on their own.

strategies  check_strategy: a strategy keeps to its shape
rules       check_rule: a stopping rule does
families    check_family: a reward family's compiled parts fit each other and its values
storages    check_storage: a storage keeps its promises
common      what they share
"""

from mfbai.testing.families import check_family
from mfbai.testing.rules import check_rule
from mfbai.testing.storages import check_storage
from mfbai.testing.strategies import check_strategy

__all__ = ["check_family", "check_rule", "check_storage", "check_strategy"]
