"""Crews on trials with parts: threads share the parts of a trial, and a trial is told, failed or given back once."""

import signal
import threading
from collections import Counter

import pytest

import mfbai
from mfbai.errors import EvaluationFailed
from mfbai.study.signals import Interrupted
from mfbai.study.workers import Crew
from support.controlled import OTHERS, ask_for, controlled, evaluate, values_of
from support.interrupts import wait_until
from support.seeds import fix_keys

PARTS = 2 + OTHERS


@pytest.fixture
def study(tmp_path, monkeypatch):
    """The next trial has parts."""
    fix_keys(monkeypatch)
    made = mfbai.create_study(controlled(), 0.05, name="designs", storage=f"sqlite:///{tmp_path / 's.db'}")
    made.release(ask_for(made, "paired"))
    return made


def call(what):
    return evaluate(what.arm, what.fidelity, what.seed)


def tells(study):
    return [event.body for event in study.journal() if event.body["kind"] == "tell"]


def test_free_threads_take_the_parts_of_a_trial_that_was_begun(study):
    """None of the parts returns before all are being evaluated."""
    all_there = threading.Barrier(PARTS)
    first = study.ask()
    study.release(first)

    def together(what):
        if what.id == first.id:
            all_there.wait(300)
        return call(what)

    Crew(study, together, workers=PARTS).work()
    assert study.result.arm == "wide"
    assert next(told for told in tells(study) if f"{told['trial']}-" in first.id)["parts"] == values_of(first)


@pytest.mark.parametrize("workers", [1, 3])
def test_every_part_is_evaluated_once_and_told_in_its_place(study, workers):
    calls = Counter()

    def counted(what):
        calls[what.id, what.fidelity, what.seed] += 1
        return call(what)

    Crew(study, counted, workers=workers).work()
    assert study.result.arm == "wide"
    assert set(calls.values()) == {1}
    assert mfbai.verify(study.export())


def test_a_part_that_fails_fails_the_trial_and_the_rest_is_not_evaluated(study):
    first, calls = study.ask(), []
    study.release(first)

    def failing(what):
        if what.id == first.id:
            calls.append(what.seed)
            if len(calls) == 2:
                raise EvaluationFailed("the coarse model broke")
        return call(what)

    crew = Crew(study, failing, workers=1)
    crew.work()
    assert [(trial.id, reason) for trial, reason in crew.failures] == [(first.id, "the coarse model broke")]
    assert len(calls) == 2
    assert study.status().failed == 1
    assert study.result.arm == "wide"


def test_parts_that_fail_at_once_are_one_failure(study):
    first, all_there = study.ask(), threading.Barrier(PARTS)
    study.release(first)

    def failing(what):
        if what.id == first.id:
            all_there.wait(300)
            raise EvaluationFailed("the licence was lost")
        return call(what)

    crew = Crew(study, failing, workers=PARTS)
    crew.work()
    assert len(crew.failures) == study.status().failed == 1
    assert study.result.arm == "wide"


def test_an_error_in_a_part_gives_the_trial_back(study):
    first = study.ask()
    study.release(first)

    def breaking(what):
        if what.fidelity == "coarse":
            raise ZeroDivisionError
        return call(what)

    with pytest.raises(ZeroDivisionError):
        Crew(study, breaking, workers=2).work()
    assert study.ask().parts == first.parts
    assert len(tells(study)) == first_number(first) - 1


def first_number(trial):
    return int(trial.id.partition("-")[0])


def test_a_value_that_no_part_can_have_ends_the_run_with_nothing_told(study):
    first = study.ask()
    study.release(first)
    with pytest.raises(mfbai.InvalidInput, match=r"with seed \d+ is nan"):
        Crew(study, lambda what: float("nan"), workers=1).work()
    assert study.ask().id == first.id


def test_a_signal_between_two_parts_gives_the_trial_back(study):
    first, calls, over = study.ask(), [], threading.Event()
    study.release(first)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def stubborn(what):
        calls.append(what)
        if len(calls) == 3:
            signal.raise_signal(signal.SIGINT)
            over.wait()
        return call(what)

    try:
        with pytest.raises(Interrupted):
            Crew(study, stubborn, workers=1).work()
    finally:
        signal.signal(signal.SIGINT, before)
    assert calls == list(first.parts[:3])
    assert study.ask().parts == first.parts
    over.set()


def test_what_is_left_of_a_trial_when_the_verdict_comes_is_not_evaluated(study):
    """It would be paid for and not counted. An earlier trial, of another worker, brings the verdict."""
    earlier, parts = study.ask(), Counter()

    def evaluating(what):
        nonlocal earlier
        parts[what.id] += 1
        if parts[what.id] == 1 and study.result is None:
            study.tell(earlier, values_of(earlier))
            earlier = study.ask() if study.result is None else None
        return call(what)

    Crew(study, evaluating, workers=1).work()
    assert earlier is None, "it was the other worker's value that brought the verdict"
    *others, last = parts.values()
    assert (set(others), last) == ({PARTS}, 1)
    assert (study.status().pending, study.status().late) == (1, 0)


def test_leases_are_renewed_by_trial_not_by_part(study, monkeypatch):
    renewals, first = [], study.ask()
    study.release(first)
    renew = study.renew
    monkeypatch.setattr(study, "renew", lambda trial, **more: (renew(trial, **more), renewals.append(trial.id)))

    def slow(what):
        if what.id == first.id and what == first.parts[3]:
            wait_until(lambda: renewals.count(first.id) >= 2)
        return call(what)

    Crew(study, slow, workers=1, lease=0.3).work()
    assert study.result.arm == "wide"
    assert len({told["trial"] for told in tells(study)}) == len(tells(study))


def test_identify_evaluates_parts_too():
    calls = []

    def counted(arm, fidelity, seed):
        calls.append(fidelity)
        return evaluate(arm, fidelity, seed)

    verdict = mfbai.identify(counted, controlled(), delta=0.05, workers=2)
    assert verdict.arm == "wide"
    assert calls.count("coarse") > calls.count("fine") > 0
    assert "paired" not in calls
