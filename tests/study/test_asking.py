"""Asking for evaluations, telling their values, and reporting that they failed, on SQLite and on PostgreSQL."""

import math
from contextlib import contextmanager
from datetime import UTC, datetime
from fractions import Fraction

import numpy as np
import pytest

from mfbai import (
    Bernoulli,
    Exponential,
    Gaussian,
    InvalidInput,
    NothingToAsk,
    Poisson,
    Problem,
    StudyOver,
    SubGaussian,
    Trial,
    TrialClosed,
    create_study,
)
from support.studies import PROBLEM, again, lasts, unchanged

# --- asking


def test_a_trial_says_all_that_a_worker_needs(study):
    before = datetime.now(UTC)
    trial = study.ask(lease=100)
    after = datetime.now(UTC)
    assert isinstance(trial, Trial)
    assert trial.arm == PROBLEM.arms[trial.arm_index]
    assert trial.fidelity == PROBLEM.fidelities[trial.fidelity_index]
    assert trial.cost == PROBLEM.costs[trial.arm_index, trial.fidelity_index]
    assert 0 <= trial.seed < 2**31
    assert isinstance(trial.id, str)
    assert lasts(trial, 100, before, after)


def test_asking_for_many_gives_different_trials_that_spread_over_the_arms(study):
    trials = study.ask_many(12)
    assert len({trial.id for trial in trials}) == len({trial.seed for trial in trials}) == 12
    assert {trial.arm for trial in trials} == set(PROBLEM.arms)
    assert study.status().pending == 12
    assert [trial_id for trial_id, _ in study.trials()] == [trial.id for trial in trials]
    assert dict(study.trials())[trials[3].id] == (trials[3].arm_index, trials[3].fidelity_index)


def test_asking_for_many_is_asking_again_and_again(study):
    other = create_study(PROBLEM, 0.05, name="t", storage=study.storage)
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
        ("-1-{}", "is not a trial"),
        ("1", "is not a trial"),
        ("", "is not a trial"),
        ("1-{} ", "is not a trial"),
        ("1-{}\n", "is not a trial"),
        ("٢-{}", "is not a trial"),
        ("01-{}", "is not a trial"),
        ("1-00000000", "belongs to another study"),
        ("9999999999999999999-{}", "is not a trial"),
        ("1.0-{}", "is not a trial"),
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
    unchanged(study, lambda: study.tell(given, 0.5), InvalidInput, "is not a trial: give a Trial, or its id")


def test_trials_of_another_study_are_refused(study):
    other = create_study(PROBLEM, 0.05, name="other", storage=study.storage)
    mine, theirs = study.ask(), other.ask()
    assert mine.id != theirs.id
    unchanged(study, lambda: study.tell(theirs, 0.5), InvalidInput, "belongs to another study: those of 's' end in")
    unchanged(study, lambda: study.fail(theirs), InvalidInput, "belongs to another study")
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


def test_a_trial_that_failed_costs_nothing_and_is_not_waited_for(storage_url):
    study = create_study(PROBLEM, 0.05, name="s", storage=storage_url, strategy="frugal")
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
