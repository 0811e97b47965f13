"""Intervals of the leader's top mean minus each other's."""

from math import log

import numpy as np
import pytest

from mfbai import Bernoulli, Gaussian, InvalidInput, Problem, SubGaussian, bias_alarms, evidence, intervals, risk
from mfbai.analysis.guarantee import find_differences, find_intervals
from mfbai.kernels.stats import make_stats
from support import naive_e_values

COUNTS = np.array([[40.0, 9.0], [70.0, 0.0], [25.0, 30.0]])
MEANS = np.array([[0.25, 0.2], [0.85, 0.5], [0.3, 0.4]])
BIASES = ([-0.05, 0.0], [0.1, 0.0])
NORMAL = Problem(3, [0.1, 1.0], BIASES, Gaussian(0.1))


def differences(problem, counts, means, leader, delta=0.05):
    stats = make_stats(problem.shape)
    stats.count[:], stats.mean[:] = counts, problem.sign * np.where(np.asarray(counts) > 0, means, 0.0)
    model = problem.model()
    known = find_intervals(model, stats, problem.sign, delta)
    return find_differences(model, stats, problem.sign, delta, leader, known)


@pytest.mark.parametrize("leader", [0, 1, 2])
@pytest.mark.parametrize("family", [Gaussian(0.1), SubGaussian(bounds=(0, 1))], ids=lambda family: family.name)
def test_differences_end_where_brute_force_stops_ruling_out(family, leader):
    """Just outside the interval the difference is ruled out, and a little inside it is not."""
    problem = NORMAL.replace(family=family)
    target = log(6 / 0.05)
    found = differences(problem, COUNTS, MEANS, leader)
    assert found[leader].tolist() == [0.0, 0.0]
    for arm in {0, 1, 2} - {leader}:
        low, high = found[arm]
        width = high - low
        for t, pair in ((-low, (leader, arm)), (high, (arm, leader))):
            outside, inside = (
                naive_e_values.Claims(problem, COUNTS, MEANS, t + shift).evidence()[pair]
                for shift in (1e-6 * width, -0.01 * width)
            )
            assert outside >= target - 1e-6
            assert inside < target


def test_differences_are_narrower_than_those_of_the_intervals():
    found = differences(NORMAL, COUNTS, MEANS, 1)
    single = intervals(NORMAL, COUNTS, MEANS, 0.05)
    wide = single[1] - single[:, ::-1]
    assert (found[[0, 2], 0] > wide[[0, 2], 0]).all()
    assert (found[[0, 2], 1] < wide[[0, 2], 1]).all()


def test_other_families_have_the_differences_of_their_intervals():
    problem = NORMAL.replace(family=Bernoulli())
    single = intervals(problem, COUNTS, MEANS, 0.05)
    found = differences(problem, COUNTS, MEANS, 1)
    np.testing.assert_array_equal(found[0], [single[1, 0] - single[0, 1], single[1, 1] - single[0, 0]])
    assert found[1].tolist() == [0.0, 0.0]


def test_minimising_is_the_mirror_image():
    low, high = np.array(BIASES)
    down = Problem(3, [0.1, 1.0], (-high, -low), Gaussian(0.1), direction="minimise")
    np.testing.assert_allclose(
        differences(NORMAL, COUNTS, MEANS, 1), -differences(down, COUNTS, -MEANS, 1)[:, ::-1], atol=1e-12
    )


def test_arms_without_data_may_differ_by_anything():
    counts = COUNTS.copy()
    counts[2] = 0
    assert differences(NORMAL, counts, MEANS, 1)[2].tolist() == [-np.inf, np.inf]
    bounded = differences(NORMAL.replace(family=SubGaussian(bounds=(0, 1))), counts, MEANS, 1)[2]
    assert np.abs(bounded).max() <= 1.0


def test_differences_hold_together_whichever_arm_leads():
    """Looked at 10 times in each of 100 runs with delta = 0.1, for every pair: if one was wrong with that probability,
    25 or more would be seen with one of 1e-5."""
    rng, truth, wrong = np.random.default_rng(0), np.array([0.5, 0.55, 0.4]), 0
    for _ in range(100):
        values = rng.normal(truth, 0.3, size=(200, 3)).cumsum(axis=0)
        problem = Problem(3, [1.0], [0.0], Gaussian(0.09))
        for n in range(20, 201, 20):
            means = (values[n - 1] / n)[:, None]
            ends = [differences(problem, np.full((3, 1), n), means, leader, delta=0.1) for leader in range(3)]
            true = truth[:, None] - truth
            low, high = np.stack(ends)[..., 0], np.stack(ends)[..., 1]
            if not ((low <= true + 1e-12) & (true <= high + 1e-12)).all():
                wrong += 1
                break
    assert wrong < 25


@pytest.mark.parametrize("function", [evidence, risk, intervals, bias_alarms])
def test_totals_of_a_problem_with_common_seeds_are_refused_with_the_reason(function):
    extra = {"delta": 0.1} if function in (intervals, bias_alarms) else {}
    with pytest.raises(InvalidInput, match="common seeds cannot be judged: they do not say how arms differ at the"):
        function(NORMAL.replace(seeds="common"), COUNTS, MEANS, **extra)
