"""Plans: guesses, the truths drawn from them, and what is reckoned on these."""

import json
from math import ceil, log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import mfbai
import mfbai.plots
from mfbai import Bernoulli, Exponential, Gaussian, Guess, Instance, InvalidInput, Poisson, Problem, SubGaussian
from mfbai.analysis.oracle import oracle
from mfbai.model.guess import read_guess
from mfbai.model.spec import dumps, load_guess, loads
from mfbai.planning import ideal, plans, samples, truths, variants
from mfbai.planning.results import spread, spread_of_runs
from mfbai.stopping import DEFAULT, RULES, Rule

PROBLEM = Problem(["plain", "wide", "deep"], [0.05, 5.0], [0.03, 0.0], Gaussian(0.01), fidelities=["coarse", "fine"])
COINS = Problem(["a", "b"], [0.1, 1.0], [0.1, 0.0], Bernoulli())
INSTANCE = Instance([[0.84, 0.85], [0.82, 0.84], [0.96, 0.98]], [0.05, 5.0], [0.03, 0.0], Gaussian(0.01))
SPEC = dumps(PROBLEM)
LIKE_NONE = 1e-9  # relative, for figures that must agree but for rounding


@pytest.fixture
def quick(monkeypatch):
    """Fewer truths and runs: enough where figures are compared with others of the same plan."""
    monkeypatch.setattr(truths, "TRUTHS", 12)
    monkeypatch.setattr(samples, "RUNS", 6)


def faults_of(call, *arguments, **named):
    with pytest.raises(InvalidInput) as caught:
        call(*arguments, **named)
    return [str(fault) for fault in caught.value.faults]


# --- guesses


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, "guess gives nothing: give one of: means; low and high; gap (with best)"),
        ({"means": [1, 2], "gap": 0.1}, "guess gives means and gap: give one of"),
        ({"low": 0}, "guess has no 'high': low and high are given together"),
        ({"best": 1}, "guess has no 'gap': best is only told with a gap"),
        ({"means": [True, False, 1]}, "means is [True, False, 1]: give numbers"),
        ({"gap": True}, "gap is True: give numbers"),
        ({"gap": 0}, "gap is 0.0: a gap must be positive"),
        ({"gap": [0.1, 0.2]}, "gap has shape (2,): give one number"),
        ({"gap": "0.1"}, "gap is '0.1': give numbers"),
        ({"means": 3}, "means has shape (): give one per arm, or arms x fidelities"),
        ({"means": [[1, 2], [3]]}, "means has rows of different lengths"),
        ({"means": [1, np.nan]}, "means[1] is nan: give a finite number"),
        ({"low": [0.5, 0.9], "high": 0.8}, "low[1] is 0.9: it is above its high, 0.8"),
        ({"low": [0, 0], "high": [1, 1, 1]}, "low has 2 entries and high has 3: give one per arm in both"),
    ],
)
def test_a_guess_that_cannot_be_meant_is_refused(given, told):
    (fault,) = faults_of(Guess, **given)
    assert fault.startswith(told)


def test_all_faults_of_a_guess_are_told_at_once():
    assert len(faults_of(Guess, gap=-1, best="x", low=2, high=1)) == 4


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"low": [1, 2], "high": 0}, ["low[0] is 1.0", "low[1] is 2.0", "low has shape (2,): give 3"]),
        ({"gap": -1, "best": 0.3, "means": [1, 2]}, ["guess gives", "gap is -1.0", "means has shape (2,): give 3"]),
        ({"gap": -1}, ["gap is -1.0"]),
        ({"means": [1, 2]}, ["means has shape (2,): give 3"]),
    ],
)
def test_faults_of_a_guess_in_itself_do_not_hide_those_for_the_problem(given, told):
    for fault, start in zip(faults_of(read_guess, given, PROBLEM), told, strict=True):
        assert fault.startswith(start)
    assert read_guess({"gap": 0.5}, PROBLEM).gap == 0.5


