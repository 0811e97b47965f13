"""Studies of many arms: large bodies come in as a stream, few at a time, and hold up no other call."""

import json
import socket
import threading

import pytest

from support.servers import PATIENCE, SPEC, Server, kinds, refused

SMALL = 1 << 20
MOST_SPEC = 1 << 26
MOST_BATCH = 1 << 24
PLACES = 2  # large bodies in memory


def padded(body, size):
    """The body as JSON, with blanks up to a size."""
    text = json.dumps(body).encode()
    return text[:-1] + b" " * (size - len(text)) + text[-1:]


def new_study(name, n_arms=3, **more):
    arms = [f"arm {k}" for k in range(n_arms)]
    return {"spec": {**SPEC, "problem": {"arms": arms}}, "delta": 0.05, "name": name, **more}


def head(path, *more):
    lines = [f"POST /api/v1/studies{path} HTTP/1.1", "Host: localhost", "Content-Type: application/json", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def begin(server, size):
    """A large body that the server has begun to read: an open connection."""
    connection = socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE)
    connection.sendall(head("", f"Content-Length: {size}", "Expect: 100-continue"))
    assert connection.recv(100).startswith(b"HTTP/1.1 100 ")
    connection.sendall(b" " * SMALL)
    return connection


# --- how large


def test_a_new_study_may_be_large_and_other_calls_may_not(server, study):
    assert server.post("", padded(new_study("padded"), 4 * SMALL)).status == 201
    refused(server.post("", padded(new_study("too large"), MOST_SPEC + 1)), 413, "67,108,864 bytes at most")
    refused(server.post(f"{study}/ask", padded({}, SMALL + 1)), 413, "1,048,576 bytes at most")
    refused(server.post(f"{study}/add", padded({}, SMALL + 1)), 413, "1,048,576 bytes at most")
    assert server.get("/padded").status == 200
    assert server.get("/too%20large").status == 404


def test_a_large_body_may_come_in_chunks_and_is_measured_as_it_comes(server):
    chunk = b"100000\r\n" + b" " * SMALL + b"\r\n"
    body = json.dumps(new_study("in chunks")).encode()
    last = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    start = head("", "Connection: close", "Transfer-Encoding: chunked")
    assert server.raw(start + chunk * 3 + last).startswith(b"HTTP/1.1 201 ")
    assert server.raw(start + chunk * 65 + last).startswith(b"HTTP/1.1 413 ")
    assert server.get("/in%20chunks").status == 200


def test_other_methods_and_paths_take_no_large_body(server):
    for method, path in (("PUT", "/api/v1/studies"), ("POST", "/api/v1/choices"), ("POST", "/api/v1/studies/")):
        refused(server.call(method, path, b" " * (SMALL + 1)), 413, "1,048,576 bytes at most")


def test_a_body_of_more_entries_than_a_study_needs_is_refused(server):
    """It would need far more memory than it has bytes."""
    refused(server.post("", b'{"spec": [' + b"[]," * 9_000_000 + b"[]]}"), 400, "holds too much: 8,000,000")


def test_what_is_said_of_a_large_fault_is_short(server):
    answer = server.post(
        "", {"spec": ["x"] * 10**6, "delta": "y" * 10**6, "options": {str(k): 1.0 for k in range(101)}}
    )
    refused(answer, 422, "faults in the call", "InvalidInput")
    assert len(answer.body) < 5000


def test_text_of_a_spec_has_a_limit_of_its_own(server):
    refused(server.post("", {"spec": "#" * (1 << 22) + "\n", "delta": 0.1}), 422, "send its tables as JSON")


# --- how many at a time


def test_callers_that_stop_half_way_leave_their_places(server):
    for _ in range(2 * PLACES):
        begin(server, 4 * SMALL).close()
    assert server.post("", padded(new_study("after the others"), 4 * SMALL)).status == 201


def test_large_bodies_wait_for_a_place_and_small_calls_do_not(tmp_path):
    """Two that do not end hold both places: a third waits until one is given up, and nothing else does."""
    with Server(f"sqlite:///{tmp_path / 'studies.db'}") as server:
        study = server.create("small")
        held = [begin(server, 4 * SMALL) for _ in range(PLACES)]
        answers = []

        def create():
            answers.append(server.post("", padded(new_study("large"), 4 * SMALL)))
            while answers[-1].status == 503:  # it has waited for long
                assert answers[-1].headers["retry-after"]
                answers.append(server.post("", padded(new_study("large"), 4 * SMALL)))

        waiting = threading.Thread(target=create)
        waiting.start()
        for trial in server.ask(study, n=20):
            assert server.tell(study, trial, 0.5).status == 200
        assert server.post("", new_study("also small")).status == 201
        assert all(answer.status == 503 for answer in answers)
        held[0].close()
        waiting.join()
        assert answers[-1].status == 201
        held[1].close()


