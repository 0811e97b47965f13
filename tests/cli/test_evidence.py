"""mfbai evidence: what it prints and what it refuses."""

import json
import re
from pathlib import Path

import pytest

import mfbai
from support.commands import CSV, PROBLEM, TABLES, read_json

pytestmark = pytest.mark.usefixtures("folder")


def test_evidence_names_leader_rival_and_value(succeed):
    out = succeed("evidence", "problem.toml", "evaluations.csv")
    found = mfbai.evidence(mfbai.load("problem.toml"), **TABLES)
    assert re.search(rf"deep leads.* {found.value:.4g} .*'baseline'", out)
    assert [line.split()[0] for line in out.splitlines()[-4:]] == ["baseline", "wide", "deep", "Nothing"]


def test_evidence_says_how_certain_it_is_and_warns_of_wrong_bounds(succeed):
    Path("sure.json").write_text('{"counts": [[40, 0], [40, 9], [60, 9]], "means": [[0.8, 0], [0.8, 1.1], [1.4, 1.4]]}')
    out = " ".join(succeed("evidence", "problem.toml", "sure.json", "--delta", "0.01").split())
    assert "Bias alarm: 'coarse' is off by more than was stated for 'wide'" in out
    assert "Answering 'deep' now has a risk of " in out
    assert "true mean (99 %)" in out
    shown = read_json(succeed("evidence", "problem.toml", "sure.json", "--json"))
    assert shown["certified"] == "deep"
    assert shown["risk"] < 0.01
    assert [alarm["arm"] for alarm in shown["bias_alarms"]] == ["wide"]
    assert all(low < high for low, high in (shown["intervals"][0], shown["intervals"][2]))


def test_evidence_as_json_is_that_of_the_library(succeed):
    shown = read_json(succeed("evidence", "problem.toml", "tables.json", "--json"))
    found = mfbai.evidence(mfbai.load("problem.toml"), **TABLES)
    assert (shown["leader"], shown["challenger"], shown["value"]) == ("deep", "baseline", found.value)
    assert shown["matrix"][2][:2] == found.matrix[2, :2].tolist()
    assert [shown["matrix"][a][a] for a in range(3)] == [None] * 3


def test_single_evaluations_and_their_means_are_the_same_evidence(succeed):
    one, other = (
        read_json(succeed("evidence", "problem.toml", data, "--json")) for data in ("evaluations.csv", "tables.json")
    )
    assert one["value"] == pytest.approx(other["value"], rel=1e-12)


def test_tolerance_makes_evidence_easier_to_have(succeed):
    strict, loose = (
        read_json(succeed("evidence", "problem.toml", "evaluations.csv", "--json", "--tolerance", eps))["value"]
        for eps in (0, 0.1)
    )
    assert loose > strict


def test_an_instance_serves_as_its_problem(succeed):
    words = ("evaluations.csv", "--json")
    assert succeed("evidence", "instance.toml", *words) == succeed("evidence", "problem.toml", *words)


def test_a_cell_without_evaluations_needs_no_mean(folder, succeed):
    means = [[0.85, None], [0.7, None], [0.95, 1.05]]
    (folder / "sparse.json").write_text(json.dumps({**TABLES, "means": means}))
    sparse = succeed("evidence", "problem.toml", "sparse.json", "--json")
    assert sparse == succeed("evidence", "problem.toml", "tables.json", "--json")


def test_infinite_evidence_is_valid_json(folder, succeed):
    """Rewards in [0, 2]: no arm can be better by 2.5."""
    bounded = PROBLEM.replace('"gaussian"', '"subgaussian"').replace("variance = 0.01", "bounds = [0, 2]")
    (folder / "bounded.toml").write_text(bounded)
    read_json(succeed("evidence", "bounded.toml", "tables.json", "--tolerance", 2.5, "--json"))


def test_names_in_square_brackets_are_printed_as_they_are(folder, succeed):
    """Such names mean something to the library that prints the tables."""
    (folder / "names.toml").write_text(PROBLEM.replace('"deep"', '"[/b] [red]"'))
    assert "[/b] [red] leads" in succeed("evidence", "names.toml", "tables.json")


def test_a_mark_at_the_start_of_a_csv_file_is_ignored(folder, succeed):
    """Spreadsheets write one."""
    (folder / "marked.csv").write_bytes(b"\xef\xbb\xbf" + CSV.replace("\n", "\r\n").encode())
    marked = succeed("evidence", "problem.toml", "marked.csv")
    assert marked == succeed("evidence", "problem.toml", "evaluations.csv")


# --- bad input


