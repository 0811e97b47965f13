"""A study by its interface, on SQLite and on PostgreSQL."""

import json
import math
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mfbai
from mfbai import (
    Bernoulli,
    Exponential,
    Gaussian,
    Instance,
    InvalidInput,
    NothingToAsk,
    Poisson,
    Problem,
    StudyOver,
    SubGaussian,
    Trial,
    TrialClosed,
    create_study,
    load_study,
    verify,
)
from support.postgres import Postgres

PROBLEM = Problem(["plain", "wide", "deep"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04))
MEANS = [0.3, 0.9, 0.4]


@pytest.fixture
def study(storage_url):
    return create_study(PROBLEM, 0.05, name="s", storage=storage_url)


def again(study):
    """The study as another process would see it."""
    return load_study(study.name, storage=URLS[study._storage.url])


URLS = {}


@pytest.fixture(autouse=True)
def _remember_urls(monkeypatch):
    """A storage shows its URL in another spelling than it was given."""
    before = mfbai.study.study.Storage

    class Remembered(before):
        def __init__(self, url, **options):
            super().__init__(url, **options)
            URLS[self.url] = url

    monkeypatch.setattr("mfbai.study.study.Storage", Remembered)
    URLS.clear()


def value_of(trial, rng):
    return float(rng.normal(MEANS[trial.arm_index], 0.2))


def finish(study, seed=0):
    rng = np.random.default_rng(seed)
    while study.result is None:
        trial = study.ask()
        study.tell(trial, value_of(trial, rng))
    return study.result


def finish_with_some_under_way(study):
    """To a verdict that comes while others are still at work; what these are at work on."""
    rng = np.random.default_rng(0)
    while True:
        trials = study.ask_many(9)
        for k, trial in enumerate(trials):
            study.tell(trial, value_of(trial, rng))
            if study.result is not None:
                assert k < 8
                return trials[k + 1 :]


def kinds(study):
    return [event.body["kind"] for event in study.journal()]


def unchanged(study, call, kind, match):
    """A call that is refused, and leaves the journal and the leases as they were."""
    before, status = list(study.journal()), study.status().to_dict()
    with pytest.raises(kind, match=match):
        call()
    assert list(study.journal()) == before
    np.testing.assert_equal(study.status().to_dict(), status)
    np.testing.assert_equal(again(study).status().to_dict(), status)


# --- asking


def test_a_trial_says_all_that_a_worker_needs(study):
    before = datetime.now(UTC)
    trial = study.ask(lease=100)
    assert isinstance(trial, Trial)
    assert trial.arm == PROBLEM.arms[trial.arm_index]
    assert trial.fidelity == PROBLEM.fidelities[trial.fidelity_index]
    assert trial.cost == PROBLEM.costs[trial.arm_index, trial.fidelity_index]
    assert 0 <= trial.seed < 2**31
    assert isinstance(trial.id, str)
    assert timedelta(seconds=95) < trial.lease_until - before < timedelta(seconds=105)


def test_asking_for_many_gives_different_trials_that_spread_over_the_arms(study):
    trials = study.ask_many(12)
    assert len({trial.id for trial in trials}) == len({trial.seed for trial in trials}) == 12
    assert {trial.arm for trial in trials} == set(PROBLEM.arms)
    assert study.status().pending == 12
    assert [trial_id for trial_id, _ in study.trials()] == [trial.id for trial in trials]
    assert dict(study.trials())[trials[3].id] == (trials[3].arm_index, trials[3].fidelity_index)


def test_asking_for_many_is_asking_again_and_again(study):
    other = create_study(PROBLEM, 0.05, name="t", storage=URLS[study._storage.url])
    many = study.ask_many(10)
    single = [other.ask() for _ in range(10)]
    assert [(trial.arm, trial.fidelity) for trial in many] == [(trial.arm, trial.fidelity) for trial in single]


@pytest.mark.parametrize("n", [0, -1, 1.0, True, "2", None])
def test_a_number_to_ask_for_that_is_none_is_refused(study, n):
    unchanged(study, lambda: study.ask_many(n), InvalidInput, "n is .*whole number of 1 or more")


@pytest.mark.parametrize("lease", [0, -1, math.nan, math.inf, True, "60", None, 10**400])
def test_a_lease_that_is_no_time_is_refused(study, lease):
    unchanged(study, lambda: study.ask(lease=lease), InvalidInput, "lease is .*positive number of seconds")
    trial = study.ask()
    unchanged(study, lambda: study.renew(trial, lease=lease), InvalidInput, "lease is .*positive number of seconds")


# --- telling


