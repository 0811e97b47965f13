"""The parts that evidence is made of: laws, profiles, their minima, statistics and the fast exponential."""

from decimal import Decimal, localcontext
from functools import partial

import numpy as np
import pytest

from mfbai.kernels import laws, multimodal, profile
from mfbai.kernels.softmax import exp_into
from mfbai.kernels.stats import make_stats, record
from mfbai.model.families import Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from mfbai.model.problem import Problem
from support import naive
from support.cases import NAMES, kernel_inputs, random_case

VARIANCE = 0.3
FAMILY = {"gaussian": Gaussian(VARIANCE), "bernoulli": Bernoulli(), "poisson": Poisson(), "exponential": Exponential()}
CONVEX = [name for name in NAMES if name != "exponential"]
every_law = pytest.mark.parametrize("name", FAMILY)
both_signs = pytest.mark.parametrize("sign", [1.0, -1.0], ids=["as it is", "reflected"])


def law_of(name, sign=1.0):
    return FAMILY[name].law((1, 1), sign)


def exact_divergence(name, p, e):
    """d(p, p + e) with 60 digits."""
    with localcontext(prec=60):
        p, q = Decimal(p), Decimal(p) + Decimal(e)
        match name:
            case "gaussian":
                return float((p - q) ** 2 / (2 * Decimal(VARIANCE)))
            case "bernoulli":
                return float(p * (p / q).ln() + (1 - p) * ((1 - p) / (1 - q)).ln())
            case "poisson":
                return float(q - p + p * (p / q).ln())
        return float(p / q - 1 - (p / q).ln())


def shifts(name, rng):
    """(p, e) with shifts of every size, both ways, that leave p + e inside the range."""
    for _ in range(400):
        p = float(rng.uniform(0.01, 0.99) if name == "bernoulli" else 10 ** rng.uniform(-3, 3))
        room = min(p, 1 - p) if name == "bernoulli" else p
        yield p, float(rng.choice([-1, 1]) * room * 10 ** rng.uniform(-12, -0.001))


@both_signs
@every_law
def test_divergences_keep_full_precision(name, sign):
    """Down to shifts of 1e-12 of the mean the divergence is exact to about 15 digits."""
    for p, e in shifts(name, np.random.default_rng(1)):
        found = laws.divergence(law_of(name, sign), 0, 0, sign * p, sign * e)
        assert found == pytest.approx(exact_divergence(name, p, e), rel=2e-14, abs=0), (p, e)


@every_law
def test_the_plain_divergence_is_the_textbook_one(name):
    """What everything else is tested against is itself right."""
    for p, e in shifts(name, np.random.default_rng(2)):
        exact = exact_divergence(name, p, e)
        q = np.longdouble(p) + np.longdouble(e)
        found = float(naive.divergence(name, np.longdouble(p), q, np.longdouble(VARIANCE)))
        assert found == pytest.approx(exact, rel=1e-6, abs=2e-19), (p, e)  # times a million counts is still nothing


@both_signs
@every_law
def test_slopes_are_derivatives_of_the_divergence(name, sign):
    """First and second derivative agree with differences of the divergence and of the slope."""
    at = law_of(name, sign)
    for p, e in shifts(name, np.random.default_rng(3)):
        if abs(e) < 1e-3 * p:
            continue
        p, e, h = sign * p, sign * e, 1e-5 * min(abs(p + e), 1 - p - e if name == "bernoulli" and sign > 0 else np.inf)
        slope, bend = laws.slopes(at, 0, 0, p, e)
        by = [laws.divergence(at, 0, 0, p, e + h), laws.divergence(at, 0, 0, p, e - h)]
        assert slope == pytest.approx((by[0] - by[1]) / (2 * h), rel=1e-4)
        by = [laws.slopes(at, 0, 0, p, e + h)[0], laws.slopes(at, 0, 0, p, e - h)[0]]
        assert bend == pytest.approx((by[0] - by[1]) / (2 * h), rel=1e-4, abs=1e-6 * abs(slope / e))


