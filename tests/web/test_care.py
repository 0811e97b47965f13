"""Names, notes, tags, pauses, deletion, tables and lists of studies over HTTP."""

import itertools
from urllib.parse import quote

import pytest
import sqlalchemy as sa

from mfbai import create_study, load_study
from mfbai.errors import StudyGone
from mfbai.study.catalogue import SORTS, STATES
from mfbai.study.storage import Storage
from mfbai.study.storage import tables as t
from support.servers import PROBLEM, Server, Stream, journal, refused

numbers = itertools.count()


def path_of(name):
    return f"/{quote(name, safe='')}"


def key_of(server, study):
    return server.get(study).json()["key"]


# --- names


def test_a_study_is_renamed_with_all_that_belongs_to_it(either):
    path = either.create("before / it")
    (trial,) = either.ask(path)
    new = path_of("after / it \N{BIRD}")
    answer = either.post(f"{path}/rename", {"name": "after / it \N{BIRD}"})
    assert answer.json()["name"] == "after / it \N{BIRD}"
    assert either.tell(new, trial, 0.5).status == 200
    assert either.get(f"{new}/view").json()["status"]["name"] == "after / it \N{BIRD}"
    refused(either.get(f"{path}/status"), 404, "unknown study 'before / it'", "UnknownName")


def test_those_who_know_a_study_s_key_hear_of_its_new_name(server, study):
    key, new = key_of(server, study), f"renamed {next(numbers)}"
    server.post(f"{study}/rename", {"name": new})
    for answer in (server.get(f"{study}/status?key={key}"), server.post(f"{study}/ask?key={key}", {})):
        refused(answer, 404, f"is called '{new}' now", "StudyRenamed")
        assert answer.json()["renamed_to"] == new


def test_a_study_that_another_program_renames_is_found_and_its_old_name_is_free(either):
    path = either.create("theirs")
    assert either.get(f"{path}/status").status == 200
    load_study("theirs", storage=either.storage).rename("theirs, renamed")
    refused(either.post(f"{path}/ask", {}), 404, "is called 'theirs, renamed' now", "StudyRenamed")
    assert either.get(f"{path_of('theirs, renamed')}/status").json()["name"] == "theirs, renamed"
    either.create("theirs")
    assert either.get(f"{path}/status").json()["told"] == 0
    assert len(either.ask(path)) == 1


def test_a_stream_goes_on_under_the_new_name(server, study):
    with Stream(server, study) as stream:
        stream.next()
        new = f"streamed {next(numbers)}"
        server.post(f"{study}/rename", {"name": new})
        kind, view = stream.next()
        assert (kind, view["status"]["name"]) == ("view", new)
        server.ask(path_of(new))
        kind, view = stream.next()
        assert view["status"]["pending"] == 1


def test_a_name_of_another_study_is_refused(server, study):
    other = server.create(f"taken {next(numbers)}")
    name = server.get(other).json()["name"]
    refused(server.post(f"{study}/rename", {"name": name}), 409, "exists already", "NameTaken")
    refused(server.post(f"{study}/rename", {"name": ""}), 422, "name")
    refused(server.post(f"{study}/rename", {"name": "a\nb"}), 422, "name")
    assert server.get(f"{study}/status").status == 200


# --- pauses


def test_a_paused_study_hands_out_nothing_and_takes_results(either):
    path = either.create("paused")
    (trial,) = either.ask(path)
    assert either.post(f"{path}/pause", {}).json()["paused"]
    refused(either.post(f"{path}/ask", {}), 409, "is paused: it hands out nothing", "StudyPaused")
    assert either.tell(path, trial, 0.5).json() == {"state": "running"}
    view = either.get(f"{path}/view").json()
    assert (view["paused"], view["status"]["paused"], view["sentence"][:7]) == (True, True, "Paused:")
    assert not either.post(f"{path}/resume", {}).json()["paused"]
    assert len(either.ask(path)) == 1


# --- notes and tags


