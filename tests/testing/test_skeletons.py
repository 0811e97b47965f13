"""The skeletons that docs/developer/extending.md tells people to copy run as they are, and keep their contracts."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import mfbai
from mfbai.model.families import FAMILIES
from mfbai.model.spec import loads
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from mfbai.testing import check_family, check_rule, check_strategy

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


def test_the_strategy_runs_and_keeps_its_contract(skeleton, monkeypatch):
    entry = skeleton("strategy").STRATEGIES[0]
    monkeypatch.setitem(STRATEGIES, entry.name, entry)
    assert mfbai.simulate("paper-5x2", entry.name, runs=5).stopped.all()
    check_strategy(entry)


def test_the_rule_runs_and_keeps_its_contract(skeleton, monkeypatch):
    entry = skeleton("rule").RULES[0]
    monkeypatch.setitem(RULES, entry.name, entry)
    assert mfbai.simulate("paper-5x2", "uniform", stopping=entry.name, runs=5).stopped.all()
    check_rule(entry)


def test_the_family_runs_from_a_spec_file_and_keeps_its_contract(skeleton, monkeypatch):
    monkeypatch.setitem(FAMILIES, "binomial", None)  # so that what the file registers is taken back
    family = skeleton("family").Binomial(20)
    assert mfbai.simulate(loads(BINOMIAL), "uniform", runs=5).answers.tolist() == [0] * 5
    check_family(family)
