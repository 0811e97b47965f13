"""The evidence kernels against the brute force of naive.py, and the properties of F."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize

from mfbai.analysis.evidence import evidence
from mfbai.kernels import transport
from mfbai.model.families import Bernoulli, Exponential, Gaussian, Poisson
from mfbai.model.problem import Problem
from support import naive
from support.cases import NAMES, SCALE, kernel_inputs, random_case, random_means
from support.naive import Case

CASES_PER_FAMILY = 1020
CLOSE = {"rtol": 1e-9, "atol": 1e-12}
every_family = pytest.mark.parametrize("name", NAMES)
some_cases = given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(NAMES), M=st.integers(1, 6))
quick = settings(max_examples=60, deadline=None, derandomize=True)


@cache
def solved(name):
    """Random cases of a family with their brute-force solutions."""
    rng = np.random.default_rng(20240611)
    batches = [[random_case(rng, name, M) for _ in range(CASES_PER_FAMILY // 6)] for M in range(1, 7)]
    return [pair for cases in batches for pair in zip(cases, naive.solve(cases), strict=True)]


def evaluate(case, work=None):
    model, counts, means = kernel_inputs(case)
    return transport.evaluate(model, counts, means, work or transport.make_work(model))


def matrix_of(case):
    model, counts, means = kernel_inputs(case)
    matrix = np.empty((len(counts), len(counts)))
    transport.matrix(model, counts, means, transport.make_work(model), matrix)
    return matrix


@every_family
def test_every_pair_costs_what_brute_force_finds(name):
    """The matrix of all f_ij is that of the grid search, infinities and zeros included."""
    for case, solution in solved(name):
        np.testing.assert_allclose(matrix_of(case), solution.f, **CLOSE, err_msg=repr(case))


@every_family
def test_evidence_is_the_best_row_of_all_pairs(name):
    """F is max_i min_j f_ij, its leader attains it, and its challenger attains the leader's minimum."""
    for case, solution in solved(name):
        value, leader, challenger, _, _ = evaluate(case)
        rows = solution.f.min(axis=1)
        assert leader != challenger
        np.testing.assert_allclose(value, rows.max(), **CLOSE, err_msg=repr(case))
        assert np.isclose(rows[leader], rows.max(), **CLOSE), case
        np.testing.assert_allclose(solution.f[leader, challenger], rows[leader], **CLOSE, err_msg=repr(case))


@every_family
def test_evidence_is_attained_at_the_top_means_that_come_with_it(name):
    """Leader and challenger at their two top means are possible, far enough apart, and cost F."""
    checked = 0
    for case, _ in solved(name):
        value, leader, challenger, x, y = evaluate(case)
        if not np.isfinite([value, x, y]).all():  # no alternative at all, or arms without data: any mean will do
            continue
        checked += 1
        model, sign = case.problem.model(case.tolerance), case.problem.sign
        slack = 1e-12 * (1 + abs(x) + abs(y))
        assert y >= x + case.tolerance - slack
        assert model.top_low[leader] - slack <= x <= model.top_high[leader] + slack
        assert model.top_low[challenger] - slack <= y <= model.top_high[challenger] + slack
        each = naive.supergradient(case, {leader: sign * x, challenger: sign * y}) * case.problem.costs
        spent = (case.counts * np.where(case.counts > 0, each, 0.0)).sum()
        np.testing.assert_allclose(spent, value, rtol=1e-7, atol=1e-9, err_msg=repr(case))
    assert checked > 0.6 * CASES_PER_FAMILY


@every_family
def test_supergradient_is_the_slope_of_evidence_in_the_cost_shares(name):
    """Where differences to the left and right agree, they agree with the supergradient too."""
    checked = 0
    for case, _ in solved(name)[::8]:
        found = evidence(case.problem, case.counts, case.means, case.tolerance)
        if not 0 < found.value < np.inf:
            continue
        for cell in zip(*np.nonzero(case.counts), strict=True):
            step = np.zeros_like(case.counts)
            step[cell] = 1e-4 * case.counts[cell]
            right = evaluate(case._replace(counts=case.counts + step))[0] - found.value
            left = found.value - evaluate(case._replace(counts=case.counts - step))[0]
            if abs(right - left) > 1e-3 * abs(right + left):
                continue  # a kink, where pairs or minima swap
            checked += 1
            share = step[cell] * case.problem.costs[cell]
            slack = 1e-3 * abs(right) + 1e-13 * found.value
            assert abs(found.supergradient[cell] * share - (right + left) / 2) <= slack, (case, cell)
    assert checked > CASES_PER_FAMILY / 8


