"""mfbai reproduce: what it prints, what it refuses, and how it ends."""

import io
import json
import os
import re
import sys

import pytest

from mfbai.cli import main
from mfbai.cli.views.reproduce import watching
from mfbai.paper import reproduce as paper
from mfbai.paper import trap
from mfbai.paper.parts import PARTS
from mfbai.paper.pieces import QUICK, Noise, Scale
from mfbai.paper.reproduce import reproduce
from support.paper import TINY

ONE = (Noise(),)
COSTS, TRAP, BOUNDS = "costs-paper-5x2-0.01", "lucb-trap", "lower-bounds"


@pytest.fixture(scope="module", autouse=True)
def compiled_already():
    """Another process that compiles ahead of need would take most of the time of these tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(paper, "_compile", lambda *_: None)
        yield


@pytest.fixture
def mfbai_command(capsys, monkeypatch, tmp_path):
    """Calls the command in this process; returns exit code, standard output and standard error."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["mfbai", "reproduce", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return call


def test_help_names_every_group_and_option(mfbai_command):
    code, out, err = mfbai_command("--help")
    assert (code, err) == (0, "")
    words = re.findall(r"[\w-]+", out)
    assert {part.group for part in PARTS} <= set(words)
    assert {"--runs", "--quick", "--out", "--variance", "--json"} <= set(words)
    assert "Example: mfbai reproduce" in out
    assert max(map(len, out.splitlines())) <= 80


def test_all_that_is_wrong_is_told_at_once(mfbai_command, tmp_path):
    (tmp_path / "file").write_text("")
    code, out, err = mfbai_command("trapp", "--runs", 1, "--variance", -1, "--out", "file")
    assert (code, out) == (2, "")
    assert "4 faults" in err
    for told in ("did you mean 'trap'", "--runs is 1", "variance is -1.0", "--out 'file'"):
        assert told in err
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--variance", "nan"], "variance is nan"),
        (["--variance", "0"], "variance is 0.0"),
        (["--variance", "much"], "Invalid value for '--variance'"),
        (["--runs", "0"], "--runs is 0"),
        (["--runs", "2.5"], "Invalid value for '--runs'"),
        (["--out", "file/below"], "file/below"),
        (["costs-paper-4x5"], "did you mean 'costs-paper-4x5-0.01'?"),
    ],
)
def test_bad_input_is_refused_before_work(mfbai_command, tmp_path, monkeypatch, words, told):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(paper, "reproduce", lambda *args: pytest.fail("work was begun"))
    code, out, err = mfbai_command(*words)
    assert (code, out) == (2, "")
    assert told in err


def test_a_refused_call_leaves_no_folder(mfbai_command, tmp_path):
    assert mfbai_command("--runs", 1, "--out", "new")[0] == 2
    assert not (tmp_path / "new").exists()


def test_json_tells_all_that_was_made(mfbai_command, tmp_path):
    code, out, err = mfbai_command(COSTS, BOUNDS, "--runs", 5, "--variance", 0.02, "--out", "here", "--json")
    assert (code or 0, err) == (0, "")
    found = json.loads(out, parse_constant=pytest.fail)
    assert found["report"] == os.path.join("here", "report.html")
    assert all((tmp_path / file).is_file() for file in found["files"])
    assert len(found["claims"]) == 6 + 1
    assert {claim["variance"] for claim in found["claims"]} == {0.02, None}
    assert {claim["verdict"] for claim in found["claims"]} <= {"agrees", "disagrees", "undecided"}


def test_progress_is_on_standard_error_and_claims_on_standard_output(mfbai_command, monkeypatch, tmp_path):
    """The second call of a folder that is complete."""
    monkeypatch.setattr("mfbai.paper.pieces.QUICK", TINY)
    reproduce(tmp_path / "here", [TRAP], TINY, ONE)
    code, out, err = mfbai_command(TRAP, "--quick", "--out", "here")
    assert code in (0, None)
    assert err.splitlines()[:3] == [f"{trap.name(strategy)}.csv: there already" for strategy in trap.SECONDS]
    assert re.fullmatch(r"lucb-trap\.png: \d+\.\d s", err.splitlines()[3])
    assert out.count("LUCB") == 5
    assert f"The report is {os.path.join('here', 'report.html')}" in out


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_on_a_terminal_a_bar_follows_the_work_and_lines_stand_above_it(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setenv("TERM", "xterm")
    with watching(quiet=False) as watch:
        watch.begin(10.0)
        watch.done("trap-lucb.csv", None)
        watch.now("trap-lucb-explore-a.csv")
        watch.advance(5.0)
    shown = screen.getvalue()
    assert "trap-lucb.csv: there already" in shown
    assert re.search(r"trap-lucb-explore-a\.csv.* 50 %", shown)


def test_quick_is_one_variance_without_what_is_beyond(mfbai_command, monkeypatch):
    calls = []

    def noted(*args, **executor):
        calls.append(args)
        raise KeyboardInterrupt

    monkeypatch.setattr(paper, "reproduce", noted)
    mfbai_command("--quick")
    mfbai_command("--quick", "--runs", 7, "--variance", 0.3, "beyond")
    mfbai_command()
    (_, groups, scale, noises, _), second, third = calls
    assert groups == [part.group for part in PARTS if part.group != "beyond"]
    assert (scale, noises) == (QUICK, ONE)
    assert second[1:4] == (["beyond"], Scale(7, QUICK.steps, QUICK.pulls, QUICK.instances), (Noise(0.3),))
    assert third[1:4] == ([part.group for part in PARTS], Scale(), paper.BOTH)


def interrupted(*args, **options):
    raise KeyboardInterrupt


def test_ctrl_c_says_how_to_resume(mfbai_command, monkeypatch):
    monkeypatch.setattr(trap, "simulate", interrupted)
    code, out, err = mfbai_command(TRAP)
    assert (code, out) == (130, "")
    assert err == "interrupted: what is done is kept; run the same command to resume\n"


def test_claims_without_a_variance_are_not_shown_under_one(mfbai_command):
    """The examples of the appendix have a variance of their own, whatever is asked for: they have their own table."""
    code, out, _ = mfbai_command(BOUNDS, COSTS, "--runs", 2, "--variance", 0.05, "--out", "here")
    assert code in (0, None)
    of_variance, others = out.split("claim of the paper")[1:]
    assert of_variance.split("\n")[0].strip() == "variance 0.05"
    assert others.split("\n")[0].strip() == "verdict"
    assert "The lower bound" not in of_variance
    assert re.search(r"The lower bound.* agrees", others)


def test_a_folder_that_cannot_be_written_is_told(mfbai_command, tmp_path):
    (tmp_path / "here" / "report.md").mkdir(parents=True)
    code, _, err = mfbai_command("weights-5x2", "--out", "here")
    assert code == 2
    assert f"{os.path.join('here', 'report.md')} cannot be written" in err
    assert "Traceback" not in err
