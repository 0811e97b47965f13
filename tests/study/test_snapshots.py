"""Snapshots and the history of a study: those of a replay."""

import sqlite3
from contextlib import nullcontext
from itertools import count

import numpy as np
import pytest

from mfbai import NothingToAsk, create_study, load_study
from mfbai.study import ledger
from mfbai.study.study import Study
from support.folds import SMALL, TRUTH, replayed, same_fold


def long_study(tmp_path, monkeypatch, every=5, strategy="frugal"):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", every)
    url = f"sqlite:///{tmp_path / 'snapshots.db'}"
    study = create_study(SMALL, 1e-9, name="s", storage=url, strategy=strategy)
    rng = np.random.default_rng(2)
    for round_ in range(8):
        trials = study.ask_many(4)
        for k in rng.permutation(len(trials))[: 4 - round_ % 2]:  # fewer, while many results wait for one
            if k == 3 and round_ % 3 == 0:
                study.fail(trials[k], "lost")
            else:
                study.tell(trials[k], float(rng.normal(TRUTH[trials[k].arm_index][trials[k].fidelity_index], 0.2)))
    study.add("a", 0, [0.5, 0.25])
    return study, url


def edit(tmp_path, statement, *values):
    connection = sqlite3.connect(tmp_path / "snapshots.db")
    with connection:
        rows = connection.execute(statement, values).fetchall()
    connection.close()
    return rows


@pytest.mark.parametrize("strategy", ["frugal", "race"])
def test_a_study_reopened_from_a_snapshot_is_identical_to_a_replay(tmp_path, monkeypatch, strategy):
    study, url = long_study(tmp_path, monkeypatch, strategy=strategy)
    ((n,),) = edit(tmp_path, "SELECT n FROM mfbai_snapshots")
    assert 0 < n <= study._fold.events
    opened = load_study("s", storage=url)
    assert opened._recall().events == n  # it is used
    opened.status()
    assert same_fold(opened._fold, replayed(study))
    assert same_fold(opened._fold, study._fold)
    if strategy == "frugal":  # with race, too many results wait for the first that is not back
        assert opened.ask_many(6) != []
    assert same_fold(opened._fold, replayed(study))


def test_there_is_one_snapshot_however_long_the_study(tmp_path, monkeypatch):
    long_study(tmp_path, monkeypatch, every=1)
    assert edit(tmp_path, "SELECT count(*) FROM mfbai_snapshots") == [(1,)]


def damages(body):
    flipped = [bytearray(body) for _ in range(4)]
    for k, text in enumerate(flipped):
        text[len(text) * (k + 1) // 5] ^= 0xFF
    array = (
        np.lib.format.magic(1, 0) + b"v\0{'descr': '<f8', 'fortran_order': False, 'shape': (0,), }".ljust(119) + b"\n"
    )
    return [b"", b"no snapshot", body[: len(body) // 2], body[:-1], body[100:], array, *map(bytes, flipped)]


def test_a_damaged_snapshot_is_ignored(tmp_path, monkeypatch):
    study, url = long_study(tmp_path, monkeypatch)
    whole = replayed(study)
    ((body,),) = edit(tmp_path, "SELECT body FROM mfbai_snapshots")
    for damaged in damages(body):
        edit(tmp_path, "UPDATE mfbai_snapshots SET body = ?", damaged)
        opened = load_study("s", storage=url)
        assert opened.status().told == study.status().told
        assert same_fold(opened._fold, whole)


def test_a_snapshot_of_other_code_is_ignored(tmp_path, monkeypatch):
    study, url = long_study(tmp_path, monkeypatch)
    edit(tmp_path, "UPDATE mfbai_snapshots SET format = 'of yesterday', body = ?", b"anything")
    opened = load_study("s", storage=url)
    assert opened._recall().events == 0
    opened.status()
    assert same_fold(opened._fold, replayed(study))


def test_a_snapshot_of_another_journal_is_ignored(tmp_path, monkeypatch):
    """It would be trusted for good: the values in it are in no journal."""
    study, url = long_study(tmp_path, monkeypatch)
    other = create_study(SMALL, 1e-9, name="other", storage=url)
    for _ in range(20):
        other.tell(other.ask(), 9.0)
    rows = dict(edit(tmp_path, "SELECT study, body FROM mfbai_snapshots"))
    edit(tmp_path, "UPDATE mfbai_snapshots SET body = ? WHERE study = 1", rows[2])
    opened = load_study("s", storage=url)
    assert opened.status().told == study.status().told
    assert same_fold(opened._fold, replayed(study))


def test_without_its_snapshots_a_study_is_the_same(tmp_path, monkeypatch):
    study, url = long_study(tmp_path, monkeypatch)
    edit(tmp_path, "DELETE FROM mfbai_snapshots")
    opened = load_study("s", storage=url)
    opened.status()
    assert same_fold(opened._fold, study._fold)


def test_a_verdict_survives_a_snapshot_with_its_alarms(monkeypatch):
    monkeypatch.setattr(ledger, "SNAPSHOT_EVERY", 1)
    study = create_study(SMALL, 0.05, storage="sqlite://")
    study.add("a", 0, [0.9] * 50)
    study.add("a", 2, [0.1] * 50)  # a bias of 0.8 where 0.2 is the most
    for value in count():
        if study.result is not None:
            break
        trial = study.ask()
        study.tell(trial, [0.1, 2.0, 0.3][trial.arm_index] + value % 2 / 100)
    assert study.result.alarms
    again = Study(study._storage, study._study)
    assert again._recall().verdict == study.result == again.result
    assert again.status().alarms == study.status().alarms == study.result.alarms


def test_a_study_that_is_over_budget_for_now_says_so():
    study = create_study(SMALL, 0.05, storage="sqlite://", max_cost=0.25)
    trials = study.ask_many(10)
    assert [trial.cost for trial in trials] == [0.1, 0.1]
    with pytest.raises(NothingToAsk, match="2 evaluations are under way"):
        study.ask()


def test_a_history_is_that_of_a_replay_with_and_without_a_snapshot(tmp_path, monkeypatch):
    study, url = long_study(tmp_path, monkeypatch)
    study.ask_many(3)
    points = study.history()
    assert len(points) > 5
    opened = load_study("s", storage=url)
    assert opened._recall().events > 0
    assert opened.history() == points
    edit(tmp_path, "DELETE FROM mfbai_snapshots")
    opened = load_study("s", storage=url)
    assert opened.history() == points
    assert same_fold(opened._fold, replayed(study))


@pytest.mark.parametrize("together", [False, True])
def test_a_history_stays_within_its_bounds_however_long_the_study(monkeypatch, together):
    """Points come half as often whenever there are too many: always the same ones, by the journal."""
    monkeypatch.setattr("mfbai.study.history.MOST", 16)
    study = create_study(SMALL, 1e-9, storage="sqlite://")
    rng = np.random.default_rng(5)
    for _ in range(20):
        with study.together() if together else nullcontext():
            for trial in study.ask_many(5):
                study.tell(trial, float(rng.normal(0.5, 0.2)))
    points = study.history()
    assert 8 <= len(points) <= 16
    assert study._fold.history.stride == 8
    assert points == Study(study._storage, study._study).history()
    steps = np.diff([point.cost for point in points[:-1]])
    assert (steps > 0).all()
