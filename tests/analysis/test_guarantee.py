"""risk, intervals and bias_alarms, against the brute force of naive_e_values.py."""

import subprocess
import sys
from math import exp, inf, log

import numpy as np
import pytest

import mfbai
from mfbai import (
    Bernoulli,
    Exponential,
    Gaussian,
    InvalidInput,
    Poisson,
    Problem,
    SubGaussian,
    bias_alarms,
    intervals,
    risk,
)
from support import naive_e_values

FAMILIES = {
    "gaussian": Gaussian([[0.05, 0.1]]),
    "subgaussian": SubGaussian(bounds=(0, 1)),
    "bernoulli": Bernoulli(),
    "poisson": Poisson(),
    "exponential": Exponential(),
}
every_family = pytest.mark.parametrize("name", FAMILIES)
both_directions = pytest.mark.parametrize("direction", ["maximise", "minimise"])
COUNTS = np.array([[40.0, 9.0], [70.0, 0.0], [25.0, 30.0]])
MEANS = np.array([[0.25, 0.2], [0.85, 0.5], [0.3, 0.4]])
PLAIN = Problem(2, [0.1, 1.0], [0.1, 0.0], Gaussian(0.01))


def problem_of(name, direction="maximise", biases=([-0.05, 0.0], [0.1, 0.0])):
    family = Gaussian(np.broadcast_to([[0.05, 0.1]], (3, 2))) if name == "gaussian" else FAMILIES[name]
    return Problem(3, [0.1, 1.0], biases, family, direction=direction)


@every_family
@both_directions
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_risk_is_the_level_that_brute_force_certifies(name, direction, tolerance):
    problem = problem_of(name, direction)
    found = risk(problem, COUNTS, MEANS, tolerance)
    assert found.leader == (1 if direction == "maximise" else 0)
    expected = naive_e_values.Claims(problem, COUNTS, MEANS, tolerance).evidence()[found.leader]
    assert found.log_evidence[found.leader] == inf
    others = np.arange(3) != found.leader
    assert (found.log_evidence[others] <= expected[others] + 1e-9).all()
    assert (found.log_evidence[others] >= np.minimum(expected[others], 1.0) - 0.3).all()
    assert found.level >= min(1.0, 2 * exp(-expected.min())) * (1 - 1e-9)
    if expected.min() > 1:
        assert found.level <= min(1.0, 2 * exp(-expected.min() + 0.02))


@every_family
@both_directions
def test_intervals_end_where_brute_force_stops_ruling_out(name, direction):
    problem = problem_of(name, direction)
    found = intervals(problem, COUNTS, MEANS, 0.05)
    slow, ends = naive_e_values.Claims(problem, COUNTS, MEANS), problem.family.mean_range
    for arm in range(3):
        expected = np.clip(slow.interval(arm, log(6 / 0.05)), *ends)
        np.testing.assert_allclose(np.clip(found[arm], *ends), expected, rtol=1e-7, atol=1e-7)


@every_family
def test_alarms_are_those_of_brute_force(name):
    """Their levels too: of a cell against the top, and of an arm as a whole."""
    family = Gaussian(0.1) if name == "gaussian" else FAMILIES[name]
    problem = Problem(3, [0.1, 0.2, 1.0], ([-0.05, -0.02, 0.0], [0.05, 0.1, 0.0]), family)
    counts = [[300.0, 0.0, 200.0], [300.0, 300.0, 0.0], [50.0, 50.0, 50.0]]
    means = [[0.2, 0.5, 0.8], [0.9, 0.2, 0.5], [0.4, 0.42, 0.4]]
    found = bias_alarms(problem, counts, means, 0.01)
    slow = naive_e_values.Claims(problem, counts, means)
    assert [(alarm.arm, alarm.certain) for alarm in found] == [(0, True), (1, False)]
    assert found[0].fidelity == 0
    for alarm, tests, only in zip(found, (12, 6), (0, None), strict=True):
        expected = tests * exp(-slow.least_clash(alarm.arm, only))
        assert expected * (1 - 1e-9) <= alarm.level <= expected * 1.3


