"""`mfbai serve` as its callers and its enemies see it: a real process, on SQLite and on PostgreSQL."""

import asyncio
import http.client
import itertools
import json
import os
import re
import signal
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import numpy as np
import pytest

import mfbai
from mfbai import create_study, load_study, verify
from mfbai.model.spec import from_dict
from mfbai.study.storage import Storage
from mfbai.web import desk as desks
from support.servers import SPEC, TEXT, Server, Stream

TOKEN = "correct-horse-battery-staple"
MEANS = {"plain": 0.3, "wide": 0.9, "deep": 0.4}
MOST_BYTES = 1 << 20
HEADERS = {
    "content-security-policy": "default-src 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}
numbers = itertools.count()


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def either(request, tmp_path_factory):
    """A server on each kind of storage."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('either')}/studies.db"
    else:
        url = request.getfixturevalue("postgres").new_schema()
    with Server(url) as server:
        server.storage = url
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.said


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('served')}/studies.db"
    with Server(url) as made:
        made.storage = url
        yield made
        assert made.stop() == 0
        assert "Traceback" not in made.said


@pytest.fixture(scope="module")
def locked(tmp_path_factory):
    """A server that wants a token."""
    with Server(f"sqlite:///{tmp_path_factory.mktemp('locked')}/studies.db", token=TOKEN) as made:
        yield made
        made.stop()
        assert TOKEN not in made.said


@pytest.fixture
def study(server):
    return server.create(f"study {next(numbers)}")


def refused(answer, status, told, kind=None):
    """A refusal says what is wrong, in the same form always."""
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json"), answer.body
    problem = answer.json()
    assert problem["status"] == status
    assert re.search(told, problem["detail"]), problem["detail"]
    if kind is not None:
        assert problem["type"] == f"urn:mfbai:{kind}"
    return True


def journal(server, study):
    return server.get(f"{study}/journal").json()["events"]


def kinds(server, study):
    return [event["kind"] for event in journal(server, study)]


def value_of(trial, rng):
    return float(rng.normal(MEANS[trial["arm"]], 0.2))


# --- studies over HTTP


def test_a_study_from_its_creation_to_its_certificate(either):
    """All words of the API, and what they leave is what the library reads."""
    rng = np.random.default_rng(1)
    path = either.create("whole")
    settings = either.get(path).json()
    assert (settings["name"], settings["delta"], settings["strategy"]) == ("whole", 0.05, "frugal")
    assert either.post(f"{path}/add", {"arm": "plain", "fidelity": 0, "values": [0.3, 0.2]}).status == 200
    first, second = either.ask(path, n=2)
    assert either.post(f"{path}/renew", {"trial": first["id"], "lease": 50}).json() == {"state": "running"}
    assert either.post(f"{path}/release", {"trial": first["id"]}).status == 200
    assert either.ask(path)[0]["id"] == first["id"]
    assert either.post(f"{path}/fail", {"trial": second["id"], "reason": "the disk was full"}).status == 200
    assert [row["id"] for row in either.get(f"{path}/trials").json()["trials"]] == [first["id"]]
    state = either.tell(path, first, 0.5).json()["state"]
    while state == "running":
        for trial in either.ask(path, n=20):
            answer = either.tell(path, trial, value_of(trial, rng))
            assert answer.status == 200
            state = answer.json()["state"]
    status = either.get(f"{path}/status").json()
    assert (status["state"], status["result"]["arm"]) == ("decided", "wide")
    refused(either.post(f"{path}/ask", {}), 409, "is over: The best is 'wide'", "StudyOver")
    certificate = either.get(f"{path}/export")
    assert "attachment" in certificate.headers["content-disposition"]
    assert verify(certificate.json()).verdict.arm == "wide"
    view = either.get(f"{path}/view").json()
    assert view["status"] == status
    assert view["history"]["cost"][-1] == status["cost"]
    found = load_study("whole", storage=either.storage)
    assert found.result.arm == "wide"
    assert [{**event.body, "hash": event.hash} for event in found.journal()] == either.get(f"{path}/journal").json()[
        "events"
    ]
    assert "whole" in [row["name"] for row in either.get("?brief=true").json()["studies"]]


NAMES = ["a/b", "..", ".", "%2F", "a b+c&d?e=f#g", "'\"<script>", "été", "e\u0301", "日本", "😀", "status", "x" * 200]


@pytest.mark.parametrize("name", NAMES)
def test_a_study_may_have_any_printable_name(server, name):
    made = server.post("", {"spec": TEXT, "delta": 0.1, "name": name})
    assert (made.status, made.json()) == (201, {"name": name})
    assert made.headers["location"] == f"/api/v1/studies/{quote(name, safe='')}"
    assert server.call("GET", made.headers["location"]).json()["name"] == name
    (trial,) = server.ask(f"/{quote(name, safe='')}")
    assert server.tell(f"/{quote(name, safe='')}", trial, 0.5).status == 200
    refused(server.post("", {"spec": TEXT, "delta": 0.1, "name": name}), 409, "exists already", "NameTaken")


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("%00", 422),
        ("%ED%A0%80", 404),
        ("%FF", 404),
        ("-x", 422),
        ("%0A", 422),
        ("%E2%80%AE", 422),
        ("nobody", 404),
        ("x" * 300, 422),
        ("%20", 422),
        ("", 404),
    ],
)
def test_names_that_no_study_has_are_refused_by_every_call(server, name, status):
    for what in ("", "/status", "/view", "/trials", "/journal", "/export", "/events"):
        refused(server.get(f"/{name}{what}"), status, ".")
    refused(server.post(f"/{name}/ask", {}), status, ".")


def test_a_study_without_a_name_is_given_one(server):
    made = server.post("", {"spec": SPEC, "delta": 0.1})
    assert made.status == 201
    assert server.get(f"/{made.json()['name']}/status").json()["told"] == 0


def test_studies_are_listed_the_newest_first_in_pages(server):
    names = [f"listed {k}" for k in range(3)]
    for name in names:
        server.create(name)
    page = server.get("?limit=2").json()
    assert [row["name"] for row in page["studies"]] == ["listed 2", "listed 1"]
    assert page["total"] >= 3
    assert {"state", "risk", "cost", "told"} <= page["studies"][0].keys()
    assert server.get("?limit=1&offset=2&brief=true").json()["studies"] == [{"name": "listed 0"}]
    assert server.get("?offset=100000").json()["studies"] == []


def test_a_journal_is_read_in_pages(server, study):
    server.ask(study, n=6)
    whole = journal(server, study)
    page = server.get(f"{study}/journal?first=2&limit=3").json()
    assert (page["events"], page["next"]) == (whole[2:5], 5)
    assert server.get(f"{study}/journal?first=5").json() == {"events": whole[5:], "next": None}
    assert server.get(f"{study}/journal?first=1000000").json() == {"events": [], "next": None}


def test_the_description_names_all_calls_and_how_they_are_refused(server):
    described = server.call("GET", "/openapi.json").json()
    calls = {(method, path) for path, methods in described["paths"].items() for method in methods}
    one = "/api/v1/studies/{name}"
    words = ("ask", "tell", "fail", "renew", "release", "add")
    reads = ("status", "view", "trials", "journal", "export", "events")
    assert calls == {
        ("get", "/api/v1/studies"),
        ("post", "/api/v1/studies"),
        ("get", one),
        *(("post", f"{one}/{word}") for word in words),
        *(("get", f"{one}/{word}") for word in reads),
    }
    for path, method in ((path, method) for method, path in calls):
        responses = described["paths"][path][method]["responses"]
        assert {"401", "403", "421", "422", "503"} <= responses.keys()
        assert responses["401"]["content"].keys() == {"application/problem+json"}


# --- telling twice


def test_a_value_told_again_does_nothing_and_another_is_refused(either):
    path = either.create("twice")
    trial, other = either.ask(path, n=2)
    for _ in range(3):
        assert either.tell(path, trial, 0.5).status == 200
    refused(either.tell(path, trial, 0.6), 409, "was told 0.5 already, now 0.6", "TrialClosed")
    refused(either.post(f"{path}/fail", {"trial": trial["id"]}), 409, "was told 0.5", "TrialClosed")
    for _ in range(2):
        assert either.post(f"{path}/fail", {"trial": other["id"]}).status == 200
    refused(either.tell(path, other, 0.5), 409, "was reported as failed", "TrialClosed")
    assert kinds(either, path) == ["create", "ask", "ask", "tell", "fail"]


def test_a_value_told_by_many_at_once_is_told_once(either):
    """Some of the calls share a turn; all are answered as if alone, and of two values one wins."""
    path = either.create("at once")
    trials = either.ask(path, n=4)
    with ThreadPoolExecutor(16) as threads:
        same = list(threads.map(lambda _: either.tell(path, trials[0], 0.5).status, range(32)))
        mixed = list(threads.map(lambda k: either.tell(path, trials[1], 0.5 + k % 2).status, range(32)))
    assert same == [200] * 32
    assert sorted(mixed) == [200] * 16 + [409] * 16
    assert kinds(either, path).count("tell") == 2
    assert verify(either.get(f"{path}/export").json())


def test_many_at_once_have_different_trials_and_all_that_was_told_is_there(either):
    path = either.create("crowd", delta=1e-6)

    def work(k):
        (trial,) = either.ask(path)
        assert either.tell(path, trial, 0.5 + k / 1000).status == 200
        return trial["id"]

    with ThreadPoolExecutor(12) as threads:
        ids = list(threads.map(work, range(60)))
    assert len(set(ids)) == 60
    assert load_study("crowd", storage=either.storage).status().told == 60


def test_a_refused_call_among_many_at_once_leaves_the_others_as_they_are(either):
    path = either.create("mixed")
    trials = either.ask(path, n=12)

    def work(k):
        bad = {"trial": f"999-{trials[0]['id'].partition('-')[2]}", "value": 0.5}
        return (either.post(f"{path}/tell", bad) if k % 2 else either.tell(path, trials[k // 2], 0.5)).status

    with ThreadPoolExecutor(12) as threads:
        assert list(threads.map(work, range(24))) == [200, 422] * 12
    assert kinds(either, path).count("tell") == 12


def test_a_request_that_is_repeated_has_the_same_answer(either):
    path = either.create("asked again")
    first = either.ask(path, n=3, request="r-1")
    ids = [trial["id"] for trial in first]
    assert [trial["id"] for trial in either.ask(path, n=3, request="r-1")] == ids
    assert [trial["id"] for trial in either.ask(path, n=1, request="r-2")] != ids[:1]
    either.tell(path, first[0], 0.5)
    assert [trial["id"] for trial in either.ask(path, n=3, request="r-1")] == ids[1:]
    assert kinds(either, path).count("ask") == 4
    assert verify(either.get(f"{path}/export").json())


def test_nothing_to_ask_is_told_and_when_to_come_again(server):
    path = server.create("poor", max_cost=0.25)
    assert len(server.ask(path, n=5)) == 2
    answer = server.post(f"{path}/ask", {})
    refused(answer, 409, "2 evaluations are under way", "NothingToAsk")
    assert int(answer.headers["retry-after"]) > 0


# --- what is seen as it happens


def test_a_stream_tells_of_changes_whoever_makes_them(either):
    path = either.create("watched")
    with Stream(either, path) as stream:
        kind, view = stream.next()
        assert (kind, view["events"]) == ("view", 1)
        (trial,) = either.ask(path)
        either.tell(path, trial, 0.5)
        while view["status"]["told"] < 1:
            kind, view = stream.next()
        elsewhere = load_study("watched", storage=either.storage)  # the server is another process
        elsewhere.tell(elsewhere.ask(), 0.25)
        while view["status"]["told"] < 2:
            kind, view = stream.next()
        assert view["status"] == either.get(f"{path}/status").json()
        assert either.get(f"{path}/status").json()["told"] == 2


def test_there_is_a_limit_to_streams_and_room_when_some_are_closed(server, study):
    streams = [Stream(server, study) for _ in range(200)]
    try:
        assert {stream.next()[0] for stream in streams} == {"view"}
        refused(server.get(f"{study}/events"), 503, "200 streams are open.*try again later")
        assert server.get(f"{study}/status").status == 200
    finally:
        for stream in streams:
            stream.close()
    late = Stream(server, study)
    while late.status == 503:  # until the server has noticed
        late.close()
        late = Stream(server, study)
    assert late.next()[0] == "view"
    late.close()


def test_streams_that_come_all_at_once_are_counted_too(server, study):
    streams = [socket.create_connection(("127.0.0.1", server.port), timeout=30) for _ in range(230)]
    try:
        for stream in streams:
            stream.sendall(f"GET /api/v1/studies{study}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        told = [first_event(stream) for stream in streams]
        assert told.count(b"view") <= 200
        assert told.count(b"view") + told.count(b"streams are open") == 230
    finally:
        for stream in streams:
            stream.close()


def first_event(stream):
    answer = b""
    while not (found := re.search(b"event: view|streams are open", answer)):
        part = stream.recv(4096)
        assert part, answer
        answer += part
    return found[0].removeprefix(b"event: ")


# --- studies that take long to open


def test_studies_that_take_long_to_open_hold_up_nobody_else(tmp_path, monkeypatch):
    """The first of a kind may compile for a minute, and there may be many of them."""
    storage = Storage(f"sqlite:///{tmp_path / 's.db'}", create=True)
    for name in ("quick", *(f"slow {n}" for n in range(30))):
        create_study(from_dict(SPEC), 0.05, name=name, storage=storage)
    go_on = threading.Event()

    def load(name, **more):
        if name.startswith("slow"):
            go_on.wait(60)
        return load_study(name, **more)

    monkeypatch.setattr(desks, "load_study", load)

    async def look():
        hub = desks.Hub(storage)
        try:
            quick = await hub.desk("quick")
            tasks = [hub.opening(f"slow {n}") for n in range(30)]
            async with asyncio.timeout(20):
                (trial,) = await quick.call(lambda: quick.study.ask_many(1))
                await quick.call(lambda: quick.study.tell(trial, 0.5))
                assert (await quick.read(quick.study.status)).told == 1
                assert b'"quick"' in await quick.view()
            assert not any(task.done() for task in tasks)
            go_on.set()
            await asyncio.gather(*tasks)
        finally:
            go_on.set()
            hub.end()

    asyncio.run(look())


def test_whoever_watches_is_told_if_a_study_cannot_be_shown(tmp_path, monkeypatch):
    """And sees it again as soon as it can be."""
    storage = Storage(f"sqlite:///{tmp_path / 's.db'}", create=True)
    create_study(from_dict(SPEC), 0.05, name="s", storage=storage)

    async def look():
        hub = desks.Hub(storage)
        try:
            desk = await hub.desk("s")
            with monkeypatch.context() as broken:
                broken.setattr(desk._insight, "view", lambda: 1 / 0)
                stream = desk.watch()
                async with asyncio.timeout(20):
                    assert b"event: problem" in await anext(stream)
            async with asyncio.timeout(20):
                assert b"event: view" in await anext(stream)
            await stream.aclose()
        finally:
            hub.end()

    asyncio.run(look())


# --- how it ends


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_soon_though_streams_are_open_and_calls_under_way_and_keeps_what_it_answered(storage_url, end):
    with Server(storage_url) as server:
        path = server.create("s", delta=1e-9)
        trials = server.ask(path, n=400)
        watching = Stream(server, path)
        watching.next()
        deaf = socket.create_connection(("127.0.0.1", server.port))  # never reads
        deaf.sendall(f"GET /api/v1/studies{path}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        slow = socket.create_connection(("127.0.0.1", server.port))  # never sends all
        slow.sendall(b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        slow.sendall(b"Content-Length: 10\r\n\r\n{")
        answered, enough = [], threading.Event()

        def tell(trial):
            try:
                answer = server.tell(path, trial, 0.5)
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 200:
                answered.append(trial["id"])
            if len(answered) > 40:
                enough.set()

        with ThreadPoolExecutor(8) as threads:
            for trial in trials:
                threads.submit(tell, trial)
            assert enough.wait(60)
            began = time.monotonic()
            assert server.stop(end) == 0
            took = time.monotonic() - began
        assert took < 3
        assert server.said.endswith("stopped\n")
        assert "Traceback" not in server.said
        while watching.next() is not None:
            pass
        for connection in (watching, deaf, slow):
            connection.close()
    told = {
        f"{event.body['trial']}" for event in load_study("s", storage=storage_url).journal() if "value" in event.body
    }
    assert {trial.partition("-")[0] for trial in answered} <= told


def test_what_was_answered_survives_the_sudden_end_of_the_server(storage_url):
    with Server(storage_url) as server:
        path = server.create("s")
        trials = server.ask(path, n=10)
        with ThreadPoolExecutor(5) as threads:
            assert {answer.status for answer in threads.map(lambda trial: server.tell(path, trial, 0.5), trials)} == {
                200
            }
        server.kill()
    study = load_study("s", storage=storage_url)
    assert (study.status().told, study.status().pending) == (10, 0)
    assert verify(study.export())


def test_a_database_that_is_gone_is_told_to_callers_and_watchers(tmp_path):
    with Server(f"sqlite:///{tmp_path}/s.db") as server:
        path = server.create("s")
        (trial,) = server.ask(path)
        with Stream(server, path) as stream:
            stream.next()
            for file in tmp_path.iterdir():
                file.unlink()
            kind, told = stream.next()
            assert kind == "problem"
            assert "was removed or replaced" in told["detail"]
        for answer in (server.tell(path, trial, 0.5), server.get(f"{path}/status"), server.get("")):
            refused(answer, 503, "was removed or replaced while it was in use: open it again", "StorageError")
            assert int(answer.headers["retry-after"]) > 0
        assert server.stop() == 0
        assert "Traceback" not in server.said


# --- who may call


API = ["", "/s", "/s/status", "/s/view", "/s/trials", "/s/journal", "/s/export", "/s/events"]


@pytest.mark.parametrize(
    "given",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer wrong",
        f"Basic {TOKEN}",
        TOKEN,
        f"Bearer {TOKEN}x",
        f"Bearer {TOKEN[:-1]}",
        f"Bearer x {TOKEN}",
        "Bearer \xe9\xe9",
    ],
)
def test_without_the_token_nothing_is_answered(locked, given):
    headers = {"Authorization": given}
    for path in API:
        answer = locked.get(path, headers=headers)
        told = "a token is needed: send it" if given is None else "the token is wrong: send the server's"
        refused(answer, 401, f"{told} in the header 'Authorization: Bearer TOKEN'", "Unauthorized")
        assert answer.headers["www-authenticate"] == "Bearer"
    for path in ("", "/s/ask", "/s/tell", "/s/fail", "/s/renew", "/s/release", "/s/add"):
        assert locked.post(path, {}, headers=headers).status == 401
    for path in ("/openapi.json", "/api/", "/api/nothing", "/api/v1/../v1/studies", "/%61pi/v1/studies"):
        assert locked.call("GET", path, headers=headers).status == 401
    assert locked.call("GET", "/", headers=headers).status == 200  # the page, which asks for it


def test_the_token_opens_from_everywhere_by_any_name(locked):
    made = locked.post("", {"spec": SPEC, "delta": 0.1}, host="mfbai.example.org:8400")
    assert made.status == 201
    assert locked.call("GET", "/openapi.json", host="mfbai.example.org").json()["security"] == [{"token": []}]
    assert locked.get("", headers={"Authorization": f"bearer  {TOKEN}"}).status == 200
    refused(locked.get("", headers={"Origin": "http://evil.example"}), 403, "pages of other sites")


def test_the_token_is_never_told(locked):
    """Not in answers; not in what is logged, at refusals and errors neither (see the fixture)."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answers = [
        locked.call("GET", f"/{TOKEN}x", headers=headers),
        locked.call("GET", "/openapi.json", headers=headers),
        locked.post("", b"{", headers=headers),
        locked.post("/nobody/ask", {}, headers=headers),
    ]
    assert all(TOKEN.encode() not in answer.body for answer in answers)
    locked.raw(f"GET /\xff HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {TOKEN}\r\n\r\n".encode("latin-1"))


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "127.0.0.2", "[::1", "0.0.0.0"]
)
def test_without_a_token_it_answers_to_local_names_only(server, host):
    """A page of another site can make its own name lead here."""
    for path in ("/api/v1/studies", "/", "/openapi.json", "/static/index.html"):
        refused(server.call("GET", path, host=host), 421, "answers to localhost, 127.0.0.1, ::1 only, unless")
    answer = server.raw(b"GET /api/v1/studies HTTP/1.0\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 421 ")


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:8400", "[::1]:8400"])
def test_local_names_are_answered_with_any_port(server, host):
    assert server.get("?limit=1", host=host).status == 200
    assert server.get("?limit=1", host=host, headers={"Origin": f"http://{host}"}).status == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://localhost:1", "file://", "127.0.0.1", ""])
