"""Studies of many processes, which are killed at random moments, together with their server. Nothing may be lost.

The moments differ from run to run, whatever the seeds, but no test can fail by chance: what is checked must be true of
every course of events. The one exception is the test that no worker starves, where chances are stated. `make
bench-studies` runs the same with more processes killed and more results told.
"""

import os
import random
import threading
import time

import pytest

import mfbai
from mfbai import create_study, list_studies, load_study
from support import crowds
from support.crowds import CLEAR, NEVER, TIED, Crowd

KILLS = 40
CRASHES = 3
TELLS = 1600


@pytest.fixture(scope="module", autouse=True)
def _warm():
    """Snapshots are rare, so have them often here: kills must hit them too."""
    crowds.warm_up()
    before = crowds.snapshots_every(100)
    yield
    crowds.snapshots_every(before)


every_kind = pytest.mark.parametrize("kind", crowds.KINDS)


@every_kind
def test_nothing_is_lost_when_workers_are_killed(storage_url, tmp_path, kind):
    create_study(TIED, NEVER, name="killed", storage=storage_url, **crowds.KINDS[kind])
    lines = crowds.kill_workers("killed", storage_url, TIED, tmp_path, KILLS, seed=1)
    study = crowds.check_nothing_lost("killed", storage_url, lines)
    assert study.status().state == "running"
    if kind == "rounds":
        crowds.check_seeds(study)
    crowds.check_orphans(study)


