"""A study whose results contradict what was stated stops, says why, and can be checked."""

import json
import random

import numpy as np
import pytest

from mfbai import InvalidInput, Problem, StudyOver, Symmetric, create_study, identify, verify
from mfbai.study import ledger
from mfbai.study.status import status_from_dict
from mfbai.study.study import Study
from support.certificates import forged, numbers, rejected_at, resealed
from support.studies import PROBLEM, again, finish, kinds


@pytest.fixture
def stopped(study):
    """After values of 'plain' that are off by 0.8, where 0.1 is stated."""
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    return study


def test_an_alarm_ends_the_study_and_says_what_contradicts_what(stopped):
    verdict = stopped.result
    assert (verdict.state, verdict.arm) == ("alarm", None)  # there are no results of the others
    assert [(alarm.arm, alarm.fidelity) for alarm in verdict.alarms] == [(0, 0)]
    text = str(verdict)
    assert text.startswith("Stopped by an alarm, without an answer; it cost 0. BIAS ALARM: 'fidelity 1' is off by")
    assert "its results contradict those of the top" in text
    assert text.endswith("Reopen the study with wider bias bounds: all its results count there.")
    assert stopped.state == stopped.status().state == "alarm"
    assert again(stopped).result == verdict
    with pytest.raises(StudyOver, match="is over: Stopped by an alarm"):
        stopped.ask()


def test_means_beyond_the_range_are_told_from_wrong_bias_bounds():
    """Percents where the family was told 0 to 1."""
    means = {"a": 50, "b": 60, "c": 70}
    problem = Problem(list(means), costs=1, biases=0, family=Symmetric(0, 1), fidelities=["true"])
    luck = random.Random(1)
    text = str(identify(lambda arm, *_: luck.gauss(means[arm], 5), problem, 0.05))
    assert "RANGE ALARM: The mean of " in text
    assert "seems to be outside of 0 to 1, the range of the family. If it were inside, this would" in text
    assert text.endswith("Create another study, of a family with a wider range.")
    assert "bias bound" not in text


def test_results_under_way_come_late(study):
    trial = study.ask()
    study.add("plain", 0, [-0.5, 1.1] * 5)  # it waits for the trial
    assert study.result is None
    late = study.ask()
    study.tell(trial, 0.4)
    assert study.result.state == "alarm"
    assert "VARIANCE ALARM: All results, taken together, vary more" in str(study.result)
    study.tell(late, 0.4)
    assert study.status().late == 1


def test_a_status_with_an_alarm_can_be_sent(stopped):
    shown = json.loads(json.dumps(stopped.status().to_dict()))
    assert shown["result"]["state"] == shown["state"] == "alarm"
    assert "because" not in shown["result"]
    assert status_from_dict(shown, stopped.problem).result == stopped.result


def test_the_certificate_of_a_stopped_study_is_confirmed(stopped):
    found = verify(stopped.export())
    assert found, found.reason
    assert found.verdict == stopped.result


def test_an_alarm_that_was_left_out_is_found(stopped):
    made = stopped.export()
    journal = made["journal"]
    assert rejected_at(resealed(made, journal[:-1]), len(journal) - 1, "here the study is alarm")
    settings = {name: value for name, value in journal[0].items() if name != "on_alarm"}
    assert rejected_at(resealed(made, [settings, *journal[1:]]), len(journal) - 1, "do not allow a verdict")


def test_an_alarm_without_a_cause_is_found(certificate):
    (n,) = numbers(certificate, "verdict")
    assert rejected_at(forged(certificate, n, state="alarm"), n, "verdict's state")
    journal = certificate["journal"]
    early = [*journal[:9], {**journal[n], "state": "alarm"}]
    assert rejected_at(resealed(certificate, early), 9, "do not allow a verdict")


def test_a_study_can_continue_in_spite_of_an_alarm():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", on_alarm="continue")
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    assert study.status().alarms
    verdict = finish(study)
    assert verdict.state == "decided"
    assert "BIAS ALARM: the data contradict a bias bound." in str(verdict)
    assert "on_alarm" not in study.journal()[0].body
    assert verify(study.export()).verdict == verdict


@pytest.mark.parametrize(("on_alarm", "state"), [("stop", "alarm"), ("continue", "decided")])
def test_a_result_that_decides_and_raises_an_alarm_is_no_answer_unless_asked_for(on_alarm, state):
    study = create_study(PROBLEM, 0.05, storage="sqlite://", strategy="frugal", on_alarm=on_alarm)
    for arm in ("plain", "wide", "deep"):
        study.add(arm, 1, [0.5])
    study.add("wide", 0, [3.0] * 40)
    assert (study.result.state, study.result.arm, bool(study.result.alarms)) == (state, "wide", True)
    assert verify(study.export()).verdict == study.result


def test_a_stopped_study_survives_a_snapshot(monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 1)
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    study.add("plain", 0, [0.9] * 40)
    study.add("plain", 1, [0.1] * 40)
    opened = Study(study._storage, study._study)
    assert opened._recall().verdict == study.result == opened.result
    assert opened.result.because


@pytest.mark.parametrize("family", [PROBLEM.family, Symmetric(-2, 4)])
def test_a_replay_looks_for_alarms_where_the_study_did(family):
    """All arms are equally good, and off by ten times the bound at the cheap fidelity."""
    study = create_study(PROBLEM.replace(family=family), 0.05, storage="sqlite://", strategy="frugal", audit=0.3)
    rng = np.random.default_rng(1)
    while study.result is None:
        for trial in reversed(study.ask_many(3)):
            study.tell(trial, float(rng.normal(1.5 if trial.fidelity_index == 0 else 0.5, 0.2)))
    assert study.result.state == "alarm"
    assert f"; {study.result.arm!r} leads; it cost" in str(study.result)
    assert verify(study.export()).verdict == study.result
    assert kinds(study).count("verdict") == 1


def test_identify_returns_the_alarm():
    def evaluate(arm, fidelity, seed):
        return 0.5 + (0.4 if fidelity == "fidelity 1" else 0.0) + np.random.default_rng(seed).normal(0, 0.2)

    verdict = identify(evaluate, PROBLEM, 0.05, audit=0.5)
    assert verdict.state == "alarm"
    assert "contradict those of the top" in str(verdict)


def test_what_an_alarm_does_and_the_share_of_an_audit_are_checked():
    with pytest.raises(InvalidInput, match=r"on_alarm is 'halt': .*stop, continue") as refused:
        create_study(PROBLEM, 0.05, storage="sqlite://", on_alarm="halt", audit="much")
    assert "audit is 'much'" in str(refused.value)
    for share in (1, 1.5, -0.1, float("nan"), True, None):
        with pytest.raises(InvalidInput, match="audit is"):
            create_study(PROBLEM, 0.05, storage="sqlite://", audit=share)
    with pytest.raises(InvalidInput, match="iise follows a plan"):
        create_study(PROBLEM, 0.05, storage="sqlite://", strategy="iise", audit=0.1)


def test_identify_resumes_a_study_that_continues(tmp_path):
    url = f"sqlite:///{tmp_path / 'kept.db'}"
    create_study(PROBLEM, 0.05, name="kept", storage=url, on_alarm="continue")
    call = {"name": "kept", "storage": url}
    assert identify(lambda arm, *_: {"plain": 0.1, "wide": 0.9, "deep": 0.3}[arm], PROBLEM, 0.05, **call).arm == "wide"
    with pytest.raises(InvalidInput, match="exists with another on_alarm"):
        identify(lambda *_: 0.0, PROBLEM, 0.05, on_alarm="stop", **call)
