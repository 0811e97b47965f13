"""mfbai study: the whole way from a spec file to a verdict that others can check, and what is refused."""

import json
import os
import pty
import re
import shlex
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

import mfbai
from mfbai.cli import study as cli
from mfbai.errors import EvaluationFailed, InvalidInput
from mfbai.study import program, storage, workers
from mfbai.study.program import Command
from mfbai.study.workers import Crew

COMMANDS = ["create", "list", "ask", "tell", "fail", "release", "status", "run", "export", "verify"]
SPEC = """
[problem]
arms = ["plain", "wide & [bold]deep[/bold]; echo no"]
[[fidelity]]
name = "coarse $HOME"
cost = 0.05
bias = 0.02
[[fidelity]]
name = "fine"
cost = 5.0
[family]
name = "gaussian"
variance = 0.01
"""
# Deterministic: the value of a trial depends on its arm and seed alone.
EVALUATE = """
import random, sys
arm, fidelity, seed = sys.argv[1:]
assert fidelity in ("coarse $HOME", "fine"), fidelity
print("some words first")
print(random.Random(seed).gauss(0.5 if arm == "plain" else 0.9, 0.1))
"""
PROGRAM = f"{shlex.quote(sys.executable)} evaluate.py {{arm}} {{fidelity}} {{seed}}"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    (tmp_path / "problem.toml").write_text(SPEC)
    (tmp_path / "evaluate.py").write_text(EVALUATE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    return tmp_path


@pytest.fixture
def study(succeed):
    succeed("study", "create", "problem.toml", "--name", "designs", "--delta", "0.05")
    return mfbai.load_study("designs")


def as_json(succeed, *words):
    return json.loads(succeed("study", *words, "--json"), parse_constant=pytest.fail)


# --- help


def test_help_lists_every_command_in_full(succeed):
    listed = succeed("study", "--help").partition("Commands:")[2]
    assert re.findall(r"^  (\w+)  +\S.*$", listed, flags=re.MULTILINE) == COMMANDS
    assert "..." not in listed


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_fits_and_has_an_example(name, succeed):
    out = succeed("study", name, "--help")
    assert f"Example: mfbai study {name}" in out
    assert "--json" in out
    assert max(map(len, out.splitlines())) <= 80


def test_the_command_line_has_the_library_s_defaults():
    assert cli.DEFAULT_STORAGE == storage.DEFAULT


# --- from a spec file to a verdict


def test_a_program_is_run_until_the_verdict_which_others_can_check(succeed, study):
    out = succeed("study", "run", "designs", "--command", PROGRAM, "--workers", 3)
    assert out.startswith("The best is 'wide & [bold]deep[/bold]; echo no': the risk is 0.05 at most")
    assert study.result.arm_index == 1
    assert succeed("study", "status", "designs") == out
    found = as_json(succeed, "status", "designs")
    assert (found["state"], found["result"]["arm_index"], found["pending"]) == ("decided", 1, 0)
    assert as_json(succeed, "list") == [
        {key: found[key] for key in ("name", "state", "leader", "risk", "delta", "cost", "told", "pending")}
    ]
    assert "designs" in succeed("study", "list")
    assert "Anyone can check it" in succeed("study", "export", "designs", "--out", "it.json")
    assert succeed("study", "verify", "it.json").startswith("Confirmed: every event follows")
    assert as_json(succeed, "verify", "it.json")["confirmed"] is True


def test_by_hand(succeed, mfbai_command, study):
    while study.result is None:
        trial = as_json(succeed, "ask", "designs", "--lease", 60)
        assert list(trial) == [
            *("id", "arm", "arm_index", "fidelity", "fidelity_index", "cost", "seed"),
            "lease_until",
        ]
        value = 0.9 if trial["arm_index"] else -0.5
        told = as_json(succeed, "tell", "designs", trial["id"], value)
        assert (told["trial"], told["value"]) == (trial["id"], value)
    assert told["state"] == "decided"
    again = succeed("study", "tell", "designs", trial["id"], value)  # a no-op, which says how things stand
    assert "The best is" in again
    code, out, err = mfbai_command("study", "ask", "designs")
    assert (code, out) == (1, "")
    assert "study 'designs' is over" in err


def test_ask_says_what_to_do_next(succeed, study):
    out = succeed("study", "ask", "designs")
    assert f"Trial 1-{study.settings.key}: evaluate 'plain' at 'coarse $HOME' (cost 0.05)" in out
    assert f"Then: mfbai study tell designs 1-{study.settings.key} VALUE" in out


def test_a_trial_can_be_given_up(succeed, study):
    first = as_json(succeed, "ask", "designs")
    assert as_json(succeed, "ask", "designs")["id"] != first["id"]
    assert "released" in succeed("study", "release", "designs", first["id"])
    assert as_json(succeed, "ask", "designs")["id"] == first["id"]


def test_a_failed_trial_is_reported(succeed, study):
    trial = as_json(succeed, "ask", "designs")
    assert "failed" in succeed("study", "fail", "designs", trial["id"], "--reason", "out of memory")
    assert study.status().failed == 1
    assert "1 failed" in succeed("study", "status", "designs")


def test_strategies_with_a_rule_of_their_own_say_so(succeed):
    succeed("study", "create", "problem.toml", "--name", "own", "--delta", "0.05", "--strategy", "lucb")
    assert as_json(succeed, "status", "own")["stopping"] == "own"


def test_another_storage_is_part_of_what_to_do_next(succeed):
    where = "sqlite:///a folder.db"
    out = succeed("study", "create", "problem.toml", "--name", "x", "--delta", "0.05", "--storage", where)
    assert out.count(f"--storage '{where}'") == 2
    assert "--storage" in succeed("study", "ask", "x", "--storage", where)


def test_without_anything_to_ask_json_says_so(succeed, mfbai_command):
    succeed("study", "create", "problem.toml", "--name", "x", "--delta", "0.05", "--max-cost", "0.05")
    succeed("study", "ask", "x")
    code, out, _ = mfbai_command("study", "ask", "x", "--json")
    assert (code, json.loads(out)["id"]) == (1, None)
    assert "has nothing to hand out now" in json.loads(out)["message"]


# --- refusals


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("ask", "design"), "did you mean 'designs'?"),
        (("tell", "designs", "1-00000000", "0.5"), "belongs to another study"),
        (("tell", "designs", "nonsense", "0.5"), "is not a trial"),
        (("tell", "designs", "9-KEY", "0.5"), "was never handed out"),
        (("tell", "designs", "1-KEY", "much"), "VALUE is 'much': give a number"),
        (("tell", "designs", "1-KEY", "nan"), "give a finite number"),
        (("create", "problem.toml", "--name", "designs", "--delta", "0.05"), "exists already"),
        (("create", "problem.toml", "--name", " ", "--delta", "2"), "name is ' '"),
        (("create", "problem.toml", "--name", "x", "--delta", "2"), "strictly between 0 and 1"),
        (("create", "problem.toml", "--name", "x", "--delta", "0.1", "--strategy", "oracle"), "for simulations only"),
        (("create", "problem.toml", "--name", "x", "--delta", "0.1", "--max-cost", "0.01"), "the cheapest evaluation"),
        (("create", "problem.toml", "--name", "x", "--delta", "0.1", "--set", "rate=1"), "has no 'rate'"),
        (("run", "designs", "--command", "echo {arms}"), "did you mean 'arm'?"),
        (("run", "designs", "--command", " "), "is empty"),
        (("run", "designs", "--command", "echo 'x"), "cannot be split"),
        (("run", "designs", "--command", "echo 1", "--workers", "0"), "--workers is 0"),
        (("status", "designs", "--storage", "sqlite:///other.db"), "has no studies"),
        (("status", "designs", "--storage", "mysql://x/y"), "only SQLite and PostgreSQL"),
        (("export", "designs", "--out", "no/such/folder/it.json"), "cannot be written"),
        (("verify", "no.json"), "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_refused_and_changes_nothing(refuse, study, words, told):
    study.ask()
    before = [event.text for event in study.journal()]
    err = refuse("study", *(word.replace("KEY", study.settings.key) for word in words))
    assert told in err
    assert [event.text for event in study.journal()] == before


def test_a_false_certificate_is_rejected_with_the_event_that_differs(succeed, mfbai_command, study):
    for _ in range(5):
        trial = study.ask()
        study.tell(trial, 0.5)
    succeed("study", "export", "designs", "--out", "it.json")
    true = Path("it.json").read_text()
    Path("false.json").write_text(true.replace('"trial": 3, "value": 0.5', '"trial": 3, "value": 0.6'))
    code, out, _ = mfbai_command("study", "verify", "false.json")
    assert (code, out.startswith("REJECTED: event 6: its hash does not fit")) == (1, True)
    code, out, _ = mfbai_command("study", "verify", "problem.toml")
    assert (code, out.startswith("REJECTED: this is not a certificate")) == (1, True)


# --- programs that misbehave


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
    text = "import sys; print(sys.argv[1] == 'wide & [bold]deep[/bold]; echo no'); print(1.0 * (len(sys.argv) == 3))"
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


def test_a_hanging_program_is_ended_with_all_that_it_has_started(study):
    child = "import time; time.sleep(60)"
    text = f"import subprocess, sys\nchild = subprocess.Popen([sys.executable, '-c', {child!r}])\n"
    text += "open('pid', 'w').write(str(child.pid))\nchild.wait()"
    with pytest.raises(EvaluationFailed, match="took more than"):
        Command(write_program(text), study, timeout=1.5, retries=0)(study.ask())
    stat = Path("/proc", Path("pid").read_text(), "stat")
    for _ in range(100):
        if not stat.exists() or stat.read_text().split()[2] == "Z":
            return
        time.sleep(0.05)
    pytest.fail("the program's own child is still running")


@pytest.mark.parametrize("own_session", [False, True])
def test_what_a_program_leaves_behind_does_not_hold_up_its_value(study, own_session):
    text = f"import subprocess\nsubprocess.Popen(['sleep', '20'], start_new_session={own_session})\nprint(0.25)"
    begin = time.monotonic()
    assert Command(write_program(text), study, timeout=15, retries=0)(study.ask()) == 0.25
    assert time.monotonic() - begin < 10


def test_what_a_hanging_program_leaves_behind_is_not_waited_for(study):
    text = "import subprocess, time\nsubprocess.Popen(['sleep', '20'], start_new_session=True)\ntime.sleep(60)"
    begin = time.monotonic()
    with pytest.raises(EvaluationFailed, match="took more than 1 s, and was ended"):
        Command(write_program(text), study, timeout=1, retries=0)(study.ask())
    assert time.monotonic() - begin < 10


def test_only_the_end_of_a_long_output_is_read(study):
    text = "import sys\nfor n in range(300_000):\n    print('line', n)\nprint(0.25)"
    assert Command(write_program(text), study, timeout=60, retries=0)(study.ask()) == 0.25


@pytest.mark.parametrize("text", ["echo '{arm}'", 'echo "a {seed}"', "echo \\' '{arm}' \\'", "x=\"a'b\" '{arm}'"])
def test_a_shell_s_quotes_around_a_placeholder_are_refused(study, text):
    with pytest.raises(mfbai.InvalidInput, match="within quotes: leave the quotes out"):
        Command(text, study, shell=True)
    assert Command(text, study)._arguments(study.ask())


@pytest.mark.parametrize("text", ["echo {arm}", "echo 'a' {arm} 'b'", "echo \\'{arm}\\'", "echo '{{arm}}'"])
def test_a_shell_s_quotes_beside_a_placeholder_are_not(study, text):
    assert Command(text, study, shell=True)._arguments(study.ask())


@pytest.mark.parametrize("timeout", ["inf", "1e10", "0", "nan", "-1"])
def test_a_timeout_that_is_no_time_is_refused(refuse, study, timeout):
    err = refuse("study", "run", "designs", "--command", "true", "--timeout", timeout)
    assert "--timeout is" in err


def test_a_trial_that_is_over_is_not_said_to_be_released(succeed, study):
    trial = study.ask()
    study.tell(trial, 0.5)
    assert "nothing to release" in succeed("study", "release", "designs", trial.id)


def test_three_failures_of_a_cell_in_a_row_end_the_run(mfbai_command, study, monkeypatch):
    monkeypatch.setattr(program.Command, "__call__", lambda self, trial: (_ for _ in ()).throw(EvaluationFailed("no")))
    code, _, err = mfbai_command("study", "run", "designs", "--command", "false")
    assert code == 1
    assert err.count("failed: trial") >= 3
    assert "the study is kept" in err
    assert study.status().failed == err.count("failed: trial")


def test_a_failure_now_and_then_does_not_end_the_run(study):
    """Every fourth evaluation fails."""
    calls = iter(range(10_000))

    def evaluate(trial):
        if next(calls) % 4 == 3:
            raise EvaluationFailed("now and then")
        return 0.9 if trial.arm_index else 0.5

    crew = Crew(study, evaluate, workers=1)
    crew.work()
    assert study.result.arm_index == 1
    assert study.status().failed == len(crew.failures) > 0


# --- leases of workers, and interruptions


def test_the_leases_of_workers_that_live_are_renewed(study):
    """An evaluation takes longer than its lease: nobody else gets the trial."""
    seen = []

    def evaluate(trial):
        seen.append(trial.id)
        time.sleep(0.8 if len(seen) == 1 else 0.0)
        return 0.9 if trial.arm_index else 0.5

    Crew(study, evaluate, workers=2, lease=0.3).work()
    assert len(seen) == len(set(seen))


def test_a_crew_waits_for_a_storage_that_is_away(study, monkeypatch):
    tell, left = study.tell, iter(range(3))

    def unreliable(trial, value):
        if next(left, None) is not None:
            raise mfbai.StorageError("away")
        tell(trial, value)

    monkeypatch.setattr(study, "tell", unreliable)
    Crew(study, lambda trial: 0.9 if trial.arm_index else 0.5, workers=1).work()
    assert study.result.arm_index == 1
    assert study.status().pending == 0


def test_a_storage_that_stays_away_ends_the_run(study, monkeypatch):
    monkeypatch.setattr(workers, "PATIENCE", 0.2)

    def away(**more):
        raise mfbai.StorageError("away")

    monkeypatch.setattr(study, "ask", away)
    with pytest.raises(mfbai.StorageError, match="away"):
        Crew(study, lambda trial: 0.5, workers=2).work()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_ctrl_c_ends_programs_and_gives_their_trials_back(folder, study, how):
    program = write_program("import time; open('started', 'w').close(); time.sleep(60)")
    words = [sys.executable, "-m", "mfbai", "study", "run", "designs", "--command", program, "--workers", "2"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True) as process:
        for _ in range(1200):
            if (folder / "started").exists():
                break
            time.sleep(0.05)
        process.send_signal(how)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted: study 'designs' is kept" in err
    first = study.ask_many(2)
    assert {trial.id.partition("-")[0] for trial in first} == {"1", "2"}, "both are handed out again at once"


def test_on_a_terminal_the_run_is_shown_live(folder, study):
    (folder / "evaluate.py").write_text(f"import time; time.sleep(0.2)\n{EVALUATE}")
    reader, writer = pty.openpty()
    words = [sys.executable, "-m", "mfbai", "study", "run", "designs", "--command", PROGRAM, "--workers", "2"]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    process = subprocess.Popen(words, stdout=writer, stderr=writer, env=environment)
    os.close(writer)
    shown = b""
    while True:
        try:
            part = os.read(reader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(reader)
    assert process.wait(timeout=60) == 0
    text = shown.decode(errors="replace")
    assert "running" in text
    assert "The best is" in text
    assert study.result is not None


# --- values


def test_a_value_outside_the_family_is_a_failure_of_the_program(folder):
    coins = mfbai.Problem(["a", "b"], [1.0], [0.0], mfbai.Bernoulli())
    study = mfbai.create_study(coins, 0.1, name="coins")
    trial = mfbai.Trial("1-x", "a", 0, "fidelity 1", 0, 1.0, 7, datetime.now(UTC))
    with pytest.raises(EvaluationFailed, match="a bernoulli evaluation cannot return that"):
        Command("echo 0.5", study, retries=0)(trial)
    with pytest.raises(InvalidInput, match="bernoulli"):
        study.check_value(2)
