"""What a study shows of itself: status, intervals, alarms, history."""

import json
import math
from dataclasses import asdict

import numpy as np
import pytest

import mfbai
from mfbai import (
    create_study,
    verify,
)
from mfbai.study.status import status_from_dict
from support.certificates import forged, rejected_at, resealed
from support.studies import PROBLEM, again, finish, value_of

# --- what is shown


def test_the_status_of_a_study_without_data(study):
    status = study.status()
    assert (status.state, status.leader, status.risk, status.cost, status.told) == ("running", None, 1.0, 0.0, 0)
    assert status.counts.tolist() == [[0, 0]] * 3
    assert np.isnan(status.means).all()
    assert np.isinf(status.intervals).all()
    assert (status.alarms, status.result, study.result) == ((), None, None)


@pytest.mark.parametrize(("strategy", "tests"), [("race", 1), ("frugal", 2)])
def test_the_intervals_and_the_risk_shown_are_those_that_decide(storage_url, strategy, tests):
    study = create_study(PROBLEM, 0.05, storage=storage_url, strategy=strategy)
    rng = np.random.default_rng(1)
    needed = math.log(tests / 0.05)
    while study.result is None:
        status = study.status()
        assert status.needed == pytest.approx(needed)
        assert status.evidence.min() < needed  # or there would be a verdict
        assert status.risk > 0.05
        table = np.nan_to_num(status.means)
        np.testing.assert_array_equal(status.intervals, mfbai.intervals(PROBLEM, status.counts, table, 0.05))
        assert status.risk == pytest.approx(min(tests * math.exp(-max(status.evidence.min(), 0.0)), 1.0))
        found = mfbai.risk(PROBLEM, status.counts, table)
        if status.told and strategy == "frugal":  # what race has proven depends on the order of its evaluations
            assert status.leader_index == found.leader
            assert status.risk <= found.level * (1 + 1e-9)
        trial = study.ask()
        study.tell(trial, value_of(trial, rng))
    assert study.status().evidence.min() >= needed * (1 - 1e-9)


def test_data_that_contradict_the_bias_bounds_raise_an_alarm_in_status_and_verdict(study):
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    (alarm,) = study.status().alarms
    assert (alarm.arm, alarm.fidelity, alarm.certain) == (0, 0, True)
    assert alarm.level <= 0.05
    verdict = finish(study)
    assert [(found.arm, found.fidelity) for found in verdict.alarms] == [(0, 0)]
    assert again(study).result == verdict
    assert "BIAS ALARM" in str(verdict)
    assert verify(study.export()).verdict == verdict
    shown = study.status().to_dict()
    assert shown["alarms"][0]["arm"] == shown["result"]["alarms"][0]["arm"] == "plain"


def test_results_that_vary_more_than_was_stated_raise_an_alarm_in_status_and_verdict(study):
    """The stated deviation is 0.2."""
    study.add("plain", 0, [-0.5, 1.1] * 5)
    both = [(alarm.arm, alarm.fidelity) for alarm in study.status().variance_alarms]
    assert both == [(None, None), (0, 0)]
    assert study.status().alarms == ()
    verdict = finish(study)
    assert (0, 0) in [(alarm.arm, alarm.fidelity) for alarm in verdict.variance_alarms]
    assert again(study).result == verdict
    assert "VARIANCE ALARM" in str(verdict)
    shown = study.status().to_dict()
    last = shown["result"]["variance_alarms"][-1]
    assert (last["arm"], last["fidelity"], last["ratio"] > 10) == ("plain", "fidelity 1", True)
    sent = status_from_dict(json.loads(json.dumps(shown)), study.problem)
    assert sent.variance_alarms == study.status().variance_alarms
    assert sent.result == verdict


def test_a_certificate_has_the_variance_alarms_and_leaving_them_out_hides_nothing(study):
    """As journals of 0.1.0 do: what they do not say, the replay finds."""
    study.add("plain", 0, [-0.5, 1.1] * 5)
    verdict = finish(study)
    made = study.export()
    assert made["verdict"]["variance_alarms"] == [asdict(alarm) for alarm in verdict.variance_alarms]
    assert verify(made).verdict == verdict
    del next(event for event in made["journal"] if event["kind"] == "verdict")["variance_alarms"]
    assert verify(resealed(made)).verdict == verdict
    n = len(made["journal"]) - 1
    assert rejected_at(forged(study.export(), n, variance_alarms=[]), n, "verdict's variance_alarms")


def test_a_status_is_written_as_json(study):
    finish(study)
    shown = json.loads(json.dumps(study.status().to_dict(), allow_nan=False))
    assert shown["state"] == "decided"
    assert shown["result"]["arm"] == "wide"
    assert (
        json.loads(json.dumps(create_study(PROBLEM, 0.05, storage="sqlite://").ask().to_dict()))["arm"] in PROBLEM.arms
    )


def test_what_a_status_holds_does_not_change_afterwards(study):
    before = study.status()
    kept = before.to_dict()
    finish(study)
    np.testing.assert_equal(before.to_dict(), kept)


# --- how it went


def test_the_history_of_a_study_is_bounded_and_ends_where_it_stands(study):
    assert study.history() == again(study).history()
    assert [(point.cost, point.risk, point.leader) for point in study.history()] == [(0.0, 1.0, None)]
    finish(study)
    points = study.history()
    status = study.status()
    assert 2 <= len(points) <= 257
    assert [point.cost for point in points] == sorted(point.cost for point in points)
    assert points[-1].cost == status.cost
    assert points[-1].evidence == status.evidence.min() >= status.needed
    assert points[-1].leader == status.leader_index
    assert points == again(study).history()


def test_the_length_of_a_journal_tells_whether_anything_has_happened(study):
    other = again(study)
    assert study.length() == other.length() == 1
    trial = study.ask()
    study.renew(trial)  # leases are in no journal
    assert other.length() == 2
    other.tell(trial, 0.5)
    assert study.length() == 3
    assert study.state == "running"


def test_with_a_tolerance_no_more_is_claimed_than_is_proven():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", tolerance=0.5)
    assert study.status().tolerance == 0.5
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.tolerance == 0.5
    assert ", or within 0.5 of it: the risk is 0.05 at most" in str(study.result)
