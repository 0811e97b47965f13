"""Audits: their share of the cost, what they see, and that nothing changes without one."""

import numpy as np
import pytest

from mfbai import Gaussian, Instance, InvalidInput, Symmetric, load, simulate
from mfbai.analysis.guarantee import find_alarms
from mfbai.simulation.experiment import Run, prepare

STATED = Instance([[0.5] * 3, [0.55] * 3, [0.4] * 3], [0.1, 0.3, 1.0], [0.1, 0.05, 0.0], Gaussian(0.01))
# The first arm's cheap mean is 0.2 above its top mean, where 0.1 is stated: it seems to be 0.6 at least, above 0.55.
VIOLATED = np.array([[0.7, 0.5, 0.5], [0.55, 0.55, 0.55], [0.4, 0.4, 0.4]])
DELTA = 0.05


def wrong_and_silent(strategy, audit, runs):
    """How many runs end with a wrong answer, and no alarm by then; one looks whenever there are 2 % more results."""
    [setup] = prepare(STATED, strategy, None, [DELTA], {}, {}, audit=audit)
    run = Run(setup)
    run.truth.means[...] = VIOLATED
    found = 0
    for number in range(runs):
        run.restart(3, number)
        alarm, steps = False, 0
        while not (run.decided or alarm):
            steps = int(1.02 * steps) + 1
            run.advance(steps)
            alarm = bool(find_alarms(run.model, run.stats, DELTA))
        found += not alarm and run.outcome.answer[0] != 1
    return found


@pytest.mark.parametrize("strategy", ["race", "frugal"])
def test_with_an_audit_few_wrong_answers_come_without_an_alarm(strategy):
    """Without one, 85 or more of 100. At a rate of 20 %, more than 17 of 50 would have a probability below 1 %."""
    assert wrong_and_silent(strategy, 0.0, 20) >= 12
    assert wrong_and_silent(strategy, 0.2, 50) <= 17


@pytest.mark.parametrize(
    ("strategy", "family"), [("race", Gaussian(0.01)), ("race", Symmetric(-2, 4)), ("uniform", Gaussian(0.01))]
)
def test_at_least_the_share_goes_to_evaluations_without_bias(strategy, family):
    """Of the two best arms: in these runs, they are the leader and its closest rival most of the time."""
    deviation = 0.1 if isinstance(family, Symmetric) else None
    instance = STATED.problem.replace(family=family).instance(STATED.means, deviation=deviation)
    found = simulate(instance, strategy, delta=DELTA, runs=10, seed=1, audit=0.3)
    spent = (found.pulls * instance.problem.costs).sum(axis=0)
    assert spent[:2, -1].sum() >= 0.27 * spent.sum()
    assert found.error_rate <= 0.2


def test_both_arms_are_audited_in_turn():
    """Race evaluates neither of these at the top by itself."""
    name = "paper-4x5"
    plain, audited = (simulate(name, "race", delta=DELTA, runs=40, seed=1, audit=share) for share in (0.0, 0.4))
    assert plain.pulls[:, :, -1].sum() == 0
    assert np.count_nonzero(audited.pulls[:, :, -1].sum(axis=0)) >= 2
    share = (audited.pulls[:, :, -1] * 5.0).sum() / audited.costs.sum()
    assert 0.3 <= share <= 0.6


def test_an_audit_of_nothing_changes_nothing():
    """Without biases there is nothing to audit; nor at the top alone."""
    unbiased = Instance([[0.5], [0.7]], [1.0], [0.0], Gaussian(0.1))
    for instance, strategy in ((unbiased, "race"), (load("paper-5x2"), "grad")):
        plain, audited = (simulate(instance, strategy, delta=0.1, runs=5, audit=share) for share in (0.0, 0.5))
        np.testing.assert_array_equal(plain.pulls, audited.pulls)


def test_shares_that_are_none_are_refused():
    for share in (-0.1, 1.0, float("nan"), "0.1", True):
        with pytest.raises(InvalidInput, match=r"audit is .*: give the share of the cost"):
            simulate("paper-5x2", runs=1, audit=share)
    with pytest.raises(InvalidInput, match="lucb follows a plan that allows no other evaluations"):
        simulate("paper-5x2", "lucb", runs=1, audit=0.1)