def test_a_value_is_kept_when_tell_returns(study):
    trial = study.ask()
    study.tell(trial, 0.25)
    status = again(study).status()
    cell = trial.arm_index, trial.fidelity_index
    assert (status.told, status.pending, status.cost) == (1, 0, trial.cost)
    assert status.counts[cell] == status.counts.sum() == 1
    assert status.means[cell] == 0.25
    assert np.isnan(status.means).sum() == status.means.size - 1


@pytest.mark.parametrize("value", [0.25, np.float64(0.25), np.float32(0.25), Fraction(1, 4), -3, 10**9, np.int64(4)])
def test_any_kind_of_number_is_taken(study, value):
    trial = study.ask()
    study.tell(trial.id, value)
    assert again(study).status().means[trial.arm_index, trial.fidelity_index] == float(value)


def test_telling_the_same_again_does_nothing(study):
    trial = study.ask()
    study.tell(trial, 0.1 + 0.2)
    before = list(study.journal())
    study.tell(trial, 0.1 + 0.2)
    again(study).tell(trial.id, 0.1 + 0.2)
    assert list(study.journal()) == before
    assert study.status().told == 1


def test_telling_another_value_is_refused(study):
    trial = study.ask()
    study.tell(trial, 0.3)
    for value in (0.1 + 0.2, 0.5, -0.3):
        unchanged(
            study, lambda x=value: study.tell(trial, x), TrialClosed, "was told 0.3 already, now .*cannot be changed"
        )
        unchanged(study, lambda x=value: again(study).tell(trial.id, x), TrialClosed, "was told 0.3 already")


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, np.nan, 10**400])
def test_values_that_are_not_finite_are_refused(study, value):
    trial = study.ask()
    unchanged(study, lambda: study.tell(trial, value), InvalidInput, "value is .*give a finite number")
    unchanged(study, lambda: study.add("plain", 0, [0.5, value]), InvalidInput, "value is .*give a finite number")


@pytest.mark.parametrize("value", [None, "0.5", b"1", True, np.True_, [0.5], np.array(0.5), np.array([0.5]), 1j, {}])
def test_values_that_are_no_numbers_are_refused(study, value):
    trial = study.ask()
    unchanged(study, lambda: study.tell(trial, value), InvalidInput, "value is .*give a number")
    unchanged(study, lambda: study.add("plain", 0, [0.5, value]), InvalidInput, "value is .*give a number")


def test_a_single_value_to_add_that_is_no_number_is_refused(study):
    for value in (None, "0.5", b"1", np.array(0.5), True, math.nan, [[0.5]], np.zeros((2, 2))):
        unchanged(study, lambda x=value: study.add("plain", 0, x), InvalidInput, "value is")


@pytest.mark.parametrize(
    ("family", "bad"),
    [
        (Bernoulli(), [0.5, 2, -1]),
        (Poisson(), [-1, 0.5]),
        (Exponential(), [0, -1]),
        (SubGaussian(bounds=(0, 1)), [-0.1, 1.1]),
    ],
    ids=lambda given: getattr(given, "name", ""),
)
def test_values_outside_the_family_are_refused(storage_url, family, bad):
    study = create_study(Problem(2, [0.1, 1.0], [0.1, 0.0], family), 0.05, name="s", storage=storage_url)
    number = f"1-{study.settings.key}"
    for value in bad:
        unchanged(study, lambda x=value: study.tell(number, x), InvalidInput, f"value is .*a {family.name} evaluation")
        unchanged(study, lambda x=value: study.add(0, 0, x), InvalidInput, f"value is .*a {family.name} evaluation")


@pytest.mark.parametrize(
    ("form", "told"),
    [
        ("2-{}", "was never handed out"),
        ("0-{}", "trial"),
        ("999999999-{}", "was never handed out"),
        ("-1-{}", "is no trial"),
        ("1", "is no trial"),
        ("", "is no trial"),
        ("1-{} ", "is no trial"),
        ("1-{}\n", "is no trial"),
        ("٢-{}", "is no trial"),
        ("01-{}", "is no trial"),
        ("1-00000000", "is of another study"),
        ("9999999999999999999-{}", "is no trial"),
        ("1.0-{}", "is no trial"),
    ],
)
def test_ids_that_were_never_handed_out_are_refused(study, form, told):
    study.ask()
    given = form.format(study.settings.key)
    for call in (lambda: study.tell(given, 0.5), lambda: study.fail(given, "x")):
        unchanged(study, call, InvalidInput, told)
    for call in (lambda: study.renew(given), lambda: study.release(given)):
        unchanged(study, call, InvalidInput, told)


@pytest.mark.parametrize("given", [None, 1, 1.0, b"1-00000000", ("1",), object()])
def test_what_is_no_id_at_all_is_refused(study, given):
    study.ask()
    unchanged(study, lambda: study.tell(given, 0.5), InvalidInput, "is no trial: give a Trial, or its id")


