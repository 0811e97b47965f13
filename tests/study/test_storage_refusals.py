"""Storages that are rejected, with a message that says what to do and shows no password."""

import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

from mfbai import (
    InvalidInput,
    MfbaiError,
    StorageError,
    UnknownName,
    create_study,
    list_studies,
    load_study,
    verify,
)
from mfbai.study.storage.tables import SCHEMA
from support.storages import PROBLEM, execute

# --- what is refused


@pytest.mark.parametrize(("version", "age"), [(0, "an older"), (SCHEMA + 1, "a newer"), (999, "a newer")])
def test_tables_of_another_version_are_refused_and_left_alone(storage_url, version, age):
    create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    execute(storage_url, f"UPDATE mfbai_schema SET version = {version}")
    before = execute(storage_url, "SELECT * FROM mfbai_events")
    for call in (
        lambda: load_study("s", storage=storage_url),
        lambda: list_studies(storage=storage_url),
        lambda: create_study(PROBLEM, 0.1, name="t", storage=storage_url),
    ):
        with pytest.raises(StorageError, match=f"made by {age} mfbai .*version {version}, here {SCHEMA}"):
            call()
    assert execute(storage_url, "SELECT * FROM mfbai_events") == before
    assert execute(storage_url, "SELECT version FROM mfbai_schema") == [(version,)]


def test_tables_of_the_version_before_are_made_ours_whoever_comes_first(storage_url):
    study = create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    trial = study.ask()
    for table in ("workers", "summaries"):
        execute(storage_url, f"DROP TABLE mfbai_{table}")
    for column in ("paused", "note", "tags", "revision", "deleted"):
        execute(storage_url, f"ALTER TABLE mfbai_studies DROP COLUMN {column}")
    execute(storage_url, "ALTER TABLE mfbai_leases DROP COLUMN request")
    execute(storage_url, "UPDATE mfbai_schema SET version = 1")
    with ThreadPoolExecutor(4) as pool:
        opened = list(pool.map(lambda _: load_study("s", storage=storage_url), range(4)))
    assert execute(storage_url, "SELECT version FROM mfbai_schema") == [(SCHEMA,)]
    assert opened[0].ask(request="r").id == opened[1].ask(request="r").id != trial.id
    opened[2].tell(trial, 0.5)
    assert verify(opened[3].export())
    opened[0].set_tags(["old"])
    opened[1].pause()
    assert load_study("s", storage=storage_url).label[1:4] == (True, "", ("old",))


def test_tables_without_a_version_are_refused(storage_url):
    create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    execute(storage_url, "DELETE FROM mfbai_schema")
    with pytest.raises(StorageError, match="made by an older mfbai"):
        load_study("s", storage=storage_url)


def test_a_missing_file_is_refused_and_not_made(tmp_path):
    url = f"sqlite:///{tmp_path / 'none.db'}"
    for call in (lambda: load_study("s", storage=url), lambda: list_studies(storage=url)):
        with pytest.raises(UnknownName, match="has no studies: create one first, or check the URL"):
            call()
    assert list(tmp_path.iterdir()) == []


def test_a_database_without_studies_is_refused_for_loading(storage_url):
    execute(storage_url, "CREATE TABLE other (x INTEGER)")
    for call in (lambda: load_study("s", storage=storage_url), lambda: list_studies(storage=storage_url)):
        with pytest.raises(UnknownName, match="has no studies"):
            call()


def test_an_unknown_study_is_refused_and_the_nearest_name_suggested(storage_url):
    create_study(PROBLEM, 0.1, name="headline", storage=storage_url)
    with pytest.raises(UnknownName, match="unknown study 'headlin': did you mean 'headline'"):
        load_study("headlin", storage=storage_url)


