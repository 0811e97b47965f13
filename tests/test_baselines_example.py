"""examples/baselines.py: the procedures do what their papers say, and err no more often than they may."""

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import beta, t

EXAMPLES = Path(__file__).parents[1] / "examples"
ALPHA = 0.1


@pytest.fixture(scope="module")
def baselines():
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLES)
        import baselines

        yield baselines
    del sys.modules["baselines"]


def reader(values):
    """(K, numbers) values, as the procedures want them."""
    return lambda arm, number: float(values[arm][number])


def slippage(rng, arms, gap, correlation):
    """The hardest case: all arms are behind the last by the same gap. Values are made as they are asked for."""
    shared, own = {}, {}

    def value(arm, number):
        if number not in shared:
            shared[number] = rng.standard_normal()
            own[number] = rng.standard_normal(arms)
        mean = gap if arm == arms - 1 else 0.0
        return mean + math.sqrt(correlation) * shared[number] + math.sqrt(1 - correlation) * own[number][arm]

    return value


def upper_limit(errors, runs):
    return beta.ppf(0.99, errors + 1, runs - errors)


@pytest.mark.parametrize("first", [2, 5, 10, 25])
@pytest.mark.parametrize("arms", [2, 5, 20])
def test_kim_nelson_solves_the_equation_of_the_paper(baselines, arms, first):
    """g(eta) = beta, where for c = 1 only one term of the paper's sum is left, with the weight 1 - 1/2."""
    for common, error in ((True, ALPHA / (arms - 1)), (False, 1 - (1 - ALPHA) ** (1 / (arms - 1)))):
        eta = baselines.slope(arms, ALPHA, first, common)
        assert 0.5 * (1 + 2 * eta) ** (-(first - 1) / 2) == pytest.approx(error)


def test_kim_nelson_by_hand(baselines):
    """Two arms, first = 3, alpha = .05, zone 1.

    beta = .05, so eta = ((.1)^-1 - 1) / 2 = 4.5 and h^2 = 2 * 4.5 * 2 = 18. The differences begin with 1, 2, 0: their
    variance is 1, and W(r) = (18 - r) / 2r. The sum of the differences must pass (18 - r) / 2: 7.5 at r = 3.
    """
    differences = [1, 2, 0, 1, 2, 0.4, 10]  # sums 1, 3, 3, 4, 6, 6.4, ...; bounds 7.5, 7, 6.5, 6, ... from r = 3 on
    values = [np.array(differences) + 5, np.full(7, 5.0)]
    assert baselines.slope(2, 0.05, 3, True) == pytest.approx(4.5)
    assert baselines.kim_nelson(reader(values), 2, 1.0, 0.05, first=3) == (0, 12)
    assert baselines.kim_nelson(reader(values[::-1]), 2, 1.0, 0.05, first=3) == (1, 12)


def test_kim_nelson_ends_when_the_triangle_does(baselines):
    """The region closes at r = h^2 S^2 / zone^2 = 18: then any difference decides."""
    differences = np.array([1, -1, 0, *[0.0] * 14, 0.001, 0, 0])
    assert baselines.kim_nelson(reader([differences, 0 * differences]), 2, 1.0, 0.05, first=3) == (0, 2 * 18)


def test_kim_nelson_needs_no_more_of_arms_it_has_dropped(baselines):
    """The third arm is out after the first stage; the other two go on as if it had never been there."""
    rng = np.random.default_rng(2)
    values = rng.standard_normal((3, 1000)) + np.array([[0.0], [0.5], [-50.0]])
    seen = []

    def value(arm, number):
        seen.append((arm, number))
        return values[arm, number]

    choice = baselines.kim_nelson(value, 3, 0.5, 0.05)
    assert choice.arm == 1
    assert choice.evaluations == len(seen) == len(set(seen))
    assert sum(arm == 2 for arm, _ in seen) == 10


@pytest.mark.parametrize(("common", "correlation"), [(False, 0.0), (True, 0.0), (True, 0.7)])
def test_kim_nelson_errs_at_most_alpha_in_the_slippage_configuration(baselines, common, correlation):
    rng = np.random.default_rng(3)
    runs, arms = 400, 4
    found = [
        baselines.kim_nelson(slippage(rng, arms, 0.7, correlation), arms, 0.7, ALPHA, 10, common) for _ in range(runs)
    ]
    errors = sum(choice.arm != arms - 1 for choice in found)
    assert errors > 0  # it is not so careful that it would waste evaluations
    assert upper_limit(errors, runs) < ALPHA


def test_common_random_numbers_make_kim_nelson_cheaper(baselines):
    rng = np.random.default_rng(4)
    costs = {
        correlation: np.mean(
            [baselines.kim_nelson(slippage(rng, 4, 0.2, correlation), 4, 0.2, ALPHA).evaluations for _ in range(20)]
        )
        for correlation in (0.0, 0.8)
    }
    assert costs[0.8] < 0.35 * costs[0.0]


def test_paired_t_by_hand(baselines):
    """Two arms, batches of 4, 3 looks, alpha .06: each look tests at .02, so t must pass 3.48 with 3 degrees."""
    assert t.ppf(0.98, 3) == pytest.approx(3.4819, abs=1e-4)
    clear = [np.array([2.0, 3.0, 2.0, 3.0]), np.zeros(4)]  # t = 2.5 / (.57735 / 2) = 8.66
    assert baselines.paired_t(reader(clear), 2, 0.06, batch=4, looks=3) == (0, 8)
    close = [
        np.tile([0.0, 3.0, -1.0, 3.0], 3),
        np.zeros(12),
    ]  # t = 1.21; 2.00 after 8, 2.59 after 12, where 2.33 is enough
    assert baselines.paired_t(reader(close), 2, 0.06, batch=4, looks=3) == (0, 24)


def test_paired_t_takes_the_best_mean_at_its_last_look(baselines):
    tied = [np.tile([0.0, 1.0], 10), np.tile([1.0, 0.5], 10)]
    assert baselines.paired_t(reader(tied), 2, 0.05, batch=5, looks=4) == (1, 40)


def test_paired_t_errs_at_most_alpha(baselines):
    rng = np.random.default_rng(5)
    runs, arms = 400, 4
    found = [baselines.paired_t(slippage(rng, arms, 0.4, 0.5), arms, ALPHA) for _ in range(runs)]
    errors = sum(choice.arm != arms - 1 for choice in found)
    assert upper_limit(errors, runs) < ALPHA


def test_equal_allocation_by_hand(baselines):
    """Two arms, first = 3, alpha .05: t is 2.92 with 2 degrees. Differences 1, 2, 0 have a variance of 1."""
    assert t.ppf(0.95, 2) == pytest.approx(2.91999, abs=1e-5)
    differences = [1, 2, 0, *[-1.0] * 6]
    values = [np.array(differences), np.zeros(9)]
    assert baselines.equal_allocation(reader(values), 2, 1.0, 0.05, first=3) == (1, 2 * 9)  # 8.53 are not enough
    assert baselines.equal_allocation(reader(values), 2, 3.0, 0.05, first=3) == (0, 2 * 3)


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_equal_allocation_errs_at_most_alpha_in_the_slippage_configuration(baselines, correlation):
    rng = np.random.default_rng(6)
    runs, arms = 400, 4
    found = [baselines.equal_allocation(slippage(rng, arms, 0.7, correlation), arms, 0.7, ALPHA) for _ in range(runs)]
    errors = sum(choice.arm != arms - 1 for choice in found)
    assert upper_limit(errors, runs) < ALPHA
