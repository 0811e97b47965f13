"""What plans are made of: truths that fit a guess, variants of a problem, ideal costs and simulations."""

from math import ceil, log
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfbai
import mfbai.plots
from mfbai import Bernoulli, Exponential, Gaussian, Guess, Instance, Poisson, Problem, SubGaussian
from mfbai.analysis.oracle import oracle
from mfbai.planning import ideal, plans, samples, truths, variants
from mfbai.planning.results import spread, spread_of_runs
from mfbai.stopping import RULES, Rule, decide
from support.plans import COINS, INSTANCE, LIKE_NONE, PROBLEM, faults_of

# --- truths


@st.composite
def guessed_problems(draw):
    """A problem of any family and direction, with a guess of any form that fits it."""
    K, M = draw(st.integers(2, 4)), draw(st.integers(1, 3))
    family = draw(
        st.sampled_from([Gaussian(0.5), Bernoulli(), Poisson(), Exponential(), SubGaussian(bounds=(0.0, 1.0))])
    )
    radius = [*(draw(st.floats(0.01, 0.4)) for _ in range(M - 1)), 0.0]
    costs = [2.0**m for m in range(M)]
    direction = draw(st.sampled_from(["maximise", "minimise"]))
    problem = Problem(K, costs, radius, family, direction=direction)
    mean = st.floats(0.05, 0.95)
    form = draw(st.sampled_from(["means", "range", "gap"]))
    if form == "means":
        return problem, Guess(draw(st.lists(mean, min_size=K, max_size=K, unique=True)))
    if form == "range":
        ends = [sorted((draw(mean), draw(mean))) for _ in range(K)]
        return problem, Guess(low=[low for low, _ in ends], high=[high + 0.01 for _, high in ends])
    return problem, Guess(gap=draw(st.floats(0.01, 0.4)), best=0.5)


@given(guessed_problems(), st.integers(0, 5))
@settings(max_examples=60, deadline=None)
def test_every_truth_drawn_fits_problem_and_guess(case, seed):
    problem, guess = case
    means = truths.draw(problem, guess, 0.0, seed)
    for table in means[:20]:
        biases = (problem.bias_low, problem.bias_high)
        instance = Instance(table, problem.costs, biases, problem.family, direction=problem.direction)
        tops = table[:, -1]
        if guess.means is not None:
            np.testing.assert_array_equal(tops, guess.means)
        elif guess.gap is not None:
            assert instance.gap == pytest.approx(guess.gap)
            assert tops[instance.best] == guess.best
        else:
            assert ((tops >= guess.low) & (tops <= guess.high)).all()


@given(guessed_problems(), st.floats(0.02, 0.8))
@settings(max_examples=60, deadline=None)
def test_truths_can_be_given_another_gap(case, part):
    problem, guess = case
    means = truths.draw(problem, guess, 0.0, 0)
    gap = part * min(truths.widest_gap(problem), 1.0)
    moved = truths.with_gap(problem, means, gap)
    np.testing.assert_allclose(truths.gaps_of(problem, moved), gap)
    best = (problem.sign * means[:, :, -1]).argmax(axis=1)
    np.testing.assert_array_equal((problem.sign * moved[:, :, -1]).argmax(axis=1), best)
    for table in moved[:20]:
        biases = (problem.bias_low, problem.bias_high)
        Instance(table, problem.costs, biases, problem.family, direction=problem.direction)


def test_with_a_gap_each_arm_is_the_best_equally_often():
    means = truths.draw(PROBLEM, Guess(gap=0.1), 0.0, 0)
    counts = np.bincount(means[:, :, -1].argmax(axis=1))
    assert counts.max() - counts.min() <= 1


def test_a_guess_that_leaves_nothing_open_is_one_truth():
    means = truths.draw(PROBLEM, Guess(INSTANCE.means), 0.0, 0)
    np.testing.assert_allclose(means, [INSTANCE.means], rtol=1e-12)
    one_fidelity = Problem(2, 1, 0, Gaussian(1))
    assert truths.draw(one_fidelity, Guess([1, 2]), 0.0, 0).shape == (1, 2, 1)


