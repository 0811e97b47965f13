"""`identify` while it runs: its callback, its timeout, and what it shows."""

import os
import pickle
import threading
import time

import pytest

from mfbai import Gaussian, InvalidInput, Problem, Status, TimedOut, identify, list_studies, load_study, verify
from mfbai.study import Study
from support.engines import PROBLEM, Noted, evaluate, never_end, notes
from support.interrupts import wait_until
from support.notebooks import Kernel, Shown
from support.seeds import fix_keys

NEVER = 1e-300  # a risk that takes more evaluations than a test makes


@pytest.fixture(autouse=True)
def same_seeds(monkeypatch):
    fix_keys(monkeypatch)


class Held:
    """Evaluations that wait until they are let go; the first few do not."""

    def __init__(self, free=0):
        self.free, self.made, self.go = free, 0, threading.Event()

    def __call__(self, arm, fidelity, seed):
        self.made += 1
        if self.made > self.free:
            self.go.wait()
        return evaluate(arm, fidelity, seed)


@pytest.fixture
def held():
    made = Held(free=6)
    yield made
    made.go.set()


# --- the callback


def test_the_callback_gets_more_results_each_time_and_the_verdict_at_the_end():
    seen = []
    verdict = identify(evaluate, PROBLEM, 1e-6, callback=seen.append)
    assert all(isinstance(status, Status) for status in seen)
    told = [status.told for status in seen]
    assert told == sorted(set(told))
    assert seen[-1].result == verdict


def test_the_callback_is_called_in_the_thread_of_the_caller():
    threads = set()
    identify(evaluate, PROBLEM, 0.05, callback=lambda _: threads.add(threading.current_thread()))
    assert threads == {threading.current_thread()}


def test_evaluations_go_on_while_the_callback_is_at_work():
    held = Held(free=10**9)

    def slow(status):
        if status.state == "running":
            before = held.made
            wait_until(lambda: held.made > before + 20)

    problem = Problem(["plain", "wide"], costs=[1.0], biases=[0.0], family=Gaussian(1.0))
    assert identify(held, problem, 0.05, callback=slow).state == "decided"


def test_what_the_callback_returns_does_not_matter():
    assert identify(evaluate, PROBLEM, 0.05, callback=lambda _: False).arm == "wide"


def test_an_exception_of_the_callback_ends_the_call_and_keeps_what_was_told(storage_url, held):
    def object_(status):
        assert status.told > 0
        wait_until(lambda: load_study("s", storage=storage_url).status().told == 6)
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        identify(held, PROBLEM, NEVER, name="s", storage=storage_url, callback=object_)
    status = load_study("s", storage=storage_url).status()
    assert status.told == 6
    assert (status.failed, status.state) == (0, "running")
    (trial, _), *others = load_study("s", storage=storage_url).trials()
    assert others == []
    assert load_study("s", storage=storage_url).ask().id == trial  # it was given back


# --- the timeout


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_a_call_without_results_in_time_ends_with_timed_out(executor):
    with pytest.raises(TimedOut, match=r"no verdict after 0.01 s.* The study was in memory, and is lost"):
        identify(evaluate, PROBLEM, NEVER, timeout=0.01, executor=executor, workers=1)


def test_when_the_time_is_over_what_was_told_is_kept_and_the_rest_given_back(storage_url, held):
    with pytest.raises(TimedOut) as caught:
        identify(held, PROBLEM, 1e-9, name="s", storage=storage_url, timeout=2)
    assert not held.go.is_set(), "the evaluation that never ends was not waited for"
    assert held.made == 7
    assert caught.value.status.told == 6
    assert "Running: 'wide' leads" in str(caught.value)
    assert "6 evaluations" in str(caught.value)
    assert str(caught.value).endswith("Repeat the call to resume study 's'.")
    study = load_study("s", storage=storage_url)
    trial = study.ask()
    assert trial.id == study.trials()[0][0]  # it was given back
    study.release(trial)
    held.go.set()
    assert identify(evaluate, PROBLEM, 1e-9, name="s", storage=storage_url, timeout=600).arm == "wide"
    assert verify(study.export())


