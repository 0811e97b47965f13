"""What the baselines cost, and how they fit in."""

import numpy as np
import pytest

import mfbai
from mfbai import Exponential, Instance, InvalidInput, Poisson
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from support.baselines import EXPLORES, INSTANCES, OWN_RULE, PAPER, runs_of

# What they cost. Tolerances of 5 standard errors or more fail by luck once in 10^6, unless another number is given.


def test_iise_costs_what_the_paper_reports():
    """Near 220 on the first instance and 2290 on the second; single runs vary by some 45 and 490."""
    for name, cost, tolerance in (("paper-4x5", 219, 9), ("paper-5x2", 2295, 95)):
        found = runs_of(name, "iise", runs=1000)
        assert found.stopped.all()
        assert found.mean_cost == pytest.approx(cost, abs=tolerance)
        assert found.error_rate <= 0.03  # a risk of .01 exceeds it once in 10^7


@pytest.mark.parametrize("name", PAPER)
def test_nothing_is_cheaper_than_the_oracle(name):
    """Knowing the optimal allocation is cheapest, by 15 % and more; its mean is known to within 4 %."""
    floor = runs_of(name, "oracle")
    assert floor.stopped.all()
    for other in ("mf-grad", "mf-grad-const", "grad", "iise", "track-and-stop", "uniform"):
        assert floor.mean_cost < runs_of(name, other).mean_cost, other


def test_lucb_escapes_the_trap():
    """About 81,000 evaluations at 5 each; single runs vary by 12,000."""
    found = mfbai.simulate("lucb-trap", "lucb", runs=20, seed=4)
    assert found.stopped.all()
    assert (found.answers == 0).all()
    assert found.mean_steps == pytest.approx(81_400, abs=14_000)
    np.testing.assert_allclose(found.costs, 5 * found.steps)


def test_explore_a_is_caught_in_the_trap():
    """It keeps to the coarse fidelity, whose bias hides the gap, and never stops."""
    found = mfbai.simulate("lucb-trap", "lucb-explore-a", runs=2, seed=5, max_steps=10**6)
    assert not found.stopped.any()
    assert (found.pulls[:, :, 1] < 2000).all()


def test_explore_b_is_often_caught_in_the_trap():
    """About 32 % of the runs stop, before both arms are fixed; the paper has 30 %. Luck leaves [3, 28] once in 10^4."""
    found = mfbai.simulate("lucb-trap", "lucb-explore-b", runs=40, seed=6, max_steps=400_000)
    assert 3 <= found.stopped.sum() <= 28
    assert (found.answers[found.stopped] == 0).all()


# How they fit in


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_several_deltas_are_as_good_as_separate_calls(strategy):
    """Sampling depends on delta here; each column is still what the delta would give alone."""
    deltas = [1e-4, 0.1, 0.01]
    several = mfbai.simulate("paper-mu2", strategy, delta=deltas, runs=10, seed=7)
    assert several.costs.shape == (10, 3)
    for column, delta in enumerate(deltas):
        alone = mfbai.simulate("paper-mu2", strategy, delta=delta, runs=10, seed=7)
        for field in ("costs", "steps", "answers", "stopped"):
            np.testing.assert_array_equal(getattr(several, field)[:, column], getattr(alone, field))


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_results_do_not_depend_on_workers(strategy):
    """Neither the number of workers nor the number of runs changes a run."""
    one = mfbai.simulate("paper-mu2", strategy, runs=10, seed=8, workers=1)
    two = mfbai.simulate("paper-mu2", strategy, runs=15, seed=8, workers=2)
    np.testing.assert_array_equal(one.costs, two.costs[:10])
    np.testing.assert_array_equal(one.pulls, two.pulls[:10])


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_trace_goes_on_after_the_answer(strategy):
    """A trace has no end but its steps, and its shares are shares."""
    found = mfbai.trace("paper-5x2", strategy, steps=5000, runs=3)
    assert found.steps[-1] == 5000
    np.testing.assert_allclose(found.shares.sum(axis=(2, 3)), 1.0)
    assert (found.shares >= 0).all()


def test_only_rules_of_their_own_are_marked():
    """`own_rule` says who decides."""
    assert {name for name, strategy in STRATEGIES.items() if strategy.own_rule} == set(OWN_RULE)


@pytest.mark.parametrize("stopping", sorted(name for name, rule in RULES.items() if rule.only is None))
def test_track_and_stop_counts_one_fidelity_under_any_rule(stopping):
    """It stops by any rule, as on the problem that has its top fidelity alone."""
    instance = mfbai.load("paper-mu2")
    top = Instance(instance.means[:, -1:], instance.problem.costs[:, -1:], [0.0], instance.problem.family)
    settings = {"runs": 3, "seed": 9, "stopping": stopping}
    if "constant" in RULES[stopping].options:
        settings["options"] = {"constant": 1.0}
    found = mfbai.simulate(instance, "track-and-stop", **settings)
    alone = mfbai.simulate(top, "track-and-stop", **settings)
    assert found.stopped.all()
    np.testing.assert_array_equal(found.steps, alone.steps)
    np.testing.assert_array_equal(found.pulls[:, :, -1], alone.pulls[:, :, 0])


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize(
    "instance",
    [
        Instance([[3.0, 4.0], [5.0, 6.0]], [0.2, 1.0], [1.5, 0.0], Poisson()),
        Instance([[0.8, 1.0], [2.0, 2.5]], [0.2, 1.0], [0.6, 0.0], Exponential()),
    ],
    ids=["poisson", "exponential"],
)
def test_families_without_a_variance_proxy_are_refused(strategy, instance):
    """The bounds are those of sub-Gaussian rewards; the message names the family."""
    with pytest.raises(InvalidInput, match=instance.problem.family.name):
        mfbai.simulate(instance, strategy, runs=1)


@pytest.mark.parametrize("strategy", EXPLORES)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mu1": np.nan}, "mu1"),
        ({"mu1": np.inf}, "mu1"),
        ({"mu2": -np.inf}, "mu2"),
        ({"mu1": 0.5, "mu2": 0.5}, "mu1"),
        ({"mu1": 0.4, "mu2": 0.5}, "mu1"),
    ],
)
def test_means_that_make_no_sense_are_refused(strategy, options, named):
    """mu1 and mu2 must be finite, and mu1 the better one."""
    with pytest.raises(InvalidInput, match=named):
        mfbai.simulate("paper-5x2", strategy, runs=1, options=options)


@pytest.mark.parametrize("strategy", EXPLORES)
def test_mu1_of_a_minimising_problem_is_the_smaller_one(strategy):
    """In the user's units the best mean is the least."""
    instance = INSTANCES["4x3, minimise"]()
    mfbai.simulate(instance, strategy, runs=1, max_steps=20, options={"mu1": 0.3, "mu2": 0.4})
    with pytest.raises(InvalidInput, match="mu1"):
        mfbai.simulate(instance, strategy, runs=1, options={"mu1": 0.4, "mu2": 0.3})


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_unknown_options_are_refused(strategy):
    """The message names the option."""
    with pytest.raises(InvalidInput, match="mu3"):
        mfbai.simulate("paper-5x2", strategy, runs=1, options={"mu3": 0.5})
