"""The trials of a study as a table."""

import csv
import io
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from mfbai import create_study
from mfbai.errors import InvalidInput
from mfbai.study.table import Row, csv_lines, frame_of, read_csv
from support.studies import PROBLEM, finish, finish_with_some_under_way, value_of

COLUMNS = ["trial", "arm", "fidelity", "seed", "value", "cost", "asked", "told", "worker", "state"]


def test_a_study_without_trials_has_an_empty_table_of_all_columns(study):
    frame = study.to_frame()
    assert list(frame.columns) == COLUMNS
    assert len(frame) == 0
    assert frame["value"].dtype == np.float64
    assert study.to_csv() == ",".join(COLUMNS) + "\r\n"
    study.ask()
    assert study.to_frame().dtypes.to_dict() == frame.dtypes.to_dict()


def test_each_trial_has_a_row_that_says_what_became_of_it(study):
    told, failed, open_ = (study.ask(worker=name) for name in ("anna", "ben", "anna"))
    study.tell(told, 0.25)
    study.fail(failed, "broken")
    frame = study.to_frame()
    assert frame["trial"].tolist() == [told.id, failed.id, open_.id]
    assert frame["state"].tolist() == ["told", "failed", "under way"]
    assert frame["worker"].tolist() == ["anna", "ben", "anna"]
    assert frame["arm"].tolist() == [trial.arm for trial in (told, failed, open_)]
    assert frame["fidelity"].tolist() == [trial.fidelity for trial in (told, failed, open_)]
    assert frame["seed"].tolist() == [trial.seed for trial in (told, failed, open_)]
    assert frame["cost"].iloc[:2].tolist() == [told.cost, 0.0]
    assert frame["value"].iloc[0] == 0.25
    assert frame["value"].iloc[1:].isna().all()
    assert np.isnan(frame["cost"].iloc[2])


def test_times_are_those_of_the_journal(study):
    before = datetime.now(UTC)
    study.tell(study.ask(), 0.25)
    study.ask()
    frame = study.to_frame()
    asked, told = (event.body["at"] for event in study.journal()[1:3])
    assert frame["asked"].iloc[0].timestamp() == asked
    assert frame["told"].iloc[0].timestamp() == told
    assert abs(frame["asked"].iloc[0] - before) < pd.Timedelta(hours=1)
    assert pd.isna(frame["told"].iloc[1])


def test_the_table_adds_up_to_the_status(study):
    finish(study)
    frame, status = study.to_frame(), study.status()
    told = frame[frame["state"] == "told"]
    assert told["cost"].sum() == pytest.approx(status.cost)
    assert len(told) == status.told
    means = told.groupby(["arm", "fidelity"])["value"].mean()
    for (arm, fidelity), mean in means.items():
        place = status.problem.arm_indices[arm], status.problem.fidelities.index(fidelity)
        assert mean == pytest.approx(status.means[place])


def test_what_is_told_after_the_verdict_is_late(study):
    rest = finish_with_some_under_way(study)
    study.tell(rest[0], 0.5)
    states = study.to_frame().set_index("trial")["state"]
    assert states[rest[0].id] == "late"
    assert (states == "late").sum() == study.status().late == 1


def test_a_trial_that_was_handed_out_again_has_the_worker_who_had_it_last(study):
    first = study.ask(lease=1e-6, worker="gone")
    again = study.ask(worker="here")
    assert again.id == first.id
    assert study.to_frame()["worker"].tolist() == ["here"]


def test_a_worker_without_a_name_is_known_by_machine_and_process(study):
    study.ask()
    assert study.to_frame()["worker"].iloc[0].rpartition(":")[2].isdecimal()


@pytest.mark.parametrize("worker", [5, "x" * 101, "a\nb", b"x"])
def test_a_worker_s_name_that_cannot_be_kept_is_refused(study, worker):
    with pytest.raises(InvalidInput, match="worker"):
        study.ask(worker=worker)
    assert study.trials() == []


def test_values_from_elsewhere_are_no_trials():
    study = create_study(PROBLEM, 0.05, storage="sqlite://", strategy="frugal")
    study.add("plain", 0, [0.5, 0.6])
    assert len(study.to_frame()) == 0


def test_csv_reads_back_to_the_same_rows(study, tmp_path):
    rng = np.random.default_rng(0)
    for _ in range(5):
        trial = study.ask(worker='a "worker", of sorts')
        study.tell(trial, value_of(trial, rng))
    study.fail(study.ask(), "x")
    study.ask()
    path = tmp_path / "trials.csv"
    text = study.to_csv(path)
    assert path.read_bytes().decode() == text
    assert read_csv(text) == study.rows()
    assert next(row["worker"] for row in csv.DictReader(io.StringIO(text))) == 'a "worker", of sorts'


def test_long_tables_are_written_in_pieces_that_join():
    at = datetime(2020, 1, 1, tzinfo=UTC)
    rows = [Row(f"{n}-0", "a,b", "\N{BIRD}", n, n / 7, 1.0, at, at, "", "told") for n in range(2500)]
    pieces = list(csv_lines(rows))
    assert len(pieces) == 3
    assert read_csv("".join(pieces)) == rows


def test_a_table_that_cannot_be_written_says_why(study, tmp_path):
    with pytest.raises(InvalidInput, match="cannot be written"):
        study.to_csv(tmp_path / "no such folder" / "trials.csv")


def test_without_pandas_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    with pytest.raises(ImportError, match=r"pip install 'mfbai\[frame\]'"):
        frame_of([])