@pytest.mark.parametrize(
    ("problem", "given", "told"),
    [
        (PROBLEM, {"means": [1, 2]}, "means has shape (2,): give 3, one per arm, or 3 rows of 2: arms x fidelities"),
        (PROBLEM, {"low": [0, 0], "high": 1}, "low has shape (2,): give 3, one per arm, or one for all"),
        (
            PROBLEM,
            {"means": [[0.9, 0.85], [0.8, 0.8], [0.7, 0.7]]},
            "means[0, 0] is 0.9: it is +0.05 from the arm's top mean, outside the bias bounds [-0.03, 0.03]",
        ),
        (
            COINS,
            {"means": [0.5, 1.2]},
            "means[1] is 1.2: a top mean of this bernoulli problem, with its bias bounds, must be in [0, 1]; "
            "check arm 'b'",
        ),
        (COINS, {"low": -0.2, "high": 0.5}, "low is -0.2: a top mean of this bernoulli problem"),
        (COINS, {"gap": 0.2}, "guess has no 'best', the top mean of the best arm, on which costs depend here"),
        (COINS, {"gap": 0.2, "best": 1.1}, "best is 1.1: a top mean of this bernoulli problem"),
        (COINS, {"gap": 0.6, "best": 0.5}, "gap is 0.6: with the best arm at 0.5 the others would be at -0.1"),
        (
            Problem(2, [1, 2], ([0.1, 0], [0.2, 0]), Bernoulli()),
            {"means": [0.5, 0.95]},
            "means[1] is 0.95: a top mean of this bernoulli problem, with its bias bounds, must be in [0, 0.9]",
        ),
        (
            Problem(2, 1, 0, Exponential(), direction="minimise"),
            {"means": [0, 1]},
            "means[0] is 0.0: a top mean of this exponential problem, with its bias bounds, must be strictly between",
        ),
    ],
)
def test_a_guess_that_no_truth_fits_is_refused(problem, given, told):
    (fault,) = faults_of(Guess(**given).check, problem)
    assert fault.startswith(told)


@pytest.mark.parametrize("mean", [0, 0.5, 1])
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_a_guess_of_all_means_may_have_ties_which_a_tolerance_can_allow(mean, direction):
    problem = Problem(2, [1, 2], [0.1, 0], Bernoulli(), direction=direction)
    Guess([[mean, mean], [mean, mean]]).check(problem)
    Guess([mean, mean]).check(problem)


def test_where_any_mean_is_possible_only_the_gap_matters():
    Guess(gap=0.2).check(PROBLEM)
    Guess(gap=0.2).check(Problem(2, 1, 0, SubGaussian(variance=1)))
    assert faults_of(Guess(gap=0.2).check, Problem(2, 1, 0, SubGaussian(bounds=(0, 1))))


def test_a_guess_says_what_it_is():
    assert repr(Guess(gap=0.1, best=0.9)) == "<Guess: gap 0.1, best 0.9>"
    assert Guess(low=0, high=[1, 2]).to_dict() == {"low": 0, "high": [1, 2]}


# --- in spec files


@pytest.mark.parametrize("guess", ["gap = 0.1", "means = [1, 2, 3]", "low = 0\nhigh = [1, 2, 3]"])
def test_a_guess_in_a_file_changes_nothing_of_the_problem(guess, tmp_path):
    file = tmp_path / "problem.toml"
    file.write_text(f"{SPEC}[guess]\n{guess}\n")
    assert mfbai.load(file) == PROBLEM
    assert load_guess(file).to_dict().keys() == {line.partition(" =")[0] for line in guess.splitlines()}


def test_a_file_without_a_guess_has_none(tmp_path):
    (tmp_path / "problem.toml").write_text(SPEC)
    assert load_guess(tmp_path / "problem.toml") is None
    assert load_guess("paper-4x5") is None


