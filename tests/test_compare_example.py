"""examples/compare.py: each example from pilot to verdict, in a small version."""

import importlib
import sys
from pathlib import Path

import pytest
from threadpoolctl import threadpool_limits

import mfbai
from support.seeds import fix_keys

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture
def load(monkeypatch):
    """Of an example: compare.py, its own evaluate.py and its problem, with some of the arms."""
    fix_keys(monkeypatch)

    def load(name, spec, arms):
        for folder in (EXAMPLES, EXAMPLES / name):
            monkeypatch.syspath_prepend(folder)
        problem = mfbai.load(EXAMPLES / name / spec)
        kept = [problem.arms.index(arm) for arm in arms]
        small = problem.replace(
            arms=arms, costs=problem.costs[kept], biases=(problem.bias_low[kept], problem.bias_high[kept])
        )
        return importlib.import_module("compare"), importlib.import_module("evaluate"), small

    yield load
    for name in ("compare", "baselines", "evaluate"):  # common words: not left behind for other tests
        sys.modules.pop(name, None)


def test_the_rod_without_any_bound(load):
    compare, program, problem = load("diffusion", "designs.toml", ["even", "edges", "stripes"])
    pilot, ours, *theirs = compare.compare(problem, program.evaluate, zone=0.05, batch=5)
    assert "'n512'" in pilot
    assert ours.startswith("mfbai: edges, at a cost of ")
    assert ours.endswith(" after a pilot of 14,400")
    assert [line.split(",")[0] for line in theirs] == ["Kim-Nelson: edges", "paired t-tests: edges"]


def test_the_call_centre_with_short_quarters(load, monkeypatch):
    compare, program, problem = load("call_centre", "plans.toml", ["flat", "orders-first", "split"])
    monkeypatch.setattr(program, "DAYS", {"week": 1, "quarter": 2})
    _, ours, *theirs = compare.compare(problem, program.evaluate, zone=20.0, batch=10)
    assert ours.startswith("mfbai: orders-first, at a cost of ")
    assert [line.split(",")[0] for line in theirs] == ["Kim-Nelson: orders-first", "paired t-tests: orders-first"]


def test_judge_and_human(load):
    compare, program, problem = load("judge", "prompts.toml", ["plain", "examples"])
    pilot, ours, *theirs = compare.compare(problem, program.evaluate, zone=0.08, batch=20)
    assert "'human'" in pilot
    assert ours.startswith("mfbai: examples, at a cost of ")
    assert [line.split(",")[0] for line in theirs] == ["Kim-Nelson: examples", "paired t-tests: examples"]


def test_classifiers_have_one_fidelity_and_need_no_pilot(load):
    compare, program, problem = load("digits", "classifiers.toml", ["discriminant", "ridge", "naive-bayes"])
    with threadpool_limits(1):  # many small products of matrices: threads would only wait for each other
        found = list(compare.compare(problem, program.evaluate, zone=0.01, batch=5))
    winners = ["mfbai: discriminant", "Kim-Nelson: discriminant", "paired t-tests: discriminant"]
    assert [line.split(",")[0] for line in found] == winners


def test_examples_are_known_by_name(load, capsys):
    compare, _, _ = load("judge", "prompts.toml", ["plain", "examples"])
    assert compare.main(["juge"]) == 2
    assert "give the name of an example: diffusion, call_centre, judge, digits" in capsys.readouterr().err
