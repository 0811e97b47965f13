"""`identify`: a Python function evaluated to the verdict."""

import io
import os
import random
import signal
import sqlite3
import sys
import threading

import pytest

from mfbai import (
    Bernoulli,
    EvaluationFailed,
    Gaussian,
    InvalidInput,
    Problem,
    create_study,
    identify,
    list_studies,
    load_study,
    verify,
)
from mfbai.study.workers import MOST_AHEAD
from support.interrupts import start, wait_until
from support.seeds import fix_keys

PROBLEM = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
OTHERS = {
    "costs": Problem(["plain", "wide"], costs=[0.2, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01)),
    "biases": Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.2, 0.0], family=Gaussian(0.01)),
    "variance": Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.02)),
    "names": Problem(["plain", "broad"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01)),
    "direction": PROBLEM.towards("minimise"),
}


@pytest.fixture(autouse=True)
def same_seeds(monkeypatch):
    fix_keys(monkeypatch)


def evaluate(arm, fidelity, seed):
    return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)


class Unreliable:
    """Raises at some calls, and remembers what it was called with."""

    def __init__(self, bad):
        self.bad = bad
        self.calls = []

    def __call__(self, arm, fidelity, seed):
        self.calls.append((arm, fidelity, seed))
        if len(self.calls) in self.bad:
            raise ConnectionError(f"call {len(self.calls)}")
        return evaluate(arm, fidelity, seed)


def test_the_best_arm_is_found_and_what_it_cost():
    verdict = identify(evaluate, PROBLEM, 0.05)
    assert (verdict.state, verdict.arm, verdict.arm_index) == ("decided", "wide", 1)
    assert verdict.risk == verdict.delta == 0.05
    assert verdict.cost > 0
    assert verdict.told > 2
    assert verdict.alarms == ()


def test_the_worst_arm_is_found_if_that_is_asked_for():
    assert identify(evaluate, PROBLEM, 0.05, direction="minimise").arm == "plain"


def test_a_budget_ends_the_search_undecided():
    verdict = identify(evaluate, PROBLEM, 1e-9, max_cost=1.05)
    assert verdict.state == "undecided"
    assert 0 < verdict.cost <= 1.05
    assert verdict.arm in PROBLEM.arms
    assert 0 < verdict.risk <= 1


def test_the_function_is_given_names_and_a_seed_of_its_own_each_time():
    calls = Unreliable(())
    identify(calls, PROBLEM, 0.05)
    assert {arm for arm, _, _ in calls.calls} == set(PROBLEM.arms)
    assert {fidelity for _, fidelity, _ in calls.calls} <= set(PROBLEM.fidelities)
    seeds = [seed for _, _, seed in calls.calls]
    assert len(set(seeds)) == len(seeds)
    assert all(type(seed) is int and 0 <= seed < 2**31 for seed in seeds)


def test_an_exception_ends_the_call_and_the_next_goes_on_with_the_same_trial(storage_url):
    """The risk is so small that six results cannot prove it."""
    unreliable = Unreliable({4, 6})
    for told in (3, 4):
        with pytest.raises(ConnectionError, match="call"):
            identify(unreliable, PROBLEM, 1e-6, name="s", storage=storage_url)
        status = load_study("s", storage=storage_url).status()
        assert (status.state, status.told, status.failed, status.pending) == ("running", told, 0, 1)
    verdict = identify(unreliable, PROBLEM, 1e-6, name="s", storage=storage_url)
    assert verdict.arm == "wide"
    assert unreliable.calls[3] == unreliable.calls[4]  # the very same evaluation, with its seed
    assert unreliable.calls[5] == unreliable.calls[6]
    assert len(unreliable.calls) == verdict.told + 2
    study = load_study("s", storage=storage_url)
    assert study.result == verdict
    assert verify(study.export())


def test_a_search_that_is_over_is_not_evaluated_again(storage_url):
    first = identify(evaluate, PROBLEM, 0.05, name="s", storage=storage_url)
    calls = Unreliable({1})
    assert identify(calls, PROBLEM, 0.05, name="s", storage=storage_url) == first
    assert calls.calls == []


