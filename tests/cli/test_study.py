"""mfbai study: the whole way from a spec file to a verdict that others can check, and what is refused."""

import json
import re
import sys
from pathlib import Path

import pytest

import mfbai
from mfbai import dumps
from mfbai.cli.options import DEFAULT_STORAGE
from mfbai.study import storage
from mfbai.study.workers import MOST_AHEAD
from support.commands import PROGRAM, read_json
from support.controlled import ask_for, controlled

pytestmark = pytest.mark.usefixtures("folder")
COMMANDS = ["create", "list", "ask", "tell", "fail", "release", "status", "run", "trials", "add"]
COMMANDS += ["rename", "note", "tag", "pause", "resume", "delete", "reopen", "export", "verify", "report"]


def as_json(succeed, *words):
    return read_json(succeed("study", *words, "--json"))


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
    assert DEFAULT_STORAGE == storage.DEFAULT


# --- from a spec file to a verdict


def test_a_program_is_run_until_the_verdict_which_others_can_check(succeed, study):
    out = succeed("study", "run", "designs", "--command", PROGRAM, "--workers", 3)
    assert out.startswith("The best is 'wide & [bold]deep[/bold]; echo no': the risk is 0.05 at most")
    assert study.result.arm_index == 1
    assert succeed("study", "status", "designs") == out
    found = as_json(succeed, "status", "designs")
    assert (found["state"], found["result"]["arm_index"]) == ("decided", 1)
    assert found["pending"] <= 3 * MOST_AHEAD  # what waited for a worker when the verdict came
    (line,) = as_json(succeed, "list")
    shared = ("name", "state", "leader", "risk", "delta", "cost", "told", "pending", "paused")
    assert {key: line[key] for key in shared} == {key: found[key] for key in shared}
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


def test_trials_with_parts_by_hand(succeed, refuse, folder):
    """Values may be negative, which look like options."""
    (folder / "controlled.toml").write_text(dumps(controlled()))
    succeed("study", "create", "controlled.toml", "--name", "paired", "--delta", "0.05")
    study = mfbai.load_study("paired")
    trial = ask_for(study, "paired")
    study.release(trial)
    out = succeed("study", "ask", "paired")
    assert f"Trial {trial.id}: evaluate {trial.arm!r} at 'paired' (cost 1.05), which is\n" in out
    for k, part in enumerate(trial.parts, 1):
        assert f"  {k}. {trial.arm!r} at {part.fidelity!r}, with seed {part.seed},\n" in out
    assert f"Then: mfbai study tell paired {trial.id} VALUE1 ... VALUE6\n" in out
    study.release(trial)
    shown = as_json(succeed, "ask", "paired")
    assert shown["parts"] == [part.to_dict() for part in trial.parts]
    for few in ([0.5], [0.5] * 5, [0.5] * 7, [0.5] * 5 + ["nan"], [0.5] * 5 + ["much"]):
        assert "give" in refuse("study", "tell", "paired", trial.id, *few)
    values = [-0.5, 0.4, "-1e-3", 0.2, -0.1, 0.3]
    told = as_json(succeed, "tell", "paired", trial.id, *values)
    assert (told["trial"], told["values"]) == (trial.id, [float(value) for value in values])
    assert succeed("study", "tell", "paired", trial.id, *values) == f"Trial {trial.id}: -0.5 0.4 -1e-3 0.2 -0.1 0.3.\n"
    assert "already" in refuse("study", "tell", "paired", trial.id, *values[::-1])


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
    succeed("study", "create", "study.toml", "--name", "own", "--delta", "0.05", "--strategy", "lucb")
    assert as_json(succeed, "status", "own")["stopping"] == "own"


def test_arms_share_seeds_if_that_is_asked_for(succeed):
    """The table then has differences alone, and the verdict says what it rests on."""
    succeed("study", "create", "study.toml", "--name", "shared", "--delta", "0.05", "--seeds", "common")
    seeds = {}
    trials = [as_json(succeed, "ask", "shared") for _ in range(4)]
    for trial in trials:
        seeds.setdefault(trial["seed"], set()).add(trial["arm_index"])
        succeed("study", "release", "shared", trial["id"])
    assert {0, 1} in seeds.values()
    out = succeed("study", "run", "shared", "--command", PROGRAM, "--workers", 2)
    assert "if differences at the same seed are symmetric" in " ".join(out.split())
    assert "difference to" in out
    assert "true mean" not in out
    found = as_json(succeed, "status", "shared")
    assert (found["seeds"], found["intervals"]) == ("common", [[None, None], [None, None]])
    assert found["differences"][1] == [0.0, 0.0]
    succeed("study", "export", "shared", "--out", "it.json")
    verified = as_json(succeed, "verify", "it.json")
    assert verified["confirmed"] is True
    assert not [entry for entry in verified["verdict"] if entry.startswith("rests_on")]