def test_pages_of_other_sites_may_not_call(server, study, origin):
    refused(server.get("", headers={"Origin": origin}), 403, "pages of other sites may not use this server")
    refused(server.post(f"{study}/ask", {}, headers={"Origin": origin}), 403, "pages of other sites")
    assert kinds(server, study) == ["create"]


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonx", "json"])
def test_what_is_not_said_to_be_json_is_refused(server, study, kind):
    """Other kinds a page of another site could send without being asked."""
    answer = server.post(f"{study}/ask", b"{}", headers={"Content-Type": kind})
    refused(answer, 415, "send JSON, with the header 'Content-Type: application/json'")
    assert kinds(server, study) == ["create"]


# --- how it starts


@pytest.fixture
def no_token(monkeypatch):
    monkeypatch.delenv("MFBAI_TOKEN", raising=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "192.0.2.1"])
@pytest.mark.usefixtures("no_token")
def test_it_does_not_listen_to_others_without_a_token(refuse, tmp_path, host):
    told = refuse("serve", "--host", host, "--storage", f"sqlite:///{tmp_path}/s.db")
    assert "which others can reach" in told
    assert "--token-file" in told
    assert "MFBAI_TOKEN" in told


@pytest.mark.usefixtures("no_token")
def test_bad_tokens_are_refused_and_not_shown(refuse, tmp_path, monkeypatch):
    bad = [b"", b"short", b"a b c d e f g h i j", b"\xff" * 20, "é".encode() * 20, b"0123456789\n0123456789", b"0" * 9]
    for text in bad:
        (tmp_path / "token").write_bytes(text)
        told = refuse("serve", "--token-file", tmp_path / "token")
        assert "token file" in told
        assert re.search("give one line of 16 or more letters|it is not text", " ".join(told.split()))
    for file in (tmp_path / "missing", tmp_path):
        assert "cannot be read" in refuse("serve", "--token-file", file)
    monkeypatch.setenv("MFBAI_TOKEN", "hunter2")
    told = refuse("serve")
    assert "MFBAI_TOKEN" in told
    assert "hunter2" not in told


