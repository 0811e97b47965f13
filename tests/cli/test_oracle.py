"""mfbai oracle: what it prints, and what it refuses."""

import io
import json
import subprocess
import sys

import pytest
from rich.console import Console

import mfbai
from mfbai.cli.oracle import table_of

TIED = """
[problem]
arms = ["left", "right"]
[[fidelity]]
cost = 1.0
[family]
name = "gaussian"
variance = 1.0
[truth]
means = [[0.5], [0.5]]
"""


def run(*words, code=0):
    done = subprocess.run(
        [sys.executable, "-m", "mfbai", "oracle", *words], capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done.stdout if code == 0 else done.stderr


def test_the_json_has_what_programs_need():
    """Keys as documented; numbers as the library's, in full precision."""
    told = json.loads(run("paper-5x2", "--json", "--delta", "0.01", "1e-10"))
    found = mfbai.oracle("paper-5x2")
    keys = "instance best_arm tolerance cost_complexity gap unique assumes_normal weights pulls lower_bound"
    assert list(told) == keys.split()
    assert (told["instance"], told["best_arm"], told["unique"]) == ("paper-5x2", "arm 5", True)
    assert told["cost_complexity"] == found.cost_complexity
    assert told["weights"] == found.weights.tolist()
    assert told["pulls"] == found.pulls.tolist()
    assert told["lower_bound"] == {"0.01": found.lower_bound(0.01), "1e-10": found.lower_bound(1e-10)}


def test_the_variance_can_be_replaced():
    assert json.loads(run("paper-4x5", "--variance", "0.1", "--json"))["cost_complexity"] == pytest.approx(19.98528)


def test_the_table_names_the_fidelity_each_arm_should_use():
    lines = run("nonsparse-3x2").splitlines()
    assert any(
        line.startswith("arm 1") and line.endswith("fidelity 1 and fidelity 2") for line in map(str.rstrip, lines)
    )
    assert any(line.startswith("C* = 47.75072") for line in lines)


def test_unused_cells_are_dimmed():
    """On a terminal that can: the escape code of faint text stands before each 0."""
    instance = mfbai.load("nonsparse-3x2")
    out = Console(force_terminal=True, color_system="standard", width=100, file=io.StringIO())
    out.print(table_of(instance, mfbai.oracle(instance)))
    assert out.file.getvalue().count("\x1b[2m0\x1b[0m") == 2


def test_a_large_table_is_cut_and_says_so(tmp_path):
    """40 arms by 9 fidelities: some of each are shown, the others counted."""
    file = tmp_path / "large.toml"
    file.write_text(mfbai.dumps(mfbai.random_instance(40, 9, seed=1)))
    told = run(str(file))
    assert "10 arms" in told
    assert "2 fidelities" in told
    assert max(map(len, told.splitlines())) <= 140


def test_several_optima_are_told(tmp_path):
    text = TIED.replace("[[0.5], [0.5]]", "[[0.5, 0.5], [0.7, 0.7]]")
    file = tmp_path / "same.toml"
    file.write_text(text.replace("[[fidelity]]", "[[fidelity]]\ncost = 1.0\nbias = 0.0\n[[fidelity]]", 1))
    assert "one of several" in run(str(file))


def test_tied_arms_need_a_tolerance(tmp_path):
    file = tmp_path / "tied.toml"
    file.write_text(TIED)
    assert "arms 'left' and 'right' tie" in run(str(file), code=2)
    assert "C* = 800, certified" in run(str(file), "--tolerance", "0.1")


def test_a_tolerance_that_makes_all_arms_good_needs_no_evaluations(tmp_path):
    file = tmp_path / "coins.toml"
    text = TIED.replace('"gaussian"\nvariance = 1.0', '"bernoulli"')
    file.write_text(text)
    assert "nothing needs to be evaluated" in run(str(file), "--tolerance", "1")
    assert json.loads(run(str(file), "--tolerance", "1", "--json"))["cost_complexity"] == 0


def test_all_faults_of_a_call_are_told_at_once():
    told = run("paper-4x6", "--delta", "2,abc", "--tolerance", "-1", code=2)
    assert all(
        word in told for word in ("4 faults", "paper-4x5", "delta is 'abc'", "delta[0] is 2.0", "tolerance is -1.0")
    )


def test_the_smallest_risk_has_a_finite_bound():
    told = json.loads(run("lucb-trap", "--delta", "1e-320", "--json"), parse_constant=pytest.fail)
    assert told["lower_bound"]["1e-320"] == pytest.approx(4000 * 735.96, rel=1e-4)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["paper-4x6"], "did you mean 'paper-4x5'?"),
        (["paper-4x5", "--delta", "2"], "delta[0] is 2.0: a risk must lie strictly between 0 and 1"),
        (["paper-4x5", "--delta", "x"], "delta is 'x': give a number such as 0.05"),
        (["paper-4x5", "--tolerance", "-1"], "tolerance is -1.0: it must be 0 or more"),
        (["lucb-trap", "--variance", "-1"], "a variance must be positive"),
    ],
)
def test_bad_input_is_refused_with_what_to_do(words, told):
    assert told in run(*words, code=2)


def test_means_outside_their_bias_bounds_are_refused(tmp_path):
    file = tmp_path / "biased.toml"
    text = TIED.replace("[[0.5], [0.5]]", "[[0.5, 0.5], [0.9, 0.7]]")
    file.write_text(text.replace("[[fidelity]]", "[[fidelity]]\ncost = 0.1\nbias = 0.1\n[[fidelity]]", 1))
    assert "outside the bias bounds [-0.1, 0.1]" in run(str(file), code=2)


def test_the_bound_of_a_family_that_learns_says_what_it_assumes(tmp_path):
    learns = TIED.replace('"gaussian"\nvariance = 1.0', '"symmetric"\nlow = 0\nhigh = 1').replace(
        "[0.5]]", "[0.6]]\ndeviation = 0.1"
    )
    (tmp_path / "learns.toml").write_text(learns)
    (tmp_path / "known.toml").write_text(TIED.replace("variance = 1.0", "variance = 0.01").replace("[0.5]]", "[0.6]]"))
    assert "that of normal noise whose deviation is known" in run(str(tmp_path / "learns.toml"))
    one, other = (json.loads(run(str(tmp_path / f"{name}.toml"), "--json")) for name in ("learns", "known"))
    assert one["cost_complexity"] == pytest.approx(other["cost_complexity"])
    assert (one["assumes_normal"], other["assumes_normal"]) == (True, False)