def test_faults_of_a_guess_in_a_file_are_told_with_all_others():
    text = SPEC.replace("0.05", "-1") + "[guess]\nmeans = [1, 2]\ngapp = 1\n"
    assert faults_of(loads, text) == [
        'costs[0] is -1.0: a cost must be positive; check the [[fidelity]] "coarse" entry',
        "[guess] has an unknown entry 'gapp': did you mean 'gap'? known: means, low, high, gap, best",
        "[guess] means has shape (2,): give 3, one per arm, or 3 rows of 2: arms x fidelities",
    ]


def test_a_guess_in_a_file_is_held_against_the_family():
    text = SPEC.replace('name = "gaussian"\nvariance = 0.01', 'name = "bernoulli"') + "[guess]\nmeans = [0, 1, 2]\n"
    (fault,) = faults_of(loads, text)
    assert fault.startswith("[guess] means[2] is 2.0: a top mean of this bernoulli problem")
    assert fault.endswith("check arm 'deep'")


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("[guess]\n", "[guess] gives nothing: give one of"),
        ("[[guess]]\ngap = 1\n", "guess is [{'gap': 1}]: write it as a"),
    ],
)
def test_a_guess_must_be_a_table_that_says_something(table, told):
    (fault,) = faults_of(loads, SPEC + table)
    assert fault.startswith(told)


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
    part = variants.only(problem, [1, 2])
    assert part == Problem(2, [2, 3], ([-0.2, 0], [0.4, 0]), Gaussian(variance[:, 1:]), fidelities=["b", "c"])
    assert variants.only(COINS, [1]) == Problem(["a", "b"], 1, 0, Bernoulli(), fidelities=["fidelity 2"])


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
        assert cost(variants.only(problem, rest), means[:, :, rest]) >= base * (1 - LIKE_NONE)
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
    steps = ceil((cost * found.weights / instance.problem.costs).sum())
    threshold = log(K / delta) + M * log(log(steps) + 1)
    assert cost / found.cost_complexity == pytest.approx(threshold, rel=1e-3)


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


# --- trials


def test_a_trial_is_what_simulate_does_with_these_fidelities(quick):
    for rule in ("e-process", "stylised"):
        made = samples.Trials(INSTANCE.problem, INSTANCE.means[None], RULES[rule], 0.01, 0.0, seed=5)
        trial = made.trial([0, 1])
        found = mfbai.simulate(INSTANCE, "frugal", runs=6, seed=5, stopping=rule)
        np.testing.assert_array_equal(trial.spent, found.costs)
        assert trial.ended.all()


def test_runs_are_spread_over_the_truths_and_each_trial_is_made_once(quick):
    counted = []
    means = truths.draw(PROBLEM, Guess(gap=0.1), 0.0, 0)
    made = samples.Trials(PROBLEM, means, RULES["stylised"], 0.01, 0.0, 0, counted.append)
    first = made.trial([0, 1])
    assert made.trial([0, 1]) is first
    assert len(counted) == 6
    assert len(set(first.spent)) == 6


def test_a_fidelity_that_costs_the_strategy_more_than_it_saves_is_not_worth_learning(monkeypatch):
    """Its bound is so wide that it seldom helps, and mf-grad, unlike frugal, evaluates it all the same."""
    monkeypatch.setattr(samples, "STRATEGY", "mf-grad")
    problem = Problem(3, [0.5, 5.0], [0.1, 0.0], Gaussian(0.01), fidelities=["loose", "fine"])
    found = mfbai.plan(problem, Guess(gap=0.13))
    assert [worth.verdict for worth in found.fidelities] == ["not worth learning", "the true one"]
    assert found.fidelities[0].leaving_out.median > 0.01
    assert found.expected.cost["all"].median > found.expected.cost["top"].median
    assert found.advice == "top"
    assert repr(found).endswith(" with fine>")


def trial_of(spent, ended=True):
    spent = np.asarray(spent, dtype=float)
    return samples.Trial(spent, np.broadcast_to(ended, spent.shape))


