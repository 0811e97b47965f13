"""Programs as evaluations: how they are called, what their output means, how they are ended."""

import os
import re
import shlex
import signal
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest

import mfbai
from mfbai.errors import EvaluationFailed, InvalidInput, WorkerLost
from mfbai.study.program import Command
from mfbai.study.workers import Crew
from support.interrupts import wait_until
from support.seeds import fix_keys

ODD = "wide & [bold]deep[/bold]; echo no"
PROBLEM = mfbai.Problem(["plain", ODD], [0.05, 5.0], [0.02, 0.0], mfbai.Gaussian(0.01))


@pytest.fixture
def study(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fix_keys(monkeypatch)
    return mfbai.create_study(PROBLEM, 0.05, name="designs")


def write_program(text):
    Path("program.py").write_text(text)
    return f"{shlex.quote(sys.executable)} program.py {{arm}} {{seed}}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("import sys; sys.exit('no memory')", "ended with exit code 1: no memory"),
        ("print('0.5'); print('done')", "is 'done': it must be a number"),
        ("", "it printed nothing"),
        ("print('nan')", "give a finite number"),
        ("print(0.5, flush=True); import time; time.sleep(60)", "took more than 0.5 s"),
    ],
)
def test_a_program_that_fails_is_tried_again_then_reported_and_the_study_is_kept(study, text, reason):
    program = Command(write_program(text), study, timeout=0.5 if "sleep" in text else 60, retries=1, pause=0.01)
    with pytest.raises(EvaluationFailed, match=re.escape(reason)) as failure:
        program(study.ask())
    assert "(2 attempts)" in str(failure.value)
    assert study.status().state == "running"


def test_a_program_that_recovers_is_not_reported(study):
    """It fails the first time that it is called for a trial."""
    text = (
        "import os, sys\nmark = 'seen' + sys.argv[2]\n"
        "if not os.path.exists(mark):\n    open(mark, 'w').close()\n    sys.exit(1)\nprint(0.25)"
    )
    assert Command(write_program(text), study, retries=1, pause=0.01)(study.ask()) == 0.25


def test_pauses_between_attempts_grow(study, monkeypatch):
    pauses = []
    program = Command("false", study, retries=3, pause=2.0)
    monkeypatch.setattr(program.stop, "wait", pauses.append)
    with pytest.raises(EvaluationFailed):
        program(study.ask())
    assert pauses == [2.0, 4.0, 8.0]


def test_a_program_that_does_not_exist_is_reported(study):
    with pytest.raises(EvaluationFailed, match="cannot be started"):
        Command("no-such-program {arm}", study, retries=0)(study.ask())


def test_no_shell_unless_asked(study):
    """Names with spaces, quotes and semicolons reach the program as they are, with a shell too."""
    text = f"import sys; print(sys.argv[1] == {ODD!r}); print(1.0 * (len(sys.argv) == 3))"
    trials = study.ask_many(2)
    assert {trial.arm_index for trial in trials} == {0, 1}
    for shell in (False, True):
        program = Command(write_program(text), study, shell=shell)
        assert [program(trial) for trial in trials] == [1.0, 1.0]
    assert Command("echo 1; echo {seed}", study, shell=True)(trials[0]) == trials[0].seed
    with pytest.raises(EvaluationFailed, match="must be a number"):
        Command("echo 1; echo {seed}", study, retries=0)(trials[0])


def test_braces_can_be_written(study):
    assert Command("printf %s\\\\n {{1}} 2.5 '{{{seed}}}' 3", study)(study.ask()) == 3.0


@pytest.fixture
def time_runs_out(monkeypatch):
    """A timeout ends when the program has written the file `pid`, however slow the machine."""

    class Timer(threading.Thread):
        def __init__(self, seconds, give_up):
            super().__init__(target=lambda: (wait_until(child_of_the_program), give_up()), daemon=True)
            self.cancel = lambda: None

    monkeypatch.setattr("mfbai.study.program.threading.Timer", Timer)


