"""Tables of values that were measured elsewhere: all of them are counted, or none."""

import pandas as pd
import pytest

from mfbai import Bernoulli, Gaussian, Problem, create_study, verify
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


def test_a_table_that_has_grown_since_it_was_added_is_refused(study):
    study.add_table(ROWS)
    with pytest.raises(InvalidInput, match="Give new ones alone"):
        study.add_table([*ROWS, ("plain", 0, 0.32), ("deep", 0, 0.5)])
    assert study.status().imported == 4


def test_a_table_that_has_grown_is_refused_wherever_its_new_rows_are(study):
    study.add_table(ROWS)
    study.add_table([("plain", 0, 0.35), ("deep", 1, 0.45)])  # of another file, for the same cells
    for grown in ([*ROWS, ("deep", 1, 0.5)], [("plain", 0, 0.29), *ROWS[::-1], ("deep", 1, 0.2)]):
        with pytest.raises(InvalidInput, match="were added before"):
            study.add_table(grown)
    assert study.status().imported == 6


def test_scores_that_are_the_same_by_chance_count(storage_url):
    problem = Problem(["a", "b"], costs=[1.0], biases=[0.0], family=Bernoulli())
    study = create_study(problem, 0.05, storage=storage_url, strategy="frugal")
    first = [(arm, 0, score) for arm in "ab" for score in (1, 0, 1, 1, 1)]
    assert study.add_table(first) == 10
    assert study.add_table([(arm, 0, score) for arm in "ab" for score in (1, 1, 1, 0, 1, 1)]) == 12
    with pytest.raises(InvalidInput, match="were added before"):
        study.add_table(first)


def test_a_value_that_was_measured_twice_counts_twice(study):
    study.add_table(ROWS)
    assert study.add_table([("plain", 0, 0.3), ("wide", 0, 0.8), ("deep", 1, 0.7), ("plain", 0, 0.33)]) == 4


@pytest.mark.parametrize("kind", ["frame", "file", "rows"])
def test_names_that_are_numbers_are_names_in_every_table(storage_url, kind, tmp_path):
    problem = Problem(
        ["1", "2", "3"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01), fidelities=["a", "b"]
    )
    study = create_study(problem, 0.05, storage=storage_url, strategy="frugal")
    rows = [(1, "b", 0.1), (3, "b", 0.3)]
    frame = pd.DataFrame(rows, columns=["arm", "fidelity", "value"])
    frame.to_csv(tmp_path / "v.csv", index=False)
    study.add_table({"frame": frame, "file": tmp_path / "v.csv", "rows": rows}[kind])
    assert study.status().counts.tolist() == [[0, 1], [0, 0], [0, 1]]
    with pytest.raises(InvalidInput, match="unknown arm"):
        study.add_table([(0, "b", 0.1)])


def test_names_with_blanks_around_them_are_found_in_a_file(storage_url, tmp_path):
    problem = Problem([" pad ", "b"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01), fidelities=["x", "y"])
    study = create_study(problem, 0.05, storage=storage_url, strategy="frugal")
    (tmp_path / "v.csv").write_text("arm,fidelity,value\n pad ,x,0.3\n b ,x,0.4\n")
    assert study.add_table(tmp_path / "v.csv") == 2


@pytest.mark.parametrize("cell", ["9" * 5000, "x" * 200_000])
def test_a_cell_of_any_length_is_refused_in_words(study, tmp_path, cell):
    (tmp_path / "v.csv").write_text(f"arm,fidelity,value\n{cell},1,0.3\n")
    with pytest.raises(InvalidInput, match=r"v\.csv line 2") as caught:
        study.add_table(tmp_path / "v.csv")
    assert len(str(caught.value)) < 500
    assert kinds(study) == ["create"]


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