@every_family
def test_clipping_is_the_best_that_all_means_together_can_do(name):
    """A general solver over all 2M means, with the bias bounds as constraints, finds nothing better than f_ij."""
    rng = np.random.default_rng(5)
    for n in range(12):
        case = random_case(rng, name, M=1 + n % 3, K=2)
        case = case._replace(counts=rng.integers(1, 20, size=case.counts.shape).astype(float))
        f = naive.solve([case])[0].f[0, 1]
        found = least_over_all_means(case, rng)
        assert f <= found * (1 + 1e-6) + 1e-6
        if np.isfinite(found):
            assert found <= f * (1 + 1e-4) + 1e-4


def least_over_all_means(case, rng):
    """min sum count * d(mean, theta) over all theta (2, M) where arm 1 is better than arm 0 by the tolerance."""
    problem, shape, unit = case.problem, case.means.shape, abs(case.means).max()
    low, high = problem.family.mean_range[0] + 1e-9 * unit, problem.family.mean_range[1] - 1e-9 * unit
    variance = naive.variance_of(problem)

    def total(z):
        theta = np.clip(unit * z.reshape(shape), low, high)
        return float((case.counts * naive.divergence(problem.family.name, case.means, theta, variance)).sum())

    def slack(z):
        theta = z.reshape(shape)
        off = theta - theta[:, -1:]
        ahead = problem.sign * (theta[1, -1] - theta[0, -1]) - case.tolerance / unit
        bounds = off - problem.bias_low / unit, problem.bias_high / unit - off
        return np.concatenate([bounds[0].ravel(), bounds[1].ravel(), [ahead]])

    options = {
        "method": "SLSQP",
        "bounds": [(low / unit, high / unit)] * case.means.size,
        "constraints": {"type": "ineq", "fun": slack},
        "options": {"ftol": 1e-12, "maxiter": 500},
    }
    starts = [case.means * rng.uniform(0.5, 1.5, size=shape) for _ in range(8)]
    results = [optimize.minimize(total, (np.clip(start, low, high) / unit).ravel(), **options) for start in starts]
    return min((result.fun for result in results if slack(result.x).min() > -1e-8), default=np.inf)


HARD = {
    "a start where the slope is infinite": (Bernoulli(), 0.0, [[4], [4]], [[0.75], [0]], 0.0),
    "no curvature beyond zero counts": (Poisson(), 0.0, [[38], [42]], [[0.684], [0]], 0.836),
    "the range's end but for rounding": (
        Poisson(), ([-2.081466, 0], [-2.01345434, 0]), [[21, 43], [5, 2]], [[1.27, 1.56], [2.7, 2.1]], 0.0
    ),
    "a kink at the range's end but for rounding": (
        Poisson(), ([-2.34093557, 0], [-0.84963238, 0]), [[2, 2], [9, 3]], [[0, 0.864], [0, 1.653]], 0.42233629233
    ),
    "a minimum where the global search halves": (Exponential(), 0.0, [[2], [2]], [[1], [2.25]], 0.0),
    "a well among many false ones": (
        Exponential(), ([-3.627624, -3.622258, 0], [-3.627624, -3.622258, 0]),
        [[0, 0, 1e5], [1.19, 4.06, 17.3]], [[1, 1, 6.5], [1.16e-05, 1.49472e-02, 11.52198]], 0.0
    ),
    "no data": (Exponential(), ([-1, 0], [1, 0]), [[0, 0], [0, 0]], [[1, 1], [1, 1]], 0.5),
    "no admissible alternative": (Bernoulli(), 0.0, [[4], [4]], [[0.5], [0.2]], 1.5),
}  # fmt: skip


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize("which", HARD)
def test_hard_cases_are_solved(which, direction):
    """What once went wrong, or might: ends of the range, kinks, and minima in unlucky places."""
    family, biases, counts, means, tolerance = HARD[which]
    costs = np.ones(np.shape(means)[1])
    case = Case(
        Problem(2, costs, biases, family, direction=direction),
        np.array(counts, dtype=float),
        np.array(means, dtype=float),
        tolerance,
    )
    np.testing.assert_allclose(matrix_of(case), naive.solve([case])[0].f, **CLOSE)


