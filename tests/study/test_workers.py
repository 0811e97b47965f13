"""Crews: threads that evaluate what a study asks for, and what ends them."""

import os
import signal
import sys
import threading
import time
import warnings

import pytest

import mfbai
from mfbai.errors import EvaluationFailed
from mfbai.study import workers
from mfbai.study.signals import Interrupted
from mfbai.study.workers import Crew
from support.interrupts import wait_until
from support.seeds import fix_keys

PROBLEM = mfbai.Problem(["plain", "wide"], [0.05, 5.0], [0.02, 0.0], mfbai.Gaussian(0.01))


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Its kernels are loaded before any clock runs."""
    fix_keys(monkeypatch)
    study = mfbai.create_study(PROBLEM, 0.05, name="designs", storage=f"sqlite:///{tmp_path / 's.db'}")
    study.warm_up()
    return study


def evaluate(trial):
    return 0.9 if trial.arm_index else 0.5


# --- failures and outages


def test_a_failure_now_and_then_does_not_end_the_run(study):
    """Every fourth evaluation fails."""
    calls = iter(range(10_000))

    def sometimes(trial):
        if next(calls) % 4 == 3:
            raise EvaluationFailed("now and then")
        return evaluate(trial)

    crew = Crew(study, sometimes, workers=1)
    crew.work()
    assert study.result.arm_index == 1
    assert study.status().failed == len(crew.failures) > 0


def test_a_crew_waits_for_a_storage_that_is_away(study, monkeypatch):
    tell, left = study.tell, iter(range(3))

    def unreliable(trial, value):
        if next(left, None) is not None:
            raise mfbai.StorageError("away")
        tell(trial, value)

    monkeypatch.setattr(study, "tell", unreliable)
    Crew(study, evaluate, workers=1).work()
    assert study.result.arm_index == 1
    assert study.status().pending == 0


def test_a_storage_that_stays_away_ends_the_run(study, monkeypatch):
    monkeypatch.setattr(workers, "LONGEST_OUTAGE", 0.2)

    def away(**more):
        raise mfbai.StorageError("away")

    monkeypatch.setattr(study, "ask", away)
    with pytest.raises(mfbai.StorageError, match="away"):
        Crew(study, lambda trial: 0.5, workers=2).work()


# --- leases


def test_the_leases_of_workers_that_live_are_renewed(study, monkeypatch):
    """The first evaluation goes on until its lease would have ended several times: nobody else gets the trial.

    The clock moves by most of a lease with each renewal, so that it makes no difference how fast the machine is.
    """
    renew, renewals, seen = study.renew, [], []

    def renewed(trial, **options):
        renew(trial, **options)
        renewals.extend([trial.id] * (trial.id == seen[0]))

    def slow(trial):
        seen.append(trial.id)
        if trial.id == seen[0]:
            wait_until(lambda: len(renewals) >= 5)
        return evaluate(trial)

    monkeypatch.setattr(study, "renew", renewed)
    begin = time.time()
    monkeypatch.setattr(time, "time", lambda: begin + 0.25 * len(renewals))
    Crew(study, slow, workers=2, lease=0.3).work()
    assert seen.count(seen[0]) == 1
    assert study.result.arm_index == 1


# --- signals


@pytest.fixture(autouse=True)
def foreground():
    """SIGINT as in the foreground, where it is not ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_crew_with_its_trials_released(study, number):
    """The evaluation takes no notice: its trial is released all the same, and no other is begun."""
    begun, over = [], threading.Event()

    def stubborn(trial):
        begun.append(trial.id)
        signal.raise_signal(number)
        over.wait()
        return evaluate(trial)

    crew = Crew(study, stubborn, workers=1)
    with pytest.raises(Interrupted) as ended:
        crew.work()
    assert ended.value.number == number
    assert begun == [study.ask().id], "it is handed out again at once"
    over.set()


def test_a_second_signal_ends_the_crew_at_once(study, monkeypatch):
    """While the trials are being released, which takes forever here."""
    never, over = threading.Event(), threading.Event()
    monkeypatch.setattr(study, "release", lambda trial: (signal.raise_signal(signal.SIGINT), never.wait()))

    def stubborn(trial):
        signal.raise_signal(signal.SIGINT)
        over.wait()
        return evaluate(trial)

    with pytest.raises(KeyboardInterrupt) as ended:
        Crew(study, stubborn, workers=1).work()
    assert not isinstance(ended.value, Interrupted)
    never.set()
    over.set()


def test_handlers_are_put_back_and_ignored_signals_stay_ignored(study):
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    during = []
    before = signal.getsignal(signal.SIGTERM)

    def look(trial):
        during.append((signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)))
        return evaluate(trial)

    Crew(study, look, workers=1).work()
    assert {ignored for ignored, _ in during} == {signal.SIG_IGN}
    assert before not in {handler for _, handler in during}
    assert signal.getsignal(signal.SIGTERM) == before


def test_a_crew_in_another_thread_leaves_signals_alone(study):
    handlers = []
    crew = Crew(study, lambda trial: handlers.append(signal.getsignal(signal.SIGINT)) or evaluate(trial), workers=1)
    thread = threading.Thread(target=crew.work)
    thread.start()
    thread.join()
    assert study.result.arm_index == 1
    assert set(handlers) == {signal.default_int_handler}


@pytest.fixture
def may_fork():
    """With the handlers of a process that is told to end, whatever other tests, such as those with Ray, have set."""
    before = signal.signal(signal.SIGTERM, signal.SIG_DFL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # that a process with threads forks
        yield
    signal.signal(signal.SIGTERM, before)


def test_processes_that_an_evaluation_forks_end_when_they_are_told_to(study, may_fork):
    """As those of a pool do: they must not keep the crew's handlers."""

    def forking(trial):
        there, here = os.pipe()
        child = os.fork()
        if child == 0:
            os.write(here, b"ready")
            while True:
                time.sleep(60)
        os.read(there, 5)
        os.kill(child, signal.SIGTERM)
        _, status = os.waitpid(child, 0)
        assert os.WTERMSIG(status) == signal.SIGTERM
        os.close(there)
        os.close(here)
        return evaluate(trial)

    Crew(study, forking, workers=1).work()
    assert study.result.arm_index == 1


@pytest.mark.parametrize(("leave", "code"), [(lambda: sys.exit(5), 5), (lambda: 1 / 0, 1), (lambda: None, 0)])
def test_processes_that_an_evaluation_forks_do_not_become_workers(study, may_fork, leave, code):
    def forking(trial):
        child = os.fork()
        if child == 0:
            return leave()
        _, status = os.waitpid(child, 0)
        assert os.waitstatus_to_exitcode(status) == code
        return evaluate(trial)

    Crew(study, forking, workers=1).work()
    assert study.result.arm_index == 1