def starting_a_child(own_session, then):
    """A program that starts `sleep`, writes its number to a file, and goes on with `then`."""
    start = f"child = subprocess.Popen(['sleep', '600'], start_new_session={own_session})"
    return f"import subprocess, time\n{start}\nopen('pid', 'w').write(f'{{child.pid}}.')\n{then}"


def child_of_the_program():
    pid = Path("pid").read_text() if Path("pid").exists() else ""
    return int(pid.removesuffix(".")) if pid.endswith(".") else None


def is_alive(pid):
    stat = Path("/proc", str(pid), "stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"


def test_a_hanging_program_is_ended_with_all_that_it_has_started(study, time_runs_out):
    program = write_program(starting_a_child(False, "child.wait()"))
    with pytest.raises(EvaluationFailed, match="took more than 50 s, and was ended"):
        Command(program, study, timeout=50, retries=0)(study.ask())
    wait_until(lambda: not is_alive(child_of_the_program()))


@pytest.mark.parametrize("own_session", [False, True])
def test_what_a_program_leaves_behind_does_not_hold_up_its_value(study, own_session):
    program = write_program(starting_a_child(own_session, "print(0.25)"))
    assert Command(program, study, retries=0)(study.ask()) == 0.25
    assert is_alive(child_of_the_program())
    os.kill(child_of_the_program(), signal.SIGKILL)


def test_what_a_hanging_program_leaves_behind_is_not_waited_for(study, time_runs_out):
    program = write_program(starting_a_child(True, "time.sleep(600)"))
    with pytest.raises(EvaluationFailed, match="took more than 50 s, and was ended"):
        Command(program, study, timeout=50, retries=0)(study.ask())
    assert is_alive(child_of_the_program())
    os.kill(child_of_the_program(), signal.SIGKILL)


@pytest.mark.parametrize("shell", [False, True])
def test_a_program_that_is_killed_has_not_failed(study, shell):
    """As one is that needs too much memory, which may depend on the value."""
    program = write_program("import os, signal; os.kill(os.getpid(), signal.SIGKILL)")
    crew = Crew(study, Command(program, study, retries=1, pause=0.01, shell=shell))
    told = r"'plain' at 'fidelity 1', seed \d+, was killed from outside, in the last of 2"
    with pytest.raises(WorkerLost, match=told):
        crew.work()
    status = study.status()
    assert (status.failed, status.told) == (0, 0)
    assert study.ask().id == "1-" + study.settings.key


def test_only_the_end_of_a_long_output_is_read(study):
    text = "import sys\nfor n in range(300_000):\n    print('line', n)\nprint(0.25)"
    assert Command(write_program(text), study, retries=0)(study.ask()) == 0.25


@pytest.mark.parametrize("text", ["echo '{arm}'", 'echo "a {seed}"', "echo \\' '{arm}' \\'", "x=\"a'b\" '{arm}'"])
def test_a_shell_s_quotes_around_a_placeholder_are_refused(study, text):
    with pytest.raises(mfbai.InvalidInput, match="within quotes: leave the quotes out"):
        Command(text, study, shell=True)
    assert Command(text, study)._arguments(study.ask())


@pytest.mark.parametrize("text", ["echo {arm}", "echo 'a' {arm} 'b'", "echo \\'{arm}\\'", "echo '{{arm}}'"])
def test_a_shell_s_quotes_beside_a_placeholder_are_not(study, text):
    assert Command(text, study, shell=True)._arguments(study.ask())


def test_a_value_outside_the_family_is_a_failure_of_the_program(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    coins = mfbai.Problem(["a", "b"], [1.0], [0.0], mfbai.Bernoulli())
    study = mfbai.create_study(coins, 0.1, name="coins")
    trial = mfbai.Trial("1-x", "a", 0, "fidelity 1", 0, 1.0, 7, datetime.now(UTC))
    with pytest.raises(EvaluationFailed, match="a bernoulli evaluation cannot return that"):
        Command("echo 0.5", study, retries=0)(trial)
    with pytest.raises(InvalidInput, match="bernoulli"):
        study.check_value(2)
