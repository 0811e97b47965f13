"""What must hold for the oracle of any instance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from mfbai.analysis.oracle import oracle
from mfbai.model.families import Gaussian
from mfbai.model.instance import Instance
from support.naive_oracle import NAMES, random_instance, random_tolerance
from support.oracles import SAME, draw, quick, some_instances, with_parts

# What must hold for any instance


@some_instances
@quick
def test_weights_are_shares(seed, name):
    """Weights and pulls are not negative and sum to 1; pulls are the weights per cost."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, name)
    found = oracle(instance, random_tolerance(rng, instance))
    for shares in (found.weights, found.pulls) if found.cost_complexity > 0 else ():
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        found.pulls * (found.weights / instance.problem.costs).sum(), found.weights / instance.problem.costs
    )


@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(1e-3, 1e3))
@quick
def test_cost_is_proportional_to_variance(seed, factor):
    """A Gaussian instance with all variances scaled costs as many times as much, in the same shares."""
    instance, found = draw(seed, "gaussian")
    scaled = oracle(instance.with_variance(factor * np.asarray(instance.problem.family.variance)))
    assert scaled.cost_complexity == pytest.approx(factor * found.cost_complexity, rel=SAME)
    if found.unique:
        np.testing.assert_allclose(scaled.weights, found.weights, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(NAMES), factor=st.floats(1e-3, 1e3))
@quick
def test_cost_is_proportional_to_costs(seed, name, factor):
    """All costs in another unit give C* in that unit."""
    instance, found = draw(seed, name)
    scaled = oracle(with_parts(instance, costs=factor * instance.problem.costs))
    assert scaled.cost_complexity == pytest.approx(factor * found.cost_complexity, rel=SAME)


@some_instances
@quick
def test_a_further_fidelity_never_costs(seed, name):
    """An instance without its first fidelity is at least as dear as with it."""
    instance, found = draw(seed, name, M=3)
    without = oracle(with_parts(instance, slice(1, None)))
    assert found.cost_complexity <= without.cost_complexity * (1 + SAME)


@some_instances
@quick
def test_a_useless_fidelity_changes_nothing(seed, name):
    """A fidelity whose bias can be anything gets no weight, and C* stays."""
    instance, found = draw(seed, name, M=2)
    problem, family = instance.problem, instance.problem.family
    if name == "gaussian":
        variance = np.broadcast_to(family.variance, instance.shape)
        family = Gaussian(np.column_stack([variance[:, :1], variance]))
    wide = np.full((len(instance.means), 1), 1e9 * abs(instance.means).max())
    more = oracle(
        Instance(
            np.column_stack([instance.means[:, -1:], instance.means]),
            np.column_stack([1e-3 * problem.costs[:, :1], problem.costs]),
            (np.column_stack([-wide, problem.bias_low]), np.column_stack([wide, problem.bias_high])),
            family,
            direction=problem.direction,
        )
    )
    assert more.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME)
    assert more.weights[:, 0].max() <= 1e-12


@some_instances
@quick
def test_knowing_the_bias_better_never_costs(seed, name):
    """Tighter bounds around the same means never raise C*."""
    instance, found = draw(seed, name)
    rng, problem = np.random.default_rng(seed), instance.problem
    off = instance.means - instance.means[:, -1:]
    part = rng.random((2, *instance.shape))
    low, high = problem.bias_low, problem.bias_high
    low, high = low + part[0] * np.maximum(off - low, 0), high - part[1] * np.maximum(high - off, 0)
    tighter = oracle(with_parts(instance, low=np.minimum(low, high), high=high))
    assert tighter.cost_complexity <= found.cost_complexity * (1 + SAME)


