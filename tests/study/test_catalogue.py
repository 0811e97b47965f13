"""The studies of a storage as a list."""

import time

import pytest

from mfbai import create_study, load_study
from mfbai.errors import StudyGone
from mfbai.study import catalogue
from mfbai.study.catalogue import SORTS, STATES, list_lines, matching, ordered, summarised, tags_of
from mfbai.study.storage import Storage
from support.studies import PROBLEM, finish


@pytest.fixture
def storage(storage_url):
    """Four studies: decided, running with a result, paused, and one that nobody has touched."""
    for name in ("done", "busy", "rests", "new"):
        create_study(PROBLEM, 0.05, name=name, storage=storage_url, strategy="frugal")
    done, busy, rests = (load_study(name, storage=storage_url) for name in ("done", "busy", "rests"))
    finish(done)
    busy.tell(busy.ask(), 0.5)
    busy.set_tags(["wing", "Spring"])
    rests.set_tags(["wing"])
    rests.set_note("Asked by the *bridge* team")
    rests.pause()
    return Storage(storage_url)


def listed(storage):
    return [summarised(storage, line) for line in list_lines(storage)]


def names(lines):
    return [line.shelved.label.name for line in lines]


def test_every_study_is_listed_with_where_it_stands(storage):
    lines = {line.shelved.label.name: line.to_dict() for line in listed(storage)}
    assert list(lines) == ["done", "busy", "rests", "new"]
    assert [line["state"] for line in lines.values()] == ["decided", "running", "paused", "running"]
    assert lines["done"]["leader"] == "wide"
    assert lines["done"]["risk"] <= 0.05
    assert lines["busy"]["cost"] == pytest.approx(0.1)
    assert (lines["busy"]["told"], lines["busy"]["tags"], lines["busy"]["noted"]) == (1, ["wing", "Spring"], False)
    assert (lines["rests"]["paused"], lines["rests"]["noted"]) == (True, True)
    for line in lines.values():
        assert line["created"] <= line["active"] <= time.time() + 1


def test_before_a_study_was_looked_at_its_label_is_known(storage):
    line = list_lines(storage)[2]
    assert line.summary is None
    assert line.to_dict()["state"] == "opening"
    assert line.to_dict()["tags"] == ["wing"]


def test_what_will_not_change_is_kept(storage, monkeypatch):
    listed(storage)
    kept = {line.shelved.label.name for line in list_lines(storage) if line.summary}
    assert kept == {"done"}
    monkeypatch.setattr(catalogue, "QUIET", -1.0)
    listed(storage)
    assert all(line.summary for line in list_lines(storage))


def test_what_is_kept_is_not_used_once_there_are_more_events(storage, monkeypatch):
    monkeypatch.setattr(catalogue, "QUIET", -1.0)
    listed(storage)
    study = load_study("new", storage=storage)
    study.tell(study.ask(), 0.5)
    line = list_lines(storage)[3]
    assert line.summary is None
    assert summarised(storage, line).to_dict()["told"] == 1


def test_a_pause_shows_at_once(storage, monkeypatch):
    monkeypatch.setattr(catalogue, "QUIET", -1.0)
    listed(storage)
    load_study("new", storage=storage).pause()
    load_study("rests", storage=storage).resume()
    assert [line.state for line in list_lines(storage)] == ["decided", "running", "running", "paused"]


def test_a_study_that_is_deleted_meanwhile_is_reported(storage):
    line = list_lines(storage)[1]
    load_study("busy", storage=storage).delete()
    with pytest.raises(StudyGone):
        summarised(storage, line)


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        ({"state": "running"}, ["busy", "new"]),
        ({"state": "paused"}, ["rests"]),
        ({"tag": "wing"}, ["busy", "rests"]),
        ({"tag": "win"}, []),
        ({"search": " BRIDGE "}, ["rests"]),
        ({"search": "by  the\t*bridge* "}, ["rests"]),
        ({"search": "spring"}, ["busy"]),
        ({"search": "wide"}, ["done"]),
        ({"search": "e", "state": "decided"}, ["done"]),
        ({}, ["done", "busy", "rests", "new"]),
    ],
)
def test_the_list_is_filtered(storage, wanted, found):
    assert names(matching(listed(storage), **wanted)) == found


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("created", ["done", "busy", "rests", "new"]),
        ("active", ["rests", "new", "done", "busy"]),
        ("name", ["busy", "done", "new", "rests"]),
        ("state", ["busy", "new", "rests", "done"]),
        ("risk", ["done", "busy", "rests", "new"]),
        ("cost", ["rests", "new", "busy", "done"]),
    ],
)
def test_the_list_is_sorted(storage, sort, found):
    lines = listed(storage)
    assert names(ordered(lines, sort)) == found
    assert names(ordered(lines, sort, descending=True)) == found[::-1]


def test_every_state_and_sort_is_tested():
    assert list(SORTS) == ["created", "active", "name", "state", "risk", "cost"]
    assert STATES == ("running", "paused", "decided", "undecided", "alarm", "unreadable")


def test_all_tags_are_listed(storage):
    assert tags_of(list_lines(storage)) == ["Spring", "wing"]