def test_trials_of_another_study_are_refused(study):
    other = create_study(PROBLEM, 0.05, name="other", storage=URLS[study._storage.url])
    mine, theirs = study.ask(), other.ask()
    assert mine.id != theirs.id
    unchanged(study, lambda: study.tell(theirs, 0.5), InvalidInput, "is of another study: those of 's' end in")
    unchanged(study, lambda: study.fail(theirs), InvalidInput, "is of another study")
    study.tell(mine, 0.5)
    assert (study.status().told, other.status().told) == (1, 0)


def test_no_more_is_paid_for_while_many_results_wait_for_one(study):
    """The first worker is gone. The others stop when what they find does not count, and go on when it is given up."""
    study.ask(lease=600)

    def go_on():
        for _ in range(1000):
            study.tell(study.ask(), 0.5)

    with pytest.raises(NothingToAsk, match=r"20 results wait for trial '1-\w{8}', which was asked for before them"):
        go_on()
    assert study.status().told < 100
    assert study.status().waiting == 20
    study.release(f"1-{study.settings.key}")
    assert study.ask().id.startswith("1-")


def test_a_batch_that_is_too_large_is_refused(study):
    with pytest.raises(InvalidInput, match="n is 1001: ask for 1000 at once, at most"):
        study.ask_many(1001)


def test_results_are_told_in_any_order(study):
    rng = np.random.default_rng(0)
    trials = study.ask_many(40)
    for k in rng.permutation(40):
        study.tell(trials[k].id, k / 1000)
    status = study.status()
    assert (status.told, status.pending, status.waiting) == (40, 0, 0)
    assert status.cost == pytest.approx(sum(trial.cost for trial in trials))
    for cell in np.ndindex(PROBLEM.shape):
        values = [k for k, trial in enumerate(trials) if (trial.arm_index, trial.fidelity_index) == cell]
        assert status.counts[cell] == len(values)
        if values:
            assert status.means[cell] == pytest.approx(np.mean(values) / 1000)


def test_arms_of_different_cost_are_charged_what_they_cost(storage_url):
    costs = [[0.1, 1.0], [0.2, 3.0], [0.4, 7.0]]
    problem = Problem(3, costs, [0.1, 0.0], Gaussian(0.04))
    study = create_study(problem, 1e-6, name="s", storage=storage_url)
    trials = study.ask_many(15)
    for trial in reversed(trials):
        assert trial.cost == costs[trial.arm_index][trial.fidelity_index]
        study.tell(trial, 0.5)
    assert study.status().cost == pytest.approx(sum(trial.cost for trial in trials))


# --- failing


def test_a_trial_that_failed_costs_nothing_and_is_not_waited_for(study):
    trials = study.ask_many(30)
    cells = [(trial.arm_index, trial.fidelity_index) for trial in trials]
    first, second = next((k, n) for k in range(30) for n in range(k + 1, 30) if cells[k] == cells[n])
    study.tell(trials[second], 0.5)
    assert study.status().waiting == 1
    study.fail(trials[first], "the disk was full")
    status = again(study).status()
    assert (status.waiting, status.failed, status.told, status.pending) == (0, 1, 1, 28)
    assert status.counts[cells[first]] == 1
    assert status.cost == trials[second].cost


def test_failing_again_does_nothing_and_a_failed_trial_cannot_be_told(study):
    trial = study.ask()
    study.fail(trial, "lost")
    before = list(study.journal())
    study.fail(trial, "lost for another reason")
    assert list(study.journal()) == before
    unchanged(study, lambda: study.tell(trial, 0.5), TrialClosed, "was reported as failed.*cannot be told")


def test_a_trial_that_was_told_cannot_fail(study):
    trial = study.ask()
    study.tell(trial, 0.5)
    unchanged(study, lambda: study.fail(trial, "lost"), TrialClosed, "was told 0.5: it cannot fail")


def test_any_text_is_a_reason(study):
    for reason in ("", "x" * 100_000, "a\x00b", "\ud800", "ünïcode 🙂", "'; DROP TABLE mfbai_events; --"):
        study.fail(study.ask(), reason)
    assert again(study).status().failed == 6
    trial = study.ask()
    for reason in (None, 3, b"x"):
        unchanged(study, lambda x=reason: study.fail(trial, x), InvalidInput, "reason is .*give text")


