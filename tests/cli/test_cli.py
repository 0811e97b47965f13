"""The command line: what it prints, what it refuses and how it ends."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

import mfbai
from mfbai.cli import main
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES

COMMANDS = ["demo", "instances", "plan", "simulate", "reproduce", "oracle", "evidence", "serve", "study"]
RECORD = [
    "instance",
    "strategy",
    "stopping",
    "delta",
    "runs",
    "seed",
    "mean_cost",
    "cost_ci95",
    "median_cost",
    "error_rate",
    "mean_steps",
    "stopped",
    "seconds",
]
PROBLEM = """
[problem]
arms = ["baseline", "wide", "deep"]
[[fidelity]]
name = "coarse"
cost = 0.05
bias = 0.03
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
TRUTH = """
[truth]
means = [[0.84, 0.85], [0.82, 0.84], [0.96, 0.98]]
"""
CSV = """arm,fidelity,value
baseline,coarse,0.8
baseline,1,0.9
2,coarse,0.7
deep,coarse,0.95
3,fine,1.0
deep,2,1.1
"""
TABLES = {"counts": [[2, 0], [1, 0], [1, 2]], "means": [[0.85, 0], [0.7, 0], [0.95, 1.05]]}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with a problem, an instance and data, and a terminal's usual width."""
    (tmp_path / "problem.toml").write_text(PROBLEM)
    (tmp_path / "instance.toml").write_text(PROBLEM + TRUTH)
    (tmp_path / "evaluations.csv").write_text(CSV)
    (tmp_path / "tables.json").write_text(json.dumps(TABLES))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))  # other processes run this package, from any folder
    return tmp_path


def read_json(text):
    """The value; NaN and Infinity, which JSON does not have, are refused."""
    return json.loads(text, parse_constant=pytest.fail)


# --- help and version


def test_help_lists_every_command_in_full(succeed):
    out = succeed("--help")
    listed = re.findall(r"^  (\w+)  +\S.*$", out.partition("Commands:")[2], flags=re.MULTILINE)
    assert listed == COMMANDS
    assert "..." not in out.partition("Commands:")[2]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_of_a_command_fits_and_has_an_example(command, succeed):
    out = succeed(command, "--help")
    assert f"Example: mfbai {command}" in out
    assert max(map(len, out.splitlines())) <= 80


@pytest.mark.parametrize("command", ["instances", "plan", "simulate", "oracle", "evidence"])
def test_the_example_in_the_help_runs(command, succeed):
    paragraph = re.search(r"Example: (mfbai.*?)\n\n", succeed(command, "--help"), flags=re.DOTALL)
    assert succeed(*shlex.split(paragraph[1])[1:])


def test_version(succeed):
    assert succeed("--version") == f"mfbai {mfbai.__version__}\n"


def test_without_a_command_the_help_is_shown(mfbai_command):
    code, out, err = mfbai_command()
    assert code in (0, 2)
    assert "Commands:" in out + err


