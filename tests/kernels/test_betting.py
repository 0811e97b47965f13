"""The bets on single cells: their values, and that no wrong claim gains by them."""

from math import exp, inf, log, sqrt

import numpy as np
import pytest
from scipy import integrate, stats

from mfbai.kernels import betting
from mfbai.model.families import Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from support import naive, naive_e_values
from support.naive_e_values import NODE_WEIGHTS, NODES, SCALES

TILTED = {"bernoulli": Bernoulli(), "poisson": Poisson(), "exponential": Exponential()}
FAMILIES = {"gaussian": Gaussian([[0.3, 2.0]]), "subgaussian": SubGaussian(bounds=(-0.5, 1.5)), **TILTED}
MEANS = {  # of data, and of claims
    "gaussian": ([-40.0, -1.0, 0.0, 0.1, 3.0], [-50.0, -1.001, 0.0, 0.2, 60.0]),
    "subgaussian": ([-0.5, 0.2, 1.5], [-0.7, -0.5, 0.21, 1.5, 2.0]),
    "bernoulli": ([0.0, 0.01, 0.5, 0.999, 1.0], [-0.5, 0.0, 1e-9, 0.3, 0.51, 1 - 1e-9, 1.0, 1.5]),
    "poisson": ([0.0, 0.3, 7.0, 900.0], [-2.0, 0.0, 1e-9, 0.31, 8.0, 1000.0]),
    "exponential": ([1e-6, 0.3, 7.0, 900.0], [-2.0, 0.0, 1e-3, 0.31, 8.0, 1e5]),
}
COUNTS = [0.3, 1.0, 7.0, 1000.0, 2.5e5, 1e9]
every_family = pytest.mark.parametrize("name", FAMILIES)
every_tilted = pytest.mark.parametrize("name", TILTED)
both_signs = pytest.mark.parametrize("sign", [1.0, -1.0])


def capital(law, count, mean, q, side, scale, fidelity=1):
    with np.errstate(all="ignore"):
        return betting.capital(law, 0, fidelity, count, mean, q, float(side), scale)


def variance_of(name, fidelity=1):
    return {"gaussian": [0.3, 2.0][fidelity], "subgaussian": 1.0}.get(name, 1.0)


def cases(name):
    means, claims = MEANS[name]
    return [(n, p, q) for n in COUNTS for p in means for q in claims]


@every_family
@both_signs
def test_a_capital_is_what_its_definition_says(name, sign):
    """At every scale, for both claims, in both directions of the problem, few data and many."""
    law = FAMILIES[name].law((1, 2), sign)
    for count, mean, q in cases(name):
        for up in (True, False):
            expected = naive_e_values.capitals(name, count, mean, q, up, variance_of(name))[:, 0]
            side = sign if up else -sign
            found = [capital(law, count, sign * mean, sign * q, side, k) for k in range(len(SCALES))]
            slack = (
                1e-6 if name in naive_e_values.GAUSSIAN else 1e-9 + 1e-15 * count
            )  # beyond 24 deviations, and rounding
            np.testing.assert_allclose(found, expected, rtol=1e-9, atol=slack, err_msg=f"{count}, {mean}, {q}, {up}")


@pytest.mark.parametrize("count", [0.5, 1.0, 30.0, 1e4, 1e7])
@pytest.mark.parametrize("z", [-1e4, -200.0, -24.001, -23.999, -3.0, 0.0, 0.5, 8.0, 23.999, 24.001, 1e3])
def test_a_gaussian_capital_is_an_integral_over_drifts(count, z):
    """For both variances of the law, on both sides of where the kernel changes its formula."""
    for scale, rho in enumerate(SCALES):
        for fidelity, variance in enumerate([0.3, 2.0]):
            distance = z * sqrt(variance * (count + rho)) / count
            expected = naive_e_values.integrated(count, 0.2 + distance, 0.2, True, rho, variance)
            law = FAMILIES["gaussian"].law((1, 2))
            found = capital(law, count, 0.2 + distance, 0.2, 1, scale, fidelity)
            slack = 1e-8 if z > -24 else 1e-6  # there it is "a little too little"
            assert found == pytest.approx(expected, rel=1e-8, abs=slack)
            assert z > -24 or found <= expected + 1e-12
            assert capital(law, count, 0.2 - distance, 0.2, -1, scale, fidelity) == pytest.approx(
                found, rel=1e-8, abs=1e-8
            )


def test_gaussian_derivatives_are_those_of_the_value():
    """By differences, wherever ln E bends at all; on the far wrong side it must at least not bend down much."""
    for count, rho, z in [(5.0, 4.0, z) for z in np.linspace(-20, 30, 101)] + [(1e4, 32.0, 1.0), (0.5, 16384.0, -2.0)]:
        rise = count / sqrt(0.7 * (count + rho))
        step = 1e-4 / rise
        values = [betting.half_normal(count, 1 / 0.7, z / rise + n * step, rho)[0] for n in (-1, 0, 1)]
        _, slope, bend = betting.half_normal(count, 1 / 0.7, z / rise, rho)
        assert slope == pytest.approx((values[2] - values[0]) / (2 * step), rel=1e-5, abs=1e-7 * rise)
        assert bend == pytest.approx((values[2] - 2 * values[1] + values[0]) / step**2, rel=1e-3, abs=1e-4 * rise**2)


