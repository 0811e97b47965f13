"""examples/baselines.py: the procedures do what their papers say, and err no more often than they may."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import beta, binomtest, norm, t

from support.programs import load

ALPHA = 0.1


@pytest.fixture(scope="module")
def baselines():
    return load("examples/baselines.py")


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


@pytest.mark.parametrize(("arms", "quantile"), [(2, 1.833), (3, 2.262), (6, 2.821), (11, 3.250)])
def test_equal_allocation_takes_its_quantiles_from_the_table_of_student(baselines, arms, quantile):
    """Of any textbook, for nine degrees of freedom and the tails .05, .025, .01 and .005: .05 / (arms - 1) here."""
    values = np.zeros((arms, 50))
    values[0, :10] = np.tile([1, -1], 5) * math.sqrt(0.9)  # a variance of 1
    n = math.ceil(quantile**2 / 0.5**2)
    assert baselines.equal_allocation(reader(values), arms, 0.5, 0.05).evaluations == arms * n


@pytest.mark.parametrize("correlation", [0.0, 0.7])
def test_equal_allocation_errs_at_most_alpha_in_the_slippage_configuration(baselines, correlation):
    rng = np.random.default_rng(6)
    runs, arms = 400, 4
    found = [baselines.equal_allocation(slippage(rng, arms, 0.7, correlation), arms, 0.7, ALPHA) for _ in range(runs)]
    errors = sum(choice.arm != arms - 1 for choice in found)
    assert upper_limit(errors, runs) < ALPHA


def test_successive_halving_by_hand(baselines):
    """Five arms, a budget of 30, three rounds of 10: 2 values each of five arms, 3 of three, 5 of two."""
    values = [
        [9, 9, 0, 0, 0, 0, 0, 0, 0, 0],  # 18 in all
        [1, 1, 3, 3, 3, 1, 1, 1, 1, 1],  # 11 after two rounds
        [2, 1, 4, 4, 4, 0.8, 0.8, 0.8, 0.8, 0.8],  # 15 after two rounds, 19 in all
        [1, 0],
        [0, 0],
    ]
    assert baselines.successive_halving(reader(values), 5, 30) == (2, 10 + 9 + 10)
    # The first arm has nothing but its first round: if that is forgotten, the others meet in the last one, 5 to 4.
    assert baselines.successive_halving(reader(values), 5, 30, keep=False) == (1, 10 + 9 + 10)


@pytest.mark.parametrize("arms", range(2, 18))
def test_successive_halving_ends_with_one_arm_within_its_budget(baselines, arms):
    rounds = math.ceil(math.log2(arms))
    for budget in (arms * rounds, arms * rounds + 1, 500):
        seen = []
        choice = baselines.successive_halving(lambda arm, number: seen.append((arm, number)) or arm, arms, budget)  # noqa: B023
        assert choice == (arms - 1, len(set(seen)))
        assert len(seen) == choice.evaluations <= budget


def test_successive_halving_evaluates_all_arms_even_without_a_budget(baselines):
    assert baselines.successive_halving(lambda arm, number: -arm, 4, 1) == (0, 4 + 2)


def test_successive_halving_errs_as_often_as_the_normal_distribution_says(baselines):
    """Four arms, the best ahead of all others by .5, a budget of 40: 5 values of each, then 10 of the better two.

    If nothing is kept the rounds are independent. In the first, one of the other three means may be ahead.
    """
    gap, runs = 0.5, 3000

    def below(x):
        return norm.cdf(x + gap * math.sqrt(5))

    first, _ = quad(lambda x: norm.pdf(x) * (below(x) ** 3 + 3 * below(x) ** 2 * (1 - below(x))), -8, 8)
    right = first * norm.cdf(gap * math.sqrt(10 / 2))
    rng = np.random.default_rng(7)
    tables = rng.standard_normal((runs, 4, 15)) + np.array([[0.0], [0.0], [0.0], [gap]])
    found = [baselines.successive_halving(reader(values), 4, 40, keep=False) for values in tables]
    assert {choice.evaluations for choice in found} == {40}
    hits = sum(choice.arm == 3 for choice in found)
    assert binomtest(hits, runs, right).pvalue > 0.001
    # What people do, to keep the values, is better.
    assert sum(baselines.successive_halving(reader(values), 4, 40).arm == 3 for values in tables) > hits


@pytest.mark.parametrize("bound", [0.9, 0.1])
def test_successive_halving_errs_no_more_often_than_its_paper_says(baselines, bound):
    """Theorem 4.1 of Karnin, Koren and Somekh for values in [0, 1]: 3 log2 K exp(-T / (8 H2 log2 K)) at most.

    H2 is the largest i / gap_i^2. At a rate equal to the bound, so few errors would have a probability of .01 at most.
    """
    arms, gap, runs = 4, 0.8, 100
    hardness = arms / gap**2
    budget = math.ceil(8 * hardness * math.log2(arms) * math.log(3 * math.log2(arms) / bound))
    rng = np.random.default_rng(8)
    errors = 0
    for _ in range(runs):
        values = rng.random((arms, budget)) < np.array([[0.1], [0.1], [0.1], [0.9]])
        errors += baselines.successive_halving(reader(values), arms, budget, keep=False).arm != 3
    assert upper_limit(errors, runs) < bound


def test_halving_over_fidelities_by_hand(baselines):
    """A budget of 80, 40 for each fidelity: 10 cheap values of four arms, 2 true values of two."""
    cheap, true = [2, 3, 1, 0], [5, 4, 6, 7]
    seen = []

    def value(arm, fidelity, number):
        seen.append((arm, fidelity, number))
        return (cheap, true)[fidelity][arm]

    assert baselines.halving_over_fidelities(value, 4, [1.0, 10.0], 80.0) == (0, 80.0)  # the best two are out by then
    assert seen == [(k, 0, n) for k in range(4) for n in range(10)] + [(k, 1, n) for k in (0, 1) for n in range(2)]


def test_halving_over_fidelities_is_like_a_bracket_of_hyperband(baselines):
    """Table 1 of Li, Jamieson, DeSalvo, Rostamizadeh and Talwalkar, "Hyperband" (2018), for R = 81 and eta = 3.

    Its first bracket has 81, 27, 9, 3, 1 arms with 1, 3, 9, 27, 81 units each. Twice that ends with two.
    """
    seen = []

    def value(arm, fidelity, number):
        seen.append(fidelity)
        return arm

    found = baselines.halving_over_fidelities(value, 2 * 81, [1, 3, 9, 27, 81], 2 * 5 * 81)
    assert found == (2 * 81 - 1, 2 * 5 * 81)
    assert np.bincount(seen).tolist() == [2 * 81, 2 * 27, 2 * 9, 2 * 3, 2 * 1]


def test_halving_over_one_fidelity_evaluates_all_arms_equally_often(baselines):
    values = [[0, 0, 0], [3, 0, 0], [1, 1, 2]]
    found = baselines.halving_over_fidelities(lambda arm, fidelity, number: values[arm][number], 3, [0.5], 5)
    assert found == (2, 9 * 0.5)  # the next 3 evaluations would cost too much


def test_halving_over_fidelities_evaluates_all_arms_even_without_a_budget(baselines):
    assert baselines.halving_over_fidelities(lambda arm, fidelity, number: arm, 2, [1, 5], 1) == (1, 2 + 10)