@pytest.mark.usefixtures("no_token")
def test_an_address_that_cannot_be_used_is_told(refuse, server, tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    told = " ".join(refuse("serve", "--port", server.port, "--storage", storage).split())
    assert f"address 127.0.0.1:{server.port} cannot be used (Address already in use)" in told
    assert "--port" in told
    for port in (-1, 65536, 10**9):
        assert "give a number from 1 to 65535" in " ".join(refuse("serve", "--port", port).split())
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_token")
def test_storages_that_cannot_be_used_are_told(refuse, tmp_path):
    assert "--demo" in refuse("serve", "--port", 0, "--demo", "--storage", "sqlite:///x.db")
    assert "NUMBA_DISABLE_JIT" not in os.environ  # this process goes on to compile
    assert "cannot be used" in refuse("serve", "--port", 0, "--storage", f"sqlite:///{tmp_path}/missing/s.db")
    assert "only SQLite and PostgreSQL" in refuse("serve", "--port", 0, "--storage", "mysql://x/y")


def test_a_token_may_be_in_a_file(tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with Server(f"sqlite:///{tmp_path}/s.db", "--token-file", tmp_path / "token", "--host", "0.0.0.0") as server:
        assert server.get("").status == 401
        assert server.get("", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
        assert server.stop() == 0
        assert TOKEN not in server.said


def test_a_demo_shows_studies_that_are_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Server(None, "--demo") as server:
        names = {row["name"] for row in server.get("?brief=true").json()["studies"]}
        assert len(names) == 3
        with Stream(server, f"/{quote(min(names))}") as stream:
            assert stream.next()[0] == "view"
        assert server.stop() == 0
        assert "Traceback" not in server.said
    assert not list(tmp_path.iterdir())


# --- what is sent


MALFORMED = [
    b"{",
    b"{}x",
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b"\xff\xfe",
    '{"n": 1}'.encode("utf-16"),
    b'\xef\xbb\xbf{"n": 1}',
    b'{"n": 01}',
    b'{"n": NaN}',
    b'{"lease": Infinity}',
    b'{"n": 1, "n": 2}',
    b'{"n": ' + b"9" * 5000 + b"}",
    b"{'n': 1}",
    b"\0",
]


@pytest.mark.parametrize("body", MALFORMED, ids=lambda body: ascii(body[:20]))
def test_a_body_that_is_not_json_or_can_be_read_in_two_ways_is_refused(server, study, body):
    refused(server.post(f"{study}/ask", body), 400, "^the body (is not JSON|is nested|has a key twice|holds a number)")
    assert kinds(server, study) == ["create"]


WRONG = [
    (b"", "the body is missing: add it"),
    (b"[]", "the body is .*: it should be"),
    (b"null", "the body is None"),
    ({"n": 0}, "n is 0: it should be greater"),
    ({"n": 1001}, "n is 1001: it should be less than or equal to 1000"),
    ({"n": 1.0}, "n is 1.0: it should be a valid integer"),
    ({"n": True}, "n is True"),
    ({"n": "1"}, "n is '1'"),
    ({"m": 1}, "m is not known: leave it out, or check its spelling"),
    ({"lease": 0}, "lease is 0: it should be greater than 0"),
    ({"lease": 1e10}, "lease is 10000000000.0: it should be less"),
    (b'{"lease": 1e999}', "lease is inf"),
    ({"lease": None}, "lease is None"),
    ({"request": ""}, "request is '': give up to 64 letters"),
    ({"request": "a b"}, "give up to 64 letters"),
    ({"request": "a\n"}, "give up to 64 letters"),
    ({"request": "x" * 65}, "give up to 64 letters"),
    ({"request": "\ud800"}, "it should be a valid string"),
]


@pytest.mark.parametrize(("body", "told"), WRONG)
def test_an_ask_that_is_not_as_described_is_refused(server, study, body, told):
    refused(server.post(f"{study}/ask", body), 422, told, "InvalidInput")
    assert kinds(server, study) == ["create"]


@pytest.mark.parametrize("value", ["1", None, True, [1], 1e100, -1e308, 10**400], ids=repr)
def test_values_that_are_no_numbers_are_refused(server, study, value):
    (trial,) = server.ask(study)
    for what, body in [
        ("tell", {"trial": trial["id"], "value": value}),
        ("add", {"arm": 0, "fidelity": 0, "values": [0.5, value]}),
    ]:
        refused(server.post(f"{study}/{what}", body), 422, "value", "InvalidInput")
    assert kinds(server, study) == ["create", "ask"]


@pytest.mark.parametrize("trial", ["", "1", "0-00000000", "1-0000000g", "1-00000000\n", 1, None, "999999999-00000000"])
def test_trials_that_are_none_are_refused(server, study, trial):
    for what, more in (("tell", {"value": 0.5}), ("fail", {}), ("renew", {}), ("release", {})):
        refused(server.post(f"{study}/{what}", {"trial": trial, **more}), 422, "trial", "InvalidInput")
    assert kinds(server, study) == ["create"]


def test_all_faults_of_a_call_are_told_at_once_with_their_places(server, study):
    answer = server.post(f"{study}/add", {"arm": 0, "values": [0.5, "x", None], "more": 1})
    refused(answer, 422, "4 faults in the call", "InvalidInput")
    assert {fault["field"] for fault in answer.json()["faults"]} == {"fidelity", "values.1", "values.2", "more"}
    answer = server.post(f"{study}/add", {"arm": "wild", "fidelity": 7, "values": [0.5]})
    refused(answer, 422, "did you mean 'wide'", "InvalidInput")


def test_a_batch_has_a_limit(server, study):
    refused(server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": [0.5] * 1001}), 422, "at most 1000")
    refused(server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": []}), 422, "at least 1")
    assert server.post(f"{study}/add", {"arm": 0, "fidelity": 0, "values": [0.5] * 1000}).status == 200
    assert len(server.ask(study, n=1000)) <= 1000


def chunked(server, path, size):
    head = f"POST /api/v1/studies{path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    chunks = (b"8000\r\n" + b" " * 0x8000 + b"\r\n") * (size // 0x8000)
    return server.raw(
        f"{head}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n".encode() + chunks + b"2\r\n{}\r\n0\r\n\r\n"
    )


def test_a_body_has_a_limit(server, study):
    assert server.post(f"{study}/ask", b" " * (MOST_BYTES - 2) + b"{}").status == 200
    refused(server.post(f"{study}/ask", b" " * (MOST_BYTES - 1) + b"{}"), 413, "1,048,576 bytes at most")
    assert chunked(server, f"{study}/ask", 0x8000).startswith(b"HTTP/1.1 200 ")
    assert chunked(server, f"{study}/ask", MOST_BYTES).startswith(b"HTTP/1.1 413 ")
    early = "POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    answer = server.raw(f"{early}Expect: 100-continue\r\nContent-Length: 99999999\r\n\r\n".encode())
    assert answer.startswith(b"HTTP/1.1 413 ")  # before the body is sent
    assert kinds(server, study) == ["create", "ask", "ask"]


def with_changes(**tables):
    return {**SPEC, **tables}


MANY = [{"cost": 1.0, "bias": 0.1}] * 4000
BOMBS = {
    "arms": with_changes(problem={"arms": 1001}),
    "very many arms": with_changes(problem={"arms": 10**4000}),
    "cells": with_changes(problem={"arms": 1000}, fidelity=[*MANY[:10], {"cost": 1.0}]),
    "fidelities": with_changes(fidelity=MANY),
    "a table of costs": with_changes(problem={}, fidelity=[{"cost": [1.0] * 4000}, *MANY]),
    "a table of means": with_changes(problem={}, truth={"means": [0.5] * 4000}, fidelity=MANY),
    "names": with_changes(problem={"arms": ["x" * 100_000, "y"]}),
    "a key of many parts": ".".join(["a"] * 100_000) + " = 1",
    "a quoted key of many parts": ".".join(['"\\""'] * 100_000) + " = 1",
    "a table of many parts": f"[{' . '.join(['a'] * 100_000)}]",
    "deep arrays": "x = " + "[" * 100_000,
    "deep tables": "x = " + "{a=" * 100_000,
    "a long number": f"x = {'1' * 5000}",
    "a long hexadecimal number": TEXT.replace("1.0", f"0x{'f' * 50_000}"),
}


@pytest.mark.parametrize("spec", BOMBS.values(), ids=BOMBS.keys())
def test_a_spec_that_is_too_large_is_refused_at_once(server, spec):
    before = server.get("?brief=true").json()["total"]
    began = time.monotonic()
    answer = server.post("", {"spec": spec, "delta": 0.1})
    assert time.monotonic() - began < 5
    refused(answer, 422, "too large|more than 200 characters|or more parts|nested too deeply|too many digits|costs")
    assert len(answer.body) < 20_000
    assert server.get("?brief=true").json()["total"] == before


def test_a_spec_of_the_largest_size_is_taken(server):
    path = server.create("large", spec=with_changes(problem={"arms": 1000}))
    assert len(server.ask(path, n=1000)) == 1000
    assert server.get(f"{path}/view").status == 200


def test_a_study_cannot_name_files(server, tmp_path):
    """Nor instances of the catalogue: what is sent is all that is read."""
    (tmp_path / "spec.toml").write_text(TEXT)
    for spec in (str(tmp_path / "spec.toml"), "paper-5x2", "/etc/passwd", "file:///etc/passwd"):
        answer = server.post("", {"spec": spec, "delta": 0.1})
        refused(answer, 422, "is not TOML.*; send the text itself: names and files are not looked up")
        assert b"root" not in answer.body


ODD = [
    {"delta": 0},
    {"delta": 1},
    {"delta": 1e-320},
    {"delta": None},
    {"delta": [0.1]},
    {"name": ""},
    {"name": "-x"},
    {"name": "a\nb"},
    {"name": "\ud800"},
    {"name": "x" * 201},
    {"strategy": "nothing"},
    {"strategy": "oracle"},
    {"strategy": "lucb-explore-a"},
    {"stopping": ""},
    {"tolerance": -1},
    {"max_cost": 0},
    {"max_cost": 1e-5},
    {"direction": "up"},
    {"options": {"x": 1}},
    {"options": {"x": "1"}},
    {"options": [1]},
    {"storage": "sqlite:///elsewhere.db"},
    {"spec": 3},
    {"spec": {}},
    {"spec": ""},
    {"spec": "x = 2020-13-45"},
    {"spec": TEXT.replace("1.0", "2020-01-01")},
    {"spec": TEXT.replace("1.0", "nan")},
    {"spec": with_changes(family={"name": "gaussian", "variance": 10**400})},
    {"spec": with_changes(family={"name": []})},
    {"spec": with_changes(fidelity=[{"cost": 1e308}])},
    {"spec": with_changes(fidelity=[{"cost": -1}])},
    {"spec": with_changes(problem={"arms": ["a", "a"]})},
    {"spec": with_changes(problem={"arms": True})},
    {"spec": with_changes(problem=None)},
    {"spec": with_changes(truth={"means": {}})},
    {"spec": with_changes(guess={"gap": "x"})},
    {"spec": with_changes(**{"\ud800": 1})},
]


@pytest.mark.parametrize("settings", ODD, ids=lambda settings: ascii(settings)[:60])
def test_a_study_that_cannot_be_is_refused_and_not_kept(server, settings):
    before = server.get("?brief=true").json()["total"]
    refused(server.post("", {"spec": SPEC, "delta": 0.1, **settings}), 422, ".", "InvalidInput")
    assert server.get("?brief=true").json()["total"] == before


def test_extreme_problems_are_computed_with(server):
    """What is taken must not be a mistake of ours later on."""
    for k, fidelity in enumerate(([{"cost": 9e99}], [{"cost": 1e-300}], [{"cost": 1e-3, "bias": 1e300}, {"cost": 1}])):
        path = server.create(f"extreme {k}", spec=with_changes(fidelity=fidelity))
        for value in (9e99, -9e99, 1e-300):
            for trial in server.ask(path, n=3):
                assert server.tell(path, trial, value).status == 200
        for what in ("status", "view", "export"):
            assert server.get(f"{path}/{what}").status == 200


# --- what every answer has


def test_every_answer_has_the_headers_that_keep_browsers_in_check(server, study):
    answers = [
        server.call("GET", "/"),
        server.call("GET", "/static/index.html"),
        server.call("GET", "/openapi.json"),
        server.get(""),
        server.get(study),
        server.get("/nobody"),
        server.call("GET", "/nothing"),
        server.post(f"{study}/ask", b"{"),
        server.post(f"{study}/ask", {"n": 0}),
        server.post(f"{study}/ask", {}),
        server.post(f"{study}/ask", b"", headers={"Content-Type": "text/plain"}),
        server.post(f"{study}/ask", b" " * (MOST_BYTES + 1)),
        server.get("", host="evil.example"),
        server.get("", headers={"Origin": "http://evil.example"}),
        server.call("DELETE", "/api/v1/studies"),
    ]
    assert [answer.status for answer in answers] == [200] * 5 + [404, 404, 400, 422, 200, 415, 413, 421, 403, 405]
    for answer in answers:
        for name, value in HEADERS.items():
            assert value in answer.headers[name]
        assert "server" not in answer.headers
        assert "access-control-allow-origin" not in answer.headers
    policy = answers[0].headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"])
def test_other_methods_are_refused(server, study, method):
    for path in ("/api/v1/studies", f"/api/v1/studies{study}", "/", "/static/index.html"):
        refused(server.call(method, path), 405, "another method is needed: see /openapi.json")
    refused(server.call(method, "/nothing"), 404, "there is nothing here: see /openapi.json")


@pytest.mark.parametrize(
    "path",
    [
        "%2e%2e/app.py",
        "../app.py",
        "..%2fapp.py",
        "/etc/passwd",
        "%2fetc/passwd",
        "%00",
        "",
        "a" * 5000,
        "./../app.py",
        "..\\app.py",
        "%2e/index.html",
    ],
)
def test_no_file_is_served_but_those_of_the_page(server, path):
    refused(server.call("GET", f"/static/{path}"), 404, "nothing here")


def test_many_requests_may_come_at_once_on_one_connection(server, study):
    ask = f"POST /api/v1/studies{study}/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    last = b"GET /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"
    answer = server.raw(f"{ask}Content-Length: 2\r\n\r\n{{}}".encode() * 5 + last)
    assert answer.count(b"HTTP/1.1 200 OK") == 6
    assert kinds(server, study).count("ask") == 5


NO_HTTP = [
    b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    b"hello\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
]


@pytest.mark.parametrize("garbage", NO_HTTP, ids=lambda garbage: ascii(garbage)[:40])
def test_what_is_no_http_is_refused_with_the_same_headers(server, garbage):
    head = server.raw(garbage).partition(b"\r\n\r\n")[0].decode()
    assert head.startswith("HTTP/1.1 400 ")
    for name, value in HEADERS.items():
        assert f"{name}: {value}" in head


@pytest.mark.parametrize("start", ["GET / HTTP/1.1\r\nX: ", "GET /", "GET / HTTP/1.1\r\nHost: localhost\r\n"])
def test_a_head_without_end_is_cut_off_before_a_token_is_asked_for(locked, start):
    """It would fill the memory."""
    line = b"X: a\r\n" if start.endswith("localhost\r\n") else b"a"
    with socket.create_connection(("127.0.0.1", locked.port), timeout=20) as connection:
        connection.sendall(start.encode())
        with pytest.raises(ConnectionError):  # noqa: PT012
            for _ in range(200):
                connection.sendall(line * (65536 // len(line)))
    assert locked.get("").status == 200


def test_a_version_is_described(server):
    assert server.call("GET", "/openapi.json").json()["info"]["version"] == mfbai.__version__
    assert json.loads(server.call("GET", "/openapi.json").body)["openapi"].startswith("3.")