def test_what_was_given_up_is_not_called_dearer_unless_it_has_spent_more():
    known, cheap, dear = trial_of([100.0] * 50), trial_of([20.0] * 50, False), trial_of([200.0] * 50, False)
    assert not samples.cheaper(known, cheap)
    assert not samples.cheaper(cheap, known)
    assert samples.cheaper(known, dear)


def test_a_difference_that_may_be_luck_is_none():
    """30 of 50 is no evidence at a level of 2.5 %, and 33 is; less than 5 % cheaper is not cheaper."""
    spent = np.full(50, 100.0)
    for wins, clear in ((30, False), (33, True)):
        assert samples.cheaper(trial_of(np.where(np.arange(50) < wins, 50.0, 200.0)), trial_of(spent)) == clear
    assert not samples.cheaper(trial_of(0.96 * spent), trial_of(spent))


def test_the_interval_of_a_median_covers_it_as_often_as_it_says():
    """At least 95 %: of 2,000 intervals, fewer than 1,860 would be 4 deviations off."""
    rng = np.random.default_rng(0)
    covers = [low <= log(2) <= high for low, high in (trial_of(rng.exponential(size=50)).interval for _ in range(2000))]
    assert sum(covers) >= 1860
    assert trial_of(np.arange(1.0, 51.0)).interval == (18, 33)


def test_ends_that_are_not_known_are_infinite():
    spent = np.arange(1.0, 101.0)
    assert spread_of_runs(trial_of(spent)) == spread(spent)
    assert spread_of_runs(trial_of(spent, spent <= 80)) == (50, 10, np.inf, False)
    assert spread_of_runs(trial_of(spent, spent <= 20)) == (50, 10, np.inf, True)
    assert spread_of_runs(trial_of(spent, ended=False)) == (50, np.inf, np.inf, True)


def test_a_trial_has_more_runs_if_they_are_quick(monkeypatch):
    monkeypatch.setattr(samples, "FIRST", 6)
    monkeypatch.setattr(samples, "RUNS", 12)
    for seconds, runs in ((20.0, 12), (1e-9, 6)):
        monkeypatch.setattr(samples, "MOST_SECONDS", seconds)
        made = samples.Trials(INSTANCE.problem, INSTANCE.means[None], RULES["stylised"], 0.01, 0.0, seed=0)
        assert len(made.trial([0, 1]).spent) == runs


def test_a_cheap_fidelity_whose_runs_take_too_long_is_not_condemned(monkeypatch):
    """Its runs take millions of evaluations; they would cost some 450, against 4,000 with the top alone."""
    monkeypatch.setattr(samples, "RUNS", 20)
    monkeypatch.setattr(samples, "MOST_SECONDS", 1.0)
    problem = Problem(40, [1e-4, 1.0], [1e-3, 0.0], Gaussian([3.0, 0.02]), fidelities=["cheap", "top"])
    found = mfbai.plan(problem, Guess(gap=0.1))
    assert found.fidelities[0].verdict == "worth having"
    assert (found.advice, found.expected.strategy) == ("all", None)
    assert found.estimates[-1].cost["all"].at_least


# --- plans


def test_a_plan_depends_on_the_seed_alone(quick):
    first, same, other = (mfbai.plan(PROBLEM, Guess(gap=0.1), seed=seed).to_dict() for seed in (1, 1, 2))
    assert first == same
    assert first["estimates"] != other["estimates"]


def test_a_median_lies_in_its_range(quick):
    found = mfbai.plan(PROBLEM, Guess(low=0.5, high=0.9))
    figures = [cost for estimate in found.estimates for cost in estimate.cost.values()]
    figures += [estimate.saving for estimate in found.estimates] + [change.saves for change in found.changes]
    assert all(low <= median <= high for median, low, high, _ in figures)
    assert spread(np.arange(1.0, 101.0)) == (50, 10, 90, False)