def test_a_large_body_is_not_read_without_the_token(locked):
    start = head("", f"Content-Length: {4 * SMALL}", "Expect: 100-continue", "Connection: close")
    assert locked.raw(start + b" ").startswith(b"HTTP/1.1 401 ")


# --- many arms


def test_a_study_of_many_arms_is_served_like_any_other(server):
    n = 10_000
    path = f"/{new_study('ten thousand', n)['name'].replace(' ', '%20')}"
    assert server.post("", new_study("ten thousand", n, strategy="frugal")).status == 201
    trials = server.ask(path, n=1000)
    told = {"results": [{"trial": trial["id"], "value": trial["arm_index"] / n} for trial in trials]}
    assert server.post(f"{path}/tell-many", told).json() == {"state": "running"}
    status = server.get(f"{path}/status").json()
    assert (status["told"], len(status["arms"]), len(status["evidence"])) == (1000, n, n)
    view = server.get(f"{path}/view")
    assert view.json()["status"]["told"] == 1000
    assert len(view.body) < 100_000
    assert len(server.get(path).json()["problem"]["problem"]["arms"]) == n
    assert server.get(f"{path}/result").json() == {"state": "running", "result": None}
    events = server.get(f"{path}/journal?limit=2").json()["events"]
    assert [event["kind"] for event in events] == ["create", "ask"]
    assert all(len(event["hash"]) == 64 for event in events)


def test_others_are_served_while_a_large_study_is_created_and_read(server, study):
    """Calls to another study are answered in the meantime, many of them for each large one."""
    n = 100_000
    done = threading.Event()
    answers = []

    def busy():
        try:
            answers.append(server.post("", padded(new_study("hundred thousand", n), 8 * SMALL)))
            answers.extend(server.get(f"/hundred%20thousand{what}") for what in ("", "/status", "/view", "/journal"))
        finally:
            done.set()

    thread = threading.Thread(target=busy)
    thread.start()
    served = 0
    while not done.is_set():
        (trial,) = server.ask(study)
        assert server.tell(study, trial, 0.5).status == 200
        served += 1
    thread.join()
    assert [answer.status for answer in answers] == [201, 200, 200, 200, 200]
    assert served > 20
    assert len(answers[2].json()["arms"]) == n
    assert len(answers[3].json()["status"]["arms"]) == 20


@pytest.fixture(scope="module")
def named(server):
    arms = ["Alpha", "alphabet", "Beta", "beta-alpha", "Straße", *(f"filler {k}" for k in range(60))]
    return server.create("named", spec={**SPEC, "problem": {"arms": arms}})


def found(server, study, query):
    return server.get(f"{study}/arms?{query}").json()


def test_arms_are_found_by_a_part_of_their_names(server, named):
    assert found(server, named, "search=ALPHA")["arms"] == ["Alpha", "alphabet", "beta-alpha"]
    assert found(server, named, "search=alphabet")["shown"] == [1]
    assert found(server, named, "search=%20STRASSE%20")["arms"] == ["Straße"]
    assert found(server, named, "search=filler%205")["arms"][:2] == ["filler 5", "filler 50"]
    nothing = found(server, named, "search=gamma")
    assert (nothing["total"], nothing["shown"], nothing["n_arms"], nothing["costs"]) == (0, [], 65, [])


def test_found_arms_come_in_pages(server, named):
    first = found(server, named, "search=filler")
    later = found(server, named, "search=filler&limit=50&offset=20")
    assert (first["total"], len(first["arms"]), first["arms"][0]) == (60, 20, "filler 0")
    assert (later["total"], len(later["arms"]), later["arms"][0]) == (60, 40, "filler 20")
    assert found(server, named, "offset=64")["arms"] == ["filler 59"]
    for wrong in ("limit=101", "limit=0", "offset=-1", f"search={'x' * 201}"):
        refused(server.get(f"{named}/arms?{wrong}"), 422, wrong.partition("=")[0])


