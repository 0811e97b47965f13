"""mfbai pilot."""

import json
import shlex
import signal
import sys

import pytest

import mfbai
from mfbai.model.spec import load
from support.interrupts import start, wait_until

SPEC = """
[problem]
arms = ["plain", "wide", "deep"]
[[fidelity]]
name = "coarse"
cost = 0.05
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "symmetric"
low = 0.0
high = 3.0
"""
EVALUATE = """
import random, sys
arm, fidelity, seed = sys.argv[1:]
own = random.Random(f"{arm} {seed}").gauss(0, 0.1)
off = random.Random(f"{arm} {fidelity} {seed}").gauss(0, 0.02)
print({"plain": 1.0, "wide": 1.1, "deep": 1.15}[arm] + own + (0.5 + off if fidelity == "coarse" else 0.0))
"""
COMMAND = f"{shlex.quote(sys.executable)} evaluate.py {{arm}} {{fidelity}} {{seed}}"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "designs.toml").write_text(SPEC)
    (tmp_path / "evaluate.py").write_text(EVALUATE)
    return tmp_path


def test_from_a_spec_without_biases_to_one_with_a_control(folder, succeed):
    out = succeed("pilot", "designs.toml", "--command", COMMAND, "--spec", "out.toml", "--plot", "pilot.png")
    assert out.startswith("Control 'fine' by 'coarse' with ")
    assert "The values are in designs-pilot.csv" in out
    assert out.endswith("Next: mfbai study create out.toml --name NAME --delta 0.05\n")
    assert "fine alone" in out
    assert load("out.toml").controls[1].by == 0
    assert (folder / "out.toml").read_text().startswith("# From a pilot of 8 seeds and 3 arms")
    assert (folder / "pilot.png").stat().st_size > 10_000


def test_a_small_pilot_says_how_to_go_on(folder, succeed):
    """It goes on as it says, with the values that it has."""
    out = succeed("pilot", "designs.toml", "--command", COMMAND, "--seeds", "2")
    assert out.startswith("Evaluate 6 more seeds ")
    assert out.endswith("Next: the same command with --seeds 8; what is evaluated stays.\n")
    out = succeed("pilot", "designs.toml", "--command", COMMAND, "--seeds", "8")
    assert out.startswith("Control ")
    assert out.endswith("Next: the same command with --spec FILE writes the problem to go on with.\n")


def test_what_is_printed_is_what_print_shows(folder, succeed):
    succeed("pilot", "designs.toml", "--command", COMMAND)
    out = succeed("pilot", "designs.toml", "--csv", "designs-pilot.csv")
    assert out.startswith(f"{mfbai.pilot('designs-pilot.csv', mfbai.load('designs.toml', ties=True))}\n\n")


@pytest.mark.parametrize("missing", ["{arm}", "{fidelity}", "{seed}"])
def test_a_program_that_is_not_told_what_to_evaluate_is_refused(folder, refuse, missing):
    err = refuse("pilot", "designs.toml", "--command", COMMAND.replace(missing, "1"))
    assert f"--command has no {missing}: the program would not know what to evaluate" in err
    assert "as in 'python evaluate.py {arm} {fidelity} {seed}'" in err
    assert (folder / "designs-pilot.csv").read_text() == "arm,fidelity,seed,value\n"


def test_the_values_can_be_analysed_again_in_other_ways(folder, succeed):
    succeed("pilot", "designs.toml", "--command", COMMAND, "--seeds", "4", "--arms", "plain,deep", "--csv", "v.csv")
    assert (folder / "v.csv").read_text().count("\n") == 17
    told = json.loads(
        succeed("pilot", "designs.toml", "--csv", "v.csv", "--spec", "b.toml", "--bounds", "0.01", "--json")
    )
    assert (told["seeds"], told["arms"]) == (4, ["plain", "deep"])
    assert told["spec"] == (folder / "b.toml").read_text()
    assert load("b.toml").charged == 0.01
    assert "wide" in succeed("pilot", "designs.toml", "--csv", "v.csv")


