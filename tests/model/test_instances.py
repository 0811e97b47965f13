import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.errors import InvalidInput, UnknownName
from mfbai.model import instances
from mfbai.model.instances import random_instance
from mfbai.model.spec import load


def faults_of(**kwargs):
    with pytest.raises(InvalidInput) as caught:
        random_instance(**{"seed": 0, **kwargs})
    return [str(fault) for fault in caught.value.faults]


def test_the_catalogue_has_these_instances():
    assert instances.names() == ("lucb-trap", "nonsparse-3x2", "paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3")


@pytest.mark.parametrize("name", instances.names())
def test_every_named_instance_loads_and_has_a_description(name):
    assert load(name).name == name
    assert instances.describe()[name].endswith(".")


@pytest.mark.parametrize("name", [name for name in instances.names() if name.startswith("paper")])
def test_the_papers_instances_have_standard_deviation_a_tenth(name):
    """The paper prints a variance of 0.1; its results come from a standard deviation of 0.1."""
    np.testing.assert_allclose(load(name).problem.model().law.deviation, 0.1)
    assert "standard deviation of 0.1" in instances.source(name)


@pytest.mark.parametrize(
    ("name", "costs", "radii", "variance"),
    [
        ("paper-4x5", [0.05, 0.1, 0.2, 0.4, 5], [0.1, 0.08, 0.05, 0.025, 0], 0.01),
        ("paper-5x2", [0.5, 5], [0.1, 0], 0.01),
        ("paper-mu2", [0.05, 0.1, 0.2, 0.4, 1], [0.1, 0.08, 0.05, 0.025, 0], 0.01),
        ("paper-mu3", [0.1, 0.125, 0.25, 0.5, 1], [0.1, 0.08, 0.04, 0.02, 0], 0.01),
        ("lucb-trap", [0.1, 5], [0.1, 0], 1),
        ("nonsparse-3x2", [0.2, 1], [0.25, 0], 0.5),
    ],
)
def test_named_instances_are_as_published(name, costs, radii, variance):
    instance = load(name)
    problem = instance.problem
    np.testing.assert_array_equal(problem.costs, np.tile(costs, (problem.n_arms, 1)))
    np.testing.assert_array_equal(problem.bias_high, np.tile(radii, (problem.n_arms, 1)))
    np.testing.assert_array_equal(problem.bias_low, 0.0 - problem.bias_high)
    assert problem.family.variance == variance


@pytest.mark.parametrize(
    ("name", "best", "top"),
    [
        ("paper-4x5", 3, [0.8494, 0.8401, 0.8495, 0.9856]),
        ("paper-5x2", 4, [0.5, 0.5, 0.5, 0.5, 0.6]),
        ("paper-mu2", 0, [0.6171, 0.4216, 0.3831, 0.3783]),
        ("paper-mu3", 2, [0.5, 0.35, 0.61, 0.42]),
        ("lucb-trap", 0, [0.6, 0.5]),
        ("nonsparse-3x2", 1, [0.3, 0.636, 0.356]),
    ],
)
def test_named_instances_have_the_published_best_arm(name, best, top):
    instance = load(name)
    assert instance.best == best
    np.testing.assert_array_equal(instance.means[:, -1], top)


def test_source_of_an_unknown_name_suggests_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'paper-4x5'"):
        instances.source("paper4x5")


# --- random instances


def test_defaults_are_the_papers():
    problem = random_instance(seed=0).problem
    assert problem.shape == (4, 5)
    np.testing.assert_array_equal(problem.costs[0], [0.05, 0.1, 0.2, 0.4, 5])
    np.testing.assert_allclose(problem.bias_high[0], [0.1, 0.08, 0.05, 0.025, 0], rtol=1e-15)
    assert problem.family.variance == 0.01


@given(K=st.integers(2, 30), M=st.integers(1, 8), seed=st.integers(0, 2**32), gap=st.floats(0, 0.9))
def test_random_instances_keep_the_gap_and_the_unit_interval(K, M, seed, gap):
    instance = random_instance(K, M, seed=seed, gap=gap)
    top = instance.means[:, -1]
    assert instance.shape == (K, M)
    assert instance.gap >= gap - 1e-12
    assert top.min() >= 0
    assert top.max() <= 1


