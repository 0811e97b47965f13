"""Plans with a correlation: what common seeds would save."""

import json

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Guess, Instance, Problem
from mfbai.planning import samples
from support.plans import COINS, PROBLEM, faults_of

GUESS = Guess(gap=0.1)
ALONE = Problem(3, 1.0, 0.0, Gaussian(0.09))
SHARED = Instance([[0.1], [0.2], [0.4]], 1.0, 0.0, Gaussian(0.25), correlation={"arms": 0.8, "factor": "heavy"})


def test_a_correlation_adds_an_estimate_and_changes_no_other(quick):
    plain, found = mfbai.plan(PROBLEM, GUESS), mfbai.plan(PROBLEM, GUESS, correlation=0.8)
    *others, shared = found.to_dict()["estimates"]
    assert others == plain.to_dict()["estimates"]
    assert {estimate["seeds"] for estimate in others} == {"independent"}
    assert (shared["rule"], shared["strategy"], shared["seeds"]) == ("contrasts", "race", "common")
    assert list(shared["cost"]) == list(found.sets)
    assert found.with_common_seeds is found.estimates[-1]
    assert plain.with_common_seeds is None
    assert found.expected is found.estimates[-2]
    assert repr(found) == repr(plain)


def test_the_estimate_is_what_simulate_does_with_common_seeds(quick):
    found = mfbai.plan(SHARED, delta=0.05, seed=3)
    runs = mfbai.simulate(SHARED, "race", 0.05, runs=6, seed=3, stopping="contrasts", seeds="common")
    middle = np.quantile(runs.costs, 0.5, method="inverted_cdf")
    assert found.with_common_seeds.cost["all"].median == middle


def test_the_stronger_the_correlation_the_more_is_saved(monkeypatch):
    """A gap of a third of the deviation, as in the paper's: at .9 a fifth of the cost at .1, and half is asked for."""
    monkeypatch.setattr(samples, "RUNS", 50)
    weak, strong = (mfbai.plan(ALONE, GUESS, delta=0.05, correlation=share).with_common_seeds for share in (0.1, 0.9))
    assert strong.cost["all"].median < 0.5 * weak.cost["all"].median


def test_a_correlation_of_the_truth_is_taken_unless_another_is_given(quick):
    assert mfbai.plan(SHARED).correlation == (0.8, 0.0, "heavy")
    assert mfbai.plan(SHARED).to_dict()["correlation"] == {"arms": 0.8, "fidelities": 0.0, "factor": "heavy"}
    assert mfbai.plan(SHARED, correlation=0.5).to_dict()["correlation"] == 0.5
    none = mfbai.plan(SHARED, correlation=0)
    assert (none.correlation, none.with_common_seeds) == (None, None)


def test_with_common_seeds_only_what_holds_for_them_is_estimated(quick):
    found = mfbai.plan(PROBLEM.replace(seeds="common"), GUESS, correlation=0.8)
    (only,) = found.estimates
    assert (only.rule, only.strategy, only.seeds) == ("contrasts", "race", "common")
    assert found.expected is only
    assert found.with_common_seeds is None
    assert [worth.fidelity for worth in found.fidelities] == ["coarse", "fine"]
    told = found.to_dict(rate=2.0)
    assert json.loads(json.dumps(told, allow_nan=False)) == told


def test_with_common_seeds_and_no_correlation_values_are_independent(quick):
    problem = ALONE.replace(seeds="common")
    found = mfbai.plan(problem, Guess([0.1, 0.2, 0.4]), delta=0.05)
    runs = mfbai.simulate(problem.instance([[0.1], [0.2], [0.4]]), "race", 0.05, runs=6, stopping="contrasts")
    assert found.correlation is None
    assert found.expected.cost["all"].median == np.quantile(runs.costs, 0.5, method="inverted_cdf")


def test_runs_with_common_seeds_that_do_not_end_are_told_as_at_least(quick, monkeypatch):
    monkeypatch.setattr(samples, "MOST_SECONDS", 1e-9)
    found = mfbai.plan(ALONE.replace(seeds="common"), GUESS)
    assert found.expected.cost["all"].at_least
    assert repr(found).startswith("<Plan, delta 0.01: cost ")


def test_correlations_that_cannot_be_are_told_with_all_else():
    assert faults_of(mfbai.plan, PROBLEM, GUESS, delta=2, correlation=1) == [
        "delta is 2.0: a risk must lie strictly between 0 and 1, such as 0.05",
        "correlation is 1: give a number of 0 or more and below 1, or a table such as {arms = 0.8, fidelities = 0.5}",
    ]
    assert faults_of(mfbai.plan, COINS, Guess(gap=0.2, best=0.6), correlation=0.5) == [
        "correlation cannot be had here: only normal values are simulated with one, and this family is bernoulli"
    ]


def test_common_seeds_are_refused_for_families_that_cannot_have_them():
    with pytest.raises(mfbai.InvalidInput, match="bernoulli"):
        mfbai.plan(COINS.replace(seeds="common"), Guess(gap=0.2, best=0.6))
