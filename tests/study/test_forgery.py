"""Certificates that were changed and whose hashes were made to fit: a replay finds the first event that differs."""

import copy
import itertools
import json
from pathlib import Path

import pytest

from mfbai import Bernoulli, InvalidInput, Problem, create_study, verify
from mfbai.study.certificate import write_certificate
from mfbai.study.journal import NOTHING, canonical, seal
from support.certificates import PROBLEM, forged, numbers, rejected_at, resealed

# --- altered ones, with hashes made to fit


def test_a_forger_who_changes_nothing_is_confirmed(certificate):
    assert resealed(certificate) == certificate
    assert verify(resealed(certificate))


@pytest.mark.parametrize(
    ("entry", "value"),
    [
        ("state", "undecided"),
        ("arm", 0),
        ("arm", 2),
        ("arm", None),
        ("risk", 0.01),
        ("risk", 0),
        ("cost", 0.1),
        ("told", 3),
        ("told", 3.0),
        ("alarms", [{"arm": 0, "fidelity": 0, "level": 0.01, "certain": True}]),
        ("variance_alarms", [{"arm": None, "fidelity": None, "level": 0.01, "ratio": 2.0}]),
    ],
)
def test_a_forged_verdict_is_found(certificate, entry, value):
    (n,) = numbers(certificate, "verdict")
    assert rejected_at(forged(certificate, n, **{entry: value}), n, f"verdict's {entry}")


def test_a_verdict_that_was_dropped_is_found(certificate):
    (n,) = numbers(certificate, "verdict")
    journal = certificate["journal"]
    assert rejected_at(resealed(certificate, journal[:n] + journal[n + 1 :]), n, "the journal has no verdict")


def test_a_verdict_too_early_is_found(certificate):
    (n,) = numbers(certificate, "verdict")
    journal = certificate["journal"]
    for early in (1, 5, n - 1):
        moved = [*journal[:early], journal[n], *journal[early:n]]
        assert rejected_at(resealed(certificate, moved), early, "do not allow a verdict")


def test_a_verdict_that_comes_twice_is_found(certificate):
    (n,) = numbers(certificate, "verdict")
    journal = certificate["journal"]
    assert rejected_at(resealed(certificate, [*journal[: n + 1], journal[n]]), n + 1)


def test_a_journal_that_goes_on_where_there_should_be_a_verdict_is_found(certificate):
    (n,) = numbers(certificate, "verdict")
    journal = certificate["journal"]
    more = {**journal[numbers(certificate, "add")[0]]}
    assert rejected_at(resealed(certificate, [*journal[:n], more]), n, "no verdict")


def test_evaluations_after_the_verdict_are_found(certificate):
    (n,) = numbers(certificate, "verdict")
    journal = certificate["journal"]
    for kind in ("ask", "add"):
        more = {**journal[numbers(certificate, kind)[-1]]}
        if kind == "ask":
            more["trial"] += 1
        assert rejected_at(resealed(certificate, [*journal[: n + 1], more]), n + 1)


def test_a_dropped_ask_is_found(certificate):
    journal = certificate["journal"]
    for n in numbers(certificate, "ask")[:-1]:
        found = verify(resealed(certificate, journal[:n] + journal[n + 1 :]))
        assert not found
        assert found.event >= n


def test_a_dropped_result_is_found_if_the_strategy_would_have_asked_otherwise(certificate):
    """Or the verdict were another: what nobody could notice is a result less where nothing depends on it."""
    journal = certificate["journal"]
    for n in numbers(certificate, "tell")[:6]:
        found = verify(resealed(certificate, journal[:n] + journal[n + 1 :]))
        assert not found
        assert found.event >= n


@pytest.mark.parametrize(("entry", "value"), [("arm", 1), ("fidelity", 1), ("seed", 5), ("trial", 9), ("arm", 99)])
def test_an_evaluation_that_the_strategy_does_not_ask_for_is_found(certificate, entry, value):
    n = next(n for n in numbers(certificate, "ask") if certificate["journal"][n][entry] != value)
    assert rejected_at(forged(certificate, n, **{entry: value}), n, f"the {entry} handed out is")


@pytest.mark.parametrize("value", [None, "0.5", True, [0.5], {}, 10**400, 1, 1e200])
def test_a_value_that_is_no_number_is_found(certificate, value):
    n = numbers(certificate, "tell")[1]
    assert rejected_at(forged(certificate, n, value=value), n, "is impossible")


@pytest.mark.parametrize("value", [0.5, 2.0, -1.0])
def test_a_value_outside_the_family_is_found(value):
    study = create_study(Problem(2, [0.1, 1.0], [0.1, 0.0], Bernoulli()), 0.05, storage="sqlite://")
    study.ask_many(2)
    event = {"kind": "tell", "trial": 1, "value": value, "at": 0.0}
    made = study.export()
    assert rejected_at(resealed(made, [*made["journal"], event]), 3, "is impossible")
    event = {"kind": "add", "arm": 0, "fidelity": 0, "values": [1.0, value], "at": 0.0}
    assert rejected_at(resealed(made, [*made["journal"], event]), 3, "is impossible")