def test_what_an_ask_does_is_decided_in_its_turn(monkeypatch):
    """After it, other threads change what the study knows: nothing may be read from there any more."""
    study = create_study(PROBLEM, 0.05, storage="sqlite://", max_cost=0.2)
    real_turn = study._turn

    class Taken:
        def __getattr__(self, name):
            raise AssertionError(f"{name} was read outside a turn")

    @contextmanager
    def turn():
        with real_turn() as found:
            yield found
        known.append(study._known)
        study._known = Taken()

    def ask():
        if known:
            study._known = known.pop()
        with monkeypatch.context() as patch:
            patch.setattr(study, "_turn", turn)
            return study.ask()

    known = []
    first, second = ask(), ask()
    with pytest.raises(NothingToAsk, match="2 evaluations are under way"):
        ask()
    study._known = known.pop()
    study.tell(first, 0.5)
    study.tell(second, 0.5)
    with pytest.raises(StudyOver, match="Undecided"):
        ask()


# --- leases


def test_a_lease_may_be_any_kind_of_number(study):
    """In single precision today's time is only known to two minutes."""
    trial = study.ask(lease=np.float32(60))
    assert 50 < (trial.lease_until - datetime.now(UTC)).total_seconds() < 70
    study.renew(trial, lease=np.float32(60))
    assert study.ask().id != trial.id


def test_a_trial_whose_lease_is_over_is_handed_out_again_and_a_late_result_counts(study):
    lost = study.ask(lease=0.05)
    kept = study.ask(lease=1000)
    time.sleep(0.1)
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
    trials = study.ask_many(6, lease=0.05)
    study.tell(trials[1], 0.5)
    study.fail(trials[3])
    study.renew(trials[4], lease=1000)
    time.sleep(0.1)
    found = again(study).ask_many(5)
    assert [trial.id for trial in found[:4]] == [trials[k].id for k in (0, 2, 5)] + [f"7-{study.settings.key}"]
    assert study.status().pending == 6


def test_a_lease_that_is_renewed_lasts_longer(study):
    trial = study.ask(lease=0.05)
    study.renew(trial, lease=1000)
    time.sleep(0.1)
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


# --- values from elsewhere


def test_values_from_elsewhere_count_and_cost_nothing(study):
    study.add("wide", "fidelity 2", [0.5, 0.7])
    study.add(np.int64(1), 1, (x for x in (0.9,)))
    study.add(0, "fidelity 1", 0.25)
    study.add(0, 0, np.array([0.35, 0.15]))
    study.add(0, 0, [])
    status = again(study).status()
    assert (status.imported, status.told, status.cost) == (6, 0, 0.0)
    assert status.counts.tolist() == [[3, 0], [0, 3], [0, 0]]
    np.testing.assert_allclose(status.means, [[0.25, np.nan], [np.nan, 0.7], [np.nan, np.nan]])
    assert status.leader == "wide"


@pytest.mark.parametrize("arm", ["broad", 3, -1, 1.0, True, None])
def test_values_of_an_arm_or_a_fidelity_that_is_not_there_are_refused(study, arm):
    unchanged(study, lambda: study.add(arm, 0, [0.5]), InvalidInput, "arm is .*known: plain, wide, deep")
    unchanged(study, lambda: study.add(0, arm, [0.5]), InvalidInput, "fidelity is .*known: fidelity 1, fidelity 2")


def test_values_from_elsewhere_can_decide(study):
    for arm, mean in zip(PROBLEM.arms, (0.0, 5.0, 0.0), strict=True):
        if study.result is None:
            study.add(arm, 1, [mean] * 30)
    assert (study.result.state, study.result.arm, study.result.cost) == ("decided", "wide", 0.0)
    with pytest.raises(StudyOver, match="no values can be added"):
        study.add("plain", 1, [9.0] * 1000)
    assert study.result.arm == "wide"


# --- the verdict


def test_a_study_finds_the_best_arm(study):
    verdict = finish(study)
    status = study.status()
    assert (verdict.state, verdict.arm, verdict.arm_index) == ("decided", "wide", 1)
    assert verdict.risk == verdict.delta == 0.05
    assert verdict.cost == status.cost > 0
    assert verdict.told == status.told
    assert (status.state, status.leader, status.risk) == ("decided", "wide", 0.05)
    assert status.result == verdict
    assert "The best is 'wide'" in str(verdict)
    assert kinds(study).count("verdict") == 1
    assert kinds(study)[-1] == "verdict"


def test_the_verdict_never_changes(study):
    trials = finish_with_some_under_way(study)
    verdict = study.result
    counts = study.status().counts
    for trial in trials:
        study.tell(trial, 99.0 if trial.arm != "wide" else -99.0)
    for opened in (study, again(study)):
        status = opened.status()
        assert opened.result == status.result == verdict
        assert (status.late, status.pending) == (len(trials), 0)
        assert (status.state, status.leader) == ("decided", verdict.arm)
        assert status.told == verdict.told + len(trials)
        np.testing.assert_array_equal(status.counts, counts)
        assert status.risk == verdict.risk
        for call in (opened.ask, lambda opened=opened: opened.ask_many(3)):
            with pytest.raises(StudyOver, match="is over: The best is 'wide'"):
                call()
    with pytest.raises(TrialClosed, match="was told"):
        study.tell(trials[0], 0.5)
    assert kinds(study).count("verdict") == 1
    assert verify(study.export())


