"""Where journals are kept: what is accepted, and several processes at once."""

import gc
import multiprocessing
import os
import re
import sqlite3
import threading

import psycopg
import pytest

from mfbai import (
    InvalidInput,
    StorageError,
    UnknownName,
    create_study,
    identify,
    list_studies,
    load_study,
)
from mfbai.study.journal import Event
from mfbai.study.storage import Storage
from support.storages import PROBLEM, execute

# --- what is taken


def test_a_study_is_loaded_from_the_storage_it_was_created_in(storage_url):
    study = create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    assert load_study("s", storage=storage_url).settings.key == study.settings.key


def test_names_are_unique(storage_url):
    create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    with pytest.raises(InvalidInput, match="study 's' exists already in this storage: choose another name"):
        create_study(PROBLEM, 0.2, name="s", storage=storage_url)
    assert load_study("s", storage=storage_url).settings.delta == 0.1
    assert list_studies(storage=storage_url) == ["s"]


def test_studies_are_listed_in_the_order_they_were_created(storage_url):
    names = ["zebra", "ape", "S", "s", "ünïcode 🙂", "a'; DROP TABLE mfbai_studies; --", "100%", "x" * 200]
    for name in names:
        create_study(PROBLEM, 0.1, name=name, storage=storage_url)
    assert list_studies(storage=storage_url) == names
    assert [load_study(name, storage=storage_url).name for name in names] == names


@pytest.mark.parametrize("name", ["", " ", "\n", "a\x00b", "a\nb", "\ud800", "x" * 201, 3, b"s"])
def test_a_name_that_cannot_be_shown_is_refused(name):
    with pytest.raises(InvalidInput, match=r"name is .*give printable text"):
        create_study(PROBLEM, 0.1, name=name, storage="sqlite://")


def test_studies_without_a_name_have_one_each(storage_url):
    names = [create_study(PROBLEM, 0.1, storage=storage_url).name for _ in range(3)]
    assert len(set(names)) == 3
    assert list_studies(storage=storage_url) == names


def test_studies_live_beside_the_tables_of_another_program(storage_url):
    execute(storage_url, "CREATE TABLE events (x INTEGER)")
    execute(storage_url, "INSERT INTO events VALUES (7)")
    create_study(PROBLEM, 0.1, name="s", storage=storage_url).ask()
    assert execute(storage_url, "SELECT x FROM events") == [(7,)]
    assert list_studies(storage=storage_url) == ["s"]


def test_both_kinds_of_storage_are_used_at_once(postgres, tmp_path):
    file = f"sqlite:///{tmp_path / 'studies.db'}"
    server = postgres.new_database()
    one, other = (create_study(PROBLEM, 0.1, name="s", storage=url) for url in (file, server))
    trial = one.ask()
    with pytest.raises(InvalidInput, match="belongs to another study"):
        other.tell(trial, 0.5)
    assert (one.status().pending, other.status().pending) == (1, 0)
    assert load_study("s", storage=file).settings.key != load_study("s", storage=server).settings.key


def test_each_study_in_memory_is_alone():
    create_study(PROBLEM, 0.1, name="s", storage="sqlite://")
    create_study(PROBLEM, 0.1, name="s", storage="sqlite://")
    with pytest.raises(UnknownName, match="has no studies"):
        load_study("s", storage="sqlite://")


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_study_in_memory_is_used_from_several_threads(url):
    study = create_study(PROBLEM, 1e-9, storage=url)
    errors = []

    def work():
        try:
            for _ in range(15):
                study.tell(study.ask(), 0.5)
                study.export()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert study.status().told == 45


def test_a_journal_is_read_while_the_study_goes_on(storage_url):
    """No transaction is held open for as long as somebody looks at events."""
    for url in (storage_url, "sqlite://"):
        study = create_study(PROBLEM, 1e-9, name="s", storage=url)
        study.ask_many(5)
        kinds = []
        for event in study.journal():
            kinds.append(event.body["kind"])
            study.tell(study.ask(), 0.5)
            assert study.status().pending == 5
        assert kinds[:6] == ["create"] + ["ask"] * 5


def test_a_journal_longer_than_one_reading_is_read_as_a_whole(storage_url, monkeypatch):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url)
    study.ask_many(20)
    whole = list(study.journal())
    monkeypatch.setattr("mfbai.study.storage.sql.BATCH", 7)
    assert list(study.journal()) == whole
    assert list(study.journal(5)) == whole[5:]
    assert load_study("s", storage=storage_url).status().pending == 20
    assert [event.body["n"] for event in whole] == list(range(21))


