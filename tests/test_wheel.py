"""The wheel, installed in an empty environment: what it ships is found, and nothing is compiled.

It is built for one family here; `make wheel` builds it for all, and runs these tests on it.
"""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from mfbai.kernels.machine import kind_of_machine
from mfbai.warmup import EXAMPLES

ROOT = Path(__file__).parents[1]
GIVEN = os.environ.get("MFBAI_WHEEL")  # the path of one that has all families
FAMILIES = list(EXAMPLES) if GIVEN else ["gaussian"]

pytestmark = pytest.mark.skipif(kind_of_machine() is None, reason="wheels have compiled code for x86-64 alone")


def call(*command, **more):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False, **more)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    if GIVEN:
        return Path(GIVEN).absolute()
    out = tmp_path_factory.mktemp("dist")
    limits = ["--families", *FAMILIES, "--processors", kind_of_machine().processor]
    call(sys.executable, ROOT / "tools" / "wheel.py", "--out", out, *limits)
    [built] = out.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory):
    """Runs Python code or a command there, where numba cannot be imported; returns what is printed."""
    folder = tmp_path_factory.mktemp("installed")
    call(sys.executable, "-m", "venv", folder / "venv")
    call(folder / "venv/bin/pip", "install", "--quiet", "--disable-pip-version-check", f"mfbai[web] @ {wheel.as_uri()}")
    blocked, cache = folder / "blocked", folder / "cache"
    blocked.mkdir()
    (blocked / "numba.py").write_text("raise ImportError('something is compiled')")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV"))}
    env = {**clean, "PYTHONPATH": str(blocked), "NUMBA_CACHE_DIR": str(cache)}

    def run(program, *words):
        told = call(folder / "venv/bin" / program, *words, env=env, cwd=folder)
        assert not list(cache.rglob("*.part"))
        return told

    return run


@pytest.mark.parametrize("name", FAMILIES)
def test_all_that_can_be_done_with_a_family_is_compiled(installed, name):
    installed("python", "-c", f"from mfbai.warmup import exercise; exercise({name!r})")


@pytest.mark.parametrize("strategy", ["race", "frugal", "mf-grad", "iise", "lucb", "track-and-stop", "oracle"])
def test_simulations_run_at_once(installed, strategy):
    assert "paper-4x5" in installed("mfbai", "simulate", "paper-4x5", "--strategy", strategy, "--runs", "20")


@pytest.mark.parametrize("command", ["oracle paper-4x5", "plan paper-4x5", "demo", "instances", "warmup --help"])
def test_commands_run_at_once(installed, command):
    assert installed("mfbai", *command.split())


def test_a_study_comes_to_its_verdict_and_certificate(installed):
    installed("mfbai", "study", "create", "paper-4x5", "--name", "one", "--delta", "0.05")
    program = "import sys; print({'arm 1': .3, 'arm 2': .4, 'arm 3': .5, 'arm 4': .9}[sys.argv[1]])"
    installed("mfbai", "study", "run", "one", "--command", f"{sys.executable} -c {shlex.quote(program)} {{arm}}")
    assert "arm 4" in installed("mfbai", "study", "status", "one")
    installed("mfbai", "study", "export", "one", "--out", "certificate.json")
    assert "arm 4" in installed("mfbai", "study", "verify", "certificate.json")
    installed("mfbai", "study", "report", "one", "--out", "report.html")
    assert "arm 4" in installed("mfbai", "study", "verify", "report.html")