def test_a_late_failure_changes_nothing(study):
    trial, *_ = finish_with_some_under_way(study)
    verdict = study.result
    study.fail(trial)
    assert again(study).result == verdict
    assert (again(study).status().failed, again(study).status().late) == (1, 0)


def test_a_budget_that_is_spent_leaves_the_study_undecided(storage_url):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url, max_cost=2.0)
    verdict = finish(study)
    status = again(study).status()
    assert verdict.state == status.state == "undecided"
    assert verdict.cost == status.cost <= 2.0 * (1 + 1e-9)
    assert verdict.arm == status.leader
    found = mfbai.risk(PROBLEM, status.counts, np.nan_to_num(status.means))
    assert verdict.arm_index == found.leader
    assert 1e-9 < verdict.risk == status.risk <= found.level * (1 + 1e-9)
    with pytest.raises(StudyOver, match="Undecided within the budget"):
        study.ask()
    assert again(study).result == verdict


def test_a_budget_is_never_exceeded_by_what_is_under_way(storage_url):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url, max_cost=1.0)
    trials = study.ask_many(1000)
    assert sum(trial.cost for trial in trials) <= 1.0 + 1e-9
    unchanged(study, study.ask, NothingToAsk, f"{len(trials)} evaluations are under way")
    study.fail(trials[0])  # which costs nothing, so that there is money for another
    study.tell(study.ask(), 0.5)
    for trial in trials[1:]:
        assert study.result is None
        study.tell(trial, 0.5)
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.state == "undecided"
    assert study.result.cost <= 1.0 + 1e-9


def test_a_budget_of_exactly_so_many_evaluations_allows_them_all():
    """Ten times 0.1 is less than 1 in sums of floating-point numbers, three times 0.1 more than 0.3."""
    for times in (3, 10):
        study = create_study(PROBLEM, 1e-9, storage="sqlite://", max_cost=0.1 * times if times > 3 else 0.3)
        trials = study.ask_many(100)
        assert [trial.cost for trial in trials] == [0.1] * times


def test_the_first_answer_that_is_proven_before_the_budget_ends_is_taken(storage_url):
    without = finish(create_study(PROBLEM, 0.05, name="without", storage=storage_url))
    exact = finish(create_study(PROBLEM, 0.05, name="s", storage=storage_url, max_cost=without.cost))
    assert exact == without
    short = finish(create_study(PROBLEM, 0.05, name="t", storage=storage_url, max_cost=without.cost * 0.9))
    assert short.state == "undecided"
    assert short.risk > 0.05


def test_another_rule_states_what_is_proven_not_what_it_hopes(storage_url):
    study = create_study(PROBLEM, 0.05, name="s", storage=storage_url, stopping="stylised")
    verdict = finish(study)
    status = study.status()
    assert verdict.state == "decided"
    found = mfbai.risk(PROBLEM, status.counts, np.nan_to_num(status.means))
    assert found.leader == verdict.arm_index
    assert verdict.risk == pytest.approx(found.level, rel=0.2)


def test_the_tolerance_is_that_of_the_study(storage_url):
    """Two arms that are the same are told apart by nothing, unless the difference does not matter."""
    problem = Problem(2, [0.1, 1.0], [0.1, 0.0], Gaussian(0.04))
    study = create_study(problem, 0.05, name="s", storage=storage_url, tolerance=0.5, max_cost=100.0)
    assert again(study).settings.tolerance == 0.5
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.state == "decided"


# --- what is shown


def test_the_status_of_a_study_without_data(study):
    status = study.status()
    assert (status.state, status.leader, status.risk, status.cost, status.told) == ("running", None, 1.0, 0.0, 0)
    assert status.counts.tolist() == [[0, 0]] * 3
    assert np.isnan(status.means).all()
    assert np.isinf(status.intervals).all()
    assert (status.alarms, status.result, study.result) == ((), None, None)


def test_the_intervals_and_the_risk_shown_are_those_that_decide(study):
    rng = np.random.default_rng(1)
    needed = math.log(2 / 0.05)
    while study.result is None:
        status = study.status()
        assert status.needed == pytest.approx(needed)
        assert status.evidence.min() < needed  # or there would be a verdict
        assert status.risk > 0.05
        table = np.nan_to_num(status.means)
        np.testing.assert_array_equal(status.intervals, mfbai.intervals(PROBLEM, status.counts, table, 0.05))
        found = mfbai.risk(PROBLEM, status.counts, table)
        if status.told:
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