def test_storages_that_are_not_used_any_more_leave_no_files_open(tmp_path):
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    trial = create_study(PROBLEM, 0.1, name="s", storage=url).ask()

    def open_files():
        gc.collect()
        return sum(str(tmp_path) in os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd"))

    for _ in range(3):
        load_study("s", storage=url).renew(trial)
    before = open_files()
    for _ in range(20):
        load_study("s", storage=url).renew(trial)
        list_studies(storage=url)
    assert open_files() <= before


def test_a_relative_path_stays_the_same_file_wherever_the_process_goes(tmp_path, monkeypatch):
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    study = create_study(PROBLEM, 0.1, name="s", storage="sqlite:///here.db")
    monkeypatch.chdir(tmp_path / "elsewhere")
    study.ask()
    assert study.status().pending == 1
    assert [path.name for path in (tmp_path / "elsewhere").iterdir() if path.suffix == ".db"] == []


# --- several processes


PATIENCE = 300  # seconds that a process may take on a busy machine


def start(target, processes, *arguments):
    """Run a function in several processes at once; what each returned, or the error it raised."""
    context = multiprocessing.get_context("fork")
    barrier, answers = context.Barrier(processes), context.Queue()

    def work(k):
        barrier.wait()
        try:
            answers.put((k, target(k, *arguments)))
        except BaseException as error:
            answers.put((k, f"{type(error).__name__}: {error}"))

    workers = [context.Process(target=work, args=(k,)) for k in range(processes)]
    for worker in workers:
        worker.start()
    found = dict(answers.get(timeout=PATIENCE) for _ in workers)
    for worker in workers:
        worker.join()
    return [found[k] for k in range(processes)]


def make(k, url, name):
    storage = Storage(url, create=True)
    storage.create(name.format(k), [Event("{}", "0")])
    names = storage.names()
    storage.close()
    return name.format(k) in names


def test_processes_that_make_the_tables_at_once_do_not_disturb_each_other(postgres, tmp_path):
    urls = [f"sqlite:///{tmp_path}/{k}.db" for k in range(25)] + [postgres.new_database() for _ in range(2)]

    def everything(k):
        return [make(k, url, "study {}") for url in urls]

    assert start(everything, 4) == [[True] * len(urls)] * 4
    for url in urls:
        assert sorted(Storage(url).names()) == [f"study {k}" for k in range(4)]


def test_of_processes_that_create_one_name_at_once_one_has_it(storage_url):
    Storage(storage_url, create=True).close()

    def everything(k):
        found = []
        for n in range(8):
            try:
                found.append(make(k, storage_url, f"study {n}"))
            except InvalidInput as error:
                found.append(str(error))
        return found

    found = start(everything, 4)
    told = re.compile("study 'study .' exists already in this storage")
    for rounds in zip(*found, strict=True):
        assert rounds.count(True) == 1
        assert all(one is True or told.match(one) for one in rounds), rounds


def test_a_study_that_was_opened_before_a_fork_is_used_on_both_sides(storage_url):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url)
    study.tell(study.ask(), 0.5)
    start(lambda k: [study.tell(study.ask(), 0.5) for _ in range(5)], 3)
    study.tell(study.ask(), 0.5)
    assert study.status().told == 17
    assert [event.body["n"] for event in study.journal()] == list(range(35))


def test_a_server_with_another_isolation_is_used_all_the_same(postgres):
    """Were it obeyed, a writer that has waited for its turn would not see what the one before it wrote."""
    url = postgres.new_database()
    name = re.search("/(test[0-9]+)", url)[1]
    execute(url, f"ALTER DATABASE {name} SET default_transaction_isolation TO 'repeatable read'")
    study = create_study(PROBLEM, 1e-9, name="s", storage=url)
    study.tell(study.ask(), 0.5)
    found = start(lambda k: len([study.tell(study.ask(), 0.5) for _ in range(10)]), 3)
    assert found == [10] * 3
    assert study.status().told == 31


def test_a_database_that_is_locked_for_a_while_is_waited_for(tmp_path):
    path = tmp_path / "studies.db"
    study = create_study(PROBLEM, 0.1, name="s", storage=f"sqlite:///{path}")
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.3, lambda: other.execute("ROLLBACK"))
    timer.start()
    study.ask()
    timer.join()
    other.close()
    assert study.status().pending == 1


def test_a_connection_that_the_server_ended_is_made_again(postgres):
    url = postgres.new_database()
    study = create_study(PROBLEM, 0.1, name="s", storage=url)
    trial = study.ask()
    with psycopg.connect(postgres._address("postgres"), autocommit=True) as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname LIKE 'test%'")
    study.tell(trial, 0.5)
    assert load_study("s", storage=url).status().told == 1


def test_two_processes_that_identify_the_same_at_once_share_the_study(storage_url):
    """As when one script is started twice."""
    create_study(PROBLEM, 0.05, storage="sqlite://").warm_up()
    Storage(storage_url, create=True).close()

    def evaluate(arm, fidelity, seed):
        return (0.9 if arm == "wide" else 0.5) + (seed % 100 - 50) / 1000

    found = start(lambda k: identify(evaluate, PROBLEM, 0.05, name="s", storage=storage_url).arm, 2)
    assert found == ["wide", "wide"]
    assert list_studies(storage=storage_url) == ["s"]


# --- a file that goes away


@pytest.mark.parametrize("again", [False, True])
def test_nothing_is_told_to_a_file_that_was_removed_or_replaced(tmp_path, again):
    """It could still be written to, as long as it is open: what is acknowledged would be gone."""
    url = f"sqlite:///{tmp_path / 's.db'}"
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    trial = study.ask()
    for path in tmp_path.glob("s.db*"):
        path.unlink()
    if again:
        create_study(PROBLEM, 0.05, name="s", storage=url)
    for call in (lambda: study.tell(trial, 0.5), study.ask, study.status):
        with pytest.raises(StorageError, match="was removed or replaced"):
            call()


def test_a_relative_path_stays_the_same_if_the_working_folder_changes(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    study = create_study(PROBLEM, 0.05, name="s", storage="sqlite:///s.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    study.fail(study.ask())
    assert study.status().failed == 1
    assert list((tmp_path / "elsewhere").iterdir()) == []
