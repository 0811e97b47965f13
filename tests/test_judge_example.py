"""examples/judge: grades of one item have much in common, the judge has tastes, and evaluate.py is a good program."""

import csv
import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mfbai

EXAMPLE = Path(__file__).parents[1] / "examples" / "judge"


@pytest.fixture(scope="module")
def program():
    """The example's module. Its name is a common word, so it is not left behind for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        yield importlib.import_module("evaluate")
    del sys.modules["evaluate"]


@pytest.fixture(scope="module")
def values(program):
    """(items, K, M)"""
    graders = list(program.WHIM)
    return np.array(
        [
            [[program.evaluate(arm, grader, item) for grader in graders] for arm in program.PROMPTS]
            for item in range(600)
        ]
    )


def test_grades_are_between_0_and_1_and_stay_the_same(program, values):
    assert values.min() >= 0
    assert values.max() <= 1
    assert program.evaluate("steps", "human", 9) == program.evaluate("steps", "human", 9)
    assert program.evaluate("steps", "human", 9) != program.evaluate("steps", "human", 10)


def test_judge_and_human_agree_on_items_but_not_on_prompts(program, values):
    """Much in common at one item; but the judge's favourite is not the humans'."""
    arms, means = list(program.PROMPTS), values.mean(axis=0)
    for k in range(len(arms)):
        assert np.corrcoef(values[:, k].T)[0, 1] == pytest.approx(0.9, abs=0.03)
    assert [arms[k] for k in means.argmax(axis=0)] == ["verbose", "examples"]


def test_items_are_hard_for_all_prompts(values):
    """A little: luck is larger. The true correlation is 0.18, four standard errors above 0."""
    assert np.corrcoef(values[:, :, 1].T).min() > 0.02


def test_grades_in_the_file_make_a_pilot(program):
    """They are those of the program, to three digits."""
    problem = mfbai.load(EXAMPLE / "prompts.toml")
    with (EXAMPLE / "grades.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == problem.n_arms * problem.n_fidelities * 32
    for row in rows:
        assert float(row["value"]) == round(program.evaluate(row["arm"], row["fidelity"], int(row["item"])), 3)
    found = mfbai.pilot(EXAMPLE / "grades.csv", problem)
    assert found.control is not None
    assert found.advice.startswith("Control 'human' by 'judge' with 11 other seeds")
    assert found.problem().idle == []


def test_spec_has_the_cells_of_the_program(program):
    problem = mfbai.load(EXAMPLE / "prompts.toml")
    assert list(problem.arms) == list(program.PROMPTS)
    assert list(problem.fidelities) == list(program.WHIM)
    assert (problem.direction, problem.seeds, problem.idle) == ("maximise", "common", ["judge"])


def test_program_prints_the_number_of_the_function(program):
    command = [sys.executable, EXAMPLE / "evaluate.py", "steps", "judge", "7"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert float(ended.stdout) == program.evaluate("steps", "judge", 7)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("step", "judge", "1"), "no arm 'step'; known: plain, polite"),
        (("steps", "me", "1"), "no fidelity 'me'; known: judge, human"),
        (("steps", "judge"), "usage: python evaluate.py ARM FIDELITY SEED"),
    ],
)
def test_program_refuses_what_it_does_not_know(program, arguments, told, capsys):
    assert program.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err
