"""Certificates: a true one is confirmed; a file that was changed is rejected at the first event that differs."""

import copy
import json
import sqlite3

import pytest

import mfbai
from mfbai import InvalidInput, create_study, load_study, verify
from mfbai.study.journal import NOTHING, canonical, seal
from support.certificates import PROBLEM, forged, numbers, rejected_at, run

# --- true ones


def test_the_certificate_of_a_study_is_confirmed_with_its_verdict(storage_url):
    study = run(storage_url)
    found = verify(study.export())
    assert found
    assert (found.confirmed, found.event, found.study) == (True, None, "s")
    assert found.verdict == study.result
    assert found.verdict.arm == "b"


def test_the_certificate_of_a_study_with_late_results_is_confirmed():
    study = run(late=True)
    assert study.status().late >= 1
    assert verify(study.export()).verdict == study.result


@pytest.mark.parametrize("events", [1, 2, 7])
def test_the_certificate_of_a_study_that_still_runs_is_confirmed_without_a_verdict(events):
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    for n in range(events - 1):
        study.tell(study.ask(), n / 10)
    found = verify(study.export())
    assert found
    assert found.verdict is None


@pytest.mark.parametrize("max_cost", [0.1, 1.0, 2.5])
def test_the_certificate_of_an_undecided_study_is_confirmed(max_cost):
    study = create_study(PROBLEM, 1e-9, max_cost=max_cost, storage="sqlite://")
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.state == "undecided"
    assert verify(study.export()).verdict == study.result


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_a_certificate_in_a_file_is_the_same(tmp_path, direction):
    study = run(direction=direction)
    made = study.export(tmp_path / "certificate.json")
    assert json.loads((tmp_path / "certificate.json").read_text()) == made
    assert verify(tmp_path / "certificate.json").verdict == study.result
    assert verify(str(tmp_path / "certificate.json")).verdict == study.result
    assert verify(json.loads(json.dumps(made)))
    assert [path.name for path in tmp_path.iterdir()] == ["certificate.json"]


def test_a_certificate_says_what_it_was_made_with(finished):
    assert finished["versions"]["mfbai"] == mfbai.__version__
    assert set(finished["versions"]) == {"mfbai", "numpy", "numba", "python", "machine"}
    assert finished["problem"] == PROBLEM.to_dict()
    assert finished["verdict"]["arm"] == 1
    assert finished["events"] == len(finished["journal"])
    head = NOTHING
    for event in finished["journal"]:
        head = seal(head, canonical({name: value for name, value in event.items() if name != "hash"}))
        assert event["hash"] == head
    assert finished["head"] == head


def test_a_certificate_verifies_only_what_it_can_replay_after_reopening(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    made = run(url).export()
    assert load_study("s", storage=url).export() == made


# --- altered ones, with the hashes as they were


def test_an_altered_value_is_found(certificate):
    for n in (numbers(certificate, "tell")[0], numbers(certificate, "tell")[-1]):
        altered = copy.deepcopy(certificate)
        altered["journal"][n]["value"] += 1e-12
        assert rejected_at(altered, n, "hash does not fit")


@pytest.mark.parametrize("kind", ["create", "ask", "tell", "fail", "add", "verdict"])
def test_any_altered_entry_of_any_kind_of_event_is_found(certificate, kind):
    n = numbers(certificate, kind)[0]
    for entry, value in certificate["journal"][n].items():
        for other in ("x", 77, None, not value if isinstance(value, bool) else [value]):
            altered = copy.deepcopy(certificate)
            altered["journal"][n][entry] = other
            if other != value:
                assert rejected_at(altered, n), entry
        altered = copy.deepcopy(certificate)
        del altered["journal"][n][entry]
        assert rejected_at(altered, n), entry


def test_an_entry_that_was_put_in_is_found(certificate):
    n = numbers(certificate, "tell")[2]
    certificate["journal"][n]["note"] = "trust me"
    assert rejected_at(certificate, n)


def test_any_removed_event_is_found(certificate):
    for n in range(certificate["events"] - 1):
        journal = certificate["journal"][:n] + certificate["journal"][n + 1 :]
        assert rejected_at({**certificate, "journal": journal}, n)
    assert not verify({**certificate, "journal": certificate["journal"][:-1]})
    assert not verify({**certificate, "journal": []})


def test_repeated_and_exchanged_events_are_found(certificate):
    for n in (1, 4, certificate["events"] - 2):
        journal = certificate["journal"]
        twice = journal[: n + 1] + journal[n:]
        assert rejected_at({**certificate, "journal": twice}, n + 1)
        swapped = [*journal[:n], journal[n + 1], journal[n], *journal[n + 2 :]]
        assert rejected_at({**certificate, "journal": swapped}, n)


@pytest.mark.parametrize("entry", ["study", "problem", "verdict", "events", "head"])
def test_what_is_said_beside_the_journal_must_be_that_of_the_journal(certificate, entry):
    for other in (None, "another", {}):
        assert rejected_at({**certificate, entry: other}, certificate["events"], f"the {entry} that the certificate")
    n = certificate["events"]
    del certificate[entry]
    assert rejected_at(certificate, n, f"the {entry} that the certificate")


def test_another_problem_is_found(certificate):
    certificate["problem"] = PROBLEM.with_variance(0.01).to_dict()
    assert rejected_at(certificate, certificate["events"], "problem")


# --- what is no certificate


JOURNALS = [None, [], {}, "x", [1], [None]]
DOCUMENTS = [None, 3, [], {}, {"format": "mfbai certificate 2"}, {"format": "mfbai certificate 1"}]


@pytest.mark.parametrize(
    "document", [*DOCUMENTS, *({"format": "mfbai certificate 1", "journal": journal} for journal in JOURNALS)]
)
def test_what_is_no_certificate_is_rejected(document):
    found = verify(document)
    assert not found
    assert "not a certificate" in found.reason or "no journal" in found.reason


@pytest.mark.parametrize("text", ["", "{", "certificate", "[" * 100_000, "1" * 5000, "\x00\xff"])
def test_a_file_that_is_no_certificate_is_rejected(tmp_path, text):
    (tmp_path / "c.json").write_bytes(text.encode("latin-1"))
    assert "not a certificate" in verify(tmp_path / "c.json").reason


def test_a_file_that_cannot_be_read_or_written_is_told(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read: No such file"):
        verify(tmp_path / "none.json")
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    with pytest.raises(InvalidInput, match="cannot be written: No such file"):
        study.export(tmp_path / "no" / "folder.json")
    with pytest.raises(InvalidInput, match="cannot be written"):
        study.export(tmp_path)


def test_a_rejection_says_if_another_version_made_the_certificate(certificate):
    certificate["versions"]["mfbai"] = "0.0.1"
    assert verify(certificate)
    n = numbers(certificate, "ask")[2]
    assert "made by mfbai 0.0.1" in verify(forged(certificate, n, seed=1)).reason


def test_an_altered_row_of_the_database_is_found_in_the_certificate(tmp_path):
    study = run(f"sqlite:///{tmp_path / 's.db'}")
    n = numbers(study.export(), "tell")[3]
    connection = sqlite3.connect(tmp_path / "s.db")
    with connection:
        ((body,),) = connection.execute("SELECT body FROM mfbai_events WHERE n = ?", (n,)).fetchall()
        value = json.loads(body)["value"]
        connection.execute("UPDATE mfbai_events SET body = ? WHERE n = ?", (body.replace(repr(value), "0.5"), n))
    connection.close()
    assert rejected_at(load_study("s", storage=f"sqlite:///{tmp_path / 's.db'}").export(), n, "hash")