def test_arms_that_tie_are_refused_unless_there_is_a_tolerance():
    (fault,) = faults_of(truths.draw, PROBLEM, Guess([0.5, 0.9, 0.9]), 0.0, 0)
    assert fault.startswith("guess lets arms 'wide' and 'deep' tie for the best")
    means = truths.draw(PROBLEM, Guess([0.5, 0.9, 0.9]), 0.1, 0)
    np.testing.assert_array_equal(means[:, :, -1], [[0.5, 0.9, 0.9]] * len(means))


# --- variants of a problem


def test_a_part_of_the_fidelities_keeps_what_belongs_to_them():
    variance = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
    problem = Problem(2, [1, 2, 3], ([-0.1, -0.2, 0], [0.3, 0.4, 0]), Gaussian(variance), fidelities=["a", "b", "c"])
    part = problem.only([1, 2])
    assert part == Problem(2, [2, 3], ([-0.2, 0], [0.4, 0]), Gaussian(variance[:, 1:]), fidelities=["b", "c"])
    assert COINS.only([1]) == Problem(["a", "b"], 1, 0, Bernoulli(), fidelities=["fidelity 2"])


def test_half_a_bias_bound_is_half_as_wide_and_still_true():
    problem = variants.half_bias(INSTANCE.problem, INSTANCE.means, 0)
    np.testing.assert_allclose(problem.bias_high - problem.bias_low, [[0.03, 0]] * 3)
    Instance(INSTANCE.means, problem.costs, (problem.bias_low, problem.bias_high), problem.family)


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_less_never_helps_and_better_never_harms(seed):
    """Leaving a fidelity out cannot lower the least cost; a lower cost or a tighter bound cannot raise it."""
    instance = mfbai.random_instance(4, 3, seed=seed)
    problem, means = instance.problem, instance.means[None]

    def cost(problem, means=means):
        return variants.least_costs(problem, means, 0.0)[0]

    base = cost(problem)
    for m in range(2):
        rest = [n for n in range(3) if n != m]
        assert cost(problem.only(rest), means[:, :, rest]) >= base * (1 - LIKE_NONE)
        assert cost(variants.half_bias(problem, means[0], m)) <= base * (1 + LIKE_NONE)
    for m in range(3):
        assert base / 2 * (1 - LIKE_NONE) <= cost(variants.half_cost(problem, m)) <= base * (1 + LIKE_NONE)


def test_of_two_fidelities_that_do_the_same_one_is_worth_having(quick):
    twins = Problem(3, [0.05, 0.05, 5.0], [0.03, 0.03, 0.0], Gaussian(0.01))
    means = np.repeat(INSTANCE.means, [2, 1], axis=1)
    found = mfbai.plan(twins, Guess(means))
    assert sorted(worth.verdict for worth in found.fidelities) == ["the true one", "useless", "worth having"]
    assert found.fidelities[0].leaving_out.median == pytest.approx(0, abs=1e-6)
    assert len(found.sets["worth_having"]) == 2


# --- costs


@pytest.mark.parametrize("name", ["paper-4x5", "paper-5x2", "lucb-trap"])
def test_the_ideal_cost_of_the_stylised_rule_is_where_its_formula_is_met(name):
    instance, delta = mfbai.load(name), 0.01
    found = oracle(instance)
    (cost,) = ideal.ideal_costs(instance.problem, instance.means[None], [found], RULES["stylised"], delta, 0.0)
    K, M = instance.shape
    costs, pulls = instance.problem.costs, found.weights / instance.problem.costs
    steps = ceil((cost * pulls).sum())
    threshold = log(K / delta) + M * log(log(steps) + 1)
    rounded_up = (costs * (pulls > 0)).sum()  # evaluations are whole ones: at most one more of each cell
    assert threshold * (1 - 1e-3) <= cost / found.cost_complexity
    assert (cost - rounded_up) / found.cost_complexity <= threshold * (1 + 1e-3)


