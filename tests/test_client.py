"""`mfbai.Client`: the words of `Study` over HTTP, from servers that are there, away, or something else."""

import http.server
import itertools
import json
import threading
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest

from mfbai import (
    Client,
    Gaussian,
    InvalidInput,
    NothingToAsk,
    Problem,
    StorageError,
    StudyOver,
    TrialClosed,
    UnknownName,
    create_study,
    load_study,
    verify,
)
from mfbai.study.storage import NameTaken
from support.servers import TEXT, Server

PROBLEM = Problem(
    ["plain", "wide", "deep"],
    costs=[0.1, 1.0],
    biases=[0.1, 0.0],
    family=Gaussian(0.04),
    fidelities=["coarse", "full"],
)
MEANS = [0.3, 0.9, 0.4]
TOKEN = "correct-horse-battery-staple"
numbers = itertools.count()


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('client')}/studies.db"
    with Server(url) as made:
        made.storage = url
        yield made


@pytest.fixture
def client(server):
    made = Client(server.address, patience=20)
    yield made
    made.close()


@pytest.fixture
def study(client):
    return client.create_study(PROBLEM, 0.05, name=f"study {next(numbers)}")


@pytest.fixture(autouse=True)
def _no_token(monkeypatch):
    monkeypatch.delenv("MFBAI_TOKEN", raising=False)


def finish(study, seed=0):
    """To the verdict, which is the same for the same values, however they are told."""
    rng = np.random.default_rng(seed)
    while study.result is None:
        for trial in study.ask_many(10):
            study.tell(trial, float(rng.normal(MEANS[trial.arm_index], 0.2)))
    return study.result


# --- the same words


def test_a_remote_study_is_a_study(server, client, tmp_path):
    remote = client.create_study(PROBLEM, 0.05, name="the same", max_cost=1000.0)
    local = create_study(PROBLEM, 0.05, name="the same", max_cost=1000.0, storage="sqlite://")
    assert finish(remote) == finish(local)
    for study in (remote, local):
        assert study.problem == PROBLEM
        assert study.settings.max_cost == 1000.0
    there = load_study("the same", storage=server.storage)
    mine, its = remote.status(), there.status()
    assert mine.to_dict() == its.to_dict()
    np.testing.assert_array_equal(mine.intervals, its.intervals)
    np.testing.assert_array_equal(mine.evidence, its.evidence)
    assert remote.history() == there.history()
    assert list(remote.journal()) == list(there.journal())
    assert list(remote.journal(7)) == list(there.journal(7))
    assert remote.trials() == there.trials()
    found = remote.export(tmp_path / "certificate.json")
    assert verify(found).verdict == verify(tmp_path / "certificate.json").verdict == remote.result
    with pytest.raises(StudyOver, match="is over: The best is 'wide'"):
        remote.ask()
    assert "the same" in client.list_studies()
    assert client.load_study("the same").settings.key == remote.settings.key


def test_studies_are_created_from_files_of_this_machine_and_with_all_settings(client, tmp_path):
    (tmp_path / "spec.toml").write_text(TEXT)
    study = client.create_study(tmp_path / "spec.toml", 0.1, direction="minimise", tolerance=0.01, strategy="uniform")
    settings = study.settings
    assert (settings.problem.direction, settings.tolerance, settings.strategy) == ("minimise", 0.01, "uniform")
    options = {"mu1": 1.0, "mu2": 0.9}
    assert client.create_study(PROBLEM, 0.1, strategy="lucb-explore-a", options=options).settings.options == options


