"""Plans: what they say, and what is refused."""

import json

import numpy as np
import pytest

import mfbai
import mfbai.plots
from mfbai import Bernoulli, Gaussian, Guess, Instance, Problem
from mfbai.analysis.oracle import oracle
from mfbai.planning import plans, samples
from mfbai.planning.results import spread
from mfbai.run.assemble import choose
from mfbai.stopping import RULES
from support.plans import COINS, INSTANCE, LIKE_NONE, PROBLEM, SPEC, faults_of


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


def test_every_rule_is_estimated_and_the_default_one_simulated(quick):
    found = mfbai.plan(INSTANCE)
    totals = [rule.name for rule in RULES.values() if not rule.ordered]
    assert [estimate.rule for estimate in found.estimates if not estimate.strategy] == [None, *totals]
    simulated = [(estimate.strategy, estimate.rule) for estimate in found.estimates if estimate.strategy]
    assert simulated == [choose(INSTANCE.problem, None, None, 0.0)]
    by_rule = {estimate.rule: estimate for estimate in found.estimates[: 1 + len(totals)]}
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


def test_a_fidelity_with_a_wide_bound_is_useless_and_costs_a_real_strategy(quick, monkeypatch):
    monkeypatch.setattr(plans, "choose", lambda *about: ("frugal", "e-process"))  # race does not lose by it
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
