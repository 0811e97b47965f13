"""Arms from a CSV file: what is read, and what is refused, with its line and column."""

import time

import numpy as np
import pytest

from mfbai import Bounded, Gaussian, Instance, Problem, create_study, load_study
from mfbai.errors import InvalidInput
from mfbai.model.spec import dumps, from_dict, load, load_with_guess, loads, parse
from mfbai.web.reading import read_spec

SPEC = """
[problem]
arms = "arms.csv"
[[fidelity]]
name = "coarse"
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
ARMS = """arm,cost:coarse,bias:coarse
plain,0.05,0.1
wide,0.06,0.2
"""


@pytest.fixture
def write(tmp_path):
    """Writes a spec and its file of arms, and returns the path of the spec."""

    def write(arms=ARMS, spec=SPEC):
        (tmp_path / "arms.csv").write_text(arms, encoding="utf-8")
        (tmp_path / "spec.toml").write_text(spec, encoding="utf-8")
        return tmp_path / "spec.toml"

    return write


def faults_of(path):
    with pytest.raises(InvalidInput) as caught:
        load(path)
    return [str(fault) for fault in caught.value.faults]


# --- what is read


def test_columns_stand_in_the_place_of_lists(write):
    wanted = Problem(
        ["plain", "wide"],
        costs=[[0.05, 5.0], [0.06, 5.0]],
        biases=[[0.1, 0.0], [0.2, 0.0]],
        family=Gaussian(0.01),
        fidelities=["coarse", "fine"],
    )
    assert load(write()) == wanted


def test_the_file_is_found_beside_the_spec_from_any_folder(write, tmp_path, monkeypatch):
    path = write()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert load(path).arms == ("plain", "wide")


def test_bounds_and_variances_can_be_columns(write):
    arms = """arm,bias_low:coarse,bias_high:coarse,variance:coarse,variance:fine
    "deep, and wide",-0.1,0.2,0.5,1
    plain,0,1e-1,0.25,2
    """
    spec = SPEC.replace("variance = 0.01", "").replace('name = "coarse"', 'name = "coarse"\ncost = 0.1')
    problem = load(write(arms, spec))
    assert problem.arms == ("deep, and wide", "plain")
    np.testing.assert_array_equal(problem.bias_low, [[-0.1, 0], [0, 0]])
    np.testing.assert_array_equal(problem.bias_high, [[0.2, 0], [0.1, 0]])
    np.testing.assert_array_equal(problem.family.variance, [[0.5, 1], [0.25, 2]])


def test_a_truth_can_be_in_columns_alone(write):
    arms = ARMS.replace("\n", ",mean:coarse,mean:fine\n", 1).replace("0.1\n", "0.1,0.8,0.84\n")
    instance = load(write(arms.replace("0.2\n", "0.2,0.9,0.98\n")))
    assert isinstance(instance, Instance)
    assert (instance.best, instance.name) == (1, "spec")
    np.testing.assert_array_equal(instance.means, [[0.8, 0.84], [0.9, 0.98]])


def test_deviations_go_with_a_family_that_learns(write):
    arms = "arm,mean:coarse,mean:fine,deviation:coarse,deviation:fine\na,.5,.5,.1,.2\nb,.6,.6,.3,.4\n"
    spec = SPEC.replace('"gaussian"', '"bounded"').replace("variance = 0.01", "low = 0\nhigh = 1")
    spec = spec.replace('name = "coarse"', 'name = "coarse"\ncost = 0.1\nbias = [[0, 0], [0, 0]]')
    instance = load(write(arms, spec))
    assert isinstance(instance.problem.family, Bounded)
    np.testing.assert_array_equal(instance.deviation, [[0.1, 0.2], [0.3, 0.4]])


def test_fidelities_without_a_name_are_numbered(write):
    spec = SPEC.replace('name = "coarse"', "").replace('name = "fine"', "")
    problem = load(write(ARMS.replace("coarse", "fidelity 1"), spec))
    assert problem.costs[:, 0].tolist() == [0.05, 0.06]


def test_blank_lines_spaces_a_mark_and_other_line_ends_are_no_matter(write, tmp_path):
    path = write()
    (tmp_path / "arms.csv").write_bytes(b"\xef\xbb\xbf" + ARMS.replace("\n", "\r\n\r\n").replace(",", " , ").encode())
    assert load(path) == load(write())


def test_a_plan_reads_the_guess_beside_it(write):
    problem, guess = load_with_guess(write(spec=SPEC + "[guess]\ngap = 0.1\n"))
    assert (problem.n_arms, guess.gap) == (2, 0.1)


def test_what_was_read_is_written_without_the_file(write):
    path = write()
    problem = load(path)
    (path.parent / "arms.csv").unlink()
    assert loads(dumps(problem)) == problem
    assert from_dict(problem.to_dict()) == problem


def test_a_study_holds_the_whole_problem(write):
    path = write()
    create_study(path, 0.05, name="designs", storage=f"sqlite:///{path.parent}/s.db")
    (path.parent / "arms.csv").unlink()
    study = load_study("designs", storage=f"sqlite:///{path.parent}/s.db")
    assert study.problem.costs[:, 0].tolist() == [0.05, 0.06]
    assert "csv" not in study.journal()[0].text


# --- where there is no folder


@pytest.mark.parametrize(
    "read", [loads, lambda text: from_dict(parse(text)), read_spec, lambda text: read_spec(parse(text))]
)
def test_a_spec_that_is_not_a_file_opens_none(read, write, monkeypatch):
    path = write()
    monkeypatch.chdir(path.parent)
    with pytest.raises(InvalidInput, match=r"arms is 'arms.csv': .* a CSV file of arms is read only together with"):
        read(SPEC)


# --- what is refused


@pytest.mark.parametrize(
    ("arms", "told"),
    [
        (
            "name,cost:coarse\na,1\n",
            "arms.csv line 1: there is no column 'arm': name the columns there, the arms' 'arm'",
        ),
        ("", "arms.csv line 1: there is no column 'arm': name the columns there, the arms' 'arm'"),
        ("arm;cost:coarse\na;1\n", "separate columns by commas, not ';'"),
        ("arm,costs:coarse\na,1\n", "column 'costs:coarse' is unknown: did you mean 'cost'?"),
        ("arm,cost\na,1\n", "column 'cost' is unknown"),
        ("arm,cost:coarse,cost:coarse\na,1,2\n", "there are two columns 'cost:coarse'"),
        (
            "arm,cost:corse\na,1\nb,1\n",
            "arms.csv line 1: column 'cost:corse' is of no [[fidelity]]: did you mean 'coarse'?",
        ),
        (
            "arm,cost:fine\na,1\nb,1\n",
            "[[fidelity]] \"fine\" has 'cost', and arms.csv has a column 'cost:fine': leave out",
        ),
        ("arm,variance:coarse,variance:fine\na,1,1\nb,1,1\n", "[family] has 'variance', and arms.csv has a column"),
        ("arm,mean:fine\na,1\nb,1\n", "there is 'mean:fine' without 'mean:coarse': add that column"),
        ("arm,bias_low:coarse\na,1\nb,1\n", "there is bias_low:coarse without bias_high:coarse: add that column"),
        (
            "arm,bias:coarse,bias_low:coarse,bias_high:coarse\na,1,0,1\nb,1,0,1\n",
            "there is bias:coarse beside bias_low:coarse",
        ),
        ("arm,bias:coarse\na,1\nb,-1\n", "arms.csv line 3, column 'bias:coarse' is -1.0: a radius cannot be negative"),
        ("arm,cost:coarse\na,1\nb,x\n", "arms.csv line 3, column 'cost:coarse' is 'x': give a number"),
        ("arm,cost:coarse\na,1\n\nb,\n", "arms.csv line 4, column 'cost:coarse' is empty: give a number"),
        ("arm,cost:coarse\na,nan\nb,1\n", "arms.csv line 2, column 'cost:coarse' is 'nan': give a number"),
        ("arm,cost:coarse\na,1_0\nb,1\n", "arms.csv line 2, column 'cost:coarse' is '1_0': give a number"),
        ("arm,cost:coarse\na,1\nb,1,2\n", "arms.csv line 3 has 3 cells, and the first line has 2"),
        ('arm,cost:coarse\n"a,1\n', "it is not CSV"),
        (
            "arm,cost:coarse\na,-1\nb,1\n",
            "costs[0, 0] is -1.0: a cost must be positive; check arms.csv line 2, column 'cost",
        ),
        (
            "arm,cost:coarse\na,1\na,1\n",
            "arms[1] is 'a', as is arms[0]: names must be unique; check arms.csv line 3, column",
        ),
        (
            "arm,cost:coarse\na,1\n,1\n",
            "arms[1] is '': a name must be printable text and not blank; check arms.csv line 3",
        ),
        ("arm,cost:coarse\na,1\n", "arms gives 1 of them: there must be at least 2; check the [problem] table"),
    ],
)
def test_a_fault_names_the_file_its_line_and_column(write, arms, told):
    assert any(told in fault for fault in faults_of(write(arms)))


def test_what_the_bounds_and_means_contradict_is_found_by_its_line(write):
    arms = "arm,cost:coarse,bias_low:coarse,bias_high:coarse,mean:coarse,mean:fine\na,1,0.2,0.1,1,1\nb,1,0,0,3,2\n"
    told = faults_of(write(arms))
    assert told[0].endswith("check arms.csv line 2, column 'bias_low:coarse'")
    assert told[1].endswith("outside the bias bounds [0, 0]; check arms.csv line 3, column 'mean:coarse'")


def test_many_faults_are_counted(write):
    rows = "".join(f"a{n},x\n" for n in range(1000))
    told = faults_of(write(f"arm,cost:coarse\n{rows}"))
    assert len(told) == 11
    assert told[-1] == "arms.csv column 'cost:coarse' has 990 more cells with the same fault"
    assert len(faults_of(write("arm,cost:coarse\n" + "a,1\n" * 1000))) == 11


@pytest.mark.parametrize("name", ["none.csv", ".", "\0"])
def test_a_file_that_is_not_there_is_named(write, name):
    spec = SPEC.replace('"arms.csv"', '"\\u0000"' if name == "\0" else f'"{name}"')
    [told] = faults_of(write(spec=spec))
    assert "cannot be read: " in told


def test_a_file_that_is_not_text_is_refused(write, tmp_path):
    path = write()
    (tmp_path / "arms.csv").write_bytes(b"arm,cost:coarse\n\xff\xfe,1\n")
    [told] = faults_of(path)
    assert told.startswith("arms.csv cannot be read: it is not text in UTF-8")


# --- many arms


def test_a_hundred_thousand_arms_take_about_as_long_for_each_as_a_thousand(write):
    """Time for each arm: that of 100,000 may be ten times that of 1,000, where a square would be a hundred times."""

    def seconds(count):
        rows = "".join(f"design {n},{1 + n % 7},0.1\n" for n in range(count))
        path = write(f"arm,cost:coarse,bias:coarse\n{rows}")
        best = np.inf
        for _ in range(2):
            start = time.perf_counter()
            problem = load(path)
            best = min(best, time.perf_counter() - start)
        assert problem.n_arms == count
        return best

    assert seconds(100_000) / 100_000 < 10 * seconds(1000) / 1000
