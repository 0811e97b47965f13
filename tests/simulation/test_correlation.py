"""Simulated values that share seeds: how they are correlated, and that nothing else has changed."""

import numpy as np
import pytest
from scipy.stats import kstest, norm, t

from mfbai import Gaussian, Instance, InvalidInput, simulate
from support.turns import run_of, values_of

MEANS = [[0.2, 0.1], [0.9, 1.0], [0.3, 0.2]]
DEVIATION = np.array([[0.5, 1.0], [2.0, 0.1], [1.0, 1.0]])
ROUNDS = 5000  # of 8 seeds each
FEW = 2
SIGMAS = 5.0  # of a normal: passed by chance once in two million


def instance(correlation, seeds="common", **changes):
    given = {"means": MEANS, "costs": [0.1, 1.0], "biases": [0.15, 0.0], "family": Gaussian(DEVIATION**2)}
    return Instance(**{**given, **changes}, seeds=seeds, correlation=correlation)


def drawn(correlation, **changes):
    """(seeds, K, M) standardised."""
    made = instance(correlation, **changes)
    values = values_of(run_of(made, ROUNDS), seed=1, number=0)
    return (values - made.problem.sign * made.means) / DEVIATION


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize(
    ("correlation", "arms", "fidelities"),
    [
        (0.5, 0.5, 0.5),
        (0.99, 0.99, 0.99),
        ({"arms": 0.8, "fidelities": 0.3}, 0.8, 0.3),
        ({"arms": 0.2, "fidelities": 0.7}, 0.2, 0.7),
        ({"arms": 0.6}, 0.6, 0.0),
        ({"fidelities": 0.6}, 0.0, 0.6),
        (None, 0.0, 0.0),
    ],
)
def test_values_of_a_seed_have_the_correlation_given(correlation, arms, fidelities, direction):
    """Between any two cells, within five standard errors, and with the variance of the family."""
    values = drawn(correlation, direction=direction).reshape(-1, 6)
    arm, fidelity = np.divmod(np.arange(6), 2)
    same_arm, same_fidelity = arm[:, None] == arm, fidelity[:, None] == fidelity
    both = np.full((6, 6), min(arms, fidelities))
    expected = np.select([same_arm & same_fidelity, same_fidelity, same_arm], [1.0, arms, fidelities], both)
    error = (1 - expected**2) / len(values) ** 0.5
    assert (abs(np.corrcoef(values.T) - expected) <= SIGMAS * error + 1e-9).all()
    np.testing.assert_allclose(values.mean(axis=0), 0.0, atol=SIGMAS / len(values) ** 0.5)
    np.testing.assert_allclose(values.var(axis=0), 1.0, atol=SIGMAS * (2 / len(values)) ** 0.5)


@pytest.mark.parametrize("correlation", [0.9, {"arms": 0.9, "fidelities": 0.5}, {"arms": 0.5, "fidelities": 0.9}])
def test_values_of_different_seeds_are_independent(correlation):
    """Of the same round, and of two that follow each other."""
    values = drawn(correlation).reshape(-1, 6)
    for later in (1, 7, 8):
        cross = np.corrcoef(values[:-later].T, values[later:].T)[:6, 6:]
        assert (abs(cross) <= SIGMAS / len(values) ** 0.5).all()


@pytest.mark.parametrize(("factor", "law"), [("normal", norm(0, 0.8**0.5)), ("heavy", t(3, 0, (0.8 / 3) ** 0.5))])
def test_what_is_shared_follows_the_law_named(factor, law):
    """The mean of 2,000 arms is the factor, but for little noise; what is left is normal. A level of 1e-4 each."""
    many = np.zeros((2000, 1))
    many[0] = 1.0
    made = instance({"arms": 0.8, "factor": factor}, means=many, costs=1.0, biases=0.0, family=Gaussian(1.0))
    values = values_of(run_of(made, 50), seed=2, number=0)[:, :, 0] - many[:, 0]
    shared = values.mean(axis=1)
    assert kstest(shared, law.cdf).pvalue > 1e-4
    assert kstest((values - shared[:, None]).ravel()[::7], norm(0, (0.2 * 1999 / 2000) ** 0.5).cdf).pvalue > 1e-4


