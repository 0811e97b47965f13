"""Certificates and a database that mfbai 0.1.0 wrote, in tests/data: they verify, open, and go on.

Through the library here, on both kinds of storage; through commands and a server below.
"""

import json
import shlex
import shutil
import sqlite3
import sys
from itertools import cycle, pairwise
from pathlib import Path

import psycopg
import pytest

import mfbai
from mfbai import Client, list_studies, load_study, verify
from mfbai.study.storage.tables import SCHEMA
from support.certificates import numbers, rejected_at, resealed
from support.servers import Server
from support.storages import execute

FOLDER = Path(__file__).parents[1] / "data/written_by_0.1.0"
NAMES = ["decided", "heuristic", "budget", "counts", "times", "running"]
MEANS = {"baseline": 0.5, "wide": 0.6, "deep": 0.9}
# The tables of 0.1.0 on PostgreSQL, as it made them.
TABLES = """
CREATE TABLE mfbai_schema (version INTEGER NOT NULL);
CREATE TABLE mfbai_studies (id SERIAL NOT NULL, name TEXT NOT NULL, PRIMARY KEY (id), UNIQUE (name));
CREATE TABLE mfbai_events (
    study INTEGER NOT NULL, n INTEGER NOT NULL, trial INTEGER, body TEXT NOT NULL, hash TEXT NOT NULL,
    PRIMARY KEY (study, n)
);
CREATE INDEX mfbai_events_of_trial ON mfbai_events (study, trial);
CREATE TABLE mfbai_leases (
    study INTEGER NOT NULL, trial INTEGER NOT NULL, until DOUBLE PRECISION NOT NULL, request TEXT,
    PRIMARY KEY (study, trial)
);
CREATE TABLE mfbai_snapshots (
    study INTEGER NOT NULL, n INTEGER NOT NULL, format TEXT NOT NULL, body BYTEA NOT NULL, PRIMARY KEY (study)
);
"""


@pytest.fixture
def file(tmp_path):
    """A copy of the database of 0.1.0."""
    return Path(shutil.copy(FOLDER / "studies.db", tmp_path))


def moved_to_postgresql(file, url):
    """The same rows, in tables as 0.1.0 made them there."""
    connection = sqlite3.connect(file)
    with psycopg.connect(url) as there:
        there.execute(TABLES)
        for table in ("schema", "studies", "events", "leases", "snapshots"):
            rows = connection.execute(f"SELECT * FROM mfbai_{table}").fetchall()
            if rows:
                places = ", ".join(["%s"] * len(rows[0]))
                there.cursor().executemany(f"INSERT INTO mfbai_{table} VALUES ({places})", rows)
        there.execute("SELECT setval(pg_get_serial_sequence('mfbai_studies', 'id'), max(id)) FROM mfbai_studies")
    connection.close()
    return url


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request, file):
    if request.param == "sqlite":
        return f"sqlite:///{file}"
    return moved_to_postgresql(file, request.getfixturevalue("postgres").new_schema())


def certificate_of(name):
    return json.loads((FOLDER / f"{name}.json").read_text())


def finish(study):
    """To the verdict, from what is under way on."""
    for trial, (arm, _) in study.trials():
        study.tell(trial, MEANS[study.problem.arms[arm]])
    signs = cycle([1, -1])
    while study.result is None:
        trial = study.ask()
        study.tell(trial, MEANS[trial.arm] + 0.02 * next(signs))


@pytest.mark.parametrize("name", NAMES)
def test_an_old_certificate_is_confirmed(name):
    found = verify(FOLDER / f"{name}.json")
    assert found, found.reason
    assert found.study == name
    assert (found.verdict is None) == (name == "running")


def test_an_old_database_lists_its_studies(url):
    assert execute(url, "SELECT version FROM mfbai_schema") == [(2,)]
    assert list_studies(storage=url) == NAMES
    assert execute(url, "SELECT version FROM mfbai_schema") == [(SCHEMA,)]


def test_an_old_database_takes_new_studies(url):
    """Beside the old ones, with numbers and seeds of their own."""
    problem = load_study("running", storage=url).problem
    new = mfbai.create_study(problem, 0.05, name="new", storage=url)
    assert new.settings.strategy == "race"
    assert list_studies(storage=url) == [*NAMES, "new"]
    assert load_study("running", storage=url).settings.strategy == "frugal"


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
    finish(study)
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


def test_a_snapshot_that_old_code_wrote_is_ignored(url):
    execute(url, "INSERT INTO mfbai_snapshots VALUES (6, 14, '0123456789abcdef', :body)", body=b"of old code")
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


@pytest.mark.parametrize("name", NAMES)
def test_an_old_study_has_a_report_that_verifies(url, name, tmp_path):
    load_study(name, storage=url).report(tmp_path / "report.html")
    found = verify(tmp_path / "report.html")
    assert found, found.reason
    assert found.verdict == verify(certificate_of(name)).verdict


def test_old_studies_are_cared_for_like_new_ones(url):
    old = load_study("running", storage=url)
    old.set_note("begun under 0.1.0")
    old.set_tags(["old"])
    old.pause()
    old.rename("renamed")
    again = load_study("renamed", storage=url)
    assert (again.note, again.tags, again.paused) == ("begun under 0.1.0", ("old",), True)
    assert verify(again.export()).study == "running"


# --- by the commands


def test_commands_bring_an_old_study_to_its_verdict(mfbai_command, url, tmp_path, monkeypatch):
    """List, show, run, export, report and verify: what somebody does on the day after the upgrade."""
    monkeypatch.chdir(tmp_path)

    def succeed(*words):
        code, out, err = mfbai_command(*words)
        assert code == 0, err
        return out

    at = ("--storage", url)
    assert [name for name in NAMES if name not in succeed("study", "list", *at)] == []
    assert succeed("study", "status", "running", *at).startswith("Running")
    program = f"import random, sys; print(random.Random(int(sys.argv[2])).gauss({MEANS}[sys.argv[1]], 0.1))"
    command = f"{sys.executable} -c {shlex.quote(program).replace('{', '{{').replace('}', '}}')} {{arm}} {{seed}}"
    begun = load_study("running", storage=url)
    for trial, (arm, _) in begun.trials():  # under way since then
        succeed("study", "tell", "running", trial, MEANS[begun.problem.arms[arm]], *at)
    succeed("study", "run", "running", "--command", command, *at)
    assert succeed("study", "status", "running", *at).startswith("The best is 'deep'")
    succeed("study", "export", "running", "--out", "running.json", *at)
    succeed("study", "report", "running", "--out", "running.html", *at)
    for written in ("running.json", "running.html", FOLDER / "decided.json"):
        assert succeed("study", "verify", written).startswith("Confirmed")


# --- by a server


def test_a_server_brings_an_old_study_to_its_verdict(url):
    with Server(url) as server:
        remote = Client(server.address).load_study("running")
        finish(remote)
        assert remote.result.arm == "deep"
        assert verify(remote.export())
        assert Client(server.address).load_study("decided").result == verify(certificate_of("decided")).verdict
        assert server.get("/decided/report").status == 200
        assert server.stop() == 0


# --- what was written by the version before is known as that


def test_of_an_old_certificate_that_is_not_confirmed_it_is_said_which_version_made_it():
    forged = certificate_of("decided")
    at = numbers(forged, "ask")[-1]
    forged["journal"][at]["arm"] = (forged["journal"][at]["arm"] + 1) % 3
    found = verify(resealed(forged))
    assert not found
    assert f"(it was made by mfbai 0.1.0, and this is {mfbai.__version__}: strategies may differ)" in found.reason
