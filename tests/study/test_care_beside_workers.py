"""Eight processes work on studies that somebody renames, pauses and deletes meanwhile. Nothing that was acknowledged is
lost but what was deleted, and every worker hears of it."""

import random
import time

import pytest

import mfbai
from mfbai import create_study, list_studies, load_study
from support import crowds
from support.crowds import LEASE, NEVER, TIED, Crowd, sample

WORKERS = 8
ENOUGH = 160  # results before something happens, and after it


@pytest.fixture(autouse=True, scope="module")
def _warm():
    crowds.warm_up()


def work_on_all(log, number, url, names, until):
    """Ask, evaluate and tell, each study in turn, until all were deleted or a file says to stop."""
    rng = random.Random(number)
    studies = {name: load_study(name, storage=url) for name in names}
    while studies and not until.exists():
        for name, study in list(studies.items()):
            try:
                trial = study.ask(lease=LEASE, worker=f"worker {number}")
                value = sample(TIED, trial, rng)
                study.tell(trial, value)
                log(f"tell {trial.id} {value!r} {number} {study.name}")
            except mfbai.StudyPaused as told:
                log(f"paused {number} {told}")
            except mfbai.NothingToAsk:
                time.sleep(0.005)
            except mfbai.TrialClosed:
                log("closed")  # it took longer than the lease
            except mfbai.StudyGone as told:
                log(f"gone {number} {told}")
                del studies[name]


@pytest.fixture
def crowd(storage_url, tmp_path):
    """Lets the workers loose on studies of these names; `stop` ends them, and returns what they wrote."""
    stop = tmp_path / "stop"
    with Crowd(tmp_path) as made:

        def begin(*names):
            for name in names:
                create_study(TIED, NEVER, name=name, storage=storage_url, strategy="frugal")
            for _ in range(WORKERS):
                made.start(work_on_all, storage_url, names, stop)
            go_on()

        def go_on():
            before = count(made.lines(), "tell")
            made.wait_for(lambda lines: count(lines, "tell") >= before + ENOUGH)

        def end():
            stop.touch()
            made.wait_all()
            return made.lines()

        made.begin, made.go_on, made.end = begin, go_on, end
        yield made


def count(lines, kind):
    return sum(line[0] == kind for line in lines)


def told(lines, study):
    """What was acknowledged of a study."""
    return [line for line in lines if line[0] == "tell" and line[1].endswith(f"-{study.settings.key}")]


def test_deleting_a_study_ends_its_workers_and_loses_nothing_else(crowd, storage_url):
    crowd.begin("doomed", "kept")
    doomed = load_study("doomed", storage=storage_url)
    doomed.delete()
    crowd.wait_for(lambda lines: count(lines, "gone") == WORKERS)
    crowd.go_on()
    lines = crowd.end()
    assert {" ".join(line[2:]) for line in lines if line[0] == "gone"} == {
        "study 'doomed' was deleted: nothing of it is left, and results of its trials are not needed any more"
    }
    assert told(lines, doomed)
    assert list_studies(storage=storage_url) == ["kept"]
    kept = load_study("kept", storage=storage_url)
    crowds.check_nothing_lost("kept", storage_url, told(lines, kept))
    assert set(kept.to_frame()["worker"]) == {f"worker {number}" for number in range(WORKERS)}


def test_a_deleted_study_can_be_made_again_beside_its_old_workers(crowd, storage_url):
    crowd.begin("doomed")
    load_study("doomed", storage=storage_url).delete()
    again = create_study(TIED, NEVER, name="doomed", storage=storage_url)
    crowd.wait_all()
    lines = crowd.end()
    assert count(lines, "gone") == WORKERS
    assert [event.body["kind"] for event in again.journal()] == ["create"]


def test_renaming_a_study_disturbs_no_worker(crowd, storage_url):
    crowd.begin("before")
    load_study("before", storage=storage_url).rename("between")
    crowd.go_on()
    load_study("between", storage=storage_url).rename("after")
    crowd.wait_for(lambda lines: len({line[3] for line in lines if line[-1] == "after"}) == WORKERS)
    lines = crowd.end()
    assert list_studies(storage=storage_url) == ["after"]
    assert count(lines, "gone") == 0
    crowds.check_nothing_lost("after", storage_url, [line for line in lines if line[0] == "tell"])


def test_a_pause_stops_all_workers_until_the_study_is_resumed(crowd, storage_url):
    crowd.begin("pausing")
    study = load_study("pausing", storage=storage_url)
    study.pause()
    status = study.status()
    crowd.wait_for(lambda lines: len({line[1] for line in lines if line[0] == "paused"}) == WORKERS)
    crowd.wait_for(lambda lines: study.status().pending == 0)
    assert study.status().told == status.told + status.pending
    study.resume()
    crowd.go_on()
    lines = crowd.end()
    assert {" ".join(line[2:]) for line in lines if line[0] == "paused"} == {
        "study 'pausing' is paused: it hands out nothing until somebody resumes it"
    }
    crowds.check_nothing_lost("pausing", storage_url, [line for line in lines if line[0] == "tell"])