# --- settings


def test_a_loaded_study_has_the_settings_it_was_created_with(storage_url):
    settings = {"delta": 0.07, "strategy": "mf-grad", "stopping": "stylised", "tolerance": 0.02, "max_cost": 9.0}
    made = create_study(PROBLEM, **settings, direction="minimise", options={"rate": 1}, name="s", storage=storage_url)
    found = again(made).settings
    assert found.problem == PROBLEM.towards("minimise")
    assert {name: getattr(found, name) for name in settings} == settings
    assert found.options == {"rate": 1.0}
    assert made.settings.differences(found) == []


def test_a_problem_is_given_as_such_or_by_its_file_or_with_its_truth(tmp_path):
    (tmp_path / "problem.toml").write_text(mfbai.dumps(PROBLEM))
    truth = Instance(
        [[0.3, 0.3], [0.9, 0.9], [0.4, 0.4]], [0.1, 1.0], [0.1, 0.0], Gaussian(0.04), arms=["plain", "wide", "deep"]
    )
    for given in (PROBLEM, str(tmp_path / "problem.toml"), tmp_path / "problem.toml", truth):
        assert create_study(given, 0.05, storage="sqlite://").problem == PROBLEM


def test_every_fault_of_the_settings_is_told_at_once(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        create_study(
            PROBLEM,
            1.5,
            name="",
            storage=f"sqlite:///{tmp_path}/s.db",
            strategy="frugl",
            stopping=3,
            tolerance=-1,
            max_cost=0.01,
            direction="up",
        )
    fields = {fault.field for fault in caught.value.faults}
    assert fields == {"name", "delta", "strategy", "stopping", "tolerance", "max_cost", "direction"}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"delta": [0.05]},
        {"delta": 0},
        {"delta": "0.05"},
        {"delta": None},
        {"max_cost": math.nan},
        {"max_cost": True},
        {"max_cost": 10**400},
        {"max_cost": "9"},
        {"max_cost": -1},
        {"tolerance": math.inf},
        {"strategy": "oracle"},
        {"strategy": "lucb-explore-a"},
        {"options": {"rate": 1.0}},
        {"options": []},
        {"problem": "no-such-file.toml"},
        {"problem": 3},
        {"problem": None},
        {"direction": 1},
    ],
)
def test_settings_that_cannot_be_used_are_refused(tmp_path, settings):
    with pytest.raises((InvalidInput, TypeError)):
        create_study(**{"problem": PROBLEM, "delta": 0.05, "storage": f"sqlite:///{tmp_path}/s.db", **settings})
    assert list(tmp_path.iterdir()) == []


def test_seeds_of_a_study_are_all_different():
    settings = create_study(PROBLEM, 0.05, storage="sqlite://").settings
    seeds = {settings.seed(trial) for trial in range(1, 100_001)}
    assert len(seeds) == 100_000
    assert 0 <= min(seeds) <= max(seeds) < 2**31


# --- the journal


def test_the_journal_is_only_ever_added_to_and_its_hashes_chain(study):
    seen = list(study.journal())
    rng = np.random.default_rng(3)
    for _ in range(6):
        trial = study.ask()
        study.tell(trial, value_of(trial, rng))
        now = list(study.journal())
        assert now[: len(seen)] == seen
        assert len(now) == len(seen) + 2
        seen = now
    assert [event.body["n"] for event in seen] == list(range(len(seen)))
    for before, event in pairwise(seen):
        assert event.hash == mfbai.study.journal.seal(before.hash, event.text)


def test_two_that_have_a_study_open_see_what_the_other_does(study):
    other = again(study)
    rng = np.random.default_rng(5)
    while study.result is None:
        for one, two in ((study, other), (other, study)):
            if one.result is None:
                trial = one.ask()
                two.tell(trial.id, value_of(trial, rng))
    assert study.result == other.result == again(study).result
    assert verify(other.export())


def test_many_threads_share_one_study(study):
    errors = []

    def work(k):
        rng = np.random.default_rng(k)
        try:
            while True:
                for trial in study.ask_many(2):
                    study.tell(trial, value_of(trial, rng))
                study.status()
        except StudyOver:
            pass
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(k,)) for k in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert study.result.arm == "wide"
    assert kinds(study).count("verdict") == 1
    assert verify(study.export())


def work_until_the_end(study, k, answers):
    rng = np.random.default_rng(k)
    try:
        while True:
            try:
                trial = study.ask()
            except NothingToAsk:  # one of us was held up
                time.sleep(0.01)
                continue
            study.tell(trial, value_of(trial, rng))
    except StudyOver:
        answers.put(study.result.arm)
    except BaseException as error:
        answers.put(repr(error))