@pytest.mark.parametrize("name", [None, 3, b"s", ["s"]])
def test_a_name_to_load_that_is_no_text_is_refused(storage_url, name):
    create_study(PROBLEM, 0.1, name="s", storage=storage_url)
    with pytest.raises(InvalidInput, match="name"):
        load_study(name, storage=storage_url)


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "notes.txt"
    path.write_text("these are notes\n" * 200)
    for call in (load_study, lambda name, storage: create_study(PROBLEM, 0.1, name=name, storage=storage)):
        with pytest.raises(StorageError, match=r"notes.txt cannot be used: file is not a database; the folder must"):
            call("s", storage=f"sqlite:///{path}")
    assert path.read_text() == "these are notes\n" * 200


def test_a_folder_that_does_not_exist_is_told(tmp_path):
    with pytest.raises(StorageError, match=r"cannot be used: .*the folder must exist"):
        create_study(PROBLEM, 0.1, storage=f"sqlite:///{tmp_path}/no/such/folder.db")


@pytest.mark.parametrize(
    "url",
    [
        "",
        "studies.db",
        "sqlite:studies.db",
        "mysql://host/db",
        "http://host/x",
        "sqlite+nothing:///x.db",
        "sqlite+aiosqlite:///x.db",
        "postgresql://host:port/db",
        "sqlite://host/x.db",
        None,
        3,
        b"sqlite://",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_with_an_example(url):
    with pytest.raises(InvalidInput, match=r"storage is .*give a URL such as sqlite:///mfbai.db or postgresql://"):
        create_study(PROBLEM, 0.1, storage=url)


def test_a_server_that_does_not_run_is_told_apart_from_a_database_without_studies(tmp_path):
    for call in (load_study, lambda name, storage: create_study(PROBLEM, 0.1, name=name, storage=storage)):
        with pytest.raises(StorageError, match=r"cannot be used: .*check that the server runs"):
            call("s", storage=f"postgresql://mfbai@/none?host={tmp_path}")


def test_a_database_that_the_server_does_not_have_is_told(postgres):
    url = postgres.new_database().replace("/test", "/nosuch")
    with pytest.raises(StorageError, match="does not exist"):
        create_study(PROBLEM, 0.1, storage=url)


# --- passwords


SECRET = "pa55w0rd"


def told_by(error):
    """All that a user is shown of an error, with its causes."""
    return "".join(traceback.format_exception(error)[-1:]) + str(error) + repr(error)


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://user:{SECRET}@host/db",
        f"postgresql//user:{SECRET}@host/db",
        f"postgresql://user:{SECRET}@host:port/db",
        f"sqlite+nothing://user:{SECRET}@/x.db",
        f"postgresql://user:{SECRET}@/db?host=/no/such/folder",
        f"postgresql://user@/db?host=/no/such/folder&password={SECRET}",
        f"postgresql://user:{SECRET}@/db?host=/no/such/folder&no_such_option=1",
    ],
)
def test_no_message_shows_a_password(url):
    for call in (lambda: create_study(PROBLEM, 0.1, storage=url), lambda: load_study("s", storage=url)):
        with pytest.raises(MfbaiError) as caught:
            call()
        assert SECRET not in told_by(caught.value)


@pytest.mark.parametrize("place", ["user", "query"])
def test_no_study_shows_a_password(postgres, place):
    url = postgres.new_database()
    user = url.replace("mfbai@", f"mfbai:{SECRET}@")
    url = user if place == "user" else f"{url}&password={SECRET}"
    study = create_study(PROBLEM, 0.1, name="s", storage=url)
    loaded = load_study("s", storage=url)
    assert SECRET not in repr(study) + repr(loaded) + str(loaded.status()) + repr(loaded.export())
    with pytest.raises(InvalidInput) as caught:
        load_study("t", storage=url)
    assert SECRET not in told_by(caught.value)
    with pytest.raises(InvalidInput) as caught:
        create_study(PROBLEM, 0.1, name="s", storage=url)
    assert SECRET not in told_by(caught.value)