def test_ideal_costs_are_of_whole_evaluations():
    """A cell with hardly any noise needs a millionth of an evaluation by the optimal shares, and gets one."""
    problem = Problem(3, [0.05, 5.0], [0.1, 0.0], Gaussian([1e-9, 0.01]))
    instance = problem.instance([[0.0, 0.05], [0.1, 0.15], [0.5, 0.42]])
    found = oracle(instance)
    assert 0 < (found.weights / problem.costs)[:, 0].max() * found.lower_bound(0.05) < 0.1
    (cost,) = ideal.ideal_costs(problem, instance.means[None], [found], RULES["e-process"], 0.05, 0.0)
    assert cost == pytest.approx(3 * 0.05)


def test_the_ideal_cost_is_where_the_evidence_is():
    """Spending c with the optimal shares gives the evidence c / C*, also where small means are better."""
    instance = Instance([[0.3, 0.35], [0.6, 0.6]], [1, 10], [0.1, 0], Bernoulli(), direction="minimise")
    found = oracle(instance)
    (cost,) = ideal.ideal_costs(instance.problem, instance.means[None], [found], RULES["stylised"], 0.05, 0.0)
    seen = mfbai.evidence(instance, cost * found.weights / instance.problem.costs, instance.means)
    assert seen.value == pytest.approx(cost / found.cost_complexity, rel=1e-6)


@pytest.mark.parametrize("start", [1e-9, 0.5, 1.0, 7.0, 1e9])
def test_the_least_cost_that_stops_is_found_from_anywhere(start):
    assert ideal.least(lambda cost: cost >= 3.0, start) == pytest.approx(3.0, rel=2 * ideal.PRECISION)


def test_a_rule_that_never_stops_costs_infinitely_much():
    assert ideal.least(lambda cost: False, 1.0) == np.inf


def test_rules_with_a_constant_that_nobody_knows_are_planned_at_least():
    incomplete = Rule("r", "", lambda: None, {"constant": None, "other": 2.0})
    assert not ideal.complete(incomplete)
    assert ideal.settings_of(incomplete) == {"constant": 0.0, "other": 2.0}
    assert ideal.complete(RULES["stylised"])


# --- simulations


def test_a_simulation_is_what_simulate_does_with_these_fidelities(quick):
    for rule in ("e-process", "stylised"):
        made = samples.Simulations(INSTANCE.problem, INSTANCE.means[None], "frugal", rule, 0.01, 0.0, seed=5)
        simulated = made.of([0, 1])
        found = mfbai.simulate(INSTANCE, "frugal", runs=6, seed=5, stopping=rule)
        np.testing.assert_array_equal(simulated.spent, found.costs)
        assert simulated.ended.all()


def test_runs_are_spread_over_the_truths_and_each_simulation_is_made_once(quick):
    counted = []
    means = truths.draw(PROBLEM, Guess(gap=0.1), 0.0, 0)
    made = samples.Simulations(PROBLEM, means, "frugal", "stylised", 0.01, 0.0, 0, advance=counted.append)
    first = made.of([0, 1])
    assert made.of([0, 1]) is first
    assert len(counted) == 6
    assert len(set(first.spent)) == 6


def test_a_fidelity_that_costs_the_strategy_more_than_it_saves_is_not_worth_learning(monkeypatch):
    """Its bound is so wide that it seldom helps, and mf-grad, unlike frugal, evaluates it all the same."""
    monkeypatch.setattr(plans, "choose", lambda *about: ("mf-grad", "e-process"))
    problem = Problem(3, [0.5, 5.0], [0.1, 0.0], Gaussian(0.01), fidelities=["loose", "fine"])
    found = mfbai.plan(problem, Guess(gap=0.13))
    assert [worth.verdict for worth in found.fidelities] == ["not worth learning", "the true one"]
    assert found.fidelities[0].leaving_out.median > 0.01
    assert found.expected.cost["all"].median > found.expected.cost["top"].median
    assert found.advice == "top"
    assert repr(found).endswith(" with fine>")