def test_help_imports_neither_numpy_nor_numba():
    """They take most of a second, and help should be instant."""
    script = (
        "import runpy, sys\n"
        "sys.argv = ['mfbai', '--help']\n"
        "try: runpy.run_module('mfbai', run_name='__main__')\n"
        "except SystemExit: pass\n"
        "print(sorted({'numpy', 'numba', 'pandas', 'rich'} & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert out.splitlines()[-1] == "[]"


# --- instances


def test_instances_lists_the_catalogue(succeed):
    out = succeed("instances")
    for name in ("paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3", "lucb-trap", "nonsparse-3x2"):
        assert re.search(rf"^{name} ", out, flags=re.MULTILINE)


def test_instances_as_json(succeed):
    found = {row["name"]: row for row in read_json(succeed("instances", "--json"))}
    assert len(found) == 6
    row = found["paper-5x2"]
    assert (row["arms"], row["fidelities"], row["family"]) == (5, 2, "gaussian")


# --- simulate


def simulated(succeed, *words):
    return read_json(succeed("simulate", *words, "--json"))


def test_records_have_exactly_the_documented_fields(succeed):
    (record,) = simulated(succeed, "paper-4x5", "--runs", 20, "--seed", 4)
    assert list(record) == RECORD
    given = ("paper-4x5", "mf-grad", "e-process", 0.01, 20, 4)
    assert tuple(record[key] for key in RECORD[:6]) == given
    assert record["stopped"] == 1


def test_records_are_those_of_the_library(succeed):
    (record,) = simulated(succeed, "paper-4x5", "--runs", 20)
    (same,) = mfbai.simulate("paper-4x5", runs=20).records()
    assert {**record, "seconds": 0} == {**same, "seconds": 0}


def test_one_run_has_no_interval(succeed):
    (record,) = simulated(succeed, "paper-4x5", "--runs", 1)
    assert record["cost_ci95"] is None


def test_several_strategies_and_deltas_give_a_record_each(succeed):
    words = ("--strategy", "mf-grad", "--strategy", "grad", "--delta", "0.1,0.01", "--delta", "0.001", "--runs", 20)
    records = simulated(succeed, "paper-4x5", *words)
    pairs = [(record["strategy"], record["delta"]) for record in records]
    assert pairs == [(name, delta) for name in ("mf-grad", "grad") for delta in (0.1, 0.01, 0.001)]
    costs = [record["mean_cost"] for record in records]
    assert costs[:3] == sorted(costs[:3])


def test_the_table_has_a_row_for_each_record(succeed):
    out = succeed("simulate", "paper-4x5", "--strategy", "mf-grad", "--strategy", "grad", "--runs", 20)
    title, header, *rows = out.splitlines()
    assert "paper-4x5" in title
    assert "20 runs" in title
    assert "arm 4" in title
    assert "mean cost" in header
    assert [row.split()[0] for row in rows] == ["mf-grad", "grad"]


def test_a_file_with_a_truth_is_simulated_under_its_name(succeed):
    (record,) = simulated(succeed, "instance.toml", "--runs", 20)
    assert record["instance"] == "instance"


def test_variance_replaces_that_of_the_instance(succeed):
    (given,) = simulated(succeed, "paper-4x5", "--runs", 50, "--variance", 0.01)
    (small,) = simulated(succeed, "paper-4x5", "--runs", 50, "--variance", 0.003)
    (default,) = simulated(succeed, "paper-4x5", "--runs", 50)
    assert given["mean_cost"] == default["mean_cost"]
    assert small["mean_cost"] < given["mean_cost"]


def test_set_reaches_the_strategy(succeed):
    """The constant-rate variant is the theory's algorithm with one option changed."""
    (changed,) = simulated(succeed, "paper-4x5", "--runs", 20, "--set", "rate=0.25")
    (named,) = simulated(succeed, "paper-4x5", "--runs", 20, "--strategy", "mf-grad-const")
    assert changed["mean_cost"] == named["mean_cost"]


def test_set_reaches_the_stopping_rule(succeed):
    words = ("paper-4x5", "--runs", 10, "--stopping", "theorem", "--set")
    (low,) = simulated(succeed, *words, "constant=0")
    (high,) = simulated(succeed, *words, "constant=2")
    assert low["mean_cost"] < high["mean_cost"]


def test_set_goes_to_those_strategies_that_have_the_option(succeed):
    words = ("--strategy", "mf-grad", "--strategy", "uniform", "--runs", 5, "--set", "rate=0.25")
    first, second = simulated(succeed, "paper-4x5", *words)
    (alone,) = simulated(succeed, "paper-4x5", "--strategy", "uniform", "--runs", 5)
    assert second["mean_cost"] == alone["mean_cost"]
    assert first["strategy"] == "mf-grad"


def test_max_steps_gives_runs_up(succeed):
    """At 300 evaluations some runs of the instance have stopped, and some have not."""
    (record,) = simulated(succeed, "paper-4x5", "--runs", 50, "--max-steps", 300)
    assert 0 < record["stopped"] < 1
    assert record["mean_steps"] <= 300


def test_nothing_but_the_result_is_printed_in_a_pipe():
    """No progress bar, no warning."""
    command = [sys.executable, "-W", "error", "-m", "mfbai", "simulate", "paper-4x5", "--runs", "200"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert "\x1b" not in done.stdout
    assert len(done.stdout.splitlines()) == 3


# --- Ctrl-C


def interrupt(*words, when):
    """Start a simulation with a terminal for its progress bar, press Ctrl-C when that shows `when`."""
    bar, terminal = pty.openpty()
    command = [sys.executable, "-m", "mfbai", "simulate", *words]
    # A background job, as in some CI, starts with the signal ignored, and so do its children.
    heed = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=terminal, text=True, preexec_fn=heed) as process:
        os.close(terminal)
        shown = b""
        while not re.search(when, shown):
            shown += os.read(bar, 1 << 16)
        begun = time.monotonic()
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        code = process.wait(timeout=60)
        took = time.monotonic() - begun
    return code, out, shown.decode() + drained(bar), took


def drained(terminal):
    """What is left to read from a terminal whose other end is closed."""
    parts = []
    try:
        while part := os.read(terminal, 1 << 16):
            parts.append(part)
    except OSError:  # how Linux reports the end
        pass
    os.close(terminal)
    return b"".join(parts).decode()


def test_ctrl_c_prints_what_is_done_and_ends_with_130(succeed):
    succeed("simulate", "paper-4x5", "--runs", 1)  # compiled before the clock starts
    code, out, err, took = interrupt("paper-4x5", "--runs", "3000000", "--json", when=rb"[1-9]\d*/3000000")
    (record,) = read_json(out)
    assert code == 130
    assert 0 < record["runs"] < 3_000_000
    assert f"interrupted: {record['runs']} of 3000000 runs" in err
    assert "Traceback" not in err
    assert took < 10


def test_ctrl_c_keeps_the_strategies_that_are_finished(monkeypatch, capsys):
    """Interrupted while the second strategy compiles: the first is printed."""
    real = mfbai.simulation.simulate

    def stopped_at_grad(instance, strategy, *rest):
        if strategy == "grad":
            raise KeyboardInterrupt
        return real(instance, strategy, *rest)

    monkeypatch.setattr("mfbai.simulation.simulate", stopped_at_grad)
    monkeypatch.setattr(
        sys, "argv", ["mfbai", "simulate", "paper-4x5", "--runs", "5", "--strategy", "uniform", "--strategy", "grad"]
    )
    with pytest.raises(SystemExit) as ended:
        main()
    out, err = capsys.readouterr()
    assert ended.value.code == 130
    assert "uniform" in out
    assert "5 of 5 runs of uniform" in err


def test_help_names_every_strategy_and_rule():
    help_text = subprocess.run(
        [sys.executable, "-m", "mfbai", "simulate", "--help"], capture_output=True, text=True, check=True
    ).stdout
    named = set(re.findall(r"[a-z][a-z-]*[a-z]", re.sub(r"-\n\s+", "-", help_text)))  # lines are broken at hyphens
    assert named >= {*STRATEGIES, *RULES}


def test_ctrl_c_before_any_run_is_finished_ends_with_130():
    """The noise is such that no run ever ends."""
    code, out, err, took = interrupt("paper-4x5", "--runs", "4", "--variance", "1e9", when=rb"0/4")
    assert (code, out) == (130, "")
    assert "Traceback" not in err
    assert took < 10


# --- evidence


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


BAD_SPECS = {  # what is replaced by what, and what is told about it
    "a row too many": (["[[0.84,", "[[0.8, 0.8], [0.84,"], "means has shape (4, 2)"),
    "rows of different lengths": (["[0.82, 0.84]", "[0.82]"], "means has rows of different lengths"),
    "costs for too few arms": (["cost = 0.05", "cost = [0.05, 0.1]"], '"coarse" has cost [0.05, 0.1]'),
    "a negative cost": (["cost = 0.05", "cost = -0.05"], "costs[0] is -0.05: a cost must be positive"),
    "a cost of NaN": (["cost = 0.05", "cost = nan"], "costs[0] is nan: give a finite number"),
    "a bias at the top": (["5.0", "5.0\nbias = 0.1"], "biases[1] is 0.1: the last fidelity is the true one"),
    "a mean outside the family": (
        ['"gaussian"\nvariance = 0.01', '"bernoulli"', "[0.96, 0.98]", "[0.98, 1.01]"],
        "means[2, 1] is 1.01: a mean of this bernoulli family must be in [0, 1]",
    ),
    "a mean outside the bias bounds": (["[0.96, 0.98]", "[0.86, 0.98]"], "outside the bias bounds [-0.03, 0.03]"),
    "a tie at the top": (["[0.96, 0.98]", "[0.86, 0.85]"], "tie at the top fidelity; the best arm must be unique"),
    "an unknown family": (['"gaussian"', '"gausian"'], "did you mean 'gaussian'?"),
    "an unknown entry": (["variance", "varience"], "did you mean 'variance'?"),
    "an unknown direction": (["[problem]", '[problem]\ndirection = "minimize"'], "did you mean 'minimise'?"),
    "no TOML": (["[problem]", "[problem"], "is not TOML"),
}


@pytest.mark.parametrize("case", BAD_SPECS)
def test_a_bad_spec_is_refused(case, folder, refuse):
    edits, told = BAD_SPECS[case]
    text = PROBLEM + TRUTH
    for old, new in zip(edits[::2], edits[1::2], strict=True):
        text = text.replace(old, new)
    (folder / "bad.toml").write_text(text)
    assert told in refuse("simulate", "bad.toml")


BAD_CALLS = {
    "an unknown instance": (["paper4x5"], "unknown instance 'paper4x5': did you mean 'paper-4x5'?"),
    "a file that is not there": (["instence.toml"], "does not exist: did you mean 'instance.toml'?"),
    "a problem without a truth": (["problem.toml"], "add a [truth] table"),
    "an unknown strategy": (["paper-4x5", "--strategy", "mf-gard"], "did you mean 'mf-grad'?"),
    "an unknown rule": (["paper-4x5", "--stopping", "stylized"], "did you mean 'stylised'?"),
    "an unknown setting": (["paper-4x5", "--set", "rte=1"], "did you mean 'rate'?"),
    "a setting where there are none": (["paper-4x5", "--strategy", "uniform", "--set", "rate=1"], "no 'rate'"),
    "a setting without a value": (["paper-4x5", "--set", "rate"], "give KEY=VALUE"),
    "a setting that is no number": (["paper-4x5", "--set", "rate=fast"], "rate is 'fast': give a number"),
    "a negative rate": (["paper-4x5", "--set", "rate=-1"], "rate is -1.0"),
    "no constant for the theorem": (["paper-4x5", "--stopping", "theorem"], "constant is None"),
    "delta 0": (["paper-4x5", "--delta", "0"], "a risk must lie strictly between 0 and 1"),
    "delta 1": (["paper-4x5", "--delta", "0.1,1"], "delta[1] is 1.0"),
    "delta NaN": (["paper-4x5", "--delta", "nan"], "delta[0] is nan"),
    "delta that is no number": (["paper-4x5", "--delta", "small"], "delta is 'small': give a number"),
    "no runs": (["paper-4x5", "--runs", "0"], "runs is 0"),
    "runs that are no number": (["paper-4x5", "--runs", "many"], "--runs"),
    "a negative seed": (["paper-4x5", "--seed", "-1"], "seed is -1"),
    "no steps": (["paper-4x5", "--max-steps", "0"], "max_steps is 0"),
    "no workers": (["paper-4x5", "--workers", "0"], "workers is 0"),
    "a negative variance": (["paper-4x5", "--variance", "-1"], "a variance must be positive"),
    "an unknown option": (["paper-4x5", "--stratgy", "grad"], "--strategy"),
    "no instance": ([], "instance"),
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_a_bad_simulation_is_refused(case, refuse):
    words, told = BAD_CALLS[case]
    assert told in refuse("simulate", *words)


def test_all_faults_of_a_call_are_told_at_once(folder, refuse):
    """Those of the file and those of the options."""
    text = (PROBLEM + TRUTH).replace("0.05", "-1").replace("gaussian", "gausian").replace("[0.96,", "[0.86,")
    (folder / "bad.toml").write_text(text)
    err = refuse("simulate", "bad.toml", "--strategy", "grat", "--delta", "2", "--runs", "0", "--seed", "-1")
    for told in ("costs[0]", "'gaussian'", "means[2, 0]", "'grad'", "delta[0]", "runs", "seed", "7 faults"):
        assert told in err


BAD_DATA = {
    "no such file": ("none.csv", None, "none.csv cannot be read"),
    "no header": ("data.csv", "baseline,coarse,1\n", "has no header arm,fidelity,value"),
    "an unknown arm": (
        "data.csv",
        "arm,fidelity,value\nbasline,coarse,1\n",
        "line 2: unknown arm 'basline': did you mean",
    ),
    "an arm's number too large": ("data.csv", "arm,fidelity,value\n4,coarse,1\n", "line 2: unknown arm '4'"),
    "an odd digit": ("data.csv", "arm,fidelity,value\n²,coarse,1\n", "line 2: unknown arm '²'"),
    "an unknown fidelity": ("data.csv", "arm,fidelity,value\nwide,curse,1\n", "did you mean 'coarse'?"),
    "no value": ("data.csv", "arm,fidelity,value\nwide,coarse\n", "line 2: the value is"),
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


def test_an_unknown_command_is_refused_with_the_nearest(refuse):
    assert "'simulate'" in refuse("simulat", "paper-4x5")


def test_a_real_process_ends_with_2_and_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "mfbai", "simulate", "paper4x5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown instance")
    assert "Traceback" not in done.stderr
