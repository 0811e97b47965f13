"""Studies over HTTP: a real server, on SQLite and on PostgreSQL."""

from concurrent.futures import ThreadPoolExecutor
from urllib.parse import quote

import numpy as np
import pytest

import mfbai
from mfbai import load_study, verify
from mfbai.study import sentences
from mfbai.study.forecast import Forecast
from support.servers import SPEC, TEXT, journal, kinds, refused

MEANS = {"plain": 0.3, "wide": 0.9, "deep": 0.4}


def value_of(trial, rng):
    return float(rng.normal(MEANS[trial["arm"]], 0.2))


def test_a_study_from_its_creation_to_its_certificate(either):
    """All calls of the API work, and the library reads what they leave."""
    rng = np.random.default_rng(1)
    path = either.create("whole")
    settings = either.get(path).json()
    assert (settings["name"], settings["delta"], settings["strategy"]) == ("whole", 0.05, "race")
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


def test_a_study_that_an_alarm_stopped_is_reopened(either):
    path = either.create("narrow", audit=0.2, on_alarm="stop")
    settings = either.get(path).json()
    assert (settings["audit"], settings["on_alarm"]) == (0.2, "stop")
    for fidelity, values in ((0, [2.0] * 20), (1, [0.5] * 20)):
        state = either.post(f"{path}/add", {"arm": "wide", "fidelity": fidelity, "values": values}).json()["state"]
    assert state == either.get(f"{path}/status").json()["state"] == "alarm"
    refused(either.post(f"{path}/ask", {}), 409, "is over: Stopped by an alarm", "StudyOver")
    cheap = settings["problem"]["fidelity"][0]["name"]
    body = {"name": "wider", "bias": {cheap: [-0.1, 1.8]}, "max_cost": 40}
    refused(either.post(f"{path}/reopen", {**body, "bias": {cheap: -1.0}}), 422, "give a number of 0 or more")
    refused(either.post(f"{path}/reopen", {**body, "bias": {}}), 422, "bias")
    refused(either.post(f"{path}/reopen", {**body, "bias": {cheap: [1, 2, 3]}}), 422, "bias")
    answer = either.post(f"{path}/reopen", body)
    assert (answer.status, answer.json()) == (201, {"name": "wider"})
    refused(either.post(f"{path}/reopen", body), 409, "exists already")
    made = either.get(answer.headers["location"].removeprefix("/api/v1/studies")).json()
    assert (made["strategy"], made["max_cost"], made["reopens"]["study"]) == ("frugal", 40, "narrow")
    client = mfbai.Client(either.address)
    widest = client.load_study("narrow").reopen("widest", {cheap: 2.0})
    assert (widest.name, widest.status().imported, widest.settings.audit) == ("widest", 40, 0.2)


def test_a_view_has_the_sentences_and_the_forecast_of_the_library(server):
    """The page shows them as they are."""
    path = server.create("in words", delta=1e-9)
    data = [("plain", 1, [0.4]), ("deep", 1, [0.3]), ("wide", 1, [0.5] * 20), ("wide", 0, [1.5, 2.5] * 10)]
    for arm, fidelity, values in data:
        assert server.post(f"{path}/add", {"arm": arm, "fidelity": fidelity, "values": values}).status == 200
    view = server.get(f"{path}/view").json()
    study = load_study("in words", storage=server.storage)
    status = study.status()
    assert view["sentence"] == sentences.state_of(status)
    assert view["alarms"] == [sentences.alarm(alarm, study.problem) for alarm in status.alarms]
    assert len(view["alarms"]) == len(view["status"]["alarms"]) == 1
    varied = [sentences.variance_alarm(alarm, study.problem) for alarm in status.variance_alarms]
    assert view["variance_alarms"] == varied
    assert [alarm["arm"] for alarm in view["status"]["variance_alarms"]] == ["wide"]
    assert (view["rule"], view["proof_decides"]) == ("the rule 'contrasts'", True)
    assert view["remaining"] == pytest.approx(Forecast(study).remaining(status), rel=1e-3)


NAMES = ["a/b", "...", "%2F", "a b+c&d?e=f#g", "'\"<script>", "été", "e\u0301", "日本", "😀", "status", "x" * 200]


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

    with ThreadPoolExecutor(8) as threads:  # a study may hold back more
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
    path = server.create("too poor", max_cost=0.25)
    assert len(server.ask(path, n=5)) == 2
    answer = server.post(f"{path}/ask", {})
    refused(answer, 409, "2 evaluations are under way", "NothingToAsk")
    assert int(answer.headers["retry-after"]) > 0


def test_arms_that_share_seeds(either):
    """The trials of a round carry one seed, in every answer that names it, and values from elsewhere are refused."""
    path = either.create("shared", seeds="common")
    assert either.get(path).json()["problem"]["problem"]["seeds"] == "common"
    trials = either.ask(path, n=9)
    assert len({trial["seed"] for trial in trials}) < 9
    view = either.get(f"{path}/view").json()
    assert [row["seed"] for row in view["open"]] == [trial["seed"] for trial in trials]
    added = either.post(f"{path}/add", {"arm": "plain", "fidelity": 0, "values": [0.3]})
    refused(added, 422, "cannot be added: the arms of this study share seeds")
    for trial in trials:
        either.tell(path, trial, MEANS[trial["arm"]] + trial["seed"] % 100 / 1000)
    status = either.get(f"{path}/status").json()
    assert status["seeds"] == "common"
    assert status["intervals"] == [[None, None]] * 3
    assert (view["optimal"], view["remaining"]) == (None, None)
    refused(either.post("", {"spec": SPEC, "delta": 0.1, "seeds": "shared"}), 422, "seeds")
    asked = {"spec": SPEC, "delta": 0.1, "seeds": "common", "strategy": "frugal"}
    refused(either.post("", asked), 422, "seeds")


@pytest.mark.parametrize("name", ["symmetric", "bounded"])
def test_a_study_that_learns_its_noise(server, name):
    """Created, told, shown and confirmed over HTTP; values out of range are refused."""
    family = {"name": name, "low": -1.0, "high": 2.0}
    path = server.create(f"learns {name}", spec={**SPEC, "family": family}, strategy="frugal")
    rng, state = np.random.default_rng(1), "running"
    while state == "running":
        for trial in server.ask(path, n=10):
            x = float(np.clip(rng.normal(MEANS[trial["arm"]], 0.05), -1.0, 2.0))
            state = server.tell(path, trial, x).json()["state"]
    assert server.get(f"{path}/status").json()["result"]["arm"] == "wide"
    assert verify(server.get(f"{path}/export").json()).verdict.arm == "wide"
    if name == "bounded":
        refused(server.post("", {"spec": {**SPEC, "family": {**family, "high": -2}}, "delta": 0.1}), 422, "low is -1.0")


def test_a_view_that_the_caller_has_is_not_sent_again(either):
    path = either.create("looked at twice")
    first = either.get(f"{path}/view")
    mark = {"If-None-Match": first.headers["etag"]}
    again = either.get(f"{path}/view", headers=mark)
    assert (again.status, again.body, again.headers["etag"]) == (304, b"", first.headers["etag"])
    for action, body in (("ask", {}), ("note", {"text": "a"})):
        either.post(f"{path}/{action}", body)
        answer = either.get(f"{path}/view", headers=mark)
        assert answer.status == 200
        assert answer.headers["etag"] != mark["If-None-Match"]
        mark = {"If-None-Match": answer.headers["etag"]}
