"""Trials with parts over HTTP: what they say, what may be told of them, and what a view shows."""

import pytest

from mfbai import load_study, verify
from mfbai.study.status import trial_from_dict
from support.controlled import OTHERS, controlled, values_of
from support.servers import kinds, refused

PARTS = 2 + OTHERS
SPEC = controlled().to_dict()


def told_of(trial):
    return values_of(trial_from_dict(trial))


def tell(server, path, trial):
    values = told_of(trial)
    body = {"values": values} if "parts" in trial else {"value": values}
    return server.post(f"{path}/tell", {"trial": trial["id"], **body})


def ask_for(server, path, fidelity):
    while (trial := server.ask(path)[0])["fidelity"] != fidelity:
        assert tell(server, path, trial).status == 200
    return trial


def test_a_study_with_a_controlled_fidelity_to_its_certificate(either):
    path = either.create("controlled", spec=SPEC)
    state = "running"
    while state == "running":
        for trial in either.ask(path, n=4):
            answer = tell(either, path, trial)
            assert answer.status == 200, answer.body
            state = answer.json()["state"]
    assert either.get(f"{path}/status").json()["result"]["arm"] == "wide"
    assert verify(either.get(f"{path}/export").json()).verdict.arm == "wide"
    assert either.get(f"{path}/view").status == 200


def test_a_trial_says_its_parts_and_others_say_nothing_of_them(server):
    path = server.create("says parts", spec=SPEC)
    trial = ask_for(server, path, "paired")
    assert [part["fidelity"] for part in trial["parts"]] == ["fine", *["coarse"] * (1 + OTHERS)]
    assert all(set(part) == {"fidelity", "fidelity_index", "cost", "seed"} for part in trial["parts"])
    (shown,) = server.get(f"{path}/view").json()["open"]
    assert shown["parts"] == [{"fidelity": part["fidelity"], "seed": part["seed"]} for part in trial["parts"]]
    plain = load_study("says parts", storage=server.storage).parts(trial["id"])
    assert [part.to_dict() for part in plain] == trial["parts"]
    assert "parts" not in ask_for(server, server.create("says none"), "full")


def test_telling_the_same_values_again_changes_nothing_and_others_are_refused(server):
    path = server.create("told twice", spec=SPEC)
    trial = ask_for(server, path, "paired")
    assert tell(server, path, trial).status == tell(server, path, trial).status == 200
    assert kinds(server, path).count("tell") == int(trial["id"].partition("-")[0])
    other = {"trial": trial["id"], "values": told_of(trial)[::-1]}
    refused(server.post(f"{path}/tell", other), 409, "was told .* already", "TrialClosed")


@pytest.mark.parametrize(
    ("told", "why"),
    [
        ({}, "give `value`, or `values` for a trial with parts"),
        ({"value": 0.5, "values": [0.5] * PARTS}, "give `value`, or `values`"),
        ({"value": None, "values": [0.5] * PARTS}, "value is None"),
        ({"values": None}, "values is None"),
        ({"values": []}, "values"),
        ({"values": 0.5}, "values"),
        ({"values": [0.5, "0.5"]}, "values.1"),
        ({"values": [0.5, None]}, "values.1"),
        ({"value": 0.5}, "value is 0.5: a trial at 'paired' takes 6 values"),
        ({"values": [0.5] * (PARTS - 1)}, "values are 5: a trial at 'paired' takes 6 values"),
        ({"values": [0.5] * (PARTS + 1)}, "values are 7"),
        (b'{"trial": "TRIAL", "values": [NaN, 0.5, 0.5, 0.5, 0.5, 0.5]}', "NaN is none of its numbers"),
        (b'{"trial": "TRIAL", "values": [1e999, 0.5, 0.5, 0.5, 0.5, 0.5]}', "values.0 is inf"),
    ],
)
def test_what_is_not_the_values_of_all_parts_is_refused_whole(server, request, told, why):
    path = server.create(request.node.name[-60:].strip(), spec=SPEC)
    trial = ask_for(server, path, "paired")
    before = kinds(server, path)
    raw = isinstance(told, bytes)
    body = told.replace(b"TRIAL", trial["id"].encode()) if raw else {"trial": trial["id"], **told}
    refused(server.post(f"{path}/tell", body), 400 if b"NaN" in (told if raw else b"") else 422, why)
    assert kinds(server, path) == before
    assert tell(server, path, trial).status == 200


def test_several_values_of_a_trial_without_parts_are_refused(server):
    path = server.create("no parts", spec=controlled(bias=0.2).to_dict())
    trial = ask_for(server, path, "coarse")
    refused(server.post(f"{path}/tell", {"trial": trial["id"], "values": [0.5]}), 422, "has no parts; give a number")


def test_a_spec_may_not_ask_for_any_number_of_parts(server):
    table = {**SPEC["fidelity"][1]["controlled"], "others": 1001}
    spec = {**SPEC, "fidelity": [SPEC["fidelity"][0], {"name": "paired", "controlled": table}, SPEC["fidelity"][2]]}
    refused(server.post("", {"spec": spec, "delta": 0.1}), 422, "has too many parts: this server takes 1000")


def test_a_view_shows_some_of_many_parts(server):
    path = server.create("many parts", spec=controlled(others=120).to_dict())
    server.post(f"{path}/release", {"trial": ask_for(server, path, "paired")["id"]})
    server.ask(path, n=8)
    shown = server.get(f"{path}/view").json()["open"]
    assert sum(len(row.get("parts", [])) for row in shown) <= 400
    assert 1 <= len(shown) < 8