def test_notes_and_tags_are_kept_and_shown(either):
    path = either.create("noted")
    note = "# Why\n<script>alert(1)</script> \N{BIRD}"
    assert either.post(f"{path}/note", {"text": note}).json()["note"] == note
    assert either.post(f"{path}/tags", {"tags": ["wing", "a b"]}).json()["tags"] == ["wing", "a b"]
    view = either.get(f"{path}/view").json()
    assert (view["note"], view["tags"]) == (note, ["wing", "a b"])
    label = either.get(f"{path}/label").json()
    kept = {"name": "noted", "paused": False, "note": note, "tags": ["wing", "a b"], "events": 1}
    assert label == {**kept, "key": key_of(either, path)}
    assert load_study("noted", storage=either.storage).note == note
    assert [event["kind"] for event in journal(either, path)] == ["create"]


def test_two_people_do_not_overwrite_each_other_s_notes(server, study):
    server.post(f"{study}/note", {"text": "first"})
    answer = server.post(f"{study}/note", {"text": "mine", "before": ""})
    refused(answer, 409, "was changed by somebody else", "LabelChanged")
    assert server.post(f"{study}/note", {"text": "mine", "before": "first"}).json()["note"] == "mine"


def test_two_people_do_not_overwrite_each_other_s_tags(server, study):
    server.post(f"{study}/tags", {"tags": ["first"]})
    answer = server.post(f"{study}/tags", {"tags": ["mine"], "before": []})
    refused(answer, 409, "was changed by somebody else", "LabelChanged")
    assert server.post(f"{study}/tags", {"tags": ["mine"], "before": ["first"]}).json()["tags"] == ["mine"]


@pytest.mark.parametrize(
    ("call", "body"),
    [
        ("note", {}),
        ("note", {"text": 5}),
        ("note", {"text": "x" * 20_001}),
        ("note", {"text": "\x00"}),
        ("note", {"text": "x", "more": 1}),
        ("tags", {"tags": "wing"}),
        ("tags", {"tags": ["a,b"]}),
        ("tags", {"tags": ["x" * 41]}),
        ("tags", {"tags": list("abcdefghijklmnopqrstuvwxyz")}),
        ("rename", {"name": "x" * 201}),
        ("pause", {"for": 5}),
        ("delete", {}),
        ("ask", {"worker": "x" * 101}),
        ("ask", {"worker": "a\nb"}),
    ],
)
def test_what_cannot_be_kept_is_refused(server, study, call, body):
    before = server.get(f"{study}/label").json()
    assert refused(server.post(f"{study}/{call}", body), 422, ".")
    assert server.get(f"{study}/label").json() == before


# --- a journal that was damaged


@pytest.fixture(params=["after it was opened", "at its beginning"])
def damaged(request, either):
    """The path and the key of a study that cannot be opened any more."""
    name = f"damaged {next(numbers)}"
    key = create_study(PROBLEM, 0.05, name=name, storage=either.storage, strategy="frugal").settings.key
    n = 0 if request.param == "at its beginning" else 1
    if n:
        either.ask(path_of(name))
        load_study(name, storage=either.storage).ask()
    else:
        key = None
    storage = Storage(either.storage)
    with storage._writing() as connection:
        where = sa.and_(t.events.c.study == storage.find(name), t.events.c.n >= n)
        connection.execute(sa.update(t.events).where(where).values(body="{garbage"))
    return path_of(name), key


def test_a_study_that_cannot_be_read_can_be_looked_after(either, damaged):
    path, key = damaged
    assert either.get(f"{path}/label").json()["key"] == key
    assert either.post(f"{path}/note", {"text": "The disk was full.", "before": ""}).json()["note"]
    assert either.post(f"{path}/tags", {"tags": ["disk"]}).json()["tags"] == ["disk"]
    assert not either.post(f"{path}/resume", {}).json()["paused"]
    new = f"worse {next(numbers)}"
    assert either.post(f"{path}/rename", {"name": new}).json()["name"] == new
    assert either.get(f"{path_of(new)}/label").json()["tags"] == ["disk"]
    assert either.post(f"{path_of(new)}/delete", {"name": new}).json() == {"deleted": True}
    refused(either.get(f"{path_of(new)}/label"), 404, "unknown study", "UnknownName")