def test_values_that_are_not_finite_are_found_though_json_readers_take_them(certificate, tmp_path):
    n = numbers(certificate, "tell")[1]
    for text in ("NaN", "Infinity", "-Infinity", "1e999"):
        certificate["journal"][n]["value"] = "HERE"
        (tmp_path / "c.json").write_text(json.dumps(certificate).replace('"HERE"', text))
        assert rejected_at(tmp_path / "c.json", n)


@pytest.mark.parametrize("trial", [0, 1, 10_000, -1, "2", None, 2.0, [2]])
def test_a_result_of_a_trial_that_is_not_under_way_is_found(certificate, trial):
    journal = certificate["journal"]
    n = numbers(certificate, "tell")[5]
    told = {event["trial"] for event in journal[:n] if event["kind"] in ("tell", "fail")}
    trial = min(told) if trial == 1 else trial
    for kind in ("tell", "fail"):
        assert rejected_at(forged(certificate, n, kind=kind, trial=trial), n, "is not under way")


@pytest.mark.parametrize("kind", ["create", "telll", "", None, 3, ["tell"], {"tell": 1}])
def test_events_of_no_known_kind_are_found(certificate, kind):
    n = numbers(certificate, "tell")[0]
    assert rejected_at(forged(certificate, n, kind=kind), n, "there is no event")


@pytest.mark.parametrize(
    "changes", [{"arm": 3}, {"arm": -1}, {"fidelity": 2}, {"values": 0.5}, {"values": None}, {"arm": "a"}]
)
def test_values_added_to_no_cell_are_found(certificate, changes):
    n = numbers(certificate, "add")[0]
    assert rejected_at(forged(certificate, n, **changes), n, "cannot be added")


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": 0.5},
        {"delta": 1e-6},
        {"strategy": "uniform"},
        {"tolerance": 0.3},
        {"max_cost": 1.0},
        {"key": "00000000"},
        {"problem": PROBLEM.with_variance(0.01).to_dict()},
        {"problem": PROBLEM.towards("minimise").to_dict()},
    ],
)
def test_another_question_with_the_same_answers_is_found(certificate, changes):
    found = verify(forged(certificate, 0, **changes))
    assert not found
    assert found.event is not None


@pytest.mark.parametrize(
    "changes",
    [
        {"delta": 2},
        {"delta": "0.05"},
        {"delta": None},
        {"delta": [0.05]},
        {"strategy": "oracle"},
        {"strategy": None},
        {"stopping": []},
        {"tolerance": None},
        {"tolerance": -1},
        {"max_cost": "all"},
        {"max_cost": 10**400},
        {"key": "xyz"},
        {"key": 5},
        {"name": ""},
        {"name": None},
        {"problem": None},
        {"problem": {}},
        {"problem": []},
        {"options": 3},
        {"options": {"rate": 1}},
        {"options": []},
        {"kind": "tell"},
        {"kind": []},
    ],
)
def test_a_study_that_could_not_have_been_created_is_found(certificate, changes):
    certificate = {**certificate, "study": "s"}
    journal = copy.deepcopy(certificate["journal"])
    journal[0].update(changes)
    assert rejected_at({**resealed(certificate, journal), "study": "s"}, 0)


def test_an_evaluation_beyond_the_budget_is_found():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", max_cost=0.35)
    study.ask_many(3)
    without = create_study(PROBLEM, 0.05, storage="sqlite://")
    without.ask_many(4)
    more = without.export()["journal"][4]
    made = study.export()
    more["seed"] = study.settings.seed(4)
    assert rejected_at(resealed(made, [*made["journal"], more]), 4, "beyond the budget")


# --- what a forger may write


@pytest.mark.parametrize(
    ("kind", "change", "told"),
    [
        ("verdict", {"risk": 10**400}, "the verdict's risk"),
        ("verdict", {"cost": 10**400}, "the verdict's cost"),
        ("verdict", {"risk_proven": 1e-9}, "its entry 'risk_proven'"),
        ("add", {"arm": True}, "cannot be added"),
        ("add", {"fidelity": False}, "cannot be added"),
        ("tell", {"note": "by me"}, "its entry 'note'"),
        ("tell", {"at": "yesterday"}, "its time is 'yesterday'"),
        ("tell", {"at": -5}, "its time is -5"),
        ("tell", {"trial": True}, "is not under way"),
        ("fail", {"reason": ["a", "list"]}, "its reason is not text"),
        ("create", {"tolerance": 10**400}, "tolerance is 1000"),
        ("create", {"direction": "minimise"}, "its entry 'direction'"),
        ("create", {"delta": [0.05]}, "a study has one risk"),
    ],
)
def test_what_no_study_would_write_is_rejected_though_the_hashes_fit(certificate, kind, change, told):
    next(event for event in certificate["journal"] if event["kind"] == kind).update(change)
    found = verify(resealed(certificate))
    assert not found
    assert told in found.reason


