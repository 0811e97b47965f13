"""Specs that are sent: what is too large, names files or cannot be is refused, and nothing is stored."""

import pytest

from support.servers import SPEC, TEXT, refused


def with_changes(**tables):
    return {**SPEC, **tables}


MANY = [{"cost": 1.0, "bias": 0.1}] * 4000
BOMBS = {
    "arms": with_changes(problem={"arms": 100_001}),
    "very many arms": with_changes(problem={"arms": 10**4000}),
    "cells": with_changes(problem={"arms": 100_000}, fidelity=[*MANY[:10], {"cost": 1.0}]),
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
def test_a_spec_that_is_too_large_is_refused(server, spec):
    before = server.get("?brief=true").json()["total"]
    answer = server.post("", {"spec": spec, "delta": 0.1})
    refused(answer, 422, "too large|more than 200 characters|or more parts|nested too deeply|too many digits|costs")
    assert len(answer.body) < 20_000
    assert server.get("?brief=true").json()["total"] == before


def test_a_spec_of_the_largest_size_is_taken(server):
    path = server.create("large", spec=with_changes(problem={"arms": 100_000}))
    assert len(server.ask(path, n=1000)) == 1000
    assert server.get(f"{path}/view").json()["n_arms"] == 100_000
    assert len(server.get(path).json()["problem"]["problem"]["arms"]) == 100_000


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
        path = server.create(f"extreme {k}", spec=with_changes(fidelity=fidelity), on_alarm="continue")
        for value in (9e99, -9e99, 1e-300):
            for trial in server.ask(path, n=3):
                assert server.tell(path, trial, value).status == 200
        for what in ("status", "view", "export"):
            assert server.get(f"{path}/{what}").status == 200