def test_a_study_that_cannot_be_read_is_known_by_its_key(either):
    path = either.create("damaged and renamed")
    key = key_of(either, path)
    study = load_study("damaged and renamed", storage=either.storage)
    study.ask()
    storage = Storage(either.storage)
    with storage._writing() as connection:
        where = sa.and_(t.events.c.study == storage.find(study.name), t.events.c.n == 1)
        connection.execute(sa.update(t.events).where(where).values(body="{garbage"))
    study.rename("damaged and found")
    either.create("damaged and renamed")
    answer = either.post(f"{path}/delete?key={key}", {"name": "damaged and renamed"})
    refused(answer, 404, "is called 'damaged and found' now", "StudyRenamed")
    assert either.get(f"/damaged%20and%20found/label?key={key}").json()["name"] == "damaged and found"


# --- the end


def test_a_study_is_deleted_by_those_who_repeat_its_name(either):
    path = either.create("doomed")
    key = key_of(either, path)
    (trial,) = either.ask(path)
    refused(either.post(f"{path}/delete", {"name": "other"}), 422, "repeat the study's name, 'doomed', to confirm")
    assert either.post(f"{path}/delete", {"name": "doomed"}).json() == {"deleted": True}
    refused(either.tell(path, trial, 0.5), 404, "unknown study 'doomed'", "UnknownName")
    answer = either.post(f"{path}/tell?key={key}", {"trial": trial["id"], "value": 0.5})
    refused(answer, 404, "study 'doomed' was deleted: nothing of it is left", "StudyGone")
    again = either.create("doomed")
    assert either.get(f"{again}/status").json()["told"] == 0
    refused(either.get(f"{path}/status?key={key}"), 404, "was deleted", "StudyGone")


def test_watchers_hear_that_a_study_is_deleted(server, study):
    with Stream(server, study) as stream:
        stream.next()
        name = server.get(study).json()["name"]
        server.post(f"{study}/delete", {"name": name})
        kind, said = stream.next()
        assert (kind, said["detail"]) == (
            "gone",
            f"study {name!r} was deleted: nothing of it is left, and results of its trials are not needed any more",
        )
        assert stream.next() is None


def test_watchers_hear_that_another_program_deleted_a_study(either):
    path = either.create("deleted elsewhere")
    with Stream(either, path) as stream:
        stream.next()
        load_study("deleted elsewhere", storage=either.storage).delete()
        kind, _ = stream.next()
        assert kind == "gone"
    refused(either.get(f"{path}/status"), 404, "was deleted|unknown study")
    refused(either.get(f"{path}/status"), 404, "unknown study")


def test_those_who_have_a_study_open_elsewhere_hear_that_it_is_deleted(either):
    path = either.create("open elsewhere")
    elsewhere = load_study("open elsewhere", storage=either.storage)
    trial = elsewhere.ask()
    either.post(f"{path}/delete", {"name": "open elsewhere"})
    with pytest.raises(StudyGone):
        elsewhere.tell(trial, 0.5)


def test_only_the_token_s_holder_changes_anything(locked):
    path = locked.create(f"guarded {next(numbers)}")
    name = locked.get(path).json()["name"]
    calls = {
        "rename": {"name": "x"},
        "pause": {},
        "note": {"text": "x"},
        "tags": {"tags": []},
        "delete": {"name": name},
    }
    for call, body in calls.items():
        answer = locked.post(f"{path}/{call}", body, headers={"Authorization": "Bearer wrong"})
        refused(answer, 401, "the token is wrong")
    assert locked.get(f"{path}/label").json()["name"] == name


# --- tables