@pytest.mark.parametrize("other", OTHERS)
def test_another_problem_under_the_same_name_is_refused(tmp_path, other):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with pytest.raises(ConnectionError):
        identify(Unreliable({2}), PROBLEM, 0.05, name="s", storage=url)
    calls = Unreliable({1})
    with pytest.raises(
        InvalidInput, match="study 's' exists with another problem: choose another name, or give the same"
    ):
        identify(calls, OTHERS[other], 0.05, name="s", storage=url)
    assert calls.calls == []
    assert load_study("s", storage=url).status().told == 1
    assert list_studies(storage=url) == ["s"]


@pytest.mark.parametrize(
    ("setting", "value"), [("delta", 0.06), ("tolerance", 0.01), ("max_cost", 50.0), ("strategy", "mf-grad")]
)
def test_other_settings_under_the_same_name_are_refused(tmp_path, setting, value):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with pytest.raises(ConnectionError):
        identify(Unreliable({2}), PROBLEM, delta=0.05, name="s", storage=url)
    with pytest.raises(InvalidInput, match=f"exists with another {setting}"):
        identify(evaluate, PROBLEM, **{"delta": 0.05, "name": "s", "storage": url, setting: value})


@pytest.mark.parametrize("workers", [2, 4])
def test_several_workers_evaluate_at_once(workers):
    """The first evaluations wait for each other."""
    calls, together = iter(range(10_000)), threading.Barrier(workers, timeout=300)

    def slow(arm, fidelity, seed):
        if next(calls) < workers:
            together.wait()
        return evaluate(arm, fidelity, seed)

    assert identify(slow, PROBLEM, 0.05, workers=workers).arm == "wide"
    assert not together.broken


def test_an_exception_of_one_worker_ends_them_all_and_nothing_is_lost(tmp_path):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    unreliable = Unreliable({7})
    with pytest.raises(ConnectionError):
        identify(unreliable, PROBLEM, 1e-6, name="s", storage=url, workers=3)
    status = load_study("s", storage=url).status()
    assert status.told + 1 == len(unreliable.calls)
    assert status.pending <= 1  # another worker may have taken it over before all ended
    assert identify(evaluate, PROBLEM, 1e-6, name="s", storage=url, workers=3).arm == "wide"
    assert load_study("s", storage=url).status().pending < 3 * (1 + MOST_AHEAD)  # what others had, and what waited
    assert verify(load_study("s", storage=url).export())


@pytest.mark.parametrize("workers", [0, -1, 1.0, 2.5, True, "2"])
def test_a_number_of_workers_that_is_none_is_refused(workers):
    with pytest.raises(InvalidInput, match=r"workers is .*: give a whole number of 1 or more"):
        identify(evaluate, PROBLEM, 0.05, workers=workers)


@pytest.mark.parametrize("value", [0.5, 2, -1, float("nan"), float("inf"), None, "1", True])
def test_values_that_the_family_has_not_end_the_call_and_are_not_kept(tmp_path, monkeypatch, value):
    monkeypatch.setattr("mfbai.study.study.Study.warm_up", lambda self: None)  # nothing is counted: compile nothing
    problem = Problem(2, [0.1, 1.0], [0.1, 0.0], Bernoulli())
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with pytest.raises(InvalidInput, match=r"the value of 'arm 1' at 'fidelity 1' with seed \d+ is"):
        identify(lambda arm, fidelity, seed: value, problem, 0.05, name="s", storage=url)
    events = [event.body["kind"] for event in load_study("s", storage=url).journal()]
    assert events == ["create", "ask"]


def test_an_interrupt_is_passed_on_and_the_trial_is_free_at_once(tmp_path, monkeypatch):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with pytest.raises(KeyboardInterrupt):
        identify(Interrupted(3), PROBLEM, 0.05, name="s", storage=url)
    study = load_study("s", storage=url)
    assert [trial_id for trial_id, _ in study.trials()] == [study.ask().id]


class Interrupted:
    def __init__(self, at):
        self.at, self.calls = at, 0

    def __call__(self, arm, fidelity, seed):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return evaluate(arm, fidelity, seed)


