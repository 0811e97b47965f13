"""Certificates and a database that mfbai 0.1.0 wrote, in tests/data: they verify, open, and go on."""

import json
import shutil
import sqlite3
from itertools import pairwise
from pathlib import Path

import pytest

from mfbai import list_studies, load_study, verify
from support.certificates import numbers, rejected_at, resealed

FOLDER = Path(__file__).parents[1] / "data/written_by_0.1.0"
NAMES = ["decided", "heuristic", "budget", "counts", "times", "running"]
MEANS = {"baseline": 0.5, "wide": 0.6, "deep": 0.9}


@pytest.fixture
def url(tmp_path):
    shutil.copy(FOLDER / "studies.db", tmp_path)
    return f"sqlite:///{tmp_path / 'studies.db'}"


def certificate_of(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


@pytest.mark.parametrize("name", NAMES)
def test_an_old_certificate_is_confirmed(name):
    found = verify(FOLDER / f"{name}.json")
    assert found, found.reason
    assert found.study == name
    assert (found.verdict is None) == (name == "running")


def test_an_old_database_lists_its_studies(url):
    assert list_studies(storage=url) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_an_old_study_stands_where_its_certificate_says(url, name):
    study = load_study(name, storage=url)
    written, found = certificate_of(name), study.export()
    status = study.status()
    assert found["journal"] == written["journal"]
    assert verify(found).verdict == study.result == status.result == verify(written).verdict
    told = sum(event["kind"] == "tell" for event in written["journal"])
    assert (status.told, status.late) == (told, 0 if study.result is None else told - study.result.told)
    assert status.state == (written["verdict"] or {"state": "running"})["state"]


def test_an_old_study_that_was_running_goes_on_to_its_verdict_with_its_own_seeds(url):
    study = load_study("running", storage=url)
    first = study.ask()
    assert first.seed == study.settings.seed(int(first.id.partition("-")[0]))
    study.release(first)
    for trial_id, (arm, _) in study.trials():
        study.tell(trial_id, MEANS[study.problem.arms[arm]])
    k = 0
    while study.result is None:
        trial = study.ask()
        study.tell(trial, MEANS[trial.arm] + 0.02 * (-1) ** k)
        k += 1
    assert study.result.arm == "deep"
    seeds = [event.body["seed"] for event in study.journal() if event.body["kind"] == "ask"]
    assert len({(b - a) % 2**31 for a, b in pairwise(seeds)}) == 1
    assert verify(study.export()).verdict == load_study("running", storage=url).result == study.result


def test_a_request_of_an_old_study_is_still_known_by_its_name(url):
    """Its journal says nothing of leases; the database does."""
    assert [trial.id.partition("-")[0] for trial in load_study("running", storage=url).ask_many(3, request="r1")] == [
        "7",
        "8",
        "9",
    ]


def test_a_snapshot_that_old_code_wrote_is_ignored(url, tmp_path):
    connection = sqlite3.connect(tmp_path / "studies.db")
    with connection:
        connection.execute("INSERT INTO mfbai_snapshots VALUES (6, 14, '0123456789abcdef', ?)", (b"of old code",))
    connection.close()
    study = load_study("running", storage=url)
    assert study.export()["journal"] == certificate_of("running")["journal"]
    study.tell(study.ask(), 0.5)
    assert verify(study.export())


@pytest.mark.parametrize("seeds", ["hash", "progression", None, "", 1, ["hash"]])
def test_an_old_certificate_that_was_made_to_say_how_seeds_are_drawn_is_rejected(seeds):
    forged = certificate_of("decided")
    forged["journal"][0]["seeds"] = seeds
    at = numbers(forged, "ask")[0] if seeds == "hash" else 0
    assert rejected_at(resealed(forged), at, "the seed handed out is" if seeds == "hash" else "")
