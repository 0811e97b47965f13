"""What bets prove about arms, against the brute force of naive_e_values.py."""

from functools import cache
from math import comb, exp, inf

import numpy as np
import pytest

import mfbai
from mfbai.errors import InvalidInput
from mfbai.kernels import e_values, transport
from mfbai.kernels.stats import make_stats
from mfbai.model.families import FAMILIES, Gaussian, SubGaussian
from mfbai.model.problem import Problem
from support import naive_e_values
from support.naive import Case

NAMES = ["gaussian", "subgaussian", "bernoulli", "poisson", "exponential"]
CASES = 120
CLOSE = 0.02  # nats
every_family = pytest.mark.parametrize("name", NAMES)


def random_case(rng, name):
    """Two arms, far apart, close or tied, with data that fit the bounds or do not; some cells without."""
    K, M = 2, int(rng.integers(1, 5))
    unit = {"gaussian": 1.0, "subgaussian": 0.5, "bernoulli": 0.3}.get(name, float(rng.choice([0.05, 1.0, 20.0])))
    low = -unit * rng.uniform(0, 0.5, size=(K, M)) * rng.choice([0.0, 0.2, 1.0])
    high = unit * rng.uniform(0, 0.5, size=(K, M)) * rng.choice([0.0, 0.2, 1.0])
    low[:, -1] = high[:, -1] = 0.0
    tops = unit * (1 + rng.choice([0.05, 0.3, 0.6]) * rng.uniform(-1, 1, size=(K, 1)))
    if rng.random() < 0.2:
        tops[:] = tops[0]
    counts = np.ceil(10.0 ** rng.uniform(0, rng.choice([1, 2.5, 4]), size=(K, M)))
    means = tops + rng.uniform(low, high) + unit * rng.normal(size=(K, M)) * rng.choice([0.0, 1.0]) / np.sqrt(counts)
    if rng.random() < 0.4:
        means += unit * rng.uniform(-0.5, 0.5, size=(K, M))
    counts[rng.random((K, M)) < rng.choice([0.0, 0.3])] = 0.0
    if name == "gaussian":
        family = Gaussian(unit**2 * rng.choice([0.1, 1.0, 4.0], size=(K, M)))
    else:
        family = SubGaussian(bounds=(-0.5, 1.5)) if name == "subgaussian" else FAMILIES[name]()
    means = np.clip(means, *np.clip(family.mean_range, 1e-3 * unit if name == "exponential" else -inf, inf))
    extreme = rng.random((K, M)) < rng.choice([0.0, 0.2])
    if name in ("bernoulli", "poisson"):
        means = np.where(extreme, np.round(means), means)
    tolerance = float(rng.choice([0.0, 0.0, 0.1 * unit]))
    direction = str(rng.choice(["maximise", "minimise"]))
    try:
        problem = Problem(K, np.ones(M), (low, high), family, direction=direction)
    except InvalidInput:  # biases that leave no possible mean
        return random_case(rng, name)
    return Case(problem, counts, means, tolerance)


@cache
def solved(name):
    """Random cases with (K, K) ln E by brute force."""
    rng = np.random.default_rng(31)
    cases = [random_case(rng, name) for _ in range(CASES)]
    return [(case, naive_e_values.Claims(*case).evidence()) for case in cases]


def kernel_inputs(case):
    model, stats = case.problem.model(case.tolerance), make_stats(case.counts.shape)
    stats.count[:], stats.mean[:] = case.counts, case.problem.sign * case.means
    return model, stats


def evidence_of(case, kernel=e_values.against, target=-inf):
    """(K, K) by a kernel, from the start that the package would use."""
    model, stats = kernel_inputs(case)
    K = len(case.counts)
    work, claim, table = transport.make_work(model), e_values.make_work(), np.full((K, K), inf)
    for arm in range(K):
        transport.fit(model, stats.count, stats.mean, arm, work)
    for i in range(K):
        for j in range(K):
            if i != j:
                start = transport.pair(model, stats.count, stats.mean, i, j, work.psi[i], work)[1]
                start = start if np.isfinite(start) else 0.0
                if kernel is e_values.search:
                    table[i, j] = e_values.search(model, stats, i, j, -1, start, target, claim)[0]
                else:
                    table[i, j] = kernel(model.law, model, stats, i, j, start, target, claim)[0]
    return table


def assert_just_below(pairs):
    """Never above, for a proof must hold. Close where it matters, but for a few: the search for other families than the
    Gaussian ends at the edges of an interval that may be too short for few data; far beyond any target, at 400 parts.

    pairs: (found, expected, what to tell).
    """
    far = 0
    for found, expected, what in pairs:
        slack = 1e-9 * (1 + abs(expected)) if np.isfinite(expected) else 0.0
        assert found <= expected + slack, (found, expected, what)
        if 1.0 < expected < 100.0:
            assert found >= expected - 0.25, (found, expected, what)
            far += found < expected - CLOSE
        elif expected > 100.0:
            assert found >= expected * (1 - 1e-3), (found, expected, what)
    assert far <= 0.02 * len(pairs)
    assert sum(1.0 < expected < 100.0 for _, expected, _ in pairs) >= 1  # or there was nothing to see


def both_ways(case, found, expected):
    return [(found[i, j], expected[i, j], case) for i, j in ((0, 1), (1, 0))]


@every_family
def test_evidence_is_just_below_what_brute_force_finds(name):
    pairs = [pair for case, expected in solved(name) for pair in both_ways(case, evidence_of(case), expected)]
    assert_just_below(pairs)
    if name in naive_e_values.GAUSSIAN:
        with_data = [pair for pair in pairs if pair[2].counts.any(axis=1).all()]
        assert all(found >= expected - CLOSE for found, expected, _ in with_data)