@pytest.mark.parametrize("name", ["gaussian", "subgaussian", "bernoulli"])
def test_minimising_is_the_mirror_image(name):
    """Of families that can be reflected, x to -x or 1 - x: the same risk, reflected intervals and the same alarms."""
    family, mirror = (Gaussian(0.1), 0.0) if name == "gaussian" else (FAMILIES[name], 1.0)
    low, high = np.array([-0.05, 0.0]), np.array([0.1, 0.0])
    up = Problem(3, [0.1, 1.0], (low, high), family)
    down = Problem(3, [0.1, 1.0], (-high, -low), family, direction="minimise")
    a, b = risk(up, COUNTS, MEANS), risk(down, COUNTS, mirror - MEANS)
    assert a.leader == b.leader
    assert a.level == pytest.approx(b.level, rel=1e-6)
    np.testing.assert_allclose(
        intervals(up, COUNTS, MEANS, 0.1), mirror - intervals(down, COUNTS, mirror - MEANS, 0.1)[:, ::-1], atol=1e-9
    )
    wild = np.where(np.arange(3)[:, None] == 2, [[0.9, 0.1]], MEANS)
    ours, theirs = bias_alarms(up, 9 * COUNTS, wild, 0.1), bias_alarms(down, 9 * COUNTS, mirror - wild, 0.1)
    assert [(x.arm, x.fidelity, x.certain) for x in ours] == [(x.arm, x.fidelity, x.certain) for x in theirs]
    assert [x.arm for x in ours] == [2]
    np.testing.assert_allclose(ours[0].level, theirs[0].level, rtol=0.02)


GOOD = {"counts": [[20, 2], [20, 2]], "means": [[0.5, 0.52], [0.81, 0.79]]}


@pytest.mark.parametrize("function", [risk, intervals, bias_alarms])
@pytest.mark.parametrize(
    ("field", "change", "problem"),
    [
        ("counts", {"counts": [[20, -2], [20, 2]]}, PLAIN),
        ("counts", {"counts": [[20, 2]]}, PLAIN),
        ("counts", {"counts": [[20, float("nan")], [20, 2]]}, PLAIN),
        ("means", {"means": [[0.5, 0.52]]}, PLAIN),
        ("means", {"means": [[0.5, float("inf")], [0.81, 0.79]]}, PLAIN),
        ("means", {"means": [[0.5, 1.2], [0.81, 0.79]]}, Problem(2, [0.1, 1.0], [0.1, 0.0], Bernoulli())),
        ("means", {"means": [[0.5, 0.0], [0.81, 0.79]]}, Problem(2, [0.1, 1.0], [0.1, 0.0], Exponential())),
    ],
)
def test_bad_tables_are_refused_by_name(function, field, change, problem):
    extra = {} if function is risk else {"delta": 0.1}
    with pytest.raises(InvalidInput) as caught:
        function(problem, **{**GOOD, **change}, **extra)
    assert caught.value.faults[0].field.startswith(field)


@pytest.mark.parametrize("function", [intervals, bias_alarms])
@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, float("nan"), "0.1"])
def test_an_impossible_delta_is_refused(function, delta):
    with pytest.raises(InvalidInput, match="delta"):
        function(PLAIN, **GOOD, delta=delta)


@pytest.mark.parametrize("tolerance", [-0.1, inf, "0.1"])
def test_an_impossible_tolerance_is_refused(tolerance):
    with pytest.raises(InvalidInput, match="tolerance"):
        risk(PLAIN, **GOOD, tolerance=tolerance)


def test_all_faults_are_told_at_once():
    with pytest.raises(InvalidInput) as caught:
        intervals(PLAIN, [[20, -2], [20, 2]], [[0.5, 0.52], [0.81, inf]], 0.0)
    fields = " ".join(fault.field for fault in caught.value.faults)
    assert "counts" in fields
    assert "means" in fields
    assert "delta" in fields


@every_family
def test_arms_without_data_are_uncertain(name):
    """They can be anything, so nothing is certified, and an arm with data leads."""
    problem = problem_of(name)
    counts = COUNTS.copy()
    counts[1] = 0
    found = risk(problem, counts, MEANS)
    assert found.leader == 2
    assert found.level == 1.0
    low, high = intervals(problem, counts, MEANS, 0.1)[1]
    assert [low, high] == list(problem.family.mean_range)
    assert bias_alarms(problem, counts, MEANS, 0.1) == []
    nothing = risk(problem, np.zeros((3, 2)), MEANS)
    assert nothing.level == 1.0
    assert bias_alarms(problem, np.zeros((3, 2)), MEANS, 0.1) == []


def test_an_interval_is_empty_if_the_data_contradict_each_other():
    low, high = intervals(PLAIN, [[50, 50], [50, 50]], [[0.2, 0.9], [0.5, 0.5]], 0.05).T
    assert low[0] > high[0]
    assert low[1] < 0.5 < high[1]
    assert [alarm.arm for alarm in bias_alarms(PLAIN, [[50, 50], [50, 50]], [[0.2, 0.9], [0.5, 0.5]], 0.05)] == [0]


def test_tables_with_gaps_may_hold_anything_there():
    found = risk(PLAIN, [[20, 0], [20, 2]], [[0.5, None], [0.81, 0.79]])
    assert found.level == risk(PLAIN, [[20, 0], [20, 2]], [[0.5, 77.0], [0.81, 0.79]]).level


