"""mfbai demo, as people start it: a process of its own, with and without a terminal."""

import os
import pty
import re
import subprocess
import sys

import pytest

DEMO = [sys.executable, "-m", "mfbai", "demo"]


def in_a_terminal(command):
    """All that a command writes to its terminal, until it ends; and its exit code."""
    screen, terminal = pty.openpty()
    with subprocess.Popen(command, stdin=terminal, stdout=terminal, stderr=terminal) as process:
        os.close(terminal)
        written = b""
        while True:
            try:
                part = os.read(screen, 65536)
            except OSError:  # how Linux says that nobody writes any more
                break
            written += part
    os.close(screen)
    return written.decode(), process.returncode


@pytest.fixture(scope="module")
def plain():
    done = subprocess.run(DEMO, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_demo_tells_answer_risk_cost_and_saving(plain):
    assert "mfbai serve --demo" in plain.splitlines()[-1]
    assert re.search(r"best arm is arm 4", plain)
    assert re.search(r"risk .*1 ?%", plain)
    assert re.search(r"cost \d", plain)
    assert re.search(r"\d+ ?% saved", plain)
    assert "ruled out: 3 of 3 rivals" in plain
    assert "\x1b" not in plain


def test_the_interpreted_run_is_the_compiled_one(plain):
    """The run that is shown costs what the first run of a simulation with the same seed costs."""
    import mfbai

    run = mfbai.simulate("paper-4x5", "race", 0.01, runs=1, seed=4)
    assert f"It cost {run.mean_cost:.2f}." in plain


def test_the_screen_moves_before_the_simulations_are_done():
    written, code = in_a_terminal(DEMO)
    frames = [found.start() for found in re.finditer(r"ruled out: \d of 3 rivals", written)]
    assert code == 0
    assert len(frames) > 50
    assert frames[-1] < written.index("Over 500 runs")


def test_a_seed_can_be_chosen():
    done = subprocess.run([*DEMO, "--seed", "5"], capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert "The best arm is arm 4" in done.stdout
