"""A seed that is ignored is noticed: the values of an arm would be one value, told again and again."""

import random

import pytest

from mfbai import Bounded, Gaussian, Problem, Symmetric, identify

MEANS = {"a": 0.5, "b": 0.6, "c": 0.7}
SYMMETRIC = Symmetric(0, 1)


def told(capsys, value, family=SYMMETRIC, **about):
    """What `identify` says on standard error, if `value` is what an arm returns at a seed."""
    problem = Problem(list(MEANS), costs=[1, 4], biases=[0.01, 0], family=family, fidelities=["draft", "full"], **about)
    identify(lambda arm, fidelity, seed: value(arm, seed), problem, 0.05)
    return capsys.readouterr().err


@pytest.mark.parametrize("family", [SYMMETRIC, Gaussian(0.01)])
@pytest.mark.parametrize("seeds", ["independent", "common"])
def test_a_function_that_ignores_its_seed_is_told_of_once_for_a_fidelity(capsys, family, seeds):
    said = told(capsys, lambda arm, _: random.Random(arm).gauss(MEANS[arm], 0.05), family, seeds=seeds)
    assert said.count("'draft' returns the same value at all seeds, for every arm so far") == 1
    assert said.count("'full' returns the same value at all seeds") <= 1
    assert "the seed is not used" in said


def test_nothing_is_said_where_seeds_are_used(capsys):
    assert told(capsys, lambda arm, seed: random.Random(seed).gauss(MEANS[arm], 0.05)) == ""


def test_nothing_is_said_of_values_at_the_ends_of_the_range(capsys):
    """Every run of a good arm succeeds, every run of a bad one fails."""
    assert told(capsys, lambda arm, _: float(arm == "c"), Bounded(0, 1)) == ""


def test_nothing_is_said_of_what_is_known_to_have_no_noise(capsys):
    assert told(capsys, lambda arm, seed: MEANS[arm], deterministic=["draft", "full"]) == ""