@every_family
def test_a_warm_start_changes_nothing(name):
    """Evaluations that start where the last one ended, over data that drift and jump, equal cold ones."""
    rng = np.random.default_rng(8)
    for _ in range(40):
        case = random_case(rng, name, int(rng.integers(1, 7)))
        work = transport.make_work(case.problem.model(case.tolerance))
        for n in range(10):
            work.stale[:] = True
            work.floor[:] = 0.0
            cold, warm = evaluate(case), evaluate(case, work)
            np.testing.assert_allclose(warm[0], cold[0], **CLOSE, err_msg=repr(case))
            np.testing.assert_allclose(matrix_of(case)[warm[1]].min(), cold[0], **CLOSE, err_msg=repr(case))
            drift = case.counts + rng.integers(0, 3, size=case.counts.shape)
            moved = (case.means + case.means[rng.permutation(len(drift))] * 0.05) / 1.05
            jump = random_means(rng, name, SCALE.get(name, 1.0), case.problem.bias_low, case.problem.bias_high)
            case = case._replace(counts=drift, means=jump if n % 3 == 2 else moved)


@some_cases
@quick
def test_evidence_scales_with_the_weights(seed, name, M):
    """F is homogeneous of degree one in the counts."""
    rng = np.random.default_rng(seed)
    case, factor = random_case(rng, name, M), 10 ** rng.uniform(-3, 3)
    scaled = evaluate(case._replace(counts=factor * case.counts))[0]
    np.testing.assert_allclose(scaled, factor * evaluate(case)[0], **CLOSE)


@some_cases
@quick
def test_more_weight_at_the_same_means_is_more_evidence(seed, name, M):
    """F never falls when counts grow."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, name, M)
    more = case.counts + rng.integers(0, 20, size=case.counts.shape)
    assert evaluate(case._replace(counts=more))[0] >= evaluate(case)[0] * (1 - 1e-9) - 1e-12


@some_cases
@quick
def test_arms_can_be_listed_in_any_order(seed, name, M):
    """Permuting the arms permutes the matrix of all pairs, and with it leader and challenger."""
    rng = np.random.default_rng(seed)
    case = random_case(rng, name, M)
    order = rng.permutation(len(case.counts))
    moved = reshaped(case, lambda table: table[order])
    np.testing.assert_allclose(matrix_of(moved), matrix_of(case)[np.ix_(order, order)], **CLOSE)
    value, leader, _, _, _ = evaluate(moved)
    np.testing.assert_allclose(value, matrix_of(case)[order[leader]].min(), **CLOSE)


def reshaped(case, change, **problem):
    """The case with another order of arms, or reflected."""
    old = case.problem
    variance = getattr(old.family, "variance", None)
    family = Gaussian(change(np.asarray(variance))) if old.family.name == "gaussian" else old.family
    biases = problem.pop("biases", (change(old.bias_low), change(old.bias_high)))
    other = Problem(old.n_arms, change(old.costs), biases, family, direction=problem.get("direction", old.direction))
    return Case(other, change(case.counts), change(case.means), case.tolerance)


@given(seed=st.integers(0, 2**32 - 1), M=st.integers(1, 6), by=st.floats(-100, 100))
@quick
def test_gaussian_evidence_does_not_depend_on_the_origin(seed, M, by):
    """Adding a constant to all Gaussian means changes nothing."""
    case = random_case(np.random.default_rng(seed), "gaussian", M)
    moved = case._replace(means=case.means + by)
    value = evaluate(case)[0]
    assert evaluate(moved)[0] == pytest.approx(value, rel=1e-9, abs=1e-9 * case.counts.max())


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["gaussian", "bernoulli"]), M=st.integers(1, 6))
@quick
def test_minimising_is_maximising_in_the_mirror(seed, name, M):
    """The mirror image (x to -x, successes to failures) with the other direction has the same evidence."""
    case = random_case(np.random.default_rng(seed), name, M)
    other = {"maximise": "minimise", "minimise": "maximise"}[case.problem.direction]
    biases = -case.problem.bias_high, -case.problem.bias_low
    mirrored = reshaped(case, lambda table: table, direction=other, biases=biases)
    mirrored = mirrored._replace(means=1 - case.means if name == "bernoulli" else -case.means)
    slack = 1e-12 * (1 + case.counts.max())  # 1 - mean is rounded
    np.testing.assert_allclose(evaluate(mirrored)[0], evaluate(case)[0], rtol=1e-8, atol=slack)
