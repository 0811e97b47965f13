"""The oracle against brute force, an independent solver, its certificate, and the literature."""

from math import log, sqrt

import numpy as np
import pytest

from mfbai import load
from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from mfbai.model.families import FAMILIES, Gaussian, SubGaussian
from mfbai.model.instance import Instance
from support import naive_oracle
from support.naive_oracle import Duel, certifiable, grid_bound, optimality, random_instance, random_tolerance
from support.oracles import SAME, draw, every_family, every_named, with_parts

# The optimality conditions, by brute force


@every_named
def test_named_instances_satisfy_the_optimality_conditions(name):
    """All transport costs are equal, and at some prices each cell is worth its cost, or less if it is not used."""
    instance, found = load(name), oracle(name)
    told = optimality(Duel(instance, 0.0, found.best), found.cost_complexity * found.weights)
    assert found.best == instance.best
    assert abs(told.shortfall) < 1e-12
    assert told.excess < 1e-12
    assert told.residual < 1e-7


@every_family
def test_random_instances_satisfy_the_optimality_conditions(name):
    """The same for every family, with asymmetric biases, means at their edges, both directions and tolerances."""
    tested = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        instance = random_instance(rng, name)
        tolerance = random_tolerance(rng, instance)
        found = oracle(instance, tolerance)
        if found.cost_complexity == 0:
            assert not len(Duel(instance, tolerance, found.best).rivals)
            continue
        told = optimality(Duel(instance, tolerance, found.best), found.cost_complexity * found.weights)
        assert abs(told.shortfall) < SAME, (seed, told)
        assert told.excess < 1e-7, (seed, told)
        assert not told.residual > 1e-5, (seed, told)
        tested += told.residual <= 1e-5
    assert tested > 40


@every_family
def test_alternatives_are_where_rivals_are_hardest_to_tell(name):
    """Each rival's alternative is a possible top mean at which its transport cost is the least one."""
    for seed in range(20):
        instance, found = draw(seed, name)
        duel, sign = Duel(instance, 0.0, found.best), instance.problem.sign
        rivals = np.flatnonzero(np.arange(len(instance.means)) != found.best)
        assert np.isnan(found.alternatives[found.best])
        etas = sign * found.alternatives[rivals]
        low, high = duel.range()
        slack = 1e-12 * abs(instance.means).max()
        assert (etas >= low[rivals] - slack).all()
        assert (etas <= high[rivals] + slack).all()
        bought = (found.cost_complexity * found.weights * duel.rates(rivals, etas)).sum(axis=(1, 2))
        np.testing.assert_allclose(bought, 1, rtol=1e-7)


# An independent solver


@every_family
def test_a_linear_program_over_a_fine_grid_finds_the_same_cost(name):
    """Its bound, the least of all arms that are good enough, never exceeds C* and comes close to it."""
    for seed in range(100, 125):
        rng = np.random.default_rng(seed)
        instance = random_instance(rng, name, K=rng.integers(2, 5), M=rng.integers(1, 4))
        tolerance = random_tolerance(rng, instance)
        found = oracle(instance, tolerance).cost_complexity
        if found > 0:
            bound = min(grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance))
            assert bound <= found * (1 + 1e-9), seed
            assert bound >= found * (1 - 1e-5), seed


@pytest.mark.parametrize("K", range(2, 11))
@every_family
def test_one_fidelity_gives_the_characteristic_time_of_track_and_stop(name, K):
    """With M = 1 and cost 1, C* is T* of Garivier and Kaufmann (2016), found as the root of their equation."""
    rng = np.random.default_rng(K)
    means = rng.uniform(0.1, 0.9, size=(K, 1)) * (5 if name in ("poisson", "exponential") else 1)
    family = {"gaussian": Gaussian(0.3), "subgaussian": SubGaussian(bounds=(0, 1))}.get(name) or FAMILIES[name]()
    instance = Instance(means, 1.0, 0.0, family, direction=["maximise", "minimise"][K % 2])
    expected = naive_oracle.characteristic_time(instance)
    assert oracle(instance).cost_complexity == pytest.approx(expected, rel=1e-10)
    assert oracle(with_parts(instance, costs=np.full((K, 1), 7.0))).cost_complexity == pytest.approx(7 * expected)


# The certificate


@every_named
def test_named_instances_are_solved_to_ten_digits(name):
    """The certified gap of the catalogue is 1e-10 at most."""
    assert oracle(name).gap <= 1e-10


@every_family
def test_random_instances_are_solved_to_nine_digits(name):
    """The certified gap of a sweep is 1e-9 at most; `python tests/naive_oracle.py` runs a larger one."""
    for row in naive_oracle.sweep(oracle, name, 300 if name == "gaussian" else 60):
        assert row.gap <= 1e-9, row


# Known numbers


def test_the_weights_of_the_5x2_instance_have_a_closed_form():
    """Arms 1 to 4 get 1 / (4 + sqrt 40) at fidelity 1 and arm 5 the rest at fidelity 2.

    math.md prints .0968563 and .6125748 for .0968565 and .6125741, which its own closed form gives.
    """
    found = oracle(load("paper-5x2", variance=0.1))
    expected = np.zeros((5, 2))
    expected[:4, 0] = 1 / (4 + sqrt(40))
    expected[4, 1] = 1 - 4 / (4 + sqrt(40))
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-9)
    assert found.cost_complexity == pytest.approx(266.4911, abs=5e-5)
    assert found.alternatives[0] == pytest.approx(0.538743, abs=5e-7)
    assert found.unique


def test_the_4x5_instance_uses_one_fidelity_of_each_arm():
    """C* is 19.98528 at variance .1, spent on fidelities 2, 4, 3 and 2 of arms 1 to 4."""
    found = oracle(load("paper-4x5", variance=0.1))
    assert found.cost_complexity == pytest.approx(19.98528, abs=5e-6)
    assert np.argwhere(found.weights > 1e-9).tolist() == [[0, 1], [1, 3], [2, 2], [3, 1]]


def test_one_fidelity_per_arm_can_be_dearer():
    """On nonsparse-3x2 C* is 47.7507 with two fidelities for arm 1; the best sparse allocation costs 0.40 % more."""
    found = oracle("nonsparse-3x2")
    sparse = naive_oracle.best_single_fidelities(Duel(load("nonsparse-3x2"), 0.0, found.best))
    assert found.cost_complexity == pytest.approx(47.7507, abs=5e-5)
    np.testing.assert_allclose(found.weights[0], [0.147, 0.099], atol=1e-3)
    assert sparse == pytest.approx(47.9409, abs=5e-5)
    assert sparse / found.cost_complexity - 1 == pytest.approx(0.0040, abs=5e-5)


def test_the_lower_bound_is_that_of_the_change_of_measure():
    """C* ln(1 / (2.4 delta)), and never negative."""
    found = oracle("paper-4x5")
    assert found.lower_bound(0.01) == pytest.approx(found.cost_complexity * log(1 / 0.024))
    assert found.lower_bound(0.9) == 0
    with pytest.raises(InvalidInput, match="delta"):
        found.lower_bound(0.0)
