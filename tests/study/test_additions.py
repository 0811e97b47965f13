"""Tables of values that were measured elsewhere: all of them are counted, or none."""

import pandas as pd
import pytest

from mfbai import create_study, verify
from mfbai.errors import InvalidInput, StudyOver
from support.studies import PROBLEM, again, finish, kinds

ROWS = [("plain", 0, 0.3), ("wide", 0, 0.9), ("plain", 0, 0.31), ("deep", 1, 0.4)]


@pytest.fixture
def study(storage_url):
    return create_study(PROBLEM, 0.05, name="s", storage=storage_url, strategy="frugal")


@pytest.mark.parametrize("kind", ["rows", "frame", "file"])
def test_values_of_many_cells_count_together(study, kind, tmp_path):
    frame = pd.DataFrame(ROWS, columns=["arm", "fidelity", "value"])
    file = tmp_path / "values.csv"
    file.write_text("arm,fidelity,value\nplain,1,0.3\nwide,1,0.9\nplain,1,0.31\n3,2,0.4\n")
    assert study.add_table({"rows": ROWS, "frame": frame, "file": file}[kind]) == 4
    status = again(study).status()
    assert status.counts.tolist() == [[2, 0], [1, 0], [0, 1]]
    assert status.imported == 4
    assert status.cost == 0
    assert verify(study.export())


def test_one_bad_row_refuses_the_whole_table(study):
    with pytest.raises(InvalidInput, match=r"(?s)values\[1\].*'wode'.*values\[2\].*nan"):
        study.add_table([ROWS[0], ("wode", 0, 0.5), ("plain", 0, float("nan"))])
    assert kinds(study) == ["create"]


def test_the_same_table_counts_once(study):
    study.add_table(ROWS)
    with pytest.raises(InvalidInput, match=r"were added before \(event 1 of the journal\), and count once"):
        again(study).add_table(ROWS)
    assert study.status().imported == 4


def test_the_same_table_in_another_order_counts_once(study):
    study.add_table(ROWS)
    with pytest.raises(InvalidInput, match="were added before"):
        study.add_table(ROWS[::-1])


@pytest.mark.parametrize("kind", ["frame", "file", "dicts"])
def test_results_of_the_study_itself_cannot_be_added_to_it(study, kind, tmp_path):
    trial = study.ask()
    study.tell(trial, 0.4)
    frame = study.to_frame()
    study.to_csv(tmp_path / "t.csv")
    table = {"frame": frame, "file": tmp_path / "t.csv", "dicts": frame.to_dict("records")}[kind]
    with pytest.raises(InvalidInput, match=f"is trial '{trial.id}' of this study, and counts already: leave it out"):
        study.add_table(table)
    other = create_study(PROBLEM, 0.05, storage="sqlite://")
    assert other.add_table(table) == 1


def test_a_table_with_more_values_is_another_one(study):
    study.add_table(ROWS[:1])
    assert study.add_table([("plain", 0, 0.32)]) == 1


def test_no_rows_are_nothing(study):
    assert study.add_table([]) == 0
    assert kinds(study) == ["create"]


def test_values_after_the_verdict_do_not_count(study):
    decisive = [("wide", 1, 5.0 + k / 100) for k in range(60)]
    others = [(arm, 1, 0.1 + k / 100) for k in range(60) for arm in ("plain", "deep")]
    counted = study.add_table([*decisive, *others, *(("wide", 0, 5.0 + k / 100) for k in range(60))])
    assert study.result.arm == "wide"
    assert counted == 180
    assert kinds(study)[-1] == "verdict"
    assert verify(study.export())
    with pytest.raises(StudyOver, match="no values can be added"):
        study.add_table(ROWS)


def test_studies_in_rounds_refuse_tables(storage_url):
    study = create_study(PROBLEM, 0.05, storage=storage_url, seeds="common")
    with pytest.raises(InvalidInput, match="cannot be added"):
        study.add_table(ROWS)
    assert kinds(study) == ["create"]


def test_a_finished_study_refuses_tables(study):
    finish(study)
    with pytest.raises(StudyOver):
        study.add_table(ROWS)
