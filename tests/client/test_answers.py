"""Clients whose server answers with errors, with garbage, or not at all."""

from types import SimpleNamespace

import pytest

from mfbai import Client, StorageError, create_study
from mfbai.client import calls
from support.fakes import fake
from support.servers import PATIENCE, PROBLEM

SETTINGS = create_study(PROBLEM, 0.05, name="s", storage="sqlite://").settings.to_dict()
AWAY = (503, {"type": "urn:mfbai:StorageError", "detail": "the database is away", "status": 503})
BROKEN = (500, {"type": "urn:mfbai:InternalError", "detail": "the server made a mistake", "status": 500})
HTML = (200, b"<!doctype html><p>Welcome to your new router!")
PAGE = {"studies": [{"name": "b"}, {"name": "a"}], "total": 2}
GARBAGE = [
    HTML,
    (200, b""),
    (200, b"\xff\xfe"),
    (200, b"[" * 100_000),
    (200, b"9" * 5000),
    (200, []),
    (200, {}),
    (200, None),
    (200, "x"),
    (200, 3),
    (200, [{}]),
    (200, {"trials": 3, "studies": 3, "events": 3, "history": 3, "name": 3, "result": 3}),
    (200, {"trials": [{}], "studies": [{}], "events": [{}], "history": {}, "next": None}),
    (200, {"trials": [3], "studies": [3], "events": [3], "history": {"cost": [1]}}),
    (204, b""),
    (302, b"over there"),
    (404, b"<p>Not found"),
    (404, {"type": 3, "detail": None}),
    (400, {"type": "urn:mfbai:InvalidInput", "detail": "x", "faults": 3}),
    (400, []),
    (500, b"oops"),
]


@pytest.mark.parametrize("answer", GARBAGE, ids=lambda answer: f"{answer[0]} {ascii(answer[1])[:40]}")
def test_what_is_no_answer_of_mfbai_is_told_whatever_was_asked(answer):
    with fake((200, SETTINGS), answer) as server:
        client = Client(server.address, patience=0)
        study = client.load_study("s")
        calls = [
            client.list_studies,
            client.choices,
            lambda: client.load_study("s"),
            lambda: client.create_study(PROBLEM, 0.05),
            study.ask,
            study.status,
            study.history,
            study.trials,
            lambda: list(study.journal()),
        ]
        for call in calls:
            with pytest.raises(StorageError, match="mfbai"):
                call()
        client.close()


def test_a_server_that_is_away_for_a_moment_is_asked_again():
    with fake(
        AWAY,
        None,
        (502, b"<p>Bad gateway"),
        b"garbage\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{",
        (200, PAGE),
    ) as server:
        client = Client(server.address, patience=PATIENCE)
        assert client.list_studies() == ["a", "b"]
        assert len(server.seen) == 6
        client.close()


def test_an_ask_that_is_sent_again_is_the_same_request():
    trial = create_study(PROBLEM, 0.05, storage="sqlite://").ask()
    with fake(
        (200, SETTINGS), None, AWAY, (200, {"trials": [trial.to_dict()]}), (200, {"trials": [trial.to_dict()]})
    ) as server:
        client = Client(server.address, patience=PATIENCE)
        study = client.load_study("s")
        assert study.ask().id == study.ask().id == trial.id
        requests = [body["request"] for _, _, body in server.seen[1:]]
        assert requests[0] == requests[1] == requests[2] != requests[3]
        client.close()


def test_patience_has_an_end_and_the_last_reason_is_told(monkeypatch):
    now = [0.0]  # seconds: calls take none, pauses as long as they are
    clock = SimpleNamespace(monotonic=lambda: now[0], sleep=lambda seconds: now.append(now.pop() + seconds))
    monkeypatch.setattr(calls, "time", clock)
    with fake(AWAY) as server:
        with pytest.raises(StorageError, match="the database is away"):
            Client(server.address, patience=0.2).list_studies()
        assert len(server.seen) == 3  # at 0, 0.05 and 0.15


def test_a_mistake_of_the_server_is_told_at_once():
    with fake(BROKEN) as server:
        with pytest.raises(StorageError, match="answered 500: the server made a mistake"):
            Client(server.address, patience=PATIENCE).list_studies()
        assert len(server.seen) == 1


@pytest.mark.parametrize("lost", [None, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"], ids=["nothing", "half"])
def test_what_cannot_be_done_twice_is_not_sent_twice(lost):
    with fake((200, SETTINGS), lost) as server:
        client = Client(server.address, patience=PATIENCE)
        study = client.load_study("s")
        for call in (lambda: study.add(0, 0, [0.5]), lambda: client.create_study(PROBLEM, 0.05)):
            before = len(server.seen)
            with pytest.raises(
                StorageError, match="not known whether the call was carried out: look before you repeat"
            ):
                call()
            assert len(server.seen) == before + 1
        client.close()


def test_what_was_refused_for_the_moment_may_be_sent_again():
    """It was not carried out, as the answer says."""
    with fake((200, SETTINGS), AWAY, (200, {"state": "running"})) as server:
        client = Client(server.address, patience=PATIENCE)
        client.load_study("s").add(0, 0, [0.5])
        assert len(server.seen) == 3
        client.close()


def test_a_path_before_the_api_is_kept():
    with fake((200, PAGE)) as server:
        client = Client(f"{server.address}/behind/a/proxy/", patience=0)
        client.list_studies()
        assert server.seen[0][1].startswith("/behind/a/proxy/api/v1/studies?")
        assert repr(client) == f"<Client of {server.address}/behind/a/proxy>"
        client.close()
