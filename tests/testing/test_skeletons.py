"""What docs/developer/extending.md does not show of its skeletons. The page runs and checks them: test_docs.py."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

from mfbai.model.families import FAMILIES
from mfbai.model.spec import loads

FOLDER = Path(__file__).parents[2] / "docs" / "developer" / "skeletons"
BINOMIAL = """
[problem]
arms = 2
direction = "minimise"
[[fidelity]]
cost = 1
[family]
name = "binomial"
trials = 20
[truth]
means = [[6], [12]]
"""


@pytest.fixture
def skeleton(monkeypatch):
    """Imports a skeleton by its name, as a copy of it would be."""
    monkeypatch.syspath_prepend(FOLDER)

    def load(name):
        monkeypatch.delitem(sys.modules, name, raising=False)
        return import_module(name)

    return load


def test_the_family_is_read_from_a_spec_file(skeleton, monkeypatch):
    monkeypatch.setitem(FAMILIES, "binomial", None)  # so that what the file registers is taken back
    family = skeleton("family").Binomial
    found = loads(BINOMIAL)
    assert isinstance(found.problem.family, family)
    assert found.problem.family.to_dict() == {"name": "binomial", "trials": 20}