def test_errors_are_those_of_the_library(client, study):
    first, second = study.ask_many(2)
    study.tell(first, 0.5)
    study.tell(first.id, 0.5)
    study.fail(second, "the disk was full")
    with pytest.raises(TrialClosed, match=r"was told 0\.5 already"):
        study.tell(first, 0.6)
    with pytest.raises(TrialClosed, match="was reported as failed"):
        study.tell(second, 0.6)
    with pytest.raises(InvalidInput, match="never handed out"):
        study.renew(f"99-{study.settings.key}")
    with pytest.raises(InvalidInput, match="did you mean 'wide'") as caught:
        study.add("wild", 0, [0.5])
    assert caught.value.faults[0].field == "arm"
    with pytest.raises(InvalidInput, match="value is nan"):
        study.tell(first, float("nan"))
    with pytest.raises(InvalidInput, match="n is 0"):
        study.ask_many(0)
    with pytest.raises(InvalidInput, match="reason is 3: give text"):
        study.fail(first, 3)
    with pytest.raises(NameTaken, match="exists already"):
        client.create_study(PROBLEM, 0.05, name=study.name)
    with pytest.raises(UnknownName, match="unknown study 'nobody'"):
        client.load_study("nobody")
    with pytest.raises(InvalidInput, match="name is"):
        client.load_study("\0")
    with pytest.raises(InvalidInput, match="strategy is 'nothing'"):
        client.create_study(PROBLEM, 0.05, strategy="nothing")
    poor = client.create_study(PROBLEM, 0.05, max_cost=0.15)
    poor.ask()
    with pytest.raises(NothingToAsk, match="1 evaluations are under way"):
        poor.ask()


def test_numbers_and_reasons_may_be_of_any_kind_as_in_a_study(study):
    first, second, third = study.ask_many(np.int64(3), lease=Fraction(100))
    study.tell(first, np.float32(0.5))
    study.add(np.int64(0), 0, np.array([0.5, 0.25]))
    study.add("wide", "full", 1)
    study.renew(second, lease=np.float64(5))
    study.release(second)
    study.fail(second, "x" * 5000)
    study.fail(third, "a file of odd name: \udcff")
    reasons = [event.body["reason"] for event in study.journal() if event.body["kind"] == "fail"]
    assert reasons == ["x" * 2000, "a file of odd name: \\udcff"]
    assert study.status().imported == 3
    with pytest.raises(InvalidInput, match="cannot be sent"):
        study.ask_many(object())


@pytest.mark.parametrize("name", ["a/b", "..", "%2F", "été 😀", "'\"<script>", "a?b#c&d=e"])
def test_odd_names_are_names(client, name):
    study = client.create_study(PROBLEM, 0.05, name=name)
    study.tell(study.ask(), 0.5)
    assert client.load_study(name).status().told == 1
    assert verify(study.export())


def test_several_threads_may_share_a_client(study):
    told = []

    def work():
        for _ in range(5):
            trial = study.ask()
            study.tell(trial, 0.5)
            told.append(trial.id)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == study.status().told == 30


# --- servers that go and come back


def test_a_server_may_be_restarted_between_calls(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    with Server(url) as before:
        client = Client(before.address, patience=30)
        study = client.create_study(PROBLEM, 0.05, name="s")
        first, second = study.ask_many(2)
        study.tell(first, 0.5)
        before.kill()
    again = []
    restart = threading.Thread(target=lambda: again.append(Server(url, port=before.port)))
    restart.start()  # while the next call is being tried
    try:
        study.tell(second, 0.75)
        study.add("plain", 0, [0.5])  # not repeatable: it must not go down an old connection
        assert client.create_study(PROBLEM, 0.05, name="t").name == "t"
        assert study.status().told == 2
        assert verify(study.export())
    finally:
        restart.join()
        client.close()
        again[0].kill()


def test_a_server_that_is_not_there_is_told_after_a_while():
    with pytest.raises(StorageError, match=r"does not answer: .*refused.*check that `mfbai serve` runs there"):
        Client("http://127.0.0.1:9", patience=0.1).list_studies()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8400",
        "ftp://x",
        "http://",
        "http://x:99999",
        "http://x:y",
        "http://[::1",
        "http://x/?a",
        3,
        None,
        "http://x/a b",
        "http://é",
        "http://x\n",
        "http://user:password@x",
    ],
)
def test_addresses_that_are_none_are_refused(url):
    with pytest.raises(InvalidInput, match="url is"):
        Client(url)


