"""mfbai simulate: what it prints, what it refuses and how it ends."""

import os
import pty
import re
import signal
import subprocess
import sys

import pytest

import mfbai
import mfbai.simulation
from mfbai.cli import main
from support.commands import PROBLEM, TRUTH, read_json
from support.interrupts import start

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


pytestmark = pytest.mark.usefixtures("folder")


def simulated(succeed, *words):
    return read_json(succeed("simulate", *words, "--json"))


def test_records_have_exactly_the_documented_fields(succeed):
    (record,) = simulated(succeed, "paper-4x5", "--runs", 20, "--seed", 4)
    assert list(record) == RECORD
    given = ("paper-4x5", "race", "contrasts", 0.01, 20, 4)
    assert tuple(record[key] for key in RECORD[:6]) == given
    assert record["stopped"] == 1


def test_records_are_those_of_the_library(succeed):
    (record,) = simulated(succeed, "paper-4x5", "--runs", 20)
    (same,) = mfbai.simulate("paper-4x5", runs=20).records()
    assert {**record, "seconds": 0} == {**same, "seconds": 0}


def test_seeds_replace_those_of_the_instance(succeed, refuse):
    words = ("paper-5x2", "--strategy", "race", "--stopping", "contrasts", "--seeds", "common", "--runs", 10)
    (record,) = simulated(succeed, *words)
    (same,) = mfbai.simulate("paper-5x2", "race", runs=10, stopping="contrasts", seeds="common").records()
    assert {**record, "seconds": 0} == {**same, "seconds": 0}
    assert "10 runs, seed 0, contrasts, common seeds" in succeed("simulate", *words)
    assert "seeds is 'comon': did you mean 'common'?" in refuse("simulate", "paper-5x2", "--seeds", "comon")


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
    (changed,) = simulated(succeed, "paper-4x5", "--runs", 20, "--strategy", "mf-grad", "--set", "rate=0.25")
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
    with start("-m", "mfbai", "simulate", *words, stdout=subprocess.PIPE, stderr=terminal) as process:
        os.close(terminal)
        shown = b""
        while not re.search(when, shown):
            shown += os.read(bar, 1 << 16)
        process.send_signal(signal.SIGINT)
        out = process.stdout.read()
        code = process.wait()
    return code, out, shown.decode() + drained(bar)


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


def test_ctrl_c_prints_what_is_done_and_ends_with_130():
    code, out, err = interrupt("paper-4x5", "--runs", "3000000", "--json", when=rb"[1-9]\d*/3000000")
    (record,) = read_json(out)
    assert code == 130
    assert 0 < record["runs"] < 3_000_000
    assert f"interrupted: {record['runs']} of 3000000 runs" in err
    assert "Traceback" not in err


def test_ctrl_c_keeps_the_strategies_that_are_finished(monkeypatch, capsys):
    """Interrupted while the second strategy compiles: the first is printed."""
    real = mfbai.simulation.simulate

    def stopped_at_grad(instance, strategy, *rest, **about):
        if strategy == "grad":
            raise KeyboardInterrupt
        return real(instance, strategy, *rest, **about)

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


def test_ctrl_c_before_any_run_is_finished_ends_with_130():
    """The noise is such that no run ever ends."""
    code, out, err = interrupt("paper-4x5", "--runs", "4", "--variance", "1e9", when=rb"0/4")
    assert (code, out) == (130, "")
    assert "Traceback" not in err


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
    "an unknown setting": (["paper-4x5", "--strategy", "mf-grad", "--set", "rte=1"], "did you mean 'rate'?"),
    "a setting where there are none": (["paper-4x5", "--strategy", "uniform", "--set", "rate=1"], "no 'rate'"),
    "a setting without a value": (["paper-4x5", "--set", "rate"], "give KEY=VALUE"),
    "a setting that is no number": (["paper-4x5", "--set", "rate=fast"], "rate is 'fast': give a number"),
    "a negative rate": (["paper-4x5", "--strategy", "mf-grad", "--set", "rate=-1"], "rate is -1.0"),
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