def test_an_interrupted_pilot_says_how_to_resume(folder, succeed):
    (folder / "slow.py").write_text(EVALUATE + "import time; time.sleep(600 * (fidelity == 'fine'))\n")
    slow = COMMAND.replace("evaluate.py", "slow.py")
    process = start("-m", "mfbai", "pilot", "designs.toml", "--command", slow)
    file = folder / "designs-pilot.csv"
    wait_until(lambda: file.exists() and file.read_text().count("\n") == 2)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130
    assert "values are kept in designs-pilot.csv; run the same command to resume" in err
    assert succeed("pilot", "designs.toml", "--command", COMMAND, "--seeds", "2")


def test_a_program_that_fails_ends_it(folder, refuse):
    (folder / "evaluate.py").write_text("raise SystemExit(3)")
    told = refuse("pilot", "designs.toml", "--command", COMMAND, "--retries", "0")
    assert "no value of 'plain' at 'coarse'" in told
    assert "the program ended with exit code 3" in told


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "--command is missing: give a program to evaluate with, or values that exist with --csv"),
        (["--csv", "none.csv"], "none.csv cannot be read: No such file or directory"),
        (["--command", COMMAND, "--seeds", "1"], "seeds is 1: give 2 or more"),
        (["--command", COMMAND, "--arms", "plian"], "did you mean 'plain'?"),
        (["--command", COMMAND, "--bounds", "0.01"], "--bounds says what to write: add --spec FILE"),
        (["--command", COMMAND, "--bounds", "1%", "--spec", "x.toml"], "--bounds is '1%': give a number such as 0.01"),
        (["--command", COMMAND, "--bounds", "2", "--spec", "x.toml"], "--bounds is 2.0: give a probability"),
        (["--command", COMMAND, "--spec", "no/x.toml"], "is in a folder that does not exist"),
        (["--command", COMMAND, "--spec", "designs.toml"], "--spec 'designs.toml' would replace the spec"),
        (["--csv", "v.csv", "--spec", "./v.csv"], "--spec 'v.csv' would replace the values: give another file"),
        (["--command", COMMAND, "--plot", "x.doc"], "name it as a picture"),
        (["--command", COMMAND, "--seeds", "2", "--variances", "0.01", "--spec", "x.toml"], "a pilot of 2 seeds says"),
        (["--csv", "v.csv", "--arms", "plain"], "--arms is given without a --command"),
        (["--command", COMMAND, "--workers", "0"], "--workers is 0: give 1 or more"),
    ],
)
def test_a_wrong_call_is_refused_before_any_work(folder, refuse, words, message):
    assert message in refuse("pilot", "designs.toml", *words)
    assert not (folder / "designs-pilot.csv").exists()


def test_a_family_that_states_variances_needs_a_level_for_that_of_the_control(folder, refuse):
    (folder / "designs.toml").write_text(SPEC.split("[family]")[0] + '[family]\nname = "gaussian"\nvariance = 0.01\n')
    told = refuse("pilot", "designs.toml", "--command", COMMAND, "--spec", "out.toml")
    assert "--variances is missing: the family states variances" in told


def test_a_family_without_sums_is_refused_before_any_work(folder, refuse):
    (folder / "designs.toml").write_text(SPEC.split("[family]")[0] + '[family]\nname = "bernoulli"\n')
    told = refuse("pilot", "designs.toml", "--command", COMMAND, "--spec", "out.toml")
    assert "[family] is bernoulli: values of a controlled fidelity are sums of others" in told
    assert "take bounded" in told
    assert not (folder / "designs-pilot.csv").exists()


def test_what_is_printed_is_for_the_levels_given(folder, succeed):
    (folder / "designs.toml").write_text(SPEC.split("[family]")[0] + '[family]\nname = "gaussian"\nvariance = 0.01\n')
    plain = succeed("pilot", "designs.toml", "--command", COMMAND)
    assert "If the variance of controlled values is stated, too" in plain
    limits = succeed("pilot", "designs.toml", "--csv", "designs-pilot.csv", "--spec", "out.toml", "--variances", "0.01")
    assert limits.startswith("Evaluate ")
    assert limits.splitlines()[0] in (folder / "out.toml").read_text()
    bounds = succeed("pilot", "designs.toml", "--csv", "designs-pilot.csv", "--spec", "out.toml", "--bounds", "0.01")
    assert bounds.startswith("Go on with the bias intervals of the pilot.")
    assert "A verdict at a risk of delta has a risk of delta + 0.01." in bounds