def growing_means(rng, means, deviation, looks, size):
    """Means of ever more normal values in each cell."""
    values = rng.normal(means, deviation, size=(looks * size, *np.shape(means)))
    sums = np.cumsum(values, axis=0)[size - 1 :: size]
    counts = size * np.arange(1, looks + 1)
    return counts, sums / counts[:, None, None]


def test_alarms_are_rare_where_the_bounds_hold():
    """At the very edge of the bounds, looked at 8 times in each of 60 runs with delta = 0.1: if alarms had that
    probability, 15 or more would be seen with one of 0.0007."""
    rng = np.random.default_rng(0)
    means = np.array([[0.6, 0.5], [0.4, 0.5]])
    alarmed = wrong = 0
    for _ in range(60):
        looks = list(zip(*growing_means(rng, means, 0.1, 8, 25), strict=True))
        alarmed += any(bias_alarms(PLAIN, np.full((2, 2), n), mean, 0.1) for n, mean in looks)
        ends = np.array([intervals(PLAIN, np.full((2, 2), n), mean, 0.1) for n, mean in looks])
        wrong += not ((ends[:, :, 0] <= 0.5) & (ends[:, :, 1] >= 0.5)).all()
    assert alarmed < 15
    assert wrong < 15


def test_alarms_sound_when_the_bias_is_twice_the_bound():
    """Certain if the top was evaluated; if only two lower fidelities were, it may be either of them."""
    rng = np.random.default_rng(1)
    problem = Problem(2, [0.1, 0.2, 1.0], [0.1, 0.1, 0.0], Gaussian(0.01))
    means = np.array([[0.7, 0.3, 0.5], [0.45, 0.55, 0.5]])
    (n,), (mean,) = growing_means(rng, means, 0.1, 1, 100)
    every = bias_alarms(problem, np.full((2, 3), n), mean, 0.01)
    assert {(alarm.arm, alarm.fidelity, alarm.certain) for alarm in every} == {(0, 0, True), (0, 1, True)}
    below = bias_alarms(problem, np.tile([n, n, 0], (2, 1)), mean, 0.01)
    assert [(alarm.arm, alarm.certain) for alarm in below] == [(0, False)]
    assert below[0].fidelity in (0, 1)
    assert all(alarm.level < 0.01 for alarm in every + below)
    assert bias_alarms(problem, np.tile([n, 0, 0], (2, 1)), mean, 0.01) == []


def test_an_instance_stands_for_its_problem():
    instance = mfbai.Instance([[0.5, 0.5], [0.8, 0.8]], [0.1, 1.0], [0.1, 0.0], Gaussian(0.01))
    assert risk(instance, **GOOD).level == risk(PLAIN, **GOOD).level
    np.testing.assert_array_equal(intervals(instance, **GOOD, delta=0.1), intervals(PLAIN, **GOOD, delta=0.1))


def test_risk_with_an_arm_without_data_warns_of_nothing():
    """A Gaussian arm without data can be anywhere between both infinities, whose sum is no number."""
    with np.errstate(all="raise"):
        assert risk(PLAIN, [[20, 2], [0, 0]], GOOD["means"]).level == 1.0


@pytest.mark.parametrize(("name", "mean"), [("gaussian", 0.0), ("bernoulli", 0.0), ("poisson", 0.0)])
def test_the_interval_of_an_arm_whose_mean_is_zero_is_found(name, mean):
    """With the top fidelity alone, so that all edges are at 0. In a process of its own: it once took for ever."""
    family = "Gaussian(1.0)" if name == "gaussian" else f"{name.title()}()"
    problem = f"Problem(2, [1.0], [0.0], {family})"
    code = f"from mfbai import *; print(intervals({problem}, [[9], [9]], [[{mean}], [1]], 0.1)[0])"
    done = subprocess.run([sys.executable, "-c", code], timeout=20, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_intervals_hold_only_possible_means():
    problem = Problem(2, [0.1, 1.0], [0.2, 0.0], Bernoulli())
    found = intervals(problem, [[1000, 0], [1000, 0]], [[0.1, 0.0], [0.9, 0.0]], 0.1)
    assert found.min() >= 0
    assert found.max() <= 1


def test_a_certain_alarm_is_about_its_own_fidelity():
    """The first bound leaves top means up to 0.5 only. The second is not at fault: no alarm may say so."""
    problem = Problem(2, [0.1, 0.2, 1.0], ([0.5, -0.1, 0.0], [0.6, 0.1, 0.0]), Bernoulli())
    top_only = bias_alarms(problem, [[0, 0, 1000], [0, 0, 0]], [[0, 0, 0.9], [0, 0, 0]], 0.1)
    assert not any(alarm.certain and alarm.fidelity == 1 for alarm in top_only)
    below = bias_alarms(problem, [[0, 1000, 0], [0, 0, 0]], [[0, 0.9, 0], [0, 0, 0]], 0.1)
    assert not any(alarm.certain for alarm in below)