def test_many_processes_share_one_study(study):
    study.tell(study.ask(), 0.5)  # compiled before the fork
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    workers = [context.Process(target=work_until_the_end, args=(study, k, answers)) for k in range(3)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join()
    assert found == ["wide"] * 3
    assert kinds(study).count("verdict") == 1
    assert verify(study.export())


KILLED = """
import os, signal, sys
from mfbai import load_study
study = load_study("s", storage=sys.argv[1])
trial = study.ask()
study.tell(trial, 0.625)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_value_told_survives_the_sudden_end_of_the_process(study, storage_url):
    env = {**os.environ, "PYTHONPATH": str(Path(mfbai.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", KILLED, storage_url], env=env, capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    status = study.status()
    assert (status.told, status.pending) == (1, 0)
    assert 0.625 in status.means


def test_an_error_in_the_middle_of_a_turn_leaves_no_trace(study, monkeypatch):
    """Neither in the journal, nor in what the study remembers."""
    trial = study.ask()
    before = list(study.journal())

    def broken(*_):
        raise KeyboardInterrupt

    for call in (lambda: study.tell(trial, 0.5), lambda: study.ask_many(3), lambda: study.add(0, 0, [0.5])):
        with monkeypatch.context() as patch:
            patch.setattr("mfbai.study.storage.Turn.append", broken)
            with pytest.raises(KeyboardInterrupt):
                call()
        assert list(study.journal()) == before
        status = study.status()
        assert (status.told, status.pending, status.imported, status.counts.sum()) == (0, 1, 0, 0)
    study.tell(trial, 0.25)
    assert study.status().means[trial.arm_index, trial.fidelity_index] == 0.25
    assert verify(study.export())


@pytest.fixture
def own_server():
    """A server to crash: that of the other tests has many databases, and would take long to recover."""
    server = Postgres()
    yield server
    server.stop()


def test_a_study_that_is_not_there_any_more_is_told_not_guessed(own_server):
    """A server that ends while a study is open: an error, and no lost or doubled event once it is back."""
    url = own_server.new_database()
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    first, second = study.ask_many(2)
    study.tell(first, 0.5)
    own_server.crash()
    try:
        with pytest.raises(mfbai.StorageError, match="cannot be used"):
            study.tell(second, 0.75)
    finally:
        own_server.start()
    status = study.status()
    assert (status.told, status.pending) == (1, 1)
    study.tell(second, 0.75)
    assert load_study("s", storage=url).status().told == 2
    assert verify(study.export())


# --- settings that could not work


def test_a_budget_below_the_first_evaluation_is_refused():
    with pytest.raises(InvalidInput, match="the first evaluation that track-and-stop asks for costs 1"):
        create_study(PROBLEM, 0.05, storage="sqlite://", max_cost=0.5, strategy="track-and-stop")


def test_strategies_that_need_to_know_more_say_what():
    with pytest.raises(InvalidInput, match="give the options mu1 and mu2"):
        create_study(PROBLEM, 0.05, storage="sqlite://", strategy="lucb-explore-a")
    with pytest.raises(InvalidInput, match="for simulations only"):
        create_study(PROBLEM, 0.05, storage="sqlite://", strategy="oracle")


@pytest.mark.parametrize("value", [1e100, -1e308, 10**400])
def test_values_that_nobody_could_compute_with_are_refused(value):
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    with pytest.raises(InvalidInput, match="value is"):
        study.add("plain", 0, [0.5, value])
    assert study.status().imported == 0


def test_a_name_that_no_command_could_name_is_refused():
    with pytest.raises(InvalidInput, match="does not begin with '-'"):
        create_study(PROBLEM, 0.05, name="-x", storage="sqlite://")


@pytest.mark.parametrize("name", ["\ud800", "\0", "", 3, None])
def test_names_that_no_study_has_are_refused(tmp_path, name):
    url = f"sqlite:///{tmp_path}/s.db"
    create_study(PROBLEM, 0.05, name="s", storage=url)
    with pytest.raises(InvalidInput, match="name is"):
        load_study(name, storage=url)


@pytest.mark.parametrize("url", ["sqlite:///\ud800.db", "sqlite:///a\0b.db"])
def test_storages_that_no_system_can_name_are_refused(url):
    with pytest.raises(InvalidInput, match="give a URL such as"):
        create_study(PROBLEM, 0.05, name="s", storage=url)


def test_a_risk_too_small_to_compute_with_is_refused():
    with pytest.raises(InvalidInput, match="below 1e-300"):
        create_study(PROBLEM, 1e-320, storage="sqlite://")


# --- calls that share a turn


def test_calls_that_share_a_turn_are_on_disk_when_it_ends_and_not_before(study):
    first, second = study.ask_many(2)
    before = study.length()
    with study.together():
        study.tell(first, 0.5)
        study.fail(second, "lost")
        third = study.ask()
        study.tell(third, 0.25)
        study.add("plain", 0, [0.5])
        assert study.length() == before
        assert study.state == "running"
    assert kinds(study)[before:] == ["tell", "fail", "ask", "tell", "add"]
    assert study.length() == before + 5
    np.testing.assert_equal(again(study).status().to_dict(), study.status().to_dict())
    assert verify(study.export())


def test_a_call_that_is_refused_leaves_the_others_of_its_turn_as_they_are(study):
    first, second = study.ask_many(2)
    with study.together():
        study.tell(first, 0.5)
        study.tell(first, 0.5)  # told in this very turn: nothing
        with pytest.raises(TrialClosed, match=r"was told 0\.5 already, now 0\.75"):
            study.tell(first, 0.75)
        with pytest.raises(TrialClosed, match="cannot fail any more"):
            study.fail(first)
        with pytest.raises(InvalidInput, match="never handed out"):
            study.tell(f"99-{study.settings.key}", 0.5)
        study.tell(second, 0.25)
    assert kinds(study) == ["create", "ask", "ask", "tell", "tell"]
    assert verify(study.export())


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, InvalidInput([]), StudyOver("x")], ids=repr)
def test_a_turn_that_ends_in_an_error_keeps_nothing_and_the_study_works_on(study, error):
    first, second = study.ask_many(2)
    before = list(study.journal())
    with pytest.raises(error if isinstance(error, type) else type(error)), study.together():  # noqa: PT012
        study.tell(first, 0.5)
        study.ask_many(3)
        raise error
    assert list(study.journal()) == before
    status = study.status()
    assert (status.told, status.pending) == (0, 2)
    study.tell(first, 0.75)
    study.tell(second, 0.25)
    assert study.ask().id.startswith("3-")
    assert again(study).status().told == 2
    assert verify(study.export())


def test_a_call_that_breaks_half_way_spoils_its_turn_and_not_the_study(study, monkeypatch):
    """What it has appended cannot be told from what it should have: nothing of the turn is kept."""
    first, second = study.ask_many(2)
    before = list(study.journal())

    def broken(*_):
        raise ZeroDivisionError

    with pytest.raises(mfbai.StorageError, match="nothing was kept; try again"), study.together():  # noqa: PT012
        study.tell(first, 0.5)
        with monkeypatch.context() as patch:
            patch.setattr("mfbai.study.storage.Turn.end_lease", broken)
            with pytest.raises(ZeroDivisionError):
                study.tell(second, 0.5)
    assert list(study.journal()) == before
    assert study.status().told == 0
    with study.together():
        study.tell(first, 0.5)
        study.tell(second, 0.5)
    assert again(study).status().told == 2
    assert verify(study.export())


def test_a_verdict_may_come_within_a_shared_turn(study):
    """Calls after it see it, though nothing is on disk yet."""
    rng = np.random.default_rng(0)
    trials = study.ask_many(400)
    with study.together():
        for trial in trials:
            study.tell(trial, value_of(trial, rng))
        assert study.state == "decided"
        with pytest.raises(StudyOver):
            study.ask()
        with pytest.raises(StudyOver):
            study.add("plain", 0, [0.5])
    assert study.result.arm == "wide"
    assert study.state == "decided"
    assert again(study).result == study.result
    assert study.status().late > 0
    assert verify(study.export())


def test_other_threads_wait_while_a_turn_is_shared(study):
    first, second = study.ask_many(2)
    told = threading.Event()

    def other():
        study.tell(second, 0.25)
        told.set()

    with study.together():
        study.tell(first, 0.5)
        thread = threading.Thread(target=other)
        thread.start()
        assert not told.wait(0.05)
    thread.join()
    assert [event.body["trial"] for event in study.journal() if event.body["kind"] == "tell"] == [1, 2]


def test_two_that_share_turns_of_one_study_do_not_lose_anything(study):
    other = again(study)
    for k in range(4):
        one = (study, other)[k % 2]
        with one.together():
            for trial in one.ask_many(3):
                one.tell(trial, 0.5)
    assert study.status().told == other.status().told == 12
    assert verify(study.export())


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
    trial = study.ask(lease=1e-9, request="r")
    repeated = study.ask(lease=1000, request="r")
    assert repeated.id == trial.id
    assert repeated.lease_until > trial.lease_until + timedelta(seconds=900)
    assert study.ask().id != trial.id


@pytest.mark.parametrize("request_name", ["", "a b", "a\n", "x" * 65, "é", 3, b"r", "\0"], ids=repr)
def test_requests_that_can_have_no_such_name_are_refused(study, request_name):
    unchanged(study, lambda: study.ask(request=request_name), InvalidInput, "request is")


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