@pytest.mark.parametrize("factor", ["normal", "heavy"])
def test_further_factors_follow_the_law_named_too(factor):
    """Where no correlation is common to all, each arm's factor is its own: unit variance scaled by its share."""
    made = {"means": [[0.0] * 400, [1.0] * 400], "costs": 1.0, "biases": 0.0, "family": Gaussian(1.0)}
    for correlation, axis in (({"fidelities": 0.7}, 2), ({"arms": 0.7}, 1)):
        means = made["means"] if axis == 2 else np.eye(400)[:, :1] * np.ones(2)
        values = values_of(
            run_of(instance({**correlation, "factor": factor}, **{**made, "means": means}), 100), seed=3, number=0
        )
        shared = (values - np.array(means)).mean(axis=axis).ravel()
        noise = (0.3 / 400) ** 0.5
        law = norm(0, (0.7 + noise**2) ** 0.5) if factor == "normal" else t(3, 0, (0.7 / 3) ** 0.5)
        assert kstest(shared, law.cdf).pvalue > 1e-4


def test_a_run_begins_without_the_factors_of_the_one_before():
    """Even if that ended in the first round: the same values as a run in fresh memory."""
    for correlation in (0.9, {"arms": 0.9, "fidelities": 0.5}, {"arms": 0.5, "fidelities": 0.9, "factor": "heavy"}):
        used, fresh = (run_of(instance(correlation), FEW) for _ in range(2))
        used.restart(1, 7)
        used.advance(20)
        np.testing.assert_array_equal(values_of(used, 1, 8), values_of(fresh, 1, 8))


def test_runs_of_one_setup_share_no_factors():
    """Runs in several threads have the same setup."""
    one = run_of(instance(0.9), FEW)
    two = type(one)(one.setup)
    assert not np.shares_memory(one.truth.seed, two.truth.seed)
    assert not np.shares_memory(one.truth.factor, two.truth.factor)


def test_independent_values_are_drawn_as_if_there_were_no_correlation():
    """One normal each, in the order of the evaluations; a correlation changes nothing if seeds are independent."""
    rng = np.random.default_rng(np.random.SeedSequence(1, spawn_key=(4,)))
    plain = instance(None)
    noise = rng.standard_normal((FEW, 3, 2, 8)).transpose(0, 3, 1, 2).reshape(-1, 3, 2)
    np.testing.assert_array_equal(values_of(run_of(plain, FEW), 1, 4), plain.means + DEVIATION * noise)
    apart = instance(0.9, seeds="independent")
    np.testing.assert_array_equal(values_of(run_of(apart, FEW), 1, 4), plain.means + DEVIATION * noise)


# --- simulate


SHARED = {"means": [[0.0], [0.1], [0.4]], "costs": 1.0, "biases": 0.0, "family": Gaussian(1.0)}


def raced(correlation, runs=100, **how):
    found = instance(correlation, **{**SHARED, "seeds": "independent"})
    return simulate(found, "race", 0.05, runs, seed=2, stopping="contrasts", **how)


def test_seeds_given_replace_those_of_the_instance():
    """A correlation has an effect with common seeds only, and saves much."""
    apart, together = raced(0.9), raced(0.9, seeds="common")
    assert (apart.instance.problem.seeds, together.instance.problem.seeds) == ("independent", "common")
    assert together.instance.correlation == (0.9, 0.9, "normal")
    np.testing.assert_array_equal(apart.costs, raced(None).costs)
    np.testing.assert_array_equal(apart.costs, raced(0.9, seeds="independent").costs)
    assert together.mean_cost < 0.5 * raced(None, seeds="common").mean_cost
    assert together.error_rate <= 0.15  # allowed is .05: 100 runs go beyond .15 once in ten thousand


@pytest.mark.parametrize("correlation", [0.9, {"arms": 0.9, "factor": "heavy"}])
def test_results_do_not_depend_on_the_workers(correlation):
    one, two = (raced(correlation, runs=40, seeds="common", workers=workers) for workers in (1, 2))
    np.testing.assert_array_equal(one.costs, two.costs)
    np.testing.assert_array_equal(one.answers, two.answers)
    np.testing.assert_array_equal(one.costs[:10], raced(correlation, runs=10, seeds="common").costs)


def test_unknown_seeds_are_told_with_all_else():
    with pytest.raises(InvalidInput) as caught:
        raced(None, runs=0, seeds="comon")
    assert [fault.field for fault in caught.value.faults] == ["seeds", "runs"]