def test_workers_that_hang_are_ended_and_their_trials_given_back(tmp_path):
    url, path = f"sqlite:///{tmp_path / 's.db'}", tmp_path / "notes"
    with pytest.raises(TimedOut):
        identify(
            Noted(path, never_end, 0), PROBLEM, NEVER, name="s", storage=url, executor="processes", workers=1, timeout=5
        )
    study = load_study("s", storage=url)
    assert [study.ask().id] == [trial for trial, _ in study.trials()]
    for process in {process for _, process, _ in notes(path)}:
        with pytest.raises(ProcessLookupError):
            os.kill(process, 0)


def test_the_name_of_a_study_that_has_none_of_its_own_is_told(tmp_path, held):
    url = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(TimedOut, match="Call again with name='study-") as caught:
        identify(held, PROBLEM, NEVER, storage=url, timeout=0.5)
    (name,) = list_studies(storage=url)
    assert f"name={name!r}" in str(caught.value)


def test_a_study_that_is_over_needs_no_time(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    found = identify(evaluate, PROBLEM, 0.05, name="s", storage=url)
    assert identify(evaluate, PROBLEM, 0.05, name="s", storage=url, timeout=1e-9) == found


def test_the_callback_is_told_of_a_study_that_was_over_before(tmp_path):
    url, seen = f"sqlite:///{tmp_path / 's.db'}", []
    found = identify(evaluate, PROBLEM, 0.05, name="s", storage=url)
    identify(evaluate, PROBLEM, 0.05, name="s", storage=url, callback=seen.append)
    assert [status.result for status in seen] == [found]


def test_what_is_compiled_the_first_time_takes_nothing_from_the_timeout(monkeypatch):
    warm_up = Study.warm_up

    def slowly(study):
        warm_up(study)
        before = time.monotonic()
        while time.monotonic() < before + 0.5:
            time.sleep(0.01)

    monkeypatch.setattr(Study, "warm_up", slowly)
    with pytest.raises(TimedOut) as caught:
        identify(evaluate, PROBLEM, NEVER, timeout=0.5)
    assert caught.value.status.told > 0


def test_the_time_is_over_for_a_paused_study_too(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(TimedOut):
        identify(evaluate, PROBLEM, NEVER, name="s", storage=url, timeout=0.5)
    load_study("s", storage=url).pause()
    with pytest.raises(TimedOut, match=r"s\. Paused: .*`load_study\(\.\.\.\)\.resume\(\)` ends that"):
        identify(evaluate, PROBLEM, NEVER, name="s", storage=url, timeout=0.5)


def test_timed_out_is_a_timeout_error_that_pickles():
    error = TimedOut("there is no verdict after 3 s", {"told": 3})
    again = pickle.loads(pickle.dumps(error))
    assert isinstance(again, TimeoutError)
    assert (str(again), again.status) == (str(error), error.status)


@pytest.mark.parametrize("timeout", [0, -1.5, float("nan"), float("inf"), "60", True, [1]], ids=repr)
def test_a_timeout_that_is_none_is_refused_before_anything_is_made(tmp_path, timeout):
    url = f"sqlite:///{tmp_path / 's.db'}"
    with pytest.raises(InvalidInput, match="give a positive number of seconds"):
        identify(evaluate, PROBLEM, 0.05, name="s", storage=url, timeout=timeout)
    assert not (tmp_path / "s.db").exists()


def test_all_faults_are_told_at_once(tmp_path):
    with pytest.raises(InvalidInput) as caught:
        identify(3, PROBLEM, 0.05, callback="print", timeout=0, storage=f"sqlite:///{tmp_path / 's.db'}")
    assert [fault.field for fault in caught.value.faults] == ["evaluate", "callback", "timeout"]
    assert not (tmp_path / "s.db").exists()


# --- what is shown


def test_a_notebook_shows_one_line_that_changes_and_ends_with_the_proof(monkeypatch, capsys):
    kernel = Kernel(monkeypatch)
    identify(evaluate, PROBLEM, 0.05)
    words, html = kernel.shown[-1]
    assert words.startswith("proof 100 %  'wide' leads; cost ")
    assert "proof 100 %" in Shown(html).text
    assert capsys.readouterr() == ("", "")


def test_nothing_is_shown_in_a_log(capsys):
    identify(evaluate, PROBLEM, 0.05, callback=lambda _: None)
    assert capsys.readouterr() == ("", "")