@pytest.mark.parametrize(
    ("name", "p", "q", "expected"),
    [
        ("bernoulli", 0.0, 0.25, -np.log(0.75)),
        ("bernoulli", 1.0, 0.25, -np.log(0.25)),
        ("bernoulli", 0.0, 0.0, 0.0),
        ("bernoulli", 1.0, 1.0, 0.0),
        ("bernoulli", 0.5, 0.0, np.inf),
        ("bernoulli", 0.5, 1.0, np.inf),
        ("bernoulli", 0.0, 1.0, np.inf),
        ("poisson", 0.0, 2.5, 2.5),
        ("poisson", 0.0, 0.0, 0.0),
        ("poisson", 2.5, 0.0, np.inf),
        ("exponential", 2.5, 0.0, np.inf),
    ],
)
@both_signs
def test_divergences_take_their_limits_at_the_ends_of_the_range(name, p, q, expected, sign):
    """No successes, no events, and means that rule out what was seen."""
    assert laws.divergence(law_of(name, sign), 0, 0, sign * p, sign * (q - p)) == pytest.approx(expected, rel=1e-14)


@pytest.mark.parametrize(
    ("name", "p", "slope"), [("bernoulli", 0.0, 1.0), ("bernoulli", 1.0, -1.0), ("poisson", 0.0, 1.0)]
)
@both_signs
def test_the_slope_at_an_end_of_the_range_is_the_one_inwards(name, p, slope, sign):
    """A mean at the edge can only move one way, and its divergence starts off at once."""
    assert laws.slopes(law_of(name, sign), 0, 0, sign * p, 0.0)[0] == sign * slope


@both_signs
@every_law
def test_samples_have_the_mean_and_the_family(name, sign):
    """The mean of 4000 draws is within five standard errors, and every draw is a value that the family admits."""
    mean, rng = 0.4, np.random.default_rng(4)
    draws = sign * np.array([laws.sample(law_of(name, sign), rng, 0, 0, sign * mean) for _ in range(4000)])
    deviation = {"gaussian": VARIANCE, "bernoulli": mean * (1 - mean), "poisson": mean}.get(name, mean**2) ** 0.5
    assert abs(draws.mean() - mean) < 5 * deviation / 4000**0.5
    assert draws.std() == pytest.approx(deviation, rel=0.2)
    assert all(map(FAMILY[name].admits, draws))


@both_signs
def test_bounded_rewards_are_drawn_from_their_bounds(sign):
    """Least favourable: every draw is one of the two bounds, and the mean is right."""
    family, rng = SubGaussian(bounds=(-1.0, 3.0)), np.random.default_rng(5)
    at = family.law((1, 1), sign)
    draws = sign * np.array([laws.sample(at, rng, 0, 0, sign * 0.5) for _ in range(4000)])
    assert set(draws) == {-1.0, 3.0}
    assert abs(draws.mean() - 0.5) < 5 * 2 / 4000**0.5


def arms_and_places(name, rng, cases=60):
    """Arms of random cases with a top mean that is possible, as the kernels and as naive.py want them."""
    for _ in range(cases):
        case = random_case(rng, name, int(rng.integers(1, 7)))
        arms = naive.gather([case])
        for a in range(len(case.counts)):
            yield case, arms, a, float(rng.uniform(arms.lower[a], arms.upper[a]))


def g_of(arms, a, u):
    """g_a at the places u."""
    return naive.profile(arms, np.full(len(u), a), u[:, None])[:, 0]


@pytest.mark.parametrize("name", NAMES)
def test_profiles_are_sums_of_clipped_divergences(name):
    """g_a(x) is that of naive.py, from both of the functions that know it."""
    for case, arms, a, x in arms_and_places(name, np.random.default_rng(6)):
        expected = float(g_of(arms, a, np.array([x], dtype=np.longdouble))[0])
        model, counts, means = kernel_inputs(case)
        assert profile.profile(model, counts, means, a, x) == pytest.approx(expected, rel=1e-9, abs=1e-12)
        assert profile.expand(model, counts, means, a, x)[0] == pytest.approx(expected, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_expansions_hold_inside_their_piece(name):
    """Inside the piece that holds x, slope and curvature are those of differences of g."""
    checked = 0
    for case, _, a, x in arms_and_places(name, np.random.default_rng(7)):
        model, counts, means = kernel_inputs(case)
        value, left, right, curvature, below, above = profile.expand(model, counts, means, a, x)
        assert below <= x <= above
        room = min(x - below, above - x, x - model.top_low[a], model.top_high[a] - x, 1.0)
        h = 1e-4 * room
        if value == 0.0 or room < 1e-3 * abs(x):
            continue
        checked += 1
        up, down = (profile.expand(model, counts, means, a, x + step) for step in (h, -h))
        assert left == right == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-4, abs=1e-4 * abs(curvature) * room)
        assert curvature == pytest.approx((up[1] - down[1]) / (2 * h), rel=1e-4, abs=1e-4 * abs(left) / room)
    assert checked > 20