def test_found_arms_have_the_numbers_of_the_status(server, named):
    trials = server.ask(named, n=130)
    server.post(f"{named}/tell-many", {"results": [{"trial": trial["id"], "value": 0.5} for trial in trials]})
    status, some = server.get(f"{named}/status").json(), found(server, named, "search=beta")
    for table in ("evidence", "spent", "counts", "means", "intervals", "differences"):
        assert some[table] == [status[table][arm] for arm in some["shown"]]
    view = server.get(f"{named}/view").json()
    for table in ("evidence", "spent", "counts", "means", "intervals", "differences", "arms"):
        assert view["status"][table] == [status[table][arm] for arm in view["shown"]]
    assert sum(fidelity["results"] for fidelity in view["fidelities"]) == status["told"]
    assert sum(fidelity["spent"] for fidelity in view["fidelities"]) == pytest.approx(status["cost"])


# --- many results


def results(trials, value=0.5):
    return {"results": [{"trial": trial["id"], "value": value} for trial in trials]}


def test_many_results_are_told_at_once_and_telling_them_again_changes_nothing(server, study):
    trials = server.ask(study, n=40)
    for _ in range(2):
        assert server.post(f"{study}/tell-many", results(trials)).json() == {"state": "running"}
    assert kinds(server, study).count("tell") == 40
    more = server.ask(study, n=2)
    assert server.post(f"{study}/tell-many", results([*trials, *more, *more])).status == 200
    assert kinds(server, study).count("tell") == 42


def test_many_results_are_refused_whole(server, study):
    first, second, third = server.ask(study, n=3)
    server.tell(study, first, 0.25)
    server.post(f"{study}/fail", {"trial": second["id"]})
    good = results([third])["results"]
    before = kinds(server, study)
    wrong = [
        ([{"trial": first["id"], "value": 0.5}], 409, "was told 0.25 already", "TrialClosed"),
        ([{"trial": second["id"], "value": 0.5}], 409, "was reported as failed", "TrialClosed"),
        ([{"trial": f"99-{third['id'][-8:]}", "value": 0.5}], 422, "never handed out", "InvalidInput"),
        ([{"trial": "1-00000000", "value": 0.5}], 422, "belongs to another study", "InvalidInput"),
        ([{"trial": third["id"], "value": 0.75}], 422, "has two values here, 0.5 and 0.75", "InvalidInput"),
        ([{"trial": third["id"], "values": [0.5]}], 422, "two values", "InvalidInput"),
        ([{"trial": "x", "value": 0.5}], 422, "results.1.trial is 'x': give the id", "InvalidInput"),
        ([{"trial": third["id"]}], 422, "results.1", "InvalidInput"),
        ([{"trial": third["id"], "value": 1e100}], 422, "results.1.value", "InvalidInput"),
    ]
    for more, status, told, kind in wrong:
        refused(server.post(f"{study}/tell-many", {"results": [*good, *more]}), status, told, kind)
        assert kinds(server, study) == before
    assert server.post(f"{study}/tell-many", {"results": good}).status == 200


def test_a_batch_of_results_has_a_limit(server, study):
    (trial,) = server.ask(study)
    refused(server.post(f"{study}/tell-many", results([])), 422, "at least 1")
    refused(server.post(f"{study}/tell-many", results([trial] * 1001)), 422, "at most 1000")
    assert server.post(f"{study}/tell-many", results([trial] * 1000)).status == 200
    refused(server.post(f"{study}/tell-many", b" " * (MOST_BATCH + 1)), 413, "16,777,216 bytes at most")
    assert kinds(server, study) == ["create", "ask", "tell"]


def test_contradicting_values_of_a_deterministic_fidelity_are_refused(server):
    spec = {**SPEC, "fidelity": [{"name": "table", "cost": 0.001, "bias": 0.1, "deterministic": True}, {"cost": 1.0}]}
    path = server.create("deterministic", spec=spec)
    (trial,) = server.ask(path)
    server.post(f"{path}/add", {"arm": trial["arm"], "fidelity": "table", "values": [0.25]})
    refused(server.post(f"{path}/tell-many", results([trial])), 422, "is stated to be deterministic")
    assert server.post(f"{path}/tell-many", results([trial], 0.25)).status == 200


def test_a_study_that_is_over_says_how_it_ended(server):
    path = server.create("poor", max_cost=0.1)
    (trial,) = server.ask(path)
    answer = server.post(f"{path}/tell-many", results([trial]))
    assert answer.json() == {"state": "undecided"}
    refused(server.post(f"{path}/ask", {}), 409, "is over", "StudyOver")
    assert server.post(f"{path}/ask", {}).json()["state"] == "undecided"
    ended = server.get(f"{path}/result").json()
    assert (ended["state"], ended["result"]) == ("undecided", server.get(f"{path}/status").json()["result"])
