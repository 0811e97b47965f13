"""The command line as a whole: help, version, completion, refusals; and the small commands."""

import re
import shlex
import subprocess
import sys

import pytest

import mfbai
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES
from support.commands import PROBLEM, TRUTH, read_json

pytestmark = pytest.mark.usefixtures("folder")
COMMANDS = ["demo", "instances", "plan", "simulate", "reproduce", "oracle", "evidence", "serve", "study"]


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


def test_help_names_every_strategy_and_rule():
    """The help is written by hand, as it must not import them."""
    help_text = subprocess.run(
        [sys.executable, "-m", "mfbai", "simulate", "--help"], capture_output=True, text=True, check=True
    ).stdout
    named = set(re.findall(r"[a-z][a-z-]*[a-z]", re.sub(r"-\n\s+", "-", help_text)))  # lines are broken at hyphens
    assert named >= {*STRATEGIES, *RULES}


def test_the_shell_can_complete_commands(monkeypatch):
    """Each shell calls the command with what was typed so far."""
    monkeypatch.setenv("_MFBAI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mfbai study re")
    monkeypatch.setenv("COMP_CWORD", "2")
    script = "import sys; from mfbai.cli import main; sys.argv = ['mfbai']; main()"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout
    assert out.split() == ["release"]


def test_help_says_how_to_install_completion(succeed):
    assert "--install-completion" in succeed("--help")


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


# --- the demo


def test_the_demo_tells_answer_risk_cost_and_saving(succeed):
    out = succeed("demo")
    assert "mfbai serve --demo" in out.splitlines()[-1]
    assert re.search(r"best arm is arm 4", out)
    assert re.search(r"risk .*1 ?%", out)
    assert re.search(r"cost \d", out)
    assert re.search(r"\d+ ?% saved|saved \d+ ?%", out)
    assert "\x1b" not in out


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


def test_all_faults_of_a_call_are_told_at_once(folder, refuse):
    """Those of the file and those of the options."""
    text = (PROBLEM + TRUTH).replace("0.05", "-1").replace("gaussian", "gausian").replace("[0.96,", "[0.86,")
    (folder / "bad.toml").write_text(text)
    err = refuse("simulate", "bad.toml", "--strategy", "grat", "--delta", "2", "--runs", "0", "--seed", "-1")
    for told in ("costs[0]", "'gaussian'", "means[2, 0]", "'grad'", "delta[0]", "runs", "seed", "7 faults"):
        assert told in err


def test_an_unknown_command_is_refused_with_the_nearest(refuse):
    assert "'simulate'" in refuse("simulat", "paper-4x5")


def test_a_real_process_ends_with_2_and_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "mfbai", "simulate", "paper4x5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown instance")
    assert "Traceback" not in done.stderr