def test_trials_are_sent_as_csv(either):
    path = either.create("table, of \N{BIRD}")
    (first, second) = (either.ask(path, worker=worker)[0] for worker in ("anna", None))
    either.tell(path, first, 0.5)
    answer = either.get(f"{path}/trials.csv")
    assert answer.headers["content-type"].startswith("text/csv")
    assert "attachment" in answer.headers["content-disposition"]
    lines = answer.body.decode().splitlines()
    assert lines[0] == "trial,arm,fidelity,seed,value,cost,asked,told,worker,state"
    assert [line.split(",")[0] for line in lines[1:]] == [first["id"], second["id"]]
    assert lines[1].endswith(",anna,told")
    assert lines[2].endswith(",,under way")
    assert answer.body.decode() == load_study("table, of \N{BIRD}", storage=either.storage).to_csv()


# --- lists


@pytest.fixture(scope="module")
def listing(tmp_path_factory):
    """A server of its own, with three studies."""
    url = f"sqlite:///{tmp_path_factory.mktemp('listing')}/studies.db"
    with Server(url) as server:
        for name in ("first", "second", "third"):
            server.create(name)
        server.tell("/second", server.ask("/second")[0], 0.5)
        server.post("/third/pause", {})
        server.post("/first/tags", {"tags": ["wing"]})
        server.post("/third/tags", {"tags": ["wing", "Draft"]})
        server.post("/second/note", {"text": "Asked by the bridge team"})
        yield server


def names(answer):
    return [row["name"] for row in answer.json()["studies"]]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("", ["third", "second", "first"]),
        ("descending=false", ["first", "second", "third"]),
        ("limit=1", ["third"]),
        ("limit=1&offset=1", ["second"]),
        ("state=paused", ["third"]),
        ("state=running&descending=false", ["first", "second"]),
        ("state=decided", []),
        ("tag=wing", ["third", "first"]),
        ("search=BRIDGE", ["second"]),
        ("search=draft", ["third"]),
        ("sort=cost", ["second", "third", "first"]),
        ("sort=name&descending=false", ["first", "second", "third"]),
        ("sort=active", ["second", "third", "first"]),
    ],
)
def test_the_list_is_filtered_and_sorted(listing, query, found):
    assert names(listing.get(f"?{query}")) == found


def test_the_list_counts_what_matches_and_knows_all_tags(listing):
    answer = listing.get("?tag=wing&limit=1").json()
    assert (answer["total"], answer["tags"]) == (2, ["Draft", "wing"])


def test_a_line_says_where_a_study_stands_and_when_it_was_last_active(listing):
    second, first = listing.get("?descending=false").json()["studies"][1::-1]
    assert (second["state"], second["told"], second["cost"], second["noted"]) == ("running", 1, 0.1, True)
    assert second["created"] < second["active"]
    assert (first["tags"], first["noted"], first["paused"], first["active"]) == (
        ["wing"],
        False,
        False,
        first["created"],
    )


def test_the_list_knows_changes_by_other_programs(either):
    path = either.create("worked on elsewhere")
    assert either.get(f"{path}/status").status == 200  # it is open, which may take longer than a list waits
    elsewhere = load_study("worked on elsewhere", storage=either.storage)
    elsewhere.tell(elsewhere.ask(), 0.25)
    (line,) = either.get("?search=worked+on+elsewhere").json()["studies"]
    assert line["told"] == 1


@pytest.mark.parametrize("query", ["state=gone", "sort=colour", "descending=perhaps", f"search={'x' * 201}", "limit=0"])
def test_odd_filters_are_refused(listing, query):
    refused(listing.get(f"?{query}"), 422, query.partition("=")[0])


@pytest.mark.parametrize("query", ["state=running", "tag=wing", "search=a", "sort=name", "descending=false"])
def test_a_list_of_all_names_is_neither_filtered_nor_sorted(listing, query):
    refused(
        listing.get(f"?brief=true&{query}"),
        422,
        f"takes nothing that chooses or sorts: leave out {query.partition('=')[0]}",
    )


def test_the_server_says_what_a_list_can_be_filtered_and_sorted_by(listing):
    choices = listing.call("GET", "/api/v1/choices").json()
    assert choices["list"] == {"states": list(STATES), "sorts": list(SORTS)}
    assert {"note", "tags", "tag", "worker"} <= set(choices["limits"])