def test_every_rule_is_reckoned_and_the_default_one_simulated(quick):
    found = mfbai.plan(INSTANCE)
    assert [estimate.rule for estimate in found.estimates if not estimate.strategy] == [None, *RULES]
    assert [estimate.rule for estimate in found.estimates if estimate.strategy] == [DEFAULT]
    by_rule = {estimate.rule: estimate for estimate in found.estimates[: 1 + len(RULES)]}
    assert by_rule["theorem"].cost["all"].at_least
    assert not by_rule["stylised"].cost["all"].at_least


def test_costs_are_in_their_natural_order(quick):
    """No rule is below the lower bound, and a smaller risk costs more."""
    small, large = mfbai.plan(INSTANCE, delta=1e-6), mfbai.plan(INSTANCE, delta=0.1)
    bound, ideal = (estimate.cost["all"].median for estimate in small.estimates[:2])
    assert bound == pytest.approx(oracle(INSTANCE).lower_bound(1e-6))
    assert bound < min(ideal, small.expected.cost["all"].median)
    assert large.estimates[1].cost["all"].median < ideal
    assert large.expected.cost["all"].median < small.expected.cost["all"].median


def test_without_a_guess_the_truth_of_an_instance_is_taken(quick):
    found = mfbai.plan("paper-4x5")
    assert (found.source, found.name, len(found.truths)) == ("truth", "paper-4x5", 1)
    assert found.gap.median == pytest.approx(mfbai.load("paper-4x5").gap)


def test_the_guess_of_a_file_goes_before_its_truth_and_one_that_is_given_before_both(quick, tmp_path):
    file = tmp_path / "both.toml"
    file.write_text(SPEC + "[guess]\ngap = 0.2\n[truth]\nmeans = [[1, 1], [2, 2], [3, 3]]\n")
    assert mfbai.plan(file).gap.median == pytest.approx(0.2)
    assert mfbai.plan(file, Guess(gap=0.3)).gap.median == pytest.approx(0.3)


def test_minimising_is_maximising_the_opposite(quick):
    up = mfbai.plan(INSTANCE)
    mirrored = Instance(-INSTANCE.means, [0.05, 5.0], [0.03, 0.0], Gaussian(0.01), direction="minimise")
    down = mfbai.plan(mirrored)
    for one, other in zip(up.estimates[:3], down.estimates[:3], strict=True):
        assert one.cost["all"].median == pytest.approx(other.cost["all"].median, rel=1e-3)
    ahead = mfbai.plan(Problem(2, 1, 0, Bernoulli(), direction="minimise"), Guess(gap=0.2, best=0.3)).truths
    assert sorted(ahead[0].ravel().tolist()) == [0.3, 0.5]


def test_a_fidelity_with_a_wide_bound_is_useless_and_costs_a_real_strategy(quick):
    found = mfbai.plan(Problem(3, [0.05, 5.0], [1.0, 0.0], Gaussian(0.01)), Guess(gap=0.1))
    assert [worth.verdict for worth in found.fidelities] == ["useless", "the true one"]
    assert list(found.sets) == ["all", "top"]
    assert found.estimates[0].saving.median == pytest.approx(1)
    assert found.expected.saving.median < 1


def test_a_plan_with_one_fidelity_has_nothing_to_compare(quick):
    found = mfbai.plan(Problem(3, 2.0, 0, Gaussian(1)), Guess([1, 2, 3]))
    assert list(found.sets) == ["all"]
    assert all(estimate.saving is None for estimate in found.estimates)
    assert found.changes[0].saves.median == pytest.approx(0.5)


def test_a_tolerance_makes_it_cheaper_and_allows_ties(quick):
    near = Problem(2, 1.0, 0, Gaussian(1))
    strict, loose = (mfbai.plan(near, Guess([0.0, 0.1]), tolerance=tolerance) for tolerance in (0.0, 0.3))
    for one, other in zip(strict.estimates, loose.estimates, strict=True):
        assert other.cost["all"].median < one.cost["all"].median
    assert mfbai.plan(near, Guess([0.1, 0.1]), tolerance=0.3).expected.cost["all"].median < np.inf


