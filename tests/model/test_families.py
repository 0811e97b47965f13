import numpy as np
import pytest

from mfbai.model.families import FAMILIES, Bernoulli, Exponential, Gaussian, Poisson, SubGaussian


@pytest.mark.parametrize(
    ("family", "possible", "impossible"),
    [
        (Gaussian(1.0), [-3.5, 0, 1e9], [np.nan, np.inf]),
        (SubGaussian(variance=1.0), [-3.5, 0, 1e9], [np.nan, -np.inf]),
        (SubGaussian(bounds=(-1, 2)), [-1, 0.3, 2], [-1.1, 2.1, np.nan]),
        (Bernoulli(), [0, 1, 1.0], [0.5, -1, np.nan]),
        (Poisson(), [0, 7, 3.0], [-1, 0.5, np.inf, np.nan]),
        (Exponential(), [1e-9, 4.2], [0, -1, np.inf, np.nan]),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_a_family_admits_only_values_it_can_return(family, possible, impossible):
    assert all(family.admits(value) for value in possible)
    assert not any(family.admits(value) for value in impossible)


@pytest.mark.parametrize(
    "variance",
    [0.25, [0.25, 0.25], np.full((3, 2), 0.25), np.full((3, 2), 0.25, order="F")],
    ids=["one", "(M,)", "(K, M)", "(K, M) in another order"],
)
def test_variance_fills_every_cell(variance):
    law = Gaussian(variance).law((3, 2))
    np.testing.assert_array_equal(law.precision, np.full((3, 2), 4.0))
    np.testing.assert_array_equal(law.deviation, np.full((3, 2), 0.5))
    for array in (law.precision, law.deviation):  # another layout is another type to the compiler
        assert array.flags.c_contiguous
        assert array.flags.writeable


def test_variance_per_fidelity_runs_along_the_columns():
    np.testing.assert_array_equal(Gaussian([1.0, 4.0]).law((2, 2)).deviation, [[1, 2], [1, 2]])


def test_bounded_rewards_have_the_proxy_of_their_width():
    law = SubGaussian(bounds=(-1, 3)).law((2, 1))
    np.testing.assert_array_equal(law.deviation, [[2], [2]])
    assert (law.low, law.high) == (-1, 3)


def test_bounds_are_reflected_with_the_sign():
    law = SubGaussian(bounds=(-1, 3)).law((2, 1), sign=-1.0)
    assert (law.low, law.high) == (-3, 1)


def test_bounds_may_be_an_array():
    family = SubGaussian(bounds=np.array([0.0, 1.0]))
    assert family.law((2, 1)).high == 1
    assert family.admits(0.5)


def test_unbounded_rewards_have_infinite_bounds():
    law = SubGaussian(variance=2.0).law((2, 1), sign=-1.0)
    assert (law.low, law.high) == (-np.inf, np.inf)


@pytest.mark.parametrize("family", [Bernoulli(), Poisson(), Exponential()], ids=lambda family: family.name)
def test_the_law_of_a_reflected_problem_carries_the_sign(family):
    assert family.law((2, 2)).sign == 1
    assert family.law((2, 2), -1.0).sign == -1


@pytest.mark.parametrize(
    ("family", "mean_range"),
    [
        (Gaussian(1.0), (-np.inf, np.inf)),
        (SubGaussian(variance=1.0), (-np.inf, np.inf)),
        (SubGaussian(bounds=(2, 3)), (2, 3)),
        (Bernoulli(), (0, 1)),
        (Poisson(), (0, np.inf)),
        (Exponential(), (0, np.inf)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_mean_range_is_the_closure_of_the_possible_means(family, mean_range):
    assert family.mean_range == mean_range


def test_families_are_listed_by_their_name():
    assert all(FAMILIES[name].name == name for name in FAMILIES)


@pytest.mark.parametrize(
    ("family", "table"),
    [
        (Gaussian(np.array([1, 2])), {"name": "gaussian", "variance": [1.0, 2.0]}),
        (SubGaussian(variance=2), {"name": "subgaussian", "variance": 2.0}),
        (SubGaussian(bounds=(0, 1)), {"name": "subgaussian", "bounds": [0.0, 1.0]}),
        (Poisson(), {"name": "poisson"}),
    ],
    ids=["array", "proxy", "bounds", "no settings"],
)
def test_to_dict_holds_plain_python_values(family, table):
    assert family.to_dict() == table