@every_kind
def test_killed_workers_reach_the_verdict_of_their_journal(storage_url, tmp_path, kind):
    create_study(CLEAR, 0.001, name="decided", storage=storage_url, **crowds.KINDS[kind])
    lines = crowds.kill_workers("decided", storage_url, CLEAR, tmp_path, KILLS // 4, seed=2, until_over=True)
    study = crowds.check_nothing_lost("decided", storage_url, lines)
    assert study.result.state == "decided"
    assert study.result == load_study("decided", storage=storage_url).result


def test_nothing_is_lost_when_the_server_crashes(postgres, tmp_path):
    url = postgres.new_database()
    create_study(TIED, NEVER, name="crashed", storage=url)
    lines = crowds.crash_server(postgres, "crashed", url, TIED, tmp_path, CRASHES, seed=3)
    study = crowds.check_nothing_lost("crashed", url, lines)
    crowds.check_orphans(study)


def test_a_study_is_created_as_a_whole_or_not_at_all(request, tmp_path, storage_url):
    """A process is killed while it makes the tables and its study; the next process finds all or nothing."""
    rng = random.Random(4)
    begun = time.perf_counter()
    create_study(TIED, 0.1, name="first", storage=storage_url)
    longest = 1.2 * (time.perf_counter() - begun)
    for k in range(10):
        if storage_url.startswith("sqlite"):
            url = f"sqlite:///{tmp_path / f'{k}.db'}"
        else:
            url = request.getfixturevalue("postgres").new_database()
        with Crowd(tmp_path) as crowd:
            pid = crowd.start(create_one, url)
            time.sleep(rng.uniform(0, longest))
            crowd.kill(pid)
        crowd.check_errors()
        try:
            create_study(TIED, 0.1, name="one", storage=url)
        except mfbai.InvalidInput as error:
            assert "exists already" in str(error)  # noqa: PT017
        study = load_study("one", storage=url)
        study.tell(study.ask(), 0.5)
        assert mfbai.verify(study.export())
        assert list_studies(storage=url) == ["one"]
        (tmp_path / "0.log").unlink(missing_ok=True)


def create_one(log, number, url):
    create_study(TIED, 0.1, name="one", storage=url)
    log("created")


def test_many_processes_may_create_studies_in_a_new_storage_at_once(storage_url, tmp_path):
    """One makes the tables, the others find them; of those who want the same name one has it."""
    with Crowd(tmp_path) as crowd:
        for _ in range(6):
            crowd.start(create_two, storage_url)
        crowd.wait_all()
    words = [line[0] for line in crowd.lines()]
    assert sorted(words) == ["created"] * 7 + ["refused"] * 5
    assert sorted(list_studies(storage=storage_url)) == sorted(["same", *(f"own-{n}" for n in range(6))])


def create_two(log, number, url):
    create_study(TIED, 0.1, name=f"own-{number}", storage=url)
    log("created")
    try:
        create_study(TIED, 0.1, name="same", storage=url)
        log("created")
    except mfbai.InvalidInput:
        log("refused")


def test_an_old_journal_can_be_opened_while_another_process_writes(storage_url, tmp_path):
    study = create_study(TIED, NEVER, name="old", storage=storage_url)
    for _ in range(25):
        study.tell_many([(trial, 0.5) for trial in study.ask_many(40)])
    with Crowd(tmp_path) as crowd:
        writer = crowd.start(crowds.work_on, "old", storage_url, TIED)
        readers = [crowd.start(open_again_and_again, "old", storage_url, 8) for _ in range(2)]
        for reader in readers:
            crowd.wait(reader)
        crowd.kill(writer)
    crowd.check_errors()
    lines = crowd.lines()
    assert sum(line[0] == "read" for line in lines) == 16
    crowds.check_nothing_lost("old", storage_url, lines)


def open_again_and_again(log, number, name, url, times):
    """What is told never grows less, and is what the journal says at that moment or a later one."""
    told = 0
    for _ in range(times):
        study = load_study(name, storage=url)
        before = study.status()
        events = [event.body for event in study.journal()]
        after = study.status()
        assert told <= before.told <= crowds.count(events, "tell") <= after.told
        told = after.told
        log(f"read {told}")


def test_a_forked_child_works_with_its_parents_study(storage_url, tmp_path):
    """Each has its own connection then, and they take turns."""
    study = create_study(TIED, NEVER, name="shared", storage=storage_url)
    study.tell(study.ask(), 0.5)
    with Crowd(tmp_path) as crowd:
        crowd.start(tell_some, study, 100)
        crowd.start(tell_some, study, 100)
        rng = random.Random(5)
        for _ in range(100):
            study.tell(ask(study), rng.random())
        crowd.wait_all()
    assert study.status().told == 301
    crowds.check_nothing_lost("shared", storage_url, crowd.lines())


def ask(study):
    """Again, while the study holds back since so many others are at work."""
    while True:
        try:
            return study.ask()
        except mfbai.NothingToAsk:
            time.sleep(0.005)


def tell_some(log, number, study, n):
    rng = random.Random(number)
    for _ in range(n):
        trial, value = ask(study), rng.random()
        study.tell(trial, value)
        log(f"tell {trial.id} {value!r}")


@pytest.mark.parametrize("own", [False, True])
def test_a_forked_child_outlives_its_parents_connection(storage_url, tmp_path, own):
    """SQLite's locks are of a process. A child of one that had the file open would believe it held them too; when its
    parent closed the file, the log would be deleted, and the child would write on to a file without a name."""
    study = create_study(TIED, NEVER, name="left", storage=storage_url)
    study.tell(study.ask(), 0.5)
    ready, go = os.pipe(), os.pipe()
    with Crowd(tmp_path) as crowd:
        crowd.start(tell_before_and_after, None if own else study, storage_url, ready[1], go[0])
        os.read(ready[0], 1)
        study._storage.close()
        os.write(go[1], b".")
        crowd.wait_all()
    for end in (*ready, *go):
        os.close(end)
    left = crowds.check_nothing_lost("left", storage_url, crowd.lines())
    assert left.status().told == 41


def tell_before_and_after(log, number, study, url, ready, go):
    study = study or load_study("left", storage=url)
    tell_some(log, 1, study, 20)
    os.write(ready, b".")
    os.read(go, 1)
    tell_some(log, 2, study, 20)


def test_a_fork_in_the_middle_of_another_threads_work_is_harmless(storage_url, tmp_path):
    """The child has no use for the locks and half-made changes of a thread that it does not have."""
    study = create_study(TIED, NEVER, name="threads", storage=storage_url)
    stop = threading.Event()

    def work():
        rng = random.Random(6)
        while not stop.is_set():
            study.tell(ask(study), rng.random())

    thread = threading.Thread(target=work)
    thread.start()
    try:
        with Crowd(tmp_path) as crowd:
            for _ in range(15):
                crowd.start(tell_some, study, 3)
                time.sleep(0.01)
            crowd.wait_all()
    finally:
        stop.set()
        thread.join()
    assert sum(line[0] == "tell" for line in crowd.lines()) == 45
    crowds.check_nothing_lost("threads", storage_url, crowd.lines())


def test_the_lock_of_a_killed_process_does_not_outlive_it_in_its_children(tmp_path):
    """SQLite: a child that has nothing to do with the study must not keep others from it."""
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    create_study(TIED, NEVER, name="lock", storage=url)
    held = os.pipe()
    with Crowd(tmp_path) as crowd:
        pid = crowd.start(die_in_a_turn, url, held[1])
        child = int(os.read(held[0], 20))
        crowd.kill(pid)
        try:
            crowd.start(tell_one, url)
            crowd.wait_all()
        finally:
            os.kill(child, 9)
    for end in held:
        os.close(end)


def die_in_a_turn(log, number, url, ready):
    study = load_study("lock", storage=url)
    study.tell(study.ask(), 0.5)
    child = os.fork()
    if child == 0:
        time.sleep(60)
        os._exit(0)
    with study._storage.turn(study._study):
        os.write(ready, str(child).encode())
        time.sleep(60)


def tell_one(log, number, url):
    study = load_study("lock", storage=url)
    study.tell(study.ask(), 0.5)


def test_eight_processes_tell_into_one_study_and_none_starves(storage_url, tmp_path):
    """The slowest has at least a quarter of the mean rate. If every turn went to one of eight at random, a worker with
    less than a quarter of its 200 turns would hardly ever be seen; the queues are fairer than that, and what can hold a
    worker up on a busy machine is that it does not run for three quarters of the whole time."""
    create_study(TIED, NEVER, name="crowded", storage=storage_url)
    lines, _ = crowds.tell_together("crowded", storage_url, TIED, tmp_path, TELLS)
    study = crowds.check_nothing_lost("crowded", storage_url, lines)
    rates = [float(line[2]) for line in lines if line[0] == "worker"]
    assert len(rates) == 8
    assert study.status().told == sum(line[0] == "tell" for line in lines) >= TELLS
    assert min(rates) >= sum(rates) / len(rates) / 4