def test_ctrl_c_ends_in_keyboard_interrupt_once_the_trials_are_free(tmp_path):
    """The evaluation takes no notice, and is not waited for."""
    process, study = start_identify(tmp_path)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert err.count("Traceback") == 1
    assert process.returncode != 0
    assert study.ask().id.startswith("1-")


def test_sigterm_ends_the_process_as_usual_once_the_trials_are_free(tmp_path):
    process, study = start_identify(tmp_path)
    process.send_signal(signal.SIGTERM)
    process.communicate()
    assert process.returncode == -signal.SIGTERM
    assert study.ask().id.startswith("1-")


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_second_signal_ends_the_call_at_once(tmp_path, how):
    """Another program has locked the database, so that the trial cannot be released."""
    process, study = start_identify(tmp_path)
    with sqlite3.connect(tmp_path / "s.db") as other:
        other.execute("BEGIN IMMEDIATE")
        process.send_signal(how)
        wait_until(lambda: "releasing" in os.listdir(tmp_path))
        process.send_signal(how)
        _, err = process.communicate()
    assert err.rstrip().endswith("KeyboardInterrupt")
    assert len(study.trials()) == 1


def start_identify(folder):
    """A process that calls `identify` with a function that never returns, when the first evaluation has begun."""
    url = f"sqlite:///{folder / 's.db'}"
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    (folder / "script.py").write_text(SCRIPT)
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    process = start(folder / "script.py", url, cwd=folder, env=environment)
    wait_until(lambda: "begun" in os.listdir(folder))
    return process, study


SCRIPT = """
import sys, threading
from mfbai import Gaussian, Problem, Study, identify
release = Study.release

def released(*given):
    open("releasing", "w").close()
    release(*given)

def evaluate(arm, fidelity, seed):
    open("begun", "w").close()
    threading.Event().wait()

Study.release = released
problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
identify(evaluate, problem, 0.05, name="s", storage=sys.argv[1])
"""


def test_progress_is_shown_on_a_terminal_only(monkeypatch, capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    terminal = Terminal()
    identify(evaluate, PROBLEM, 0.05)
    assert capsys.readouterr() == ("", "")
    monkeypatch.setattr("sys.stderr", terminal)
    identify(evaluate, PROBLEM, 0.05)
    assert "proof" in terminal.getvalue()
    assert "evaluations" in terminal.getvalue()


def test_every_fault_of_a_call_is_told_before_anything_is_evaluated(tmp_path):
    calls = Unreliable(())
    with pytest.raises(InvalidInput) as caught:
        identify(
            calls, PROBLEM, 2, strategy="frugle", stopping="proces", max_cost=-1, storage=f"sqlite:///{tmp_path}/s.db"
        )
    assert {fault.field for fault in caught.value.faults} == {"delta", "strategy", "stopping", "max_cost"}
    assert calls.calls == []
    assert list(tmp_path.iterdir()) == []


def test_a_trial_that_fails_for_good_is_left_out_and_the_study_goes_on():
    calls = iter(range(10_000))

    def sometimes(arm, fidelity, seed):
        if next(calls) == 1:
            raise EvaluationFailed("this one only")
        return evaluate(arm, fidelity, seed)

    assert identify(sometimes, PROBLEM, 0.05).arm == "wide"


def test_a_cell_that_always_fails_ends_the_call():
    def never(arm, fidelity, seed):
        raise EvaluationFailed("no memory")

    with pytest.raises(EvaluationFailed, match="3 trials of 'plain' at 'fidelity 1' failed in a row: no memory"):
        identify(never, PROBLEM, 0.05)


def test_with_a_name_the_study_is_kept_in_the_usual_place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = identify(evaluate, PROBLEM, 0.05, name="kept")
    assert load_study("kept").result == found
    identify(evaluate, PROBLEM, 0.05)
    assert list_studies() == ["kept"]


def test_something_that_cannot_be_called_is_refused():
    with pytest.raises(InvalidInput, match="evaluate is None: give a function"):
        identify(None, PROBLEM, 0.05)
