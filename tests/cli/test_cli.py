"""The command line as a whole: help, version, instances, and how it ends."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

import mfbai
from support.commands import read_json

COMMANDS = [
    "demo",
    "instances",
    "pilot",
    "plan",
    "simulate",
    "reproduce",
    "oracle",
    "evidence",
    "serve",
    "warmup",
    "study",
]


pytestmark = pytest.mark.usefixtures("folder")


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


def test_the_shell_can_complete_commands(monkeypatch):
    """Each shell calls the command with what was typed so far."""
    monkeypatch.setenv("_MFBAI_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "mfbai study re")
    monkeypatch.setenv("COMP_CWORD", "2")
    script = "import sys; from mfbai.cli import main; sys.argv = ['mfbai']; main()"
    out = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False).stdout
    assert out.split() == ["release", "rename", "resume", "reopen", "report"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no device that is full")
def test_a_full_disk_is_reported_in_one_line():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "mfbai", "instances"], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert (done.returncode, done.stderr) == (2, "error: the output cannot be written: No space left on device\n")


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


# --- bad input


def test_an_unknown_command_is_refused_with_the_nearest(refuse):
    assert "'simulate'" in refuse("simulat", "paper-4x5")


def test_a_real_process_ends_with_2_and_no_traceback():
    done = subprocess.run(
        [sys.executable, "-m", "mfbai", "simulate", "paper4x5"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown instance")
    assert "Traceback" not in done.stderr
