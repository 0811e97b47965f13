"""The forecast of a study: the optimal shares at the estimate, and the cost to the verdict."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

import mfbai
from mfbai.study import forecast
from mfbai.study.forecast import Forecast, estimate
from mfbai.study.storage import IN_MEMORY

MEANS = [[0.5, 0.55], [0.3, 0.25], [0.1, 0.05]]


def make_study(means=MEANS, counts=4, **settings):
    """A study with `counts` values in each cell that average to its mean."""
    problem = mfbai.Problem(len(means), [1.0, 4.0], [0.1, 0.0], mfbai.Gaussian(1.0))
    study = mfbai.create_study(problem, 0.05, storage=IN_MEMORY, **settings)
    for arm, row in enumerate(means):
        for fidelity, mean in enumerate(row):
            if mean is not None:
                study.add(arm, fidelity, [mean] * counts)
    return study


def oracle_at_the_means():
    return mfbai.oracle(mfbai.Instance(MEANS, [1.0, 4.0], [0.1, 0.0], mfbai.Gaussian(1.0)))


def test_data_within_the_bias_bounds_are_their_own_estimate():
    """Means that the bias bounds allow fit best."""
    status = make_study().status()
    assert estimate(status) == pytest.approx(np.array(MEANS), abs=1e-9)


def test_the_estimate_obeys_the_bias_bounds():
    """Data that contradict a bound are moved to the nearest means that it allows, cells without data to the middle."""
    status = make_study([[0.9, 0.1], [0.3, None], [None, None]]).status()
    found = estimate(status)
    assert found[0] == pytest.approx([0.55, 0.45])  # .1 apart, around the average of both
    assert found[1] == pytest.approx([0.3, 0.3])
    assert found[2] == pytest.approx([(0.45 + 0.3) / 2] * 2)  # as good as the average of the others


def test_the_optimal_shares_are_the_oracles_at_the_estimate():
    """The forecast knows nothing but what an oracle says of the estimate."""
    study = make_study()
    best = Forecast(study).optimal(study.status())
    expected = oracle_at_the_means()
    assert best.weights == pytest.approx(expected.weights, abs=1e-6)
    assert best.cost_complexity == pytest.approx(expected.cost_complexity)


@pytest.mark.parametrize(("strategy", "tests"), [("race", 1), ("frugal", 2)])
def test_the_remaining_cost_is_what_the_missing_evidence_costs(strategy, tests):
    """The least evidence grows by 1 for every C*. It must be larger where each rival has a test of its own."""
    study = make_study(strategy=strategy)
    status = study.status()
    expected = oracle_at_the_means().cost_complexity
    missing = math.log(tests / 0.05) - max(status.evidence.min(), 0.0)
    assert Forecast(study).remaining(status) == pytest.approx(expected * missing)


def test_there_is_no_forecast_without_data():
    """Nobody knows what a study costs before its first result."""
    study = make_study([[None, None]] * 2)
    assert Forecast(study).remaining(study.status()) is None


def test_there_is_no_forecast_while_the_best_arms_tie():
    """A tie is never resolved, so no cost is enough."""
    study = make_study([[0.5, 0.5], [0.5, 0.5]])
    status = study.status()
    assert Forecast(study).optimal(status) is None
    assert Forecast(study).remaining(status) is None


def test_arms_that_tie_with_unequal_numbers_of_values_have_no_forecast():
    """Only zeros so far: the estimates keep away from 0 by what each arm's data leave open, which is no difference."""
    problem = mfbai.Problem(3, [1.0], [0.0], mfbai.Bernoulli())
    study = mfbai.create_study(problem, 0.05, storage=IN_MEMORY)
    for arm, count in enumerate((2, 3, 4)):
        study.add(arm, 0, [0.0] * count)
    assert Forecast(study).remaining(study.status()) is None


def test_there_is_no_forecast_for_another_rule():
    """The evidence that is missing says nothing about when another rule decides."""
    study = make_study(stopping="stylised")
    assert Forecast(study).remaining(study.status()) is None


def test_nothing_remains_after_the_verdict():
    """A decided study costs nothing more."""
    study = make_study(counts=200)
    while study.result is None:
        trial = study.ask()
        study.tell(trial, MEANS[trial.arm_index][trial.fidelity_index])
    status = study.status()
    assert status.state == "decided"
    assert Forecast(study).remaining(status) == 0.0


def test_the_optimal_shares_are_kept_for_a_while(monkeypatch):
    """They are computed again only after several times as long as they took."""
    now = SimpleNamespace(monotonic=iter([0.0, 1.0, 5.9, 6.1, 6.2]).__next__)
    monkeypatch.setattr(forecast, "time", now)
    study = make_study()
    made = Forecast(study)
    first = made.optimal(study.status())  # takes from 0 to 1
    study.add(0, 1, [0.9])
    assert made.optimal(study.status()) is first  # at 5.9
    assert made.optimal(study.status()) is not first  # at 6.1