@pytest.mark.parametrize("arms", [50_000_000, 10**400, {"a": 1, "b": 2, "c": 3}])
def test_a_problem_that_is_not_written_as_problems_are_is_rejected(certificate, arms):
    certificate["journal"][0]["problem"]["problem"]["arms"] = arms
    assert not verify(resealed(certificate))


def test_every_entry_of_every_event_may_be_anything_and_verify_says_no(certificate):
    """Without a crash, whatever it is; but for what another study, with the same course, could have written."""
    odd = [None, True, -1, 10**400, 1e308, "x", "\ud800", [], [[]], {}, {"a": 1}]
    possible = [("reason", "x"), ("reason", "\ud800"), ("mfbai", "x"), ("mfbai", "\ud800"), ("name", "x")]
    possible += [("at", 1e308), ("max_cost", 1e308)]
    journal = certificate["journal"]
    last = {event["kind"]: n for n, event in enumerate(journal)}
    for n in last.values():
        for entry, value in itertools.product(set(journal[n]) - {"hash", "n"}, odd):
            same = journal[n][entry] == value and type(journal[n][entry]) is type(value)
            if not same and (entry, value) not in possible:
                forged = copy.deepcopy(journal)
                forged[n][entry] = value
                assert not verify(resealed(certificate, forged)), (n, entry, value)


def test_a_certificate_with_anything_beside_is_rejected(certificate):
    assert not verify({**certificate, "certified_best": "b"})


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda text: text.replace("{", '{"verdict": {"arm": 0}, ', 1), "a key twice"),
        (lambda text: text[:-5], "is not JSON"),
        (lambda text: "[" * 100_000, "not a certificate"),
    ],
)
def test_a_file_that_readers_could_take_in_different_ways_is_rejected(certificate, tmp_path, change, told):
    path = tmp_path / "certificate.json"
    write_certificate(certificate, path)
    path.write_text("\ufeff" + path.read_text(), encoding="utf-8")
    assert verify(path)
    path.write_text(change(path.read_text(encoding="utf-8-sig")))
    assert told in verify(path).reason


def test_a_folder_is_no_file_to_write_to(certificate, tmp_path):
    with pytest.raises(InvalidInput, match="it is a folder"):
        write_certificate(certificate, tmp_path)


@pytest.mark.parametrize(
    "versions", [{}, None, "0.1", {"note": "audited"}, {"mfbai": 1}, {"mfbai": "1\n2"}, {"mfbai": "9" * 100}]
)
def test_versions_say_no_more_than_versions(certificate, versions):
    whole = {**certificate["versions"], **versions} if versions and isinstance(versions, dict) else versions
    assert rejected_at({**certificate, "versions": whole}, len(certificate["journal"]), "versions")


def test_numbers_of_another_type_are_found(certificate):
    last = len(certificate["journal"])
    assert rejected_at({**certificate, "events": float(last)}, last, "the events")
    problem = copy.deepcopy(certificate["problem"])
    assert problem["fidelity"][1]["bias"] == 0
    problem["fidelity"][1]["bias"] = False
    assert rejected_at({**certificate, "problem": problem}, last, "the problem")


@pytest.mark.parametrize("odd", ["\ud800", "9\x1b[31m\nConfirmed: every event follows from those before it."])
def test_a_rejection_is_one_line_that_any_terminal_can_show(certificate, odd):
    certificate["journal"][5]["arm"] = 7
    forged = resealed(certificate)
    forged["versions"] = {**forged["versions"], "mfbai": odd}
    for document in (
        forged,
        {**certificate, odd: 1},
        resealed({**certificate}, [{**certificate["journal"][0], odd: 1}]),
    ):
        found = verify(document)
        assert not found
        assert found.reason.isprintable()


@pytest.mark.parametrize("entry", ["max_cost", "options", "key", "problem"])
def test_a_missing_setting_is_named(certificate, entry):
    del certificate["journal"][0][entry]
    assert rejected_at({**certificate, "journal": resealed_alone(certificate["journal"])}, 0, f"{entry!r}")


def resealed_alone(journal):
    head, made = NOTHING, []
    for event in journal:
        body = {name: value for name, value in event.items() if name != "hash"}
        head = seal(head, canonical(body))
        made.append({**body, "hash": head})
    return made


@pytest.mark.parametrize("path", ["a\0b", "\ud800"])
def test_a_path_that_no_system_has_is_told(certificate, path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        verify(path)
    with pytest.raises(InvalidInput, match="cannot be written"):
        write_certificate(certificate, Path(path))


@pytest.mark.parametrize("seeds", ["progression", None, "", 1, ["hash"]])
def test_a_certificate_that_does_not_say_how_seeds_are_drawn_as_studies_do_is_rejected(certificate, seeds):
    assert rejected_at(forged(certificate, 0, seeds=seeds), 0)


def test_a_new_study_cannot_pass_for_an_old_one(certificate):
    """Without the entry seeds are a progression, and these are not."""
    del certificate["journal"][0]["seeds"]
    assert rejected_at(resealed(certificate), numbers(certificate, "ask")[0], "the seed handed out is")