OFF = {"coarse $HOME": 0.9, "fine": 0.1}  # what a program prints whose cheap values are off by far more than stated


def test_a_program_whose_values_contradict_the_bounds_is_stopped_and_the_study_reopened(succeed, mfbai_command, folder):
    (folder / "off.py").write_text(f"import sys\nprint({OFF!r}[sys.argv[1]] + int(sys.argv[2]) % 7 / 1000)")
    audited = ("--audit", "0.5", "--on-alarm", "stop")
    succeed("study", "create", "study.toml", "--name", "off", "--delta", "0.05", *audited)
    program = f"{sys.executable} off.py {{fidelity}} {{seed}} {{arm}}"
    code, out, err = mfbai_command("study", "run", "off", "--command", program)
    assert code == 1
    assert out.startswith("Stopped by an alarm, without an answer")
    assert "stopped by an alarm" in err
    assert [(row["name"], row["state"]) for row in as_json(succeed, "list")] == [("off", "alarm")]
    code, _, err = mfbai_command("study", "ask", "off")
    assert code == 1
    assert "Reopen the study with wider bias bounds" in err
    succeed("study", "export", "off", "--out", "off.json")
    assert "Stopped by an alarm" in succeed("study", "verify", "off.json")
    told = succeed("study", "reopen", "off", "--as", "wider", "--bias", "coarse $HOME=-0.1,1.5")
    assert "It goes on with frugal and the rule 'e-process', which count them all." in told
    assert "Next: mfbai study status wider" in told
    again = as_json(succeed, "reopen", "off", "--as", "narrow", "--bias", "coarse $HOME=0.2")
    assert again["imported"] == as_json(succeed, "status", "wider")["imported"] > 0


@pytest.mark.parametrize(
    ("bias", "told"),
    [
        (["coarse"], "is 'coarse': give NAME=0.2"),
        (["coarse=much"], "give NAME=0.2, or NAME=-0.1,0.3"),
        (["coarse=1,2,3"], "give NAME=0.2"),
        (["x=1", "x=2"], "has 'x' twice"),
        (["x=1"], "bias has 'x': known: coarse $HOME"),
        (["fine=1"], "it is the true one"),
    ],
)
def test_bounds_that_cannot_be_read_are_refused(mfbai_command, study, bias, told):
    given = [word for bound in bias for word in ("--bias", bound)]
    code, _, err = mfbai_command("study", "reopen", "designs", "--as", "other", *given)
    assert code != 0
    assert told in " ".join(err.split())


def test_another_storage_is_part_of_what_to_do_next(succeed):
    where = "sqlite:///a folder.db"
    out = succeed("study", "create", "study.toml", "--name", "x", "--delta", "0.05", "--storage", where)
    assert out.count(f"--storage '{where}'") == 2
    assert "--storage" in succeed("study", "ask", "x", "--storage", where)


def test_without_anything_to_ask_json_says_so(succeed, mfbai_command):
    succeed("study", "create", "study.toml", "--name", "x", "--delta", "0.05", "--max-cost", "0.05")
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
        (("create", "study.toml", "--name", "designs", "--delta", "0.05"), "exists already"),
        (("create", "study.toml", "--name", " ", "--delta", "2"), "name is ' '"),
        (("create", "study.toml", "--name", "x", "--delta", "2"), "strictly between 0 and 1"),
        (("create", "study.toml", "--name", "x", "--delta", "5%"), "delta is '5%': give a number such as 0.05"),
        (("status", "designs", "--top", "0"), "--top"),
        (("create", "study.toml", "--name", "x", "--delta", "0.1", "--strategy", "oracle"), "for simulations only"),
        (("create", "study.toml", "--name", "x", "--delta", "0.1", "--max-cost", "0.01"), "the cheapest evaluation"),
        (("create", "study.toml", "--name", "x", "--delta", "0.1", "--set", "rate=1"), "has no 'rate'"),
        (("create", "study.toml", "--name", "x", "--delta", "0.1", "--seeds", "shared"), "seeds is 'shared'"),
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
    code, out, _ = mfbai_command("study", "verify", "study.toml")
    assert (code, out.startswith("REJECTED: this is not a certificate")) == (1, True)


def test_a_trial_that_is_over_is_not_said_to_be_released(succeed, study):
    trial = study.ask()
    study.tell(trial, 0.5)
    assert "nothing to release" in succeed("study", "release", "designs", trial.id)