@some_instances
@quick
def test_arms_can_be_listed_in_any_order(seed, name):
    """Permuting the arms permutes the weights, and the best arm with them."""
    instance, found = draw(seed, name)
    order = np.random.default_rng(seed).permutation(len(instance.means))
    tables = {"means": instance.means, "costs": instance.problem.costs}
    tables |= {"low": instance.problem.bias_low, "high": instance.problem.bias_high}
    family = instance.problem.family
    if name == "gaussian":
        family = Gaussian(np.broadcast_to(family.variance, instance.shape)[order])
    moved = oracle(with_parts(instance, family=family, **{part: table[order] for part, table in tables.items()}))
    assert order[moved.best] == found.best
    assert moved.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME)
    if found.unique:
        np.testing.assert_allclose(moved.weights, found.weights[order], atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1), by=st.floats(-3, 3))
@quick
def test_gaussian_cost_does_not_depend_on_the_origin(seed, by):
    """Adding a constant to all Gaussian means changes nothing, but for rounding."""
    instance, found = draw(seed, "gaussian")
    scale = np.ptp(instance.means[:, -1])
    moved = oracle(with_parts(instance, means=instance.means + by * scale))
    rounding = 1e-14 * scale / instance.gap
    assert moved.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME + rounding)


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["gaussian", "bernoulli"]))
@quick
def test_minimising_is_maximising_in_the_mirror(seed, name):
    """The mirror image (x to -x, successes to failures) with the other direction has the same C* and weights."""
    instance, found = draw(seed, name)
    other = {"maximise": "minimise", "minimise": "maximise"}[instance.problem.direction]
    means = 1 - instance.means if name == "bernoulli" else -instance.means
    low, high = -instance.problem.bias_high, -instance.problem.bias_low
    mirrored = oracle(with_parts(instance, means=means, low=low, high=high, direction=other))
    rounding = 1e-14 / instance.gap
    assert mirrored.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME + rounding)
    if found.unique:
        np.testing.assert_allclose(mirrored.weights, found.weights, atol=1e-5)


@some_instances
@quick
def test_a_larger_tolerance_never_costs(seed, name):
    """C* falls, or stays, as the tolerance grows."""
    instance, found = draw(seed, name)
    costs = [oracle(instance, part * instance.gap).cost_complexity for part in (0.1, 0.7, 1.5, 4.0)]
    assert (np.diff([found.cost_complexity, *costs]) <= SAME * found.cost_complexity).all()


# Several optima


def test_identical_useful_fidelities_have_several_optima():
    """Two exact copies of the best fidelity can share its weight in any way; a dearer copy cannot."""
    means = [[0.4, 0.4, 0.4], [0.5, 0.5, 0.5], [0.8, 0.8, 0.8]]
    biases = [0.05, 0.05, 0.0]
    assert not oracle(Instance(means, [0.1, 0.1, 5], biases, Gaussian(1.0))).unique
    assert oracle(Instance(means, [0.1, 0.1001, 5], biases, Gaussian(1.0))).unique


@some_instances
@quick
def test_copies_are_noticed_wherever_they_are_used(seed, name):
    """Of two fidelities that are copies, if any arm uses them, the optimum is not unique; it is if one is dearer."""
    instance = random_instance(np.random.default_rng(seed), name, K=4, M=3)
    copied = with_parts(instance, [1, 1, 2])
    perturbed = with_parts(copied, costs=copied.problem.costs * [1.01, 1.0, 1.0])
    if oracle(copied).weights[:, :2].max() > 1e-6:
        assert not oracle(copied).unique
        assert oracle(perturbed).unique


def test_identical_useless_fidelities_do_not_matter():
    """Copies of a fidelity that no arm uses leave the optimum unique."""
    means = [[0.4, 0.4, 0.4], [0.5, 0.5, 0.5], [0.8, 0.8, 0.8]]
    assert oracle(Instance(means, [0.1, 0.1, 5], [3.0, 3.0, 0.0], Gaussian(1.0))).unique


def test_two_equally_good_answers_are_several_optima():
    """With a tolerance, tied arms are equally cheap to certify."""
    instance = Instance([[0.7], [0.7], [0.1]], 1.0, 0.0, Gaussian(1.0), ties=True)
    assert not oracle(instance, tolerance=0.1).unique
