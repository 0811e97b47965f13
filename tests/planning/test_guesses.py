"""Guesses: in Python and in spec files."""

import numpy as np
import pytest

import mfbai
import mfbai.plots
from mfbai import Bernoulli, Exponential, Gaussian, Guess, Problem, SubGaussian
from mfbai.model.guess import read_guess
from mfbai.model.spec import load_with_guess, loads
from mfbai.planning import truths
from support.plans import COINS, PROBLEM, SPEC, faults_of

# --- guesses


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "guess gives nothing: give one of: means; low and high; gap (with best)"),
        ({"means": [1, 2], "gap": 0.1}, "guess gives means and gap: give one of"),
        ({"low": 0}, "guess has no 'high': low and high are given together"),
        ({"best": 1}, "guess has no 'gap': best is only told with a gap"),
        ({"means": [True, False, 1]}, "means is [True, False, 1]: give numbers"),
        ({"gap": True}, "gap is True: give numbers"),
        ({"gap": 0}, "gap is 0.0: a gap must be positive"),
        ({"gap": [0.1, 0.2]}, "gap has shape (2,): give one number"),
        ({"gap": "0.1"}, "gap is '0.1': give numbers"),
        ({"means": 3}, "means has shape (): give one per arm, or arms x fidelities"),
        ({"means": [[1, 2], [3]]}, "means has rows of different lengths"),
        ({"means": [1, np.nan]}, "means[1] is nan: give a finite number"),
        ({"low": [0.5, 0.9], "high": 0.8}, "low[1] is 0.9: it is above its high, 0.8"),
        ({"low": [0, 0], "high": [1, 1, 1]}, "low has 2 entries and high has 3: give one per arm in both"),
    ],
)
def test_a_guess_that_cannot_be_meant_is_refused(given, told):
    (fault,) = faults_of(Guess, **given)
    assert fault.startswith(told)


def test_all_faults_of_a_guess_are_told_at_once():
    assert len(faults_of(Guess, gap=-1, best="x", low=2, high=1)) == 4


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"low": [1, 2], "high": 0}, ["low[0] is 1.0", "low[1] is 2.0", "low has shape (2,): give 3"]),
        ({"gap": -1, "best": 0.3, "means": [1, 2]}, ["guess gives", "gap is -1.0", "means has shape (2,): give 3"]),
        ({"gap": -1}, ["gap is -1.0"]),
        ({"means": [1, 2]}, ["means has shape (2,): give 3"]),
    ],
)
def test_faults_of_a_guess_in_itself_do_not_hide_those_for_the_problem(given, told):
    for fault, start in zip(faults_of(read_guess, given, PROBLEM), told, strict=True):
        assert fault.startswith(start)
    assert read_guess({"gap": 0.5}, PROBLEM).gap == 0.5


@pytest.mark.parametrize(
    ("problem", "given", "told"),
    [
        (PROBLEM, {"means": [1, 2]}, "means has shape (2,): give 3, one per arm, or 3 rows of 2: arms x fidelities"),
        (PROBLEM, {"low": [0, 0], "high": 1}, "low has shape (2,): give 3, one per arm, or one for all"),
        (
            PROBLEM,
            {"means": [[0.9, 0.85], [0.8, 0.8], [0.7, 0.7]]},
            "means[0, 0] is 0.9: it is +0.05 from the arm's top mean, outside the bias bounds [-0.03, 0.03]",
        ),
        (
            COINS,
            {"means": [0.5, 1.2]},
            "means[1] is 1.2: a top mean of this bernoulli problem, with its bias bounds, must be in [0, 1]; "
            "check arm 'b'",
        ),
        (COINS, {"low": -0.2, "high": 0.5}, "low is -0.2: a top mean of this bernoulli problem"),
        (COINS, {"gap": 0.2}, "guess has no 'best', the top mean of the best arm, on which costs depend here"),
        (COINS, {"gap": 0.2, "best": 1.1}, "best is 1.1: a top mean of this bernoulli problem"),
        (COINS, {"gap": 0.6, "best": 0.5}, "gap is 0.6: with the best arm at 0.5 the others would be at -0.1"),
        (
            Problem(2, [1, 2], ([0.1, 0], [0.2, 0]), Bernoulli()),
            {"means": [0.5, 0.95]},
            "means[1] is 0.95: a top mean of this bernoulli problem, with its bias bounds, must be in [0, 0.9]",
        ),
        (
            Problem(2, 1, 0, Exponential(), direction="minimise"),
            {"means": [0, 1]},
            "means[0] is 0.0: a top mean of this exponential problem, with its bias bounds, must be strictly between",
        ),
    ],
)
def test_a_guess_that_no_truth_fits_is_refused(problem, given, told):
    (fault,) = faults_of(Guess(**given).check, problem)
    assert fault.startswith(told)


