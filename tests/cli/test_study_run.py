"""mfbai study run: what it shows, and how it is interrupted."""

import os
import pty
import signal
import sqlite3

import pytest

import mfbai
from mfbai.errors import EvaluationFailed
from mfbai.study import program
from support.commands import EVALUATE, PROGRAM
from support.interrupts import start, wait_until
from support.seeds import fix_keys

SIGNALS = pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
# It would have to be killed: it takes no notice of being asked.
STUBBORN = """
import os, signal, sys, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(f"pid-{sys.argv[3]}.part", "w") as file:
    file.write(str(os.getpid()))
os.rename(f"pid-{sys.argv[3]}.part", f"pid-{sys.argv[3]}")
time.sleep(600)
"""


def run(*more, **options):
    return start("-m", "mfbai", "study", "run", "designs", "--command", PROGRAM, *more, **options)


@pytest.fixture
def programs(folder):
    """The numbers of the programs that have started."""
    (folder / "evaluate.py").write_text(STUBBORN)
    return lambda: [int(file.read_text()) for file in folder.glob("pid-*") if file.suffix != ".part"]


def is_running(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


# --- failures


@pytest.mark.parametrize("timeout", ["inf", "1e10", "0", "nan", "-1"])
def test_a_timeout_that_is_no_time_is_refused(refuse, study, timeout):
    err = refuse("study", "run", "designs", "--command", "true", "--timeout", timeout)
    assert "--timeout is" in err


def test_three_failures_of_a_cell_in_a_row_end_the_run(mfbai_command, study, monkeypatch):
    monkeypatch.setattr(program.Command, "__call__", lambda self, trial: (_ for _ in ()).throw(EvaluationFailed("no")))
    code, _, err = mfbai_command("study", "run", "designs", "--command", "false {arm}")
    assert code == 1
    assert err.count("failed: trial") >= 3
    assert "study 'designs' is kept; run the same command to resume" in err
    assert study.status().failed == err.count("failed: trial")


# --- signals


@SIGNALS
def test_a_signal_ends_programs_and_gives_their_trials_back(study, programs, how):
    with run("--workers", 2) as process:
        wait_until(lambda: len(programs()) == 2)
        process.send_signal(how)
        _, err = process.communicate()
    assert process.returncode == 130
    assert err == "interrupted: study 'designs' is kept; run the same command to resume\n"
    assert not any(map(is_running, programs()))
    again = study.ask_many(2)
    assert {trial.id.partition("-")[0] for trial in again} == {"1", "2"}, "both are handed out again at once"


@SIGNALS
def test_a_second_signal_ends_the_run_at_once_and_leaves_no_program(folder, study, programs, how):
    """Another program has locked the database, so that the trial cannot be given back."""
    with run() as process:
        wait_until(programs)
        with sqlite3.connect(folder / "mfbai.db") as other:
            other.execute("BEGIN IMMEDIATE")
            process.send_signal(how)
            wait_until(lambda: not is_running(programs()[0]))
            process.send_signal(how)
            _, err = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in err
    assert len(study.trials()) == 1


def test_in_the_background_ctrl_c_is_ignored_and_sigterm_is_not(study, programs):
    with run(heed=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as process:
        wait_until(programs)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        _, err = process.communicate()
    assert process.returncode == 130
    assert "interrupted" in err
    assert study.ask().id.startswith("1-")


# --- trials with parts

CONTROLLED = """
[problem]
arms = ["plain", "wide"]
[[fidelity]]
name = "coarse"
cost = 0.01
[[fidelity]]
name = "paired"
controlled = {top = "fine", by = "coarse", others = 4, coefficient = 0.8}
[[fidelity]]
name = "fine"
cost = 1.0
[family]
name = "gaussian"
variance = [0.03, 0.003, 0.03]
"""
# Writes down what it was called for. Under the number `hang`, it never returns.
NOTING = """
import os, pathlib, random, sys, time
arm, fidelity, seed = sys.argv[1:]
luck = random.Random(f"{arm} {seed}").gauss(0.0, 0.17)
with open("calls", "a") as file:
    file.write(f"{os.getpid()} {arm} {fidelity} {seed}\\n")
if pathlib.Path("hang").exists() and len(pathlib.Path("calls").read_text().splitlines()) == int(open("hang").read()):
    time.sleep(600)
print((0.4 if arm == "plain" else 0.6) + (0.3 if fidelity == "coarse" else 0.0) + luck)
"""


def calls(folder):
    text = (folder / "calls").read_text() if (folder / "calls").exists() else ""
    return [line.split() for line in text.splitlines()]


def bodies(study):
    """All that a journal says but for the time and the study's name."""
    return [{**event.body, "at": 0.0, "name": ""} for event in study.journal()]


@pytest.mark.parametrize("seeds", ["independent", "common"])
def test_a_run_that_is_killed_between_two_parts_loses_and_doubles_nothing(folder, succeed, monkeypatch, seeds):
    """The study takes the course that it takes undisturbed, and the trial is evaluated again with the same seeds."""
    (folder / "controlled.toml").write_text(CONTROLLED)
    (folder / "evaluate.py").write_text(NOTING)
    for name in ("undisturbed", "designs"):
        fix_keys(monkeypatch)  # both have the same seeds
        succeed("study", "create", "controlled.toml", "--name", name, "--delta", "0.05", "--seeds", seeds)
    succeed("study", "run", "undisturbed", "--command", PROGRAM)
    undisturbed, study = mfbai.load_study("undisturbed"), mfbai.load_study("designs")
    whole = calls(folder)
    (folder / "calls").unlink()
    first = next(n for n, (_, _, fidelity, _) in enumerate(whole) if fidelity == "coarse")  # the second of its trial
    (folder / "hang").write_text(str(first + 3))
    with run() as process:
        wait_until(lambda: len(calls(folder)) == first + 3)
        process.kill()
        process.communicate()
    hanging = int(calls(folder)[-1][0])
    os.kill(hanging, signal.SIGKILL)
    assert [call[1:] for call in calls(folder)] == [call[1:] for call in whole[: first + 3]]
    (held,) = study.trials()
    assert bodies(study) == bodies(undisturbed)[: study.length()]
    assert study.length() > 1
    (folder / "calls").unlink()
    (folder / "hang").unlink()
    succeed("study", "release", "designs", held[0])  # or wait until its lease ends
    succeed("study", "run", "designs", "--command", PROGRAM)
    assert [call[1:] for call in calls(folder)] == [call[1:] for call in whole[first - 1 :]]
    assert bodies(study) == bodies(undisturbed)
    assert mfbai.verify(study.export()).verdict.arm == "wide"


# --- on a terminal


def test_on_a_terminal_the_run_is_shown_live(folder, study):
    (folder / "evaluate.py").write_text(f"import time; time.sleep(0.2)\n{EVALUATE}")
    reader, writer = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = run("--workers", 2, stdout=writer, stderr=writer, env=environment, text=False)
    os.close(writer)
    shown = b""
    try:
        while part := os.read(reader, 65536):
            shown += part
    except OSError:  # how Linux reports the end
        pass
    os.close(reader)
    assert process.wait() == 0
    text = shown.decode(errors="replace")
    assert "Running:" in text
    assert "The best is" in text
    assert study.result is not None