def runs_of(spent, ended=True):
    spent = np.asarray(spent, dtype=float)
    return samples.Simulated(spent, np.broadcast_to(ended, spent.shape))


def test_what_was_given_up_is_not_called_dearer_unless_it_has_spent_more():
    known, cheap, dear = runs_of([100.0] * 50), runs_of([20.0] * 50, False), runs_of([200.0] * 50, False)
    assert not samples.cheaper(known, cheap)
    assert not samples.cheaper(cheap, known)
    assert samples.cheaper(known, dear)


def test_a_difference_that_may_be_luck_is_none():
    """30 of 50 is no evidence at a level of 2.5 %, and 33 is; less than 5 % cheaper is not cheaper."""
    spent = np.full(50, 100.0)
    for wins, clear in ((30, False), (33, True)):
        assert samples.cheaper(runs_of(np.where(np.arange(50) < wins, 50.0, 200.0)), runs_of(spent)) == clear
    assert not samples.cheaper(runs_of(0.96 * spent), runs_of(spent))


def test_the_interval_of_a_median_covers_it_as_often_as_it_says():
    """At least 95 %: of 2,000 intervals, fewer than 1,860 would be 4 deviations off."""
    rng = np.random.default_rng(0)
    covers = [low <= log(2) <= high for low, high in (runs_of(rng.exponential(size=50)).interval for _ in range(2000))]
    assert sum(covers) >= 1860
    assert runs_of(np.arange(1.0, 51.0)).interval == (18, 33)


def test_ends_that_are_not_known_are_infinite():
    spent = np.arange(1.0, 101.0)
    assert spread_of_runs(runs_of(spent)) == spread(spent)
    assert spread_of_runs(runs_of(spent, spent <= 80)) == (50, 10, np.inf, False)
    assert spread_of_runs(runs_of(spent, spent <= 20)) == (50, 10, np.inf, True)
    assert spread_of_runs(runs_of(spent, ended=False)) == (50, np.inf, np.inf, True)


def test_a_simulation_has_more_runs_if_they_are_quick(monkeypatch):
    monkeypatch.setattr(samples, "FIRST", 6)
    monkeypatch.setattr(samples, "RUNS", 12)
    for seconds, runs in ((20.0, 12), (1e-9, 6)):
        monkeypatch.setattr(samples, "MOST_SECONDS", seconds)
        made = samples.Simulations(INSTANCE.problem, INSTANCE.means[None], "frugal", "stylised", 0.01, 0.0, seed=0)
        assert len(made.of([0, 1]).spent) == runs


def test_a_cheap_fidelity_whose_runs_take_too_long_is_not_condemned(monkeypatch):
    """Its runs take millions of evaluations; they would cost some 450, against 4,000 with the top alone."""
    monkeypatch.setattr(samples, "RUNS", 20)
    monkeypatch.setattr(samples, "MOST_SECONDS", 1.0)
    problem = Problem(40, [1e-4, 1.0], [1e-3, 0.0], Gaussian([3.0, 0.02]), fidelities=["cheap", "top"])
    found = mfbai.plan(problem, Guess(gap=0.1))
    assert found.fidelities[0].verdict == "worth having"
    assert (found.advice, found.expected.strategy) == ("all", None)
    assert found.estimates[-1].cost["all"].at_least


class NeverState(NamedTuple):
    """Of a rule that does not stop on data that it was not shown one by one."""


def test_a_rule_that_never_stops_has_an_infinite_ideal_cost_for_every_truth():
    decide.register(NeverState, lambda model, stats, rule, level: -1)
    rule = Rule("never", "does not stop", lambda model, deltas, fidelities: NeverState())
    instance = mfbai.load("paper-5x2")
    found = oracle(instance)
    costs = ideal.ideal_costs(instance.problem, np.stack([instance.means] * 2), [found] * 2, rule, 0.05, 0.0)
    assert costs.tolist() == [np.inf, np.inf]