def test_the_same_seed_gives_the_same_instance():
    assert random_instance(seed=5) == random_instance(seed=5)
    assert random_instance(seed=5) != random_instance(seed=6)


def test_other_numbers_of_fidelities_interpolate_and_end_at_the_top():
    np.testing.assert_allclose(random_instance(2, 3, seed=0).problem.costs[0], [0.05, 0.2, 5])
    np.testing.assert_allclose(random_instance(2, 3, seed=0).problem.bias_high[0], [0.1, 0.05, 0])
    one = random_instance(2, 1, seed=0).problem
    assert (one.costs[0, 0], one.bias_high[0, 0]) == (5, 0)


def test_ten_thousand_arms_are_no_trouble():
    instance = random_instance(10_000, 5, seed=1, gap=0.3)
    assert instance.gap >= 0.3 - 1e-12


def test_top_means_have_the_law_of_rejection_sampling():
    """Mean of the best and of the others against rejection: within 5 standard errors, one false alarm in 10^6."""
    K, gap, runs = 3, 0.2, 1000
    draws = np.random.default_rng(7).random((40_000, K))
    ordered = np.sort(draws, axis=1)
    kept = ordered[ordered[:, -1] - ordered[:, -2] >= gap]
    ours = np.sort([random_instance(K, 1, seed=seed, gap=gap).means[:, -1] for seed in range(runs)], axis=1)
    error = np.sqrt(kept.var(axis=0) / len(kept) + ours.var(axis=0) / runs)
    assert (abs(kept.mean(axis=0) - ours.mean(axis=0)) < 5 * error).all()


def test_the_best_arm_is_anywhere():
    assert {random_instance(3, 1, seed=seed).best for seed in range(60)} == {0, 1, 2}


def test_means_fill_their_bias_bounds():
    instance = random_instance(5000, 2, seed=3, biases=([-0.1, 0], [0.3, 0]))
    off = instance.means[:, 0] - instance.means[:, 1]
    assert off.min() == pytest.approx(-0.1, abs=1e-3)
    assert off.max() == pytest.approx(0.3, abs=1e-3)


@pytest.mark.parametrize(
    ("wrong", "fault"),
    [
        ({"arms": 1}, "arms is 1: give a whole number, 2 or more"),
        ({"arms": ["a", "b"]}, "arms is ['a', 'b']: give a whole number, 2 or more"),
        ({"fidelities": 0}, "fidelities is 0: give a whole number, 1 or more"),
        ({"fidelities": 2.0}, "fidelities is 2.0: give a whole number, 1 or more"),
        ({"seed": None}, "seed is None: give a whole number, 0 or more"),
        ({"seed": -1}, "seed is -1: give a whole number, 0 or more"),
        ({"gap": 1}, "gap is 1: give one number, 0 or more and below 1"),
        ({"gap": -0.1}, "gap is -0.1: give one number, 0 or more and below 1"),
        ({"gap": np.nan}, "gap is nan: give one number, 0 or more and below 1"),
        ({"gap": [0.1, 0.2]}, "gap is [0.1, 0.2]: give one number, 0 or more and below 1"),
        ({"gap": "wide"}, "gap is 'wide': give numbers"),
        ({"costs": -1}, "costs is -1.0: a cost must be positive"),
        ({"biases": [0.1, 0]}, "biases has shape (2,): give one number, 5 (one per fidelity) or 4 rows of 5"),
        ({"variance": 0}, "variance is 0.0: a variance must be positive"),
    ],
    ids=str,
)
def test_random_instance_refuses(wrong, fault):
    faults = faults_of(**wrong)
    assert len(faults) == 1
    assert faults[0].startswith(fault)


def test_every_wrong_argument_is_told_at_once():
    assert [fault.split(" ")[0] for fault in faults_of(gap=2, seed=-1, costs=0)] == ["seed", "gap", "costs"]
