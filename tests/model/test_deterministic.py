"""Deterministic fidelities in problems, instances and spec files."""

import numpy as np
import pytest

from mfbai import Bernoulli, Gaussian, Instance, InvalidInput, Problem, SubGaussian
from mfbai.model.families import Bounded, Symmetric
from mfbai.model.spec import dumps, from_dict, loads

ARMS = ["plain", "wide", "deep"]
NAMES = ["formula", "coarse", "fine"]


def problem(**changes):
    about = {"costs": [0.0, 0.1, 1.0], "biases": [0.1, 0.05, 0.0], "family": Gaussian(0.01), "fidelities": NAMES}
    return Problem(ARMS, **{**about, "deterministic": "formula", **changes})


@pytest.mark.parametrize(
    "given", ["formula", 0, ["formula"], [0], [True, False, False], np.array([True, False, False])]
)
def test_a_deterministic_fidelity_is_named_in_several_ways(given):
    assert problem(deterministic=given) == problem()
    assert problem(deterministic=given).exact == [0]


@pytest.mark.parametrize("variance", [[0.0, 0.01, 0.01], [[0.0, 0.01, 0.01]] * 3])
def test_a_variance_of_0_says_the_same(variance):
    assert problem(deterministic=None, family=Gaussian(variance)) == problem()
    assert problem(deterministic=None, family=SubGaussian(variance)).exact == [0]


def test_kernels_see_the_noisy_fidelities_only():
    model = problem(family=Gaussian([0.0, 0.01, 0.04]), deterministic=None).model()
    assert model.cost.tolist() == [[0.1, 1.0]] * 3
    assert model.bias_high.tolist() == [[0.05, 0.0]] * 3
    assert model.law.precision == pytest.approx(np.array([[100.0, 25.0]] * 3))
    assert model.exact.bias_high.tolist() == [[0.1]] * 3
    assert all(array.flags.c_contiguous for array in (model.cost, model.bias_low, model.exact.cost))


def test_a_deterministic_top_is_kept_as_a_stand_in():
    model = problem(deterministic=["formula", "fine"], costs=[0, 0.1, 0]).model()
    assert model.cost.tolist() == [[0.1, 1.0]] * 3
    assert model.exact.top


def test_specs_say_which_fidelities_are_deterministic():
    text = dumps(problem())
    assert text.count("deterministic = true") == 1
    assert loads(text) == problem()
    assert from_dict(problem().to_dict()) == problem()
    assert "deterministic" not in dumps(problem(deterministic=None, costs=1.0))
    with_variance = problem(family=Gaussian([0.0, 0.01, 0.02]), deterministic=None)
    assert loads(dumps(with_variance)) == with_variance


def test_fewer_fidelities_keep_theirs():
    fewer = problem().replace(costs=[0, 1], biases=[0.1, 0], fidelities=["formula", "fine"])
    assert fewer.exact == [0]
    assert problem().replace(costs=1, biases=[0.1, 0], fidelities=["coarse", "fine"]).exact == []
    assert problem().replace(fidelities=["a", "b", "c"]).exact == [0]
    assert problem(costs=1.0).replace(deterministic=None).exact == []


def test_instances_have_values_there():
    means = np.array([[0.55, 0.5, 0.5], [0.6, 0.62, 0.6], [0.75, 0.8, 0.8]])
    instance = problem().instance(means)
    assert instance.problem == problem()
    assert loads(dumps(instance)) == instance
    learnt = problem(family=Symmetric(0, 1)).instance(means, deviation=[0.0, 0.1, 0.2])
    assert learnt.model().law.deviation.tolist() == [[0.1, 0.2]] * 3
    assert Instance(
        means, costs=1, biases=1 * np.array([0.1, 0.1, 0]), family=Gaussian(1), deterministic=0
    ).problem.exact == [0]


def test_values_there_are_possible_means():
    counted = problem(family=Bernoulli())
    assert counted.admits(0.37, 0)
    assert not counted.admits(0.37, 1)
    assert not counted.admits(1.2, 0)
    assert not problem(family=Bounded([0, 0, 0], [2, 1, 1])).admits(2.5, 0)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"deterministic": "fast"}, "deterministic has 'fast': give the names or indices of fidelities"),
        ({"deterministic": [True, False]}, "deterministic has True"),
        ({"deterministic": 3}, "deterministic has 3"),
        ({"deterministic": None}, r"costs\[0\] is 0.0: a cost must be positive"),
        ({"costs": [-1.0, 1.0, 1.0]}, r"costs\[0\] is -1.0: a cost must be positive"),
        ({"family": Gaussian([[0.0, 1.0, 1.0], [1.0] * 3, [1.0] * 3]), "costs": 1.0}, r"variance\[0, 0\] is 0.0"),
        ({"family": Gaussian(0.0)}, "variance is 0.0: a variance must be positive"),
    ],
)
def test_what_cannot_be_is_refused(changes, told):
    with pytest.raises(InvalidInput, match=told):
        problem(**changes)


def test_a_spec_that_says_it_in_another_way_is_refused():
    document = problem().to_dict()
    document["fidelity"][0]["deterministic"] = "yes"
    with pytest.raises(InvalidInput, match="has deterministic 'yes': give true or false"):
        from_dict(document)
