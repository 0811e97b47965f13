"""Leases that run out, are renewed and given back, and requests that are repeated."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from mfbai import (
    InvalidInput,
    TrialClosed,
    verify,
)
from support.studies import again, kinds, lasts, unchanged

OVER = 1e-9  # seconds: a lease that has run out by the next call

# --- leases


def test_a_lease_may_be_any_kind_of_number(study):
    """In single precision today's time is only known to two minutes."""
    before = datetime.now(UTC)
    trial = study.ask(lease=np.float32(60))
    assert lasts(trial, 60, before, datetime.now(UTC))
    study.renew(trial, lease=np.float32(60))
    assert study.ask().id != trial.id


def test_a_trial_whose_lease_is_over_is_handed_out_again_and_a_late_result_counts(study):
    kept = study.ask(lease=1000)
    lost = study.ask(lease=OVER)
    second = again(study).ask()
    assert (second.id, second.seed, second.arm, second.fidelity) == (lost.id, lost.seed, lost.arm, lost.fidelity)
    assert second.lease_until > lost.lease_until
    assert study.ask().id not in (lost.id, kept.id)
    assert kinds(study) == ["create", "ask", "ask", "ask"]
    study.tell(lost, 0.5)  # by the worker that was given up
    assert study.status().told == 1
    study.tell(second, 0.5)  # the same seed, the same value
    with pytest.raises(TrialClosed, match=r"was told 0\.5 already"):
        study.tell(second, 0.6)


def test_trials_whose_leases_are_over_come_before_new_ones_the_oldest_first(study):
    trials = study.ask_many(6, lease=OVER)
    study.tell(trials[1], 0.5)
    study.fail(trials[3])
    study.renew(trials[4], lease=1000)
    found = again(study).ask_many(5)
    assert [trial.id for trial in found[:4]] == [trials[k].id for k in (0, 2, 5)] + [f"7-{study.settings.key}"]
    assert study.status().pending == 6


def test_a_lease_that_is_renewed_lasts_longer(study):
    trial = study.ask(lease=OVER)
    study.renew(trial, lease=1000)
    assert again(study).ask().id != trial.id


def test_a_trial_that_is_released_is_handed_out_at_once(study):
    trial = study.ask()
    study.release(trial)
    assert again(study).ask().id == trial.id
    assert study.ask().id != trial.id


def test_renewing_what_is_over_does_nothing(study):
    told, failed = study.ask_many(2)
    study.tell(told, 0.5)
    study.fail(failed)
    for trial in (told, failed):
        study.renew(trial)
        study.release(trial)
    assert study.ask().id not in (told.id, failed.id)


# --- requests that have a name


def test_a_request_that_is_repeated_is_answered_by_the_same_trials(study):
    first = study.ask_many(3, request="r")
    assert [trial.id for trial in study.ask_many(3, request="r")] == [trial.id for trial in first]
    assert [trial.id for trial in again(study).ask_many(3, request="r")] == [trial.id for trial in first]
    assert study.ask(request="another").id not in {trial.id for trial in first}
    study.tell(first[0], 0.5)
    study.fail(first[1])
    assert [trial.id for trial in study.ask_many(3, request="r")] == [first[2].id]
    study.tell(first[2], 0.5)
    assert study.ask(request="r").id.startswith("5-")
    assert verify(study.export())


def test_a_repeated_request_has_the_same_answer_if_that_was_another_worker_s_before(study):
    released = study.ask(request="gone")
    study.release(released)
    first = study.ask_many(3, request="r")
    assert first[0].id == released.id
    assert [trial.id for trial in study.ask_many(3, request="r")] == [trial.id for trial in first]
    assert study.ask(request="gone").id not in {trial.id for trial in first}


def test_a_renewed_lease_is_still_that_of_its_request(study):
    trial = study.ask(request="r")
    study.renew(trial, lease=50)
    assert study.ask(request="r").id == trial.id


def test_a_request_that_is_repeated_in_the_same_turn_is_answered_by_the_same_trials(study):
    with study.together():
        assert study.ask(request="r").id == study.ask(request="r").id
    assert kinds(study) == ["create", "ask"]


def test_a_request_that_is_repeated_has_a_new_lease(study):
    trial = study.ask(lease=OVER, request="r")
    repeated = study.ask(lease=1000, request="r")
    assert repeated.id == trial.id
    assert repeated.lease_until > trial.lease_until + timedelta(seconds=900)
    assert study.ask().id != trial.id


@pytest.mark.parametrize("request_name", ["", "a b", "a\n", "x" * 65, "é", 3, b"r", "\0"], ids=repr)
def test_requests_that_can_have_no_such_name_are_refused(study, request_name):
    unchanged(study, lambda: study.ask(request=request_name), InvalidInput, "request is")