def test_runs_that_do_not_end_are_told_as_at_least(quick, monkeypatch):
    monkeypatch.setattr(samples, "MOST_SECONDS", 1e-9)
    found = mfbai.plan(INSTANCE)
    simulated = found.estimates[-1]
    assert simulated.cost["all"].at_least
    assert simulated.saving is None
    assert found.expected is found.estimates[1]
    assert "cost ideally" in repr(found)


def test_savings_fit_the_plan_and_grow_with_the_gap(quick):
    found = mfbai.plan("paper-4x5")
    savings = found.savings([found.gap.median, 10 * found.gap.median])
    assert list(savings.factors) == ["fidelity 1", "fidelity 2", "fidelity 3", "fidelity 4", "all"]
    at_the_guess, far = savings.factors["all"][:, 0]
    assert at_the_guess == pytest.approx(found.estimates[0].saving.median)
    assert far > at_the_guess
    assert all(
        (line[:, 0] <= savings.factors["all"][:, 0] * (1 + LIKE_NONE)).all() for line in savings.factors.values()
    )


def test_savings_refuse_gaps_that_cannot_be(quick):
    found = mfbai.plan(COINS, Guess(gap=0.2, best=0.6))
    assert faults_of(found.savings, [0.0, 2.0]) == [
        "gaps[0] is 0.0: a gap must be positive, and here below 1",
        "gaps[1] is 2.0: a gap must be positive, and here below 1",
    ]
    assert found.savings().gaps.max() < 1


def test_a_plan_as_plain_values_is_json(quick, monkeypatch):
    monkeypatch.setattr(samples, "MOST_SECONDS", 3e-4)  # so that some runs end
    found = mfbai.plan(PROBLEM, Guess(gap=0.1)).to_dict(rate=2.0)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    bound = found["estimates"][0]
    assert bound["hours"]["all"]["median"] == bound["cost"]["all"]["median"] / 2
    assert mfbai.plan(PROBLEM, Guess(gap=0.1)).to_dict()["estimates"][0]["hours"] is None


@pytest.mark.parametrize("rate", ["x", 0, -1, np.inf, True])
def test_a_rate_that_cannot_be_is_refused(rate, quick):
    (fault,) = faults_of(mfbai.plan(INSTANCE).to_dict, rate)
    assert fault.startswith(f"rate is {rate!r}: give the cost units that can be spent in an hour")


def test_only_a_plan_can_be_drawn(tmp_path):
    assert faults_of(mfbai.plots.plot_plan, 3, tmp_path / "plan.png") == ["plan is 3: give what mfbai.plan returns"]


def test_a_plan_says_what_matters():
    found = mfbai.plan("paper-4x5", delta=0.05)
    assert repr(found).startswith("<Plan for paper-4x5, delta 0.05: cost ")
    assert "with fidelity 2, fidelity 3, fidelity 4, fidelity 5, " in repr(found)
    assert repr(found).endswith(" times cheaper than fidelity 5 alone>")


def test_everything_wrong_with_a_call_is_told_at_once():
    assert faults_of(mfbai.plan, PROBLEM, None, delta=[0.1, 2], tolerance=-1, seed=0.5) == [
        "guess is None: what it costs depends on the means; give a Guess, or a [guess] table in the file, such as "
        f"{plans.EXAMPLES}",
        "delta[1] is 2.0: a risk must lie strictly between 0 and 1, such as 0.05",
        "delta is [0.1, 2]: give one risk",
        "tolerance is -1: it must be 0 or more, and finite",
        "seed is 0.5: give a whole number of 0 or more",
    ]


@pytest.mark.parametrize(
    ("spec", "told"), [(3, "spec is 3: give a Problem"), ("nowhere", "unknown instance 'nowhere'")]
)
def test_what_is_no_problem_is_refused(spec, told):
    (fault,) = faults_of(mfbai.plan, spec, Guess(gap=1))
    assert fault.startswith(told)
