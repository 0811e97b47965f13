"""The evidence kernels against the brute force of naive.py, and the properties of F."""

from functools import cache

import naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Case
from scipy import optimize

from mfbai.errors import InvalidInput
from mfbai.families import FAMILIES, Gaussian, SubGaussian
from mfbai.kernels import transport
from mfbai.problem import Problem

NAMES = ["gaussian", "bernoulli", "poisson", "exponential"]
CASES_PER_FAMILY = 1200
CLOSE = {"rtol": 1e-9, "atol": 1e-12}


def random_case(rng, name, M, K=None):
    """A case of everything that may happen: few of them are data that a run would ever see."""
    K = K or rng.choice([2, 2, 3, 3, 4, 5, 8])
    scale = {"gaussian": 1.0, "bernoulli": 0.3, "poisson": 3.0}.get(name, 10.0 ** rng.choice([0, rng.uniform(-4, 4)]))
    rows = rng.choice([1, K])  # the same for every arm, or one for each
    low, high = np.sort(scale * rng.uniform(-1, 1, size=(2, rows, M)) * rng.choice([0.1, 1.0]), axis=0)
    if rng.random() < 0.5:
        low, high = -abs(high), abs(high)
    low[:, -1] = high[:, -1] = 0.0
    means = random_means(rng, name, scale, np.broadcast_to(low, (K, M)), np.broadcast_to(high, (K, M)))
    counts = np.ceil(10.0 ** rng.uniform(0, rng.choice([1, 2, 6]), size=(K, M)))
    counts[rng.random((K, M)) < rng.choice([0.0, 0.2])] = 0.0
    counts[rng.random(K) < rng.choice([0.0, 0.2])] = 0.0
    family = Gaussian(rng.choice([0.1, 1.0, 4.0], size=(rows, M)).repeat(K // rows, axis=0)) if name == "gaussian" else FAMILIES[name]()
    if rows == 1 and rng.random() < 0.3:
        copy = rng.integers(K, size=2)
        means[copy[0]], counts[copy[0]] = means[copy[1]], counts[copy[1]]
    tolerance = rng.choice([0.0, 0.0, scale * rng.uniform(0, 0.5)])
    costs = rng.uniform(0.1, 5.0, size=(K, M))
    try:
        biases = np.broadcast_to(low, (K, M)), np.broadcast_to(high, (K, M))
        problem = Problem(int(K), costs, biases, family, direction=str(rng.choice(["maximise", "minimise"])))
    except InvalidInput:  # biases that leave no Bernoulli mean
        return random_case(rng, name, M, K)
    return Case(problem, counts, means, float(tolerance))


def random_means(rng, name, scale, low, high):
    K, M = low.shape
    tops = rng.normal(size=(K, 1)) if name == "gaussian" else scale * rng.uniform(0.2, 2.5, size=(K, 1))
    within = tops + rng.uniform(low, high) + 0.01 * scale * rng.normal(size=(K, M))
    wild = tops[rng.permutation(K)] * rng.choice([1.0, 3.0]) * rng.uniform(0.1, 1.5, size=(K, M))
    means = [within, wild][rng.integers(2)]
    if name == "gaussian":
        return means
    extreme = rng.random((K, M)) < rng.choice([0.0, 0.3])
    if name == "bernoulli":
        return np.clip(np.where(extreme, np.round(means), means), 0.0, 1.0)
    if name == "poisson":
        return np.clip(np.where(extreme, 0.0, means), 0.0, None)
    return np.where(extreme, scale * 10.0 ** rng.uniform(-3, 3, size=(K, M)), np.maximum(means, 0.01 * scale))


@cache
def solved(name):
    """Random cases of a family with their brute-force solutions."""
    rng = np.random.default_rng(20240611)
    batches = [[random_case(rng, name, M) for _ in range(CASES_PER_FAMILY // 6)] for M in range(1, 7)]
    return [pair for cases in batches for pair in zip(cases, naive.solve(cases), strict=True)]


def kernel_inputs(case):
    return case.problem.model(case.tolerance), case.counts, case.problem.sign * case.means


def evaluate(case, work=None):
    model, counts, means = kernel_inputs(case)
    return transport.evaluate(model, counts, means, work or transport.make_work(model))


@pytest.mark.parametrize("name", NAMES)
def test_every_pair_costs_what_brute_force_finds(name):
    """The matrix of all f_ij is that of the grid search, infinities and zeros included."""
    for case, solution in solved(name):
        model, counts, means = kernel_inputs(case)
        matrix = np.empty_like(solution.f)
        transport.matrix(model, counts, means, transport.make_work(model), matrix)
        np.testing.assert_allclose(matrix, solution.f, **CLOSE, err_msg=repr(case))


@pytest.mark.parametrize("name", NAMES)
def test_evidence_is_the_best_row_of_all_pairs(name):
    """F is max_i min_j f_ij, its leader attains it, and its challenger attains the leader's minimum."""
    for case, solution in solved(name):
        value, leader, challenger, _, _ = evaluate(case)
        rows = solution.f.min(axis=1)
        ties = np.isclose(rows, rows.max(), **CLOSE)
        assert leader != challenger
        np.testing.assert_allclose(value, rows.max(), **CLOSE, err_msg=repr(case))
        assert ties[leader], case
        np.testing.assert_allclose(solution.f[leader, challenger], rows[leader], **CLOSE, err_msg=repr(case))


@pytest.mark.parametrize("name", NAMES)
def test_evidence_is_attained_at_the_top_means_that_come_with_it(name):
    """Leader and challenger at their two top means are possible, far enough apart, and cost F."""
    for case, _ in solved(name):
        value, leader, challenger, x, y = evaluate(case)
        if not np.isfinite([value, x, y]).all():  # no alternative at all, or arms without data: any mean will do
            continue
        model, sign = case.problem.model(case.tolerance), case.problem.sign
        slack = 1e-12 * (1 + abs(x) + abs(y))
        assert y >= x + case.tolerance - slack
        assert model.top_low[leader] - slack <= x <= model.top_high[leader] + slack
        assert model.top_low[challenger] - slack <= y <= model.top_high[challenger] + slack
        gradient = naive.supergradient(case, {leader: sign * x, challenger: sign * y})
        spent = np.where(case.counts > 0, gradient * case.counts * case.problem.costs, 0.0).sum()
        np.testing.assert_allclose(spent, value, rtol=1e-7, atol=1e-9, err_msg=repr(case))
