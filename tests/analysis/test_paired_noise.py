"""Correlations with intervals, and limits of variances."""

import numpy as np
import pytest

from mfbai.analysis.paired_noise import estimate, pair_factor, share, t_quantile, variance_factor


@pytest.mark.parametrize(("freedom", "level", "tabled"), [(7, 0.025, 2.365), (7, 0.005, 3.499), (29, 0.025, 2.045)])
def test_t_quantiles_are_those_of_the_tables(freedom, level, tabled):
    assert t_quantile(freedom, level) == pytest.approx(tabled, abs=1e-3)


@pytest.mark.parametrize(("freedom", "level", "tabled"), [(7, 0.01, 1.239), (7, 0.05, 2.167), (29, 0.01, 14.256)])
def test_limits_of_variances_come_from_the_chi_square_tables(freedom, level, tabled):
    assert variance_factor(freedom, level) == pytest.approx(freedom / tabled, rel=1e-3)


@pytest.mark.parametrize("freedom", [3, 7, 29, 200])
def test_the_limit_of_all_sums_of_a_pair_is_the_smallest_eigenvalue_of_simulated_samples(freedom):
    """100,000 samples at a level of 5 %: the share beyond it is within 0.4 %, five standard errors."""
    rng, runs = np.random.default_rng(1), 100_000
    first, below, second = rng.chisquare(freedom, runs), rng.standard_normal(runs), rng.chisquare(freedom - 1, runs)
    trace, determinant = first + below**2 + second, first * second  # of Bartlett's decomposition
    smallest = trace / 2 - np.sqrt(np.maximum(trace**2 / 4 - determinant, 0.0))
    assert np.mean(smallest < freedom / pair_factor(freedom, 0.05)) == pytest.approx(0.05, abs=0.004)


def test_a_pair_needs_a_wider_limit_than_one_value():
    assert pair_factor(7, 0.01) > variance_factor(7, 0.01) > 1


def test_a_correlation_is_that_around_the_means_of_the_arms():
    x = np.array([[1.0, 2.0, 3.0], [11.0, 12.0, 13.0]])
    assert share(x, x + np.array([[5.0], [-7.0]])) == pytest.approx(1.0)
    assert share(x, -x) == pytest.approx(-1.0)
    assert share(x, np.zeros((2, 3))) == 0.0


@pytest.mark.parametrize("rho", [0.0, 0.9])
@pytest.mark.parametrize("repeated", [1, 6])
def test_intervals_of_correlations_hold_what_they_say(rho, repeated):
    """Also if arms say the same six times over: that is no more than one arm tells. Of 400 intervals at 80 %, at least
    275 hold; were it exactly 80 %, fewer would with a probability of 1e-8."""
    rng, held = np.random.default_rng(2), 0
    for _ in range(400):
        one, other = rng.standard_normal((2, 1, 12))
        pair = np.stack([one, rho * one + np.sqrt(1 - rho**2) * other], axis=2).repeat(repeated, axis=0)
        known = estimate(lambda values: share(values[:, :, 0], values[:, :, 1]), pair).interval()
        held += known.low <= rho <= known.high
    assert held >= 275


def test_two_seeds_say_nothing_of_a_correlation():
    found = estimate(lambda values: share(values[:, :, 0], values[:, :, 1]), np.random.default_rng(0).random((6, 2, 2)))
    assert found.interval()[1:] == (-1.0, 1.0)