@pytest.mark.parametrize("mean", [0, 0.5, 1])
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_a_guess_of_all_means_may_have_ties_which_a_tolerance_can_allow(mean, direction):
    problem = Problem(2, [1, 2], [0.1, 0], Bernoulli(), direction=direction)
    Guess([[mean, mean], [mean, mean]]).check(problem)
    Guess([mean, mean]).check(problem)


def test_where_any_mean_is_possible_only_the_gap_matters():
    Guess(gap=0.2).check(PROBLEM)
    Guess(gap=0.2).check(Problem(2, 1, 0, SubGaussian(variance=1)))
    assert faults_of(Guess(gap=0.2).check, Problem(2, 1, 0, SubGaussian(bounds=(0, 1))))


def test_a_guess_says_what_it_is():
    assert repr(Guess(gap=0.1, best=0.9)) == "<Guess: gap 0.1, best 0.9>"
    assert Guess(low=0, high=[1, 2]).to_dict() == {"low": 0, "high": [1, 2]}


# --- in spec files


@pytest.mark.parametrize("guess", ["gap = 0.1", "means = [1, 2, 3]", "low = 0\nhigh = [1, 2, 3]"])
def test_a_guess_in_a_file_changes_nothing_of_the_problem(guess, tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(f"{SPEC}[guess]\n{guess}\n")
    assert mfbai.load(file) == PROBLEM
    assert load_with_guess(file)[1].to_dict().keys() == {line.partition(" =")[0] for line in guess.splitlines()}


def test_a_file_without_a_guess_has_none(tmp_path):
    (tmp_path / "problem.toml").write_text(SPEC)
    assert load_with_guess(tmp_path / "problem.toml")[1] is None
    assert load_with_guess("paper-4x5")[1] is None


def test_faults_of_a_guess_in_a_file_are_told_with_all_others():
    text = SPEC.replace("0.05", "-1") + "[guess]\nmeans = [1, 2]\ngapp = 1\n"
    assert faults_of(loads, text) == [
        'costs[0] is -1.0: a cost must be positive; check the [[fidelity]] "coarse" entry',
        "[guess] has an unknown entry 'gapp': did you mean 'gap'? "
        "known: means, low, high, gap, best, deviation, correlation",
        "[guess] means has shape (2,): give 3, one per arm, or 3 rows of 2: arms x fidelities",
    ]


def test_a_guess_in_a_file_is_held_against_the_family():
    text = SPEC.replace('name = "gaussian"\nvariance = 0.01', 'name = "bernoulli"') + "[guess]\nmeans = [0, 1, 2]\n"
    (fault,) = faults_of(loads, text)
    assert fault.startswith("[guess] means[2] is 2.0: a top mean of this bernoulli problem")
    assert fault.endswith("check arm 'deep'")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[guess]\n", "[guess] gives nothing: give one of"),
        ("[[guess]]\ngap = 1\n", "guess is [{'gap': 1}]: write it as a"),
    ],
)
def test_a_guess_must_be_a_table_that_says_something(table, told):
    (fault,) = faults_of(loads, SPEC + table)
    assert fault.startswith(told)


def test_only_a_plan_needs_to_know_how_noisy_values_are(tmp_path):
    """A study, say, is created from the same file without that."""
    family = '[family]\nname = "symmetric"\nlow = 0.0\nhigh = 2.0\n'
    text = f"{SPEC.partition('[family]')[0]}{family}[guess]\ngap = 0.1\nbest = 0.9\n"
    assert loads(text).family.name == "symmetric"
    file = tmp_path / "noisy.toml"
    file.write_text(text)
    told = "guess has no 'deviation': the symmetric family does not say how noisy values are"
    assert faults_of(mfbai.plan, file)[0].startswith(told)
    assert faults_of(loads, f"{text}deviation = -1\n") == ["[guess] deviation is -1.0: a deviation cannot be negative"]


@pytest.mark.parametrize(("arms", "count"), [(1000, 200), (2000, 100), (5000, 40), (50_000, 40)])
def test_large_problems_have_fewer_truths(arms, count, monkeypatch):
    monkeypatch.setattr(truths, "TRUTHS", 200)
    problem = Problem(arms, [0.1, 1.0], [0.1, 0.0], Gaussian(1.0))
    assert truths.draw(problem, Guess(low=0.0, high=1.0), 0.0, 0).shape == (count, arms, 2)
