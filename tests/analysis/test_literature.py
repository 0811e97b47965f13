"""What was believed before the tight bound, on the paper's own examples."""

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Instance
from mfbai.analysis.literature import (
    believed_fidelities,
    believed_rival_fidelities,
    earlier_lower_bound,
    never_used,
    only_cheapest,
)


def two_by_two(shift, radius, cheap=0.1, dear=5.0, means=(0.6, 0.5)):
    """Two arms whose cheap means are `shift` too good and too poor."""
    (best, second), variance = means, 0.5
    table = [[best + shift, best], [second - shift, second]]
    return Instance(table, costs=[cheap, dear], biases=[radius, 0], family=Gaussian(variance))


def extreme(arms, fidelities, rng):
    """An instance of the class A_KM: every mean at the edge of its bias bounds, the rivals as far below as the best is
    above zero."""
    radii = np.append(-np.sort(-rng.uniform(0.1, 1, fidelities - 1)), 0)
    sides = np.where(np.arange(arms) == arms - 1, 1.0, -1.0)[:, None]
    return Instance(sides * (0.3 + radii), np.sort(rng.uniform(0.1, 5, fidelities)), radii, Gaussian(0.5))


def test_the_earlier_bound_of_the_papers_example_is_arbitrarily_loose():
    """With gap = xi and cheap means half a radius off, it is 8 cheap / gap^2, where C* is 4 dear / gap^2."""
    gap, cheap, dear = 0.2, 0.01, 7.0
    instance = two_by_two(gap / 2, gap, cheap, dear, means=(gap / 2, -gap / 2))
    assert earlier_lower_bound(instance) == pytest.approx(8 * cheap / gap**2, rel=1e-9)
    assert mfbai.oracle(instance).cost_complexity == pytest.approx(4 * dear / gap**2, rel=1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_the_earlier_bound_never_exceeds_the_tight_one(seed):
    rng = np.random.default_rng(seed)
    instance = mfbai.random_instance(int(rng.integers(2, 8)), int(rng.integers(1, 6)), seed=seed, gap=0.02)
    assert earlier_lower_bound(instance) <= mfbai.oracle(instance).cost_complexity * (1 + 1e-12)


def test_following_the_first_notion_of_an_optimal_fidelity_can_lead_nowhere():
    """Case 1: both arms are believed to be best at the cheap fidelity, which alone brings no evidence at all."""
    instance = two_by_two(0.05, 0.1)
    assert believed_fidelities(instance).tolist() == [0, 0]
    counts = np.array([[1000, 0], [1000, 0]])
    assert mfbai.evidence(instance.problem, counts, instance.means).value == pytest.approx(0, abs=1e-9)
    assert mfbai.oracle(instance).weights[:, 0].sum() == 0


def test_the_first_notion_changes_at_the_cost_ratio_that_the_paper_states():
    """Case 1: the cheap fidelity is believed in if sqrt(dear / cheap) > 0.1 / 0.05."""
    assert believed_fidelities(two_by_two(0.05, 0.1, cheap=1.0, dear=4.1)).tolist() == [0, 0]
    assert believed_fidelities(two_by_two(0.05, 0.1, cheap=1.0, dear=3.9)).tolist() == [1, 1]


def test_the_second_notion_can_name_the_worst_fidelity():
    """Case 2: with a gap below 4 xi it names the top for the rival, while only the cheapest is worth anything."""
    instance = two_by_two(0.1, 0.1)
    assert believed_rival_fidelities(instance).tolist() == [-1, 1]
    assert mfbai.oracle(instance).weights[:, 1].sum() == 0


def test_the_second_notion_weighs_cost_against_what_the_bias_leaves_of_the_gap():
    """cost / (gap - 4 xi)^2: 1 / 0.2^2 = 25 at xi = 0.2, 4 / 0.6^2 = 11 at xi = 0.1, 30 / 1 at the top."""
    instance = Instance([[0.0] * 3, [1.0] * 3], [1, 4, 30], [0.2, 0.1, 0], Gaussian(1))
    assert believed_rival_fidelities(instance).tolist() == [1, -1]


@pytest.mark.parametrize("seed", range(40))
def test_cells_that_are_never_used_have_no_weight(seed):
    rng = np.random.default_rng(seed)
    radii = [0.4, 0.2, 0]
    instance = mfbai.random_instance(int(rng.integers(2, 6)), 3, seed=seed, gap=0.05, biases=radii, costs=[1, 2, 4])
    unused = never_used(instance)
    assert not unused[:, -1].any()
    assert mfbai.oracle(instance).weights[unused].sum() == 0


def test_null_weights_compare_with_the_best_arms_true_mean():
    """The paper prints mu[best,m]. Here that is 0.6, not above 0.5 + 0.1, and yet the cell is useful; it is the true
    mean, 0.7, that counts."""
    instance = Instance([[0.5, 0.45], [0.6, 0.7]], [[0.001, 1], [0.1, 0.1]], [0.1, 0], Gaussian(1))
    assert instance.means[0, 0] + 0.1 >= instance.means[1, 0]
    assert not never_used(instance)[0, 0]
    assert mfbai.oracle(instance).weights[0, 0] > 0


@pytest.mark.parametrize("shape", [(2, 2), (4, 3), (7, 5)])
def test_only_the_cheapest_fidelity_is_used_in_the_papers_class(shape):
    instance = extreme(*shape, np.random.default_rng(shape[0]))
    assert only_cheapest(instance)
    assert mfbai.oracle(instance).weights[:, 1:].sum() == 0


def test_other_instances_are_not_of_that_class():
    assert not any(only_cheapest(mfbai.load(name)) for name in mfbai.model.instances.names())
    assert not only_cheapest(two_by_two(0.1, 0.1).with_variance([0.5, 0.4]))
    assert only_cheapest(two_by_two(0.1, 0.1))


def test_a_problem_that_minimises_is_the_mirror_image():
    instance = mfbai.load("paper-4x5")
    problem = instance.problem
    mirrored = Instance(
        -instance.means, problem.costs, (-problem.bias_high, -problem.bias_low), problem.family, direction="minimise"
    )
    assert earlier_lower_bound(mirrored) == earlier_lower_bound(instance)
    for notion in (believed_fidelities, believed_rival_fidelities, never_used):
        assert np.array_equal(notion(mirrored), notion(instance))
    assert only_cheapest(mirrored) == only_cheapest(instance)


@pytest.mark.parametrize(
    "function", [earlier_lower_bound, believed_fidelities, believed_rival_fidelities, never_used, only_cheapest]
)
def test_an_instance_may_be_named_and_anything_else_is_refused(function):
    assert np.array_equal(function("paper-4x5"), function(mfbai.load("paper-4x5")))
    tied = Instance([[0.5], [0.5]], 1, 0, Gaussian(1), ties=True)
    for wrong in (mfbai.load("paper-4x5").problem, None, tied):
        with pytest.raises(mfbai.InvalidInput):
            function(wrong)
