"""Intervals have the coverage that they state."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from mfbai.paper.intervals import mean, median_ratio, ratio, share
from support.paper import FALSE_ALARM, sample


def check_coverage(hits, trials, low=0.94, high=0.97):
    """Fails with probability below FALSE_ALARM if the true coverage is between these."""
    assert binom.cdf(hits, trials, low) > FALSE_ALARM
    assert binom.sf(hits - 1, trials, high) > FALSE_ALARM


@pytest.mark.parametrize("n", [2, 10])
def test_the_interval_of_a_mean_has_its_coverage(n):
    rng = np.random.default_rng(n)
    found = [mean(values) for values in rng.normal(3, 2, (3000, n))]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 3000)


@pytest.mark.parametrize("n", [20, 100])
def test_the_interval_of_a_ratio_has_its_coverage_for_skewed_costs(n):
    """Gamma of shape 4, which deviates from its mean by a half, like the costs of runs."""
    rng = np.random.default_rng(n)
    pairs = zip(3 * rng.gamma(4, size=(2000, n)), rng.gamma(4, size=(2000, n)), strict=True)
    found = [ratio(*pair) for pair in pairs]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 2000)


def test_the_interval_of_a_ratio_of_medians_has_its_coverage():
    """The bootstrap of medians errs on the wide side."""
    rng = np.random.default_rng(5)
    pairs = zip(3 * rng.gamma(4, size=(300, 60)), rng.gamma(4, size=(300, 60)), strict=True)
    found = [median_ratio(*pair, resamples=500) for pair in pairs]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 300, low=0.93, high=0.99)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_interval_of_a_share_has_its_coverage_on_average(n):
    """Exactly, by summing over all counts; Wilson's is 95 % on average over p, and less for some."""
    ends = [share(count, n) for count in range(n + 1)]
    chances = (np.arange(400) + 0.5) / 400
    inside = np.array([[one.low <= p <= one.high for one in ends] for p in chances])
    coverage = (binom.pmf(np.arange(n + 1), n, chances[:, None]) * inside).sum(axis=1)
    assert 0.945 < coverage.mean() < 0.96
    assert coverage[(chances > 0.1) & (chances < 0.9)].min() > 0.90


def test_one_value_alone_tells_nothing_of_its_error():
    assert mean(np.array([2.0])) == (2.0, -math.inf, math.inf)
    assert ratio(np.array([2.0]), np.array([1.0, 1.1])) == (pytest.approx(2 / 1.05), 0.0, math.inf)
    assert mean(np.array([2.0])).half == math.inf


def test_equal_values_have_an_interval_of_no_width():
    fives, twos = np.full(10, 5.0), np.full(10, 2.0)
    assert mean(fives) == (5, 5, 5)
    assert ratio(fives, twos) == (2.5, 2.5, 2.5)
    assert median_ratio(fives, twos) == (2.5, 2.5, 2.5)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_shares_of_none_and_of_all_mirror_each_other(n):
    none, every = share(0, n), share(n, n)
    assert (none.estimate, none.low) == (0, 0)
    assert (every.estimate, every.high) == (1, pytest.approx(1, abs=1e-12))
    assert 0 < none.high == pytest.approx(1 - every.low)
    assert every.high <= 1


def test_intervals_do_not_depend_on_the_call():
    values, other = sample(3, 50, 0.2), sample(2, 40, 0.2)
    assert median_ratio(values, other) == median_ratio(values, other)