BAD_DATA = {
    "no such file": ("none.csv", None, "none.csv cannot be read"),
    "no header": ("data.csv", "baseline,coarse,1\n", "no column 'arm' in its header, 'baseline,coarse,1'"),
    "an empty file": ("data.csv", "", "no column 'arm' in its header, '': give arm,fidelity,value"),
    "semicolons": ("data.csv", "arm;fidelity;value\n", "'arm;fidelity;value': give arm,fidelity,value"),
    "a column twice": ("data.csv", "arm,fidelity,value,value\nwide,coarse,1,2\n", "has two columns 'value'"),
    "a decimal comma": ("data.csv", "arm,fidelity,value\nwide,coarse,0,72\n", "line 2: has more fields than the first"),
    "an underscore": ("data.csv", "arm,fidelity,value\nwide,coarse,1_0\n", "the value is '1_0'"),
    "another script's digit": ("data.csv", "arm,fidelity,value\nwide,coarse,٣\n", "the value is '٣'"),
    "an unknown arm": (
        "data.csv",
        "arm,fidelity,value\nbasline,coarse,1\n",
        "line 2: unknown arm 'basline': did you mean",
    ),
    "an arm's number too large": ("data.csv", "arm,fidelity,value\n4,coarse,1\n", "line 2: unknown arm '4'"),
    "an odd digit": ("data.csv", "arm,fidelity,value\n²,coarse,1\n", "line 2: unknown arm '²'"),
    "an unknown fidelity": ("data.csv", "arm,fidelity,value\nwide,curse,1\n", "did you mean 'coarse'?"),
    "no value": ("data.csv", "arm,fidelity,value\nwide,coarse\n", "line 2: has no value"),
    "a value that is no number": ("data.csv", "arm,fidelity,value\nwide,coarse,high\n", "the value is 'high'"),
    "a value that is NaN": ("data.csv", "arm,fidelity,value\nwide,coarse,nan\n", "the value is nan"),
    "no JSON": ("data.json", "{", 'give {"counts": [[...]], "means": [[...]]}'),
    "no means": ("data.json", '{"counts": [[1, 1], [1, 1], [1, 1]]}', 'give {"counts": [[...]], "means": [[...]]}'),
    "counts of a wrong shape": (
        "data.json",
        '{"counts": [[1, 1]], "means": [[1, 1], [1, 1], [1, 1]]}',
        "counts has shape",
    ),
    "means of a wrong shape": (
        "data.json",
        '{"counts": [[1, 1], [1, 1], [1, 1]], "means": [[1, 1], [1, 1]]}',
        "means has shape",
    ),
    "a negative count": (
        "data.json",
        '{"counts": [[1, -1], [1, 1], [1, 1]], "means": [[1, 1], [1, 1], [1, 1]]}',
        "counts[0, 1]",
    ),
    "a missing mean": (
        "data.json",
        '{"counts": [[1, 1], [1, 1], [1, 1]], "means": [[1, null], [1, 1], [1, 1]]}',
        "means[0, 1]",
    ),
}


@pytest.mark.parametrize("case", BAD_DATA)
def test_bad_data_are_refused(case, folder, refuse):
    name, text, told = BAD_DATA[case]
    if text is not None:
        (folder / name).write_text(text)
    assert told in refuse("evidence", "problem.toml", name)


def test_all_faults_of_a_data_file_are_told_at_once(folder, refuse):
    (folder / "data.csv").write_text("arm,fidelity,value\nbasline,coarse,1\nwide,curse,high\n")
    err = refuse("evidence", "problem.toml", "data.csv")
    assert err.count("data.csv line") == 3


def test_a_negative_tolerance_is_refused(refuse):
    assert "tolerance is -1.0" in refuse("evidence", "problem.toml", "evaluations.csv", "--tolerance", "-1")


@pytest.mark.parametrize("name", ["symmetric", "bounded"])
def test_families_that_learn_are_judged_by_single_values(name, folder, succeed, refuse):
    text = PROBLEM.replace('"gaussian"', f'"{name}"').replace("variance = 0.01", "low = 0\nhigh = 2")
    (folder / "learns.toml").write_text(text)
    shown = read_json(succeed("evidence", "learns.toml", "evaluations.csv", "--json"))
    assert shown["leader"] == "deep"
    assert "the size of the noise" in refuse("evidence", "learns.toml", "tables.json")


def many_arms(count):
    """A spec file of so many arms, and counts and means, the later ones better."""
    Path("many.toml").write_text(PROBLEM.replace('arms = ["baseline", "wide", "deep"]', f"arms = {count}"))
    counts, means = [[1, 2]] * count, [[n / count, n / count] for n in range(count)]
    Path("many.json").write_text(json.dumps({"counts": counts, "means": means}))


def test_of_many_arms_the_leader_and_its_closest_rivals_are_shown(succeed):
    many_arms(2000)
    out = succeed("evidence", "many.toml", "many.json")
    shown = re.findall(r"^arm (\d+) ", out, flags=re.MULTILINE)
    assert len(shown) == 41  # the first line has the leader, too
    assert shown[0] == shown[1] == "2000"
    assert "and 1,960 arms with more evidence against them (--json has all)" in out


def test_json_has_the_evidence_of_the_leader_against_each_and_pairs_only_of_few(succeed):
    few = read_json(succeed("evidence", "problem.toml", "evaluations.csv", "--json"))
    leader = mfbai.load("problem.toml").arms.index(few["leader"])
    assert few["against"] == few["matrix"][leader]
    many_arms(1500)
    many = read_json(succeed("evidence", "many.toml", "many.json", "--json"))
    assert (len(many["against"]), many["matrix"]) == (1500, None)