@both_signs
@pytest.mark.parametrize("side", [1, -1])
def test_infinite_claims_have_the_limits_as_capitals(sign, side):
    """Who says "above -inf" or "below inf" wins what the family allows; the opposite loses all but the cash."""
    cash = log(0.3)
    for scale, rho in enumerate(SCALES):
        tilts = NODES / sqrt(rho)
        win = {
            "gaussian": inf,
            "bernoulli": log(
                0.3 + 0.7 * (NODE_WEIGHTS * np.exp(2 * tilts * 10 * (0.7 if sign * side > 0 else 0.3))).sum()
            ),
            "poisson": log(0.3 + 0.7 * (NODE_WEIGHTS * np.exp(tilts * 7.0)).sum()) if sign * side > 0 else inf,
            "exponential": inf if sign * side > 0 else log(0.3 + 0.7 * (NODE_WEIGHTS * np.exp(tilts * 10)).sum()),
        }
        lose = {"bernoulli": None, "exponential": None, "gaussian": cash, "poisson": cash}
        if sign * side < 0:  # "below 0": successes say no
            lose["poisson"] = log(0.3 + 0.7 * (NODE_WEIGHTS * np.exp(-tilts * 7.0)).sum())
            lose["exponential"] = cash
        for name, expected in win.items():
            law = FAMILIES[name].law((1, 2), sign)
            assert capital(law, 10.0, sign * 0.7, -side * inf, side, scale) == pytest.approx(expected)
            found = capital(law, 10.0, sign * 0.7, side * inf, side, scale)
            assert found < 0
            if lose[name] is not None:
                assert found == pytest.approx(lose[name])


@every_tilted
@both_signs
def test_the_exponent_is_the_likelihood_ratio_of_a_tilted_law(name, sign):
    law = TILTED[name].law((1, 1), sign)
    for q in {"bernoulli": [0.01, 0.4, 0.97]}.get(name, [0.01, 0.4, 30.0]):
        for tilt in (-3.0, -0.2, 0.01, 1.5):
            unit = 2 if name == "bernoulli" else 1
            expected = naive_e_values.likelihood_ratio(name, 12.0, 0.3, q, unit * tilt)
            assert betting.exponent(law, 12.0, sign * 0.3, sign * q, sign * tilt) == pytest.approx(
                float(expected), rel=1e-10
            )


@every_tilted
@both_signs
def test_no_wrong_claim_gains_by_a_tilt(name, sign):
    """One more value multiplies a tilt's bet by a factor of mean 1 at q, and of 1 at most on the wrong side of q.

    The expectation is exact: a sum, or an integral.
    """
    law = TILTED[name].law((1, 1), sign)
    for q in {"bernoulli": [1e-3, 0.3, 0.8, 1.0]}.get(name, [1e-2, 0.7, 12.0]):
        for node in NODES[[0, 5, 11, 15]]:
            for rho in (0.5, 32.0, 16384.0):
                for up in (True, False):
                    tilt = (1 if up else -1) * node / sqrt(rho)

                    def factor(x, q=q, tilt=tilt):
                        return betting.exponent(law, 1.0, sign * x, sign * q, sign * tilt)

                    assert expected_factor(name, factor, q) == pytest.approx(1.0, abs=1e-9)
                    wrong = [0.0, 0.3 * q, 0.99 * q] if up else [1.01 * q, 2 * q, q + 5]
                    for mean in wrong:
                        if name != "bernoulli" or mean <= 1:
                            assert expected_factor(name, factor, mean) <= 1 + 1e-9


def expected_factor(name, factor, mean):
    """E exp(factor(X)) for X of the given mean."""
    match name:
        case "bernoulli":
            return (1 - mean) * exp(factor(0.0)) + mean * exp(factor(1.0))
        case "poisson":
            slope = factor(1.0) - factor(0.0)  # in x: it is linear
            x = np.arange(int(mean * exp(max(slope, 0)) * 2 + 400))
            return float(np.exp(stats.poisson.logpmf(x, mean) + factor(0.0) + slope * x).sum())
        case "exponential":
            if mean == 0:
                return exp(factor(0.0))
            slope = factor(1.0) - factor(0.0)
            rate = 1 / mean - slope  # of the product; it must converge
            assert rate > 0
            return integrate.quad(lambda y: exp(factor(0.0) - y) / (mean * rate), 0, inf)[0]
    raise AssertionError(name)


