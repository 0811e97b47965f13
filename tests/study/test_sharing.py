"""One journal, many threads and processes, and calls that share a turn."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mfbai
from mfbai import (
    InvalidInput,
    NothingToAsk,
    StudyOver,
    TrialClosed,
    create_study,
    load_study,
    verify,
)
from support.postgres import Postgres
from support.studies import PROBLEM, again, kinds, value_of

PATIENCE = 300  # seconds that a process may take on a busy machine

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
    study.tell(study.ask(), 0.5)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    workers = [context.Process(target=work_until_the_end, args=(study, k, answers)) for k in range(3)]
    for worker in workers:
        worker.start()
    found = [answers.get(timeout=PATIENCE) for _ in workers]
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
            patch.setattr("mfbai.study.storage.sql.SqlTurn.append", broken)
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
            patch.setattr("mfbai.study.storage.sql.SqlTurn.end_lease", broken)
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
