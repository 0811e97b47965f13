"""examples/digits: seeds make splits that all classifiers share, and evaluate.py is a good program."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import mfbai

EXAMPLE = Path(__file__).parents[1] / "examples" / "digits"


@pytest.fixture(scope="module")
def program():
    """The example's module. Its name is a common word, so it is not left behind for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        with threadpool_limits(1):  # many small products of matrices: threads would only wait for each other
            yield importlib.import_module("evaluate")
    del sys.modules["evaluate"]


def test_every_classifier_reads_most_digits(program):
    values = {arm: program.evaluate(arm, "split", 3) for arm in program.CLASSIFIERS}
    assert min(values.values()) > 0.75
    assert max(values.values()) > 0.98
    assert values == {arm: program.evaluate(arm, "split", 3) for arm in program.CLASSIFIERS}


def test_classifiers_learn_from_one_half_and_are_tested_on_the_other(program, monkeypatch):
    seen = []

    class Spy:
        def fit(self, pictures, shown):
            seen.append(pictures)
            return self

        def score(self, pictures, shown):
            seen.append(pictures)
            return 0.5

    monkeypatch.setitem(program.CLASSIFIERS, "spy", Spy)
    for seed in (1, 1, 2):
        assert program.evaluate("spy", "split", seed) == 0.5
    learn, test, again, _, other, _ = seen
    pictures, _ = program.digits()
    assert (len(learn), len(test)) == (899, 898)
    assert np.array_equal(np.sort(np.vstack([learn, test]), axis=0), np.sort(pictures, axis=0))
    assert np.array_equal(learn, again)
    assert not np.array_equal(learn, other)


def test_shared_splits_correlate_neighbours(program):
    arms = ("neighbours-1", "neighbours-3")
    values = np.array([[program.evaluate(arm, "split", seed) for arm in arms] for seed in range(20)])
    assert np.corrcoef(values.T)[0, 1] > 0.4


def test_spec_has_the_arms_of_the_program(program):
    problem = mfbai.load(EXAMPLE / "classifiers.toml")
    assert list(problem.arms) == list(program.CLASSIFIERS)
    assert (problem.fidelities, problem.direction, problem.seeds) == (("split",), "maximise", "common")


def test_program_prints_the_number_of_the_function(program):
    command = [sys.executable, EXAMPLE / "evaluate.py", "ridge", "split", "7"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert float(ended.stdout) == program.evaluate("ridge", "split", 7)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("forest", "split", "1"), "no arm 'forest'; known: neighbours-1, neighbours-3"),
        (("ridge", "fold", "1"), "no fidelity 'fold'; known: split"),
        (("ridge", "split"), "usage: python evaluate.py ARM FIDELITY SEED"),
    ],
)
def test_program_refuses_what_it_does_not_know(program, arguments, told, capsys):
    assert program.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