def test_no_wrong_claim_gains_by_a_gaussian_bet():
    """The whole capital after one value, whose mean is on the wrong side, is at most 1 on average; 1 at q itself."""
    law = FAMILIES["gaussian"].law((1, 2))
    for scale in range(len(SCALES)):
        for off in (0.0, -0.1, -2.0):

            def capital_times_density(x, scale=scale, off=off):
                return exp(capital(law, 1.0, x, 0.4, 1, scale) + stats.norm.logpdf(x, 0.4 + off, sqrt(2.0)))

            total = integrate.quad(capital_times_density, -40, 60, limit=400, points=[0.0, 5.0])[0]
            assert total == pytest.approx(1.0, abs=1e-7) if off == 0 else total < 1


def test_no_wrong_claim_gains_by_a_bet_on_bounded_values():
    """The two bounds are the least favourable values: their average capital is 1 at most, after one and after two."""
    law = FAMILIES["subgaussian"].law((1, 2))
    for scale in range(len(SCALES)):
        for q in (-0.5, -0.2, 0.5, 1.3):
            for mean in (-0.5, q - 0.3, q):
                share = (mean + 0.5) / 2
                if share < 0:
                    continue
                for n in (1, 2, 9):
                    successes = np.arange(n + 1)
                    values = [exp(capital(law, n, 2 * s / n - 0.5, q, 1, scale)) for s in successes]
                    assert stats.binom.pmf(successes, n, share) @ values <= 1 + 1e-12


@every_family
@both_signs
def test_a_capital_falls_as_its_claim_gets_bolder(name, sign):
    """In q, on a grid that leaves the family's range."""
    law = FAMILIES[name].law((1, 2), sign)
    low, high = {"bernoulli": (-0.2, 1.2), "subgaussian": (-1.0, 2.0), "gaussian": (-30.0, 30.0)}.get(
        name, (-1.0, 30.0)
    )
    qs = sign * np.linspace(low, high, 400)[:: int(sign)]
    for count, mean in [(1.0, 0.2), (0.5, 0.9), (300.0, 0.5), (1e7, 0.51)]:
        for scale in range(len(SCALES)):
            for side in (1, -1):
                values = np.array([capital(law, count, sign * mean, q, side, scale) for q in qs])
                steps = np.diff(values[np.isfinite(values)])
                slack = 1e-12 * (1 + abs(values[np.isfinite(values)]).max())
                assert (-side * steps >= -slack).all(), (count, mean, scale, side)


@every_family
@both_signs
def test_a_capital_is_no_more_than_the_likelihood_ratio_allows(name, sign):
    """ln E <= count * d(mean, q) on the claimed side of q, and <= 0 on the other."""
    law = FAMILIES[name].law((1, 2), sign)
    for count, mean, q in cases(name):
        inside = q if name == "subgaussian" else min(max(q, FAMILIES[name].mean_range[0]), FAMILIES[name].mean_range[1])
        rounding = 1e-9 + 1e-15 * count
        most = count * float(naive.divergence(name, np.float64(mean), np.float64(inside), variance_of(name)))
        for side in (1, -1):
            claimed = side * sign * (mean - inside) > 0
            for scale in range(len(SCALES)):
                found = capital(law, count, sign * mean, sign * q, side, scale)
                assert found <= (most * (1 + 1e-12) if claimed else 0.0) + rounding, (count, mean, q, side, scale)


def test_gaussian_evidence_is_convex_in_the_top_mean():
    """A sum of ln E of cells that bet up and of cells that bet down has no negative second difference."""
    rng = np.random.default_rng(4)
    law = FAMILIES["gaussian"].law((1, 2))
    for _ in range(40):
        counts, means, sides = 10 ** rng.uniform(0, 5, size=4), rng.normal(size=4), rng.choice([1, -1], size=4)
        x = np.linspace(*np.sort(rng.normal(scale=3, size=2)), 60)
        for scale in range(len(SCALES)):
            total = sum(
                np.array([capital(law, n, mean, q, side, scale) for q in x])
                for n, mean, side in zip(counts, means, sides, strict=True)
            )
            assert (np.diff(total, 2) >= -1e-11 * (1 + abs(total[1:-1]))).all()


def test_weights_and_scales_are_as_stated():
    """Both mixtures have a mass of 1: a capital starts at 1."""
    assert np.exp(betting.LOG_WEIGHTS).sum() == pytest.approx(1.0, abs=1e-14)
    assert np.exp(betting.LOG_NODE_WEIGHTS).sum() == pytest.approx(1.0, abs=1e-14)
    assert betting.SCALES.tolist() == SCALES
    np.testing.assert_allclose(np.exp(betting.LOG_WEIGHTS), naive_e_values.WEIGHTS)
    np.testing.assert_allclose(betting.NODES, NODES)
    np.testing.assert_allclose(np.exp(betting.LOG_NODE_WEIGHTS), NODE_WEIGHTS)
    for name, family in FAMILIES.items():
        law = family.law((1, 2))
        for scale in range(len(SCALES)):
            assert capital(law, 0.0, 0.5, 0.7, 1, scale) == pytest.approx(0.0, abs=1e-14), name
