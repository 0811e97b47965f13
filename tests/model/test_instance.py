"""Instances: problems with their truth."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.model.families import Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from support.problems import faults_of, instance

# --- instances


def test_instance_knows_the_best_arm_and_the_gap():
    made = instance([[0.4, 0.5], [0.7, 0.6], [0.1, 0.2]])
    assert made.best == 1
    assert made.gap == pytest.approx(0.1)
    assert made.shape == (3, 2)


def test_the_best_arm_of_a_minimising_instance_has_the_least_mean():
    made = instance([[0.4, 0.5], [0.7, 0.6], [0.1, 0.2]], direction="minimise")
    assert made.best == 2
    assert made.gap == pytest.approx(0.3)


def test_an_instance_cannot_be_changed():
    made = instance()
    with pytest.raises(FrozenInstanceError):
        made.name = "other"
    with pytest.raises(ValueError, match="read-only"):
        made.means[0, 0] = 7


def test_the_name_is_a_label_and_no_part_of_equality():
    assert instance(name="a") == instance(name="b")
    assert instance() != instance([[0.4, 0.5], [0.7, 0.65]])


def test_repr_of_an_instance_names_the_best_arm():
    assert repr(instance(arms=["a", "b"], name="demo")) == (
        "<Instance 'demo': 2 arms (a, b), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise, best 'b' by 0.1>"
    )


@given(top=st.floats(-1e6, 1e6), radius=st.floats(0, 1e3))
def test_means_at_the_very_edge_of_the_bias_bounds_pass(top, radius):
    made = instance([[top - radius, top], [top + radius + 1, top + 1]], biases=[radius, 0])
    assert made.best == 1


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"means": [0.5, 0.6]}, "means has shape (2,): give 2 rows of 2: arms x fidelities"),
        (
            {"means": [[0.5, 0.6]] * 3, "arms": ["a", "b"]},
            "means has shape (3, 2): give 2 rows of 2: arms x fidelities",
        ),
        ({"means": [[1, 2], [1]]}, "means has rows of different lengths"),
        ({"means": [["a", "b"], ["c", "d"]]}, "means is [['a', 'b'], ['c', 'd']]: give numbers"),
        (
            {"means": [[0.4, 0.5], [np.nan, 0.6]]},
            "means[1, 0] is nan: give a finite number; check arm 'arm 2', fidelity",
        ),
        (
            {"means": [[0.8, 0.9], [1.1, 1.0]], "family": Bernoulli()},
            "means[1, 0] is 1.1: a mean of this bernoulli family must be in [0, 1]; check arm 'arm 2', fidelity 'fid",
        ),
        (
            {"means": [[-0.1, 0.1], [1.1, 1.0]], "family": Poisson()},
            "means[0, 0] is -0.1: a mean of this poisson family must be in [0, inf]; check",
        ),
        (
            {"means": [[0, 0.1], [1.1, 1.0]], "family": Exponential()},
            "means[0, 0] is 0.0: a mean of this exponential family must be strictly between 0 and inf; check",
        ),
        (
            {"means": [[0.5, 0.5], [0.7, 0.6]], "family": SubGaussian(bounds=(0, 0.6))},
            "means[1, 0] is 0.7: a mean of this subgaussian family must be in [0, 0.6]; check",
        ),
        (
            {"means": [[0.4, 0.5], [0.9, 0.6]]},
            "means[1, 0] is 0.9: it is +0.3 from the arm's top mean, outside the bias bounds [-0.25, 0.25]; check arm",
        ),
        (
            {"means": [[0.4, 0.6], [0.7, 0.6]], "arms": ["a", "b"]},
            "means of arms 'a' and 'b' tie at the top fidelity; the best arm must be unique",
        ),
    ],
    ids=lambda value: None if isinstance(value, str) else str(value),
)
def test_instance_refuses(wrong, fault):
    faults = faults_of(instance, **wrong)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_bernoulli_means_may_be_certain():
    assert instance([[0.0, 0.0], [1.0, 1.0]], family=Bernoulli()).best == 1


def test_faults_of_the_problem_and_of_the_means_come_together():
    faults = faults_of(instance, [[0.4, 0.6], [0.9, 0.6]], costs=[1, -1], direction="maximise")
    assert [fault.split(":")[0] for fault in faults] == [
        "costs[1] is -1.0",
        "means[1, 0] is 0.9",
        "means of arms 'arm 1' and 'arm 2' tie at the top fidelity; the best arm must be unique",
    ]


@pytest.mark.parametrize("family", [Gaussian(1.0), SubGaussian(variance=1.0)], ids=lambda family: family.name)
def test_with_variance_replaces_the_variance_alone(family):
    before = instance(family=family, name="demo")
    after = before.with_variance([4.0, 9.0])
    np.testing.assert_array_equal(after.problem.model().law.deviation, [[2, 3], [2, 3]])
    assert type(after.problem.family) is type(family)
    assert after.name == "demo"
    assert after.with_variance(1.0) == before


@pytest.mark.parametrize("family", [Bernoulli(), SubGaussian(bounds=(0, 1))], ids=lambda family: family.name)
def test_a_family_without_variance_cannot_be_given_one(family):
    assert faults_of(instance(family=family).with_variance, 1.0) == [
        f"variance cannot be set: the {family.name} family of this problem has none to replace"
    ]


def test_with_variance_refuses_a_wrong_variance():
    assert faults_of(instance().with_variance, -1.0) == ["variance is -1.0: a variance must be positive"]


# --- correlation


def test_one_number_is_the_correlation_of_arms_and_of_fidelities():
    assert instance(correlation=0.8).correlation == (0.8, 0.8, "normal")
    assert instance(correlation=np.float32(0.5)).correlation == (0.5, 0.5, "normal")


def test_a_table_tells_arms_and_fidelities_apart():
    made = instance(correlation={"arms": 0.8, "fidelities": 0.5, "factor": "heavy"})
    assert made.correlation == (0.8, 0.5, "heavy")
    assert instance(correlation={"fidelities": 0.5}).correlation == (0.0, 0.5, "normal")
    assert instance(correlation=made.correlation) == made


@pytest.mark.parametrize("nothing", [None, 0, {"arms": 0, "fidelities": 0.0}, {"arms": 0.0, "factor": "heavy"}])
def test_a_correlation_of_zero_is_none(nothing):
    assert instance(correlation=nothing).correlation is None
    assert instance(correlation=nothing) == instance()


def test_instances_with_other_correlations_are_not_equal():
    assert instance(correlation=0.8) != instance()
    assert instance(correlation=0.8) != instance(correlation={"arms": 0.8})
    assert repr(instance(correlation=0.8)).endswith("best 'arm 2' by 0.1, correlation 0.8>")


def test_the_correlation_stays_when_variance_or_seeds_are_replaced():
    made = instance(correlation=0.8, name="demo")
    assert made.with_variance(2.0).correlation == made.correlation
    shared = made.with_seeds("common")
    assert (shared.problem.seeds, shared.correlation, shared.name) == ("common", made.correlation, "demo")
    assert shared.with_seeds("independent") == made
    assert faults_of(made.with_seeds, "comon") == [
        "seeds is 'comon': did you mean 'common'? known: independent, common"
    ]


TABLE = "or a table such as {arms = 0.8, fidelities = 0.5}"


@pytest.mark.parametrize(
    ("given", "faults"),
    [
        (1.0, [f"correlation is 1.0: give a number of 0 or more and below 1, {TABLE}"]),
        (-0.1, [f"correlation is -0.1: give a number of 0 or more and below 1, {TABLE}"]),
        (np.nan, [f"correlation is nan: give a number of 0 or more and below 1, {TABLE}"]),
        (True, [f"correlation is True: give a number of 0 or more and below 1, {TABLE}"]),
        ("high", [f"correlation is 'high': give a number of 0 or more and below 1, {TABLE}"]),
        ([0.5, 0.5], [f"correlation is [0.5, 0.5]: give a number of 0 or more and below 1, {TABLE}"]),
        ({}, ["correlation has neither 'arms' nor 'fidelities': add one, or both"]),
        (
            {"arms": 1, "fidelities": None, "factor": "heavi"},
            [
                "correlation.arms is 1: give a number of 0 or more and below 1",
                "correlation.fidelities is None: give a number of 0 or more and below 1",
                "correlation.factor is 'heavi': did you mean 'heavy'? known: normal, heavy",
            ],
        ),
        (
            {"arm": 0.5},
            [
                "correlation has an unknown entry 'arm': did you mean 'arms'? known: arms, fidelities, factor",
                "correlation has neither 'arms' nor 'fidelities': add one, or both",
            ],
        ),
    ],
    ids=str,
)
def test_correlations_that_cannot_be_are_refused(given, faults):
    assert faults_of(instance, correlation=given) == faults


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), SubGaussian(bounds=(0, 1))], ids=lambda family: family.name)
def test_only_normal_values_are_correlated(family):
    assert faults_of(instance, family=family, correlation=0.5) == [
        f"correlation cannot be had here: only normal values are simulated with one, and this family is {family.name}"
    ]
    assert instance(family=SubGaussian(variance=1.0), correlation=0.5).correlation is not None