def test_what_cannot_be_waited_for_or_sent_is_refused():
    for patience in (-1, float("nan"), "x", None):
        with pytest.raises(InvalidInput, match="patience is"):
            Client("http://x", patience=patience)
    for token in ("é", "a\nb", 3):
        with pytest.raises(InvalidInput, match="token cannot be sent") as caught:
            Client("http://x", token=token)
        assert str(token) not in str(caught.value)


def test_the_token_is_that_given_or_that_of_the_environment(tmp_path, monkeypatch):
    with Server(f"sqlite:///{tmp_path}/s.db", token=TOKEN) as server:
        for wrong, told in {None: "a token is needed", "wrong": "the token is wrong"}.items():
            with pytest.raises(InvalidInput, match=told):
                Client(server.address, token=wrong).list_studies()
        assert Client(server.address, token=TOKEN).list_studies() == []
        monkeypatch.setenv("MFBAI_TOKEN", TOKEN)
        client = Client(server.address)
        assert client.list_studies() == []
        assert TOKEN not in repr(client)
        client.close()


# --- servers that are something else


class Fake(http.server.ThreadingHTTPServer):
    """Answers to each request in turn: (status, body), or None to hang up; the last one again and again."""

    daemon_threads = True

    def __init__(self, *answers):
        self.answers, self.seen = list(answers), []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.seen.append((self.command, self.path, json.loads(body) if body else None))
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        if answer is None:
            self.close_connection = True
            return
        if isinstance(answer, bytes):
            self.wfile.write(answer)
            self.close_connection = True
            return
        status, content = answer
        content = content if isinstance(content, bytes) else json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_POST = do_GET  # noqa: N815

    def log_message(self, *_):
        pass


@contextmanager
def fake(*answers):
    server = Fake(*answers)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
        client = Client(server.address, patience=20)
        assert client.list_studies() == ["a", "b"]
        assert len(server.seen) == 6
        client.close()


def test_an_ask_that_is_sent_again_is_the_same_request():
    trial = create_study(PROBLEM, 0.05, storage="sqlite://").ask()
    with fake(
        (200, SETTINGS), None, AWAY, (200, {"trials": [trial.to_dict()]}), (200, {"trials": [trial.to_dict()]})
    ) as server:
        client = Client(server.address, patience=20)
        study = client.load_study("s")
        assert study.ask().id == study.ask().id == trial.id
        requests = [body["request"] for _, _, body in server.seen[1:]]
        assert requests[0] == requests[1] == requests[2] != requests[3]
        client.close()


def test_patience_has_an_end_and_the_last_reason_is_told():
    with fake(AWAY) as server:
        with pytest.raises(StorageError, match="the database is away"):
            Client(server.address, patience=0.2).list_studies()
        assert len(server.seen) > 1


def test_a_mistake_of_the_server_is_told_at_once():
    with fake(BROKEN) as server:
        with pytest.raises(StorageError, match="answered 500: the server made a mistake"):
            Client(server.address, patience=20).list_studies()
        assert len(server.seen) == 1


@pytest.mark.parametrize("lost", [None, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"], ids=["nothing", "half"])
def test_what_cannot_be_done_twice_is_not_sent_twice(lost):
    with fake((200, SETTINGS), lost) as server:
        client = Client(server.address, patience=20)
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
        client = Client(server.address, patience=20)
        client.load_study("s").add(0, 0, [0.5])
        assert len(server.seen) == 3
        client.close()


def test_a_server_that_does_not_speak_https_is_told_at_once(server):
    with pytest.raises(StorageError, match=r"cannot be reached by https .*speaks http; check the address"):
        Client(server.address.replace("http:", "https:"), patience=60).list_studies()


def test_a_path_before_the_api_is_kept():
    with fake((200, PAGE)) as server:
        client = Client(f"{server.address}/behind/a/proxy/", patience=0)
        client.list_studies()
        assert server.seen[0][1].startswith("/behind/a/proxy/api/v1/studies?")
        assert repr(client) == f"<Client of {server.address}/behind/a/proxy>"
        client.close()