@pytest.mark.parametrize("name", CONVEX)
def test_the_minimum_does_not_depend_on_the_start(name):
    """From the ends of the range, from inside and from outside of it, the search ends at the least g."""
    for case, arms, a, x in arms_and_places(name, np.random.default_rng(8), cases=30):
        model, counts, means = kernel_inputs(case)
        low, high = float(arms.lower[a]), float(arms.upper[a])
        _, least = naive.golden_section(partial(g_of, arms, a), np.array([low]), np.array([high]))
        for start in (low, high, x, 0.0, low - 1.0):
            place, value = profile.minimise(model, counts, means, a, -1, low, high, start)
            assert low <= place <= high
            assert value == pytest.approx(float(least[0]), rel=1e-9, abs=1e-11), (case, a, start)


def nested_wells(rng, direction):
    """An exponential arm whose cells pull at scales far apart, so that its profile has a well for several of them."""
    M = 3
    sizes = 10.0 ** (1.0 - 3.0 * np.arange(M) + rng.uniform(-0.3, 0.3, size=M))  # the cells' means
    poles = np.concatenate([[0.0], np.cumsum(sizes[:-1] * rng.uniform(0.2, 0.4, size=M - 1))])
    means, biases = sizes[::-1], -poles[::-1]  # the top cell, the largest, has no bias
    problem = Problem(2, np.ones(M), (biases, biases), Exponential(), direction=direction)
    counts = np.ones((2, M)) * 4.0 ** (np.arange(M) + rng.uniform(-0.5, 0.5, size=M))
    return naive.Case(problem, counts, np.tile(means, (2, 1)), 0.0)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_the_global_search_misses_no_well(direction):
    """Every local minimum that a fine grid shows is found, and no better one exists."""
    rng, wells = np.random.default_rng(9), []
    for _ in range(40):
        case = nested_wells(rng, direction)
        model, counts, means = kernel_inputs(case)
        edge = float((-case.problem.bias_low[0]).max())
        x = edge + np.logspace(-8, 1.3, 20001)
        u = np.sort(case.problem.sign * x)
        g = g_of(naive.gather([case]), 0, u.astype(np.longdouble))
        xs, values, stack = np.zeros(24), np.zeros(24), np.zeros((2, multimodal.DEPTH))
        n = multimodal.local_minima(model, counts, means, 0, -1, u[0], u[-1], stack, xs, values, False)
        dips = np.flatnonzero((g[1:-1] < g[:-2]) & (g[1:-1] < g[2:])) + 1
        wells.append(len(dips))
        for k in dips:
            near = (u[k - 1] <= xs[:n]) & (xs[:n] <= u[k + 1])
            assert near.any()
            assert values[:n][near].min() == pytest.approx(float(g[k]), rel=1e-5)
            assert values[:n][near].min() <= g[k] * (1 + 1e-12)
        multimodal.local_minima(model, counts, means, 0, -1, u[0], u[-1], stack, xs[:1], values[:1], True)
        assert values[0] == pytest.approx(float(g.min()), rel=1e-5)
    assert max(wells) >= 3


def test_the_fast_exponential_is_exact():
    """exp_into is within a few units of the last place from 0 down to its cut at -500."""
    gain = -np.concatenate([np.linspace(0, 500, 9001), np.logspace(-300, 2, 999)]).reshape(100, 100)
    out, ones = np.empty_like(gain), np.ones_like(gain)
    exp_into(out, 1.0, gain, 0.0, ones)
    exact = np.exp(gain.astype(np.longdouble))
    assert float(abs(out / exact - 1).max()) < 5e-16
    exp_into(out, 0.5, gain - 3000.0, 1.0, 2.0 * ones)
    np.testing.assert_allclose(out, 2.0 * np.exp(-500.0), rtol=1e-15)


def test_records_add_up():
    """Counts, means, cost and steps are those of the evaluations told."""
    problem, rng = Problem(3, np.arange(1.0, 7.0).reshape(3, 2), [0.1, 0.0], Gaussian(1.0)), np.random.default_rng(10)
    stats, told = make_stats(problem.shape), {}
    for _ in range(300):
        cell, x = (int(rng.integers(3)), int(rng.integers(2))), float(rng.normal(5.0))
        told.setdefault(cell, []).append(x)
        record(problem.model(), stats, *cell, x)
    for cell, values in told.items():
        assert stats.count[cell] == len(values)
        assert stats.mean[cell] == pytest.approx(np.mean(values), rel=1e-13)
    assert stats.spent[0] == pytest.approx((stats.count * problem.costs).sum())
    assert stats.steps[0] == 300