@pytest.mark.parametrize("name", ["gaussian", "subgaussian"])
def test_the_search_for_every_family_agrees_with_newton(name):
    solutions = [(case, evidence_of(case, e_values.search), expected) for case, expected in solved(name)]
    assert_just_below([pair for solution in solutions for pair in both_ways(*solution)])


@every_family
def test_a_target_is_reached_if_the_evidence_is(name):
    """Up to 0.02 nats; and a value at or above the target is proven."""
    for case, expected in solved(name):
        for target in (0.5, 3.0, 9.0):
            found = evidence_of(case, target=target)
            reached = found >= target
            assert (expected[reached] >= target - 1e-9).all(), case
            assert (found[reached] <= expected[reached] + 1e-9 * (1 + abs(expected[reached]))).all(), case
            assert reached[expected >= target + CLOSE].all(), case


@every_family
def test_evidence_of_bets_is_no_more_than_that_of_likelihoods(name):
    """ln E_ij <= f_ij: nothing needs to be computed while f is too small."""
    strict = 0
    for case, expected in solved(name):
        f = mfbai.evidence(case.problem, case.counts, case.means, case.tolerance).matrix
        for table in (expected, evidence_of(case)):
            finite = np.isfinite(f)
            assert (table[finite] <= f[finite] * (1 + 1e-9) + 1e-9).all(), case
        strict += (expected[np.isfinite(f)] > 0.5).sum()
    assert strict > CASES / 20  # or there was nothing to see


@every_family
def test_any_start_finds_the_same(name):
    """From places far away, for pairs with some evidence."""
    pairs = []
    for case, expected in solved(name)[::2]:
        model, stats = kernel_inputs(case)
        claim = e_values.make_work()
        unit = abs(case.means).max()
        for i, j in np.argwhere(np.isfinite(expected) & (expected > 0.5)):
            for start in (-30 * unit, -unit, 0.0, 2 * unit, 30 * unit):
                found = e_values.against(model.law, model, stats, i, j, start, -inf, claim)[0]
                pairs.append((found, expected[i, j], (case, i, j, start)))
    assert_just_below(pairs)


@every_family
def test_contradictions_are_just_below_what_brute_force_finds(name):
    """Of all cells of an arm, and of each with the top."""
    pairs = []
    for case, _ in solved(name)[::2]:
        model, stats = kernel_inputs(case)
        slow, claim, work = naive_e_values.Claims(*case), e_values.make_work(), transport.make_work(model)
        for arm in range(len(case.counts)):
            transport.fit(model, stats.count, stats.mean, arm, work)
            start = float(np.clip(0.0, work.psi_low[arm], work.psi_high[arm]))
            for only in range(-1, case.counts.shape[1] - 1):
                found = e_values.search(model, stats, arm, -1, only, start, -inf, claim)[0]
                pairs.append((found, slow.least_clash(arm, None if only < 0 else only), (case, arm, only)))
    assert_just_below(pairs)


@every_family
def test_every_x_that_the_hypothesis_allows_has_more_evidence(name):
    """The proof needs ln E_ij at the true top mean of i to be no less, wherever the hypothesis may put it."""
    rng = np.random.default_rng(7)
    for case, _ in solved(name)[::3]:
        slow, table = naive_e_values.Claims(*case), evidence_of(case)
        for i, j in np.argwhere(np.isfinite(table)):
            low, high = max(slow.least[i], -1e3), min(slow.most[j] - case.tolerance, 1e3)
            u = np.concatenate([rng.uniform(low, high, 50), [low, high]])
            assert (slow.pair(i, j, u) >= table[i, j] - 1e-9 * (1 + abs(table[i, j]))).all()


def test_no_admissible_alternative_is_certain():
    """A tolerance that no model can bridge leaves no x: the evidence is infinite."""
    problem = Problem(2, [1.0], [0.0], FAMILIES["bernoulli"]())
    case = Case(problem, np.array([[4.0], [4.0]]), np.array([[0.5], [0.2]]), 1.5)
    assert (evidence_of(case) == inf).all()


@every_family
def test_arms_without_data_prove_nothing(name):
    case = solved(name)[0][0]
    empty = case._replace(counts=np.zeros_like(case.counts))
    assert evidence_of(empty)[~np.eye(len(case.counts), dtype=bool)] == pytest.approx(0.0, abs=1e-12)


def test_the_mixture_at_the_truth_is_a_supermartingale():
    """Two cells of two Bernoulli arms, tied at the edge of their bounds: the exact mean of E_ij at the truth is 1
    after these numbers of evaluations, and that of E_ij, a minimum, is less."""
    problem = Problem(2, [0.1, 1.0], [0.2, 0.0], FAMILIES["bernoulli"]())
    truth = np.array([[0.7, 0.5], [0.3, 0.5]])  # arm 0 looks as good as it may, arm 1 as bad
    counts = np.array([[4.0, 2.0], [3.0, 2.0]])
    at_truth = least = 0.0
    for cell in np.ndindex(5, 3, 4, 3):
        successes = np.array(cell, dtype=float).reshape(2, 2)
        share = np.prod([binomial(n, s, p) for n, s, p in zip(counts.flat, cell, truth.flat, strict=True)])
        case = Case(problem, counts, successes / counts, 0.0)
        at_truth += share * exp(naive_e_values.Claims(*case).pair(0, 1, 0.5)[0])
        least += share * exp(evidence_of(case)[0, 1])
    assert at_truth == pytest.approx(1.0, abs=1e-9)
    assert least < 1.0


def binomial(n, s, p):
    return comb(int(n), int(s)) * p**s * (1 - p) ** (n - s)
