"""mfbai study: renaming, notes, tags, pauses, deletion, tables and lists."""

import io
import json
import sqlite3
import sys

import pytest

import mfbai
from support.commands import PROBLEM, PROGRAM, read_json

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def study(folder, succeed):
    (folder / "p.toml").write_text(PROBLEM)
    succeed("study", "create", "p.toml", "--name", "wings", "--delta", 0.05, "--strategy", "frugal")
    return mfbai.load_study("wings")


def as_json(succeed, *words):
    return read_json(succeed("study", *words, "--json"))


def test_a_study_is_renamed(study, succeed, refuse):
    assert succeed("study", "rename", "wings", "bridges & co") == "Study 'wings' is called 'bridges & co' now.\n"
    assert mfbai.list_studies() == ["bridges & co"]
    assert "unknown study 'wings'" in refuse("study", "status", "wings")
    assert as_json(succeed, "rename", "bridges & co", "wings")["name"] == "wings"
    assert "name" in refuse("study", "rename", "wings", "")


def test_a_note_is_written_and_read(study, succeed, refuse, folder, monkeypatch):
    succeed("study", "note", "wings", "--text", "# Why\n*because*")
    assert succeed("study", "note", "wings") == "# Why\n*because*\n"
    (folder / "note.md").write_text("from a file\n")
    succeed("study", "note", "wings", "--file", "note.md")
    assert as_json(succeed, "note", "wings")["note"] == "from a file"
    monkeypatch.setattr(sys, "stdin", io.StringIO("from a pipe\n"))
    succeed("study", "note", "wings", "--file", "-")
    assert study.note == "from a pipe"
    assert "give one of them" in refuse("study", "note", "wings", "--text", "a", "--file", "note.md")
    assert "cannot be read" in refuse("study", "note", "wings", "--file", "none.md")


def test_tags_are_added_and_removed(study, succeed, refuse):
    assert succeed("study", "tag", "wings") == "Study 'wings' has no tags.\n"
    assert succeed("study", "tag", "wings", "draft", "for the board") == "draft, for the board\n"
    assert succeed("study", "tag", "wings", "spring", "--remove", "draft") == "for the board, spring\n"
    assert as_json(succeed, "tag", "wings")["tags"] == ["for the board", "spring"]
    assert "does not have" in refuse("study", "tag", "wings", "--remove", "draft")


def test_a_paused_study_says_so_until_it_is_resumed(study, succeed, mfbai_command):
    assert "to go on: mfbai study resume wings" in succeed("study", "pause", "wings")
    code, out, err = mfbai_command("study", "ask", "wings")
    assert (code, out) == (1, "")
    assert "study 'wings' is paused" in err
    assert succeed("study", "status", "wings").startswith("Paused: ")
    assert as_json(succeed, "resume", "wings")["paused"] is False
    assert succeed("study", "resume", "wings") == "Study 'wings' hands out evaluations.\n"
    assert "Trial 1-" in succeed("study", "ask", "wings")


def test_deleting_asks_and_without_a_terminal_needs_to_be_told(study, succeed, refuse, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    told = refuse("study", "delete", "wings")
    assert "Study 'wings' has cost 0; 0 evaluations. They cannot be brought back." in told
    assert "--yes" in told
    assert mfbai.list_studies() == ["wings"]
    assert succeed("study", "delete", "wings", "--yes") == "Study 'wings' is deleted.\n"
    assert mfbai.list_studies() == []


@pytest.mark.parametrize(
    ("typed", "left"), [("wings\n", []), ("wing\n", ["wings"]), ("\n", ["wings"]), ("y\n", ["wings"])]
)
def test_in_a_terminal_the_name_must_be_typed(study, mfbai_command, monkeypatch, typed, left):
    terminal = io.StringIO(typed)
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    code, _, err = mfbai_command("study", "delete", "wings")
    assert "type its name" in err
    assert mfbai.list_studies() == left
    assert (code or 0) == (1 if left else 0)


def test_a_study_that_cannot_be_read_can_be_deleted(study, refuse, mfbai_command, monkeypatch):
    database = sqlite3.connect("mfbai.db")
    database.execute("UPDATE mfbai_events SET body = 'garbage' WHERE n = 0")
    database.commit()
    database.close()
    assert "study 'wings' cannot be read: event 0 of its journal" in refuse("study", "status", "wings")
    terminal = io.StringIO("wings\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr(sys, "stdin", terminal)
    code, _, err = mfbai_command("study", "delete", "wings")
    assert not code
    assert "The journal of study 'wings', of length 1, cannot be read here. They cannot be brought back." in err
    assert mfbai.list_studies() == []


def test_trials_are_printed_and_written_as_csv(study, succeed, refuse, folder):
    trial = study.ask(worker="anna")
    study.tell(trial, 0.5)
    text = succeed("study", "trials", "wings")
    assert text.splitlines()[0] == "trial,arm,fidelity,seed,value,cost,asked,told,worker,state"
    assert text.splitlines()[1].endswith("anna,told")
    assert succeed("study", "trials", "wings", "--out", "t.csv") == "t.csv: 1 trial.\n"
    assert (folder / "t.csv").read_text().splitlines() == text.splitlines()
    (row,) = as_json(succeed, "trials", "wings")
    assert (row["trial"], row["value"], row["worker"], row["state"]) == (trial.id, 0.5, "anna", "told")
    assert "cannot be written" in refuse("study", "trials", "wings", "--out", "none/t.csv")


def test_values_from_a_file_are_added_once(study, succeed, refuse, folder):
    (folder / "v.csv").write_text("arm,fidelity,value\nbaseline,coarse,0.5\nwide,1,0.6\n")
    assert succeed("study", "add", "wings", "--csv", "v.csv") == "2 values of v.csv count.\n"
    assert study.status().imported == 2
    assert "were added before" in refuse("study", "add", "wings", "--csv", "v.csv")
    (folder / "bad.csv").write_text("arm,fidelity,value\nbaseline,coarse,0.5\nwode,1,x\n")
    told = refuse("study", "add", "wings", "--csv", "bad.csv")
    assert "bad.csv line 3: unknown arm 'wode'" in told
    assert "'x': give a number" in told
    assert study.status().imported == 2
    (folder / "more.csv").write_text("arm,fidelity,value\ndeep,fine,0.7\n")
    assert as_json(succeed, "add", "wings", "--csv", "more.csv") == {"added": 1, "state": "running"}
    (folder / "one.csv").write_text("arm,fidelity,value\ndeep,fine,0.8\n")
    assert succeed("study", "add", "wings", "--csv", "one.csv") == "1 value of one.csv counts.\n"


def test_what_there_is_nothing_of_is_said_beside_the_output(study, mfbai_command):
    assert mfbai_command("study", "note", "wings")[1:] == ("", "Study 'wings' has no note.\n")
    assert mfbai_command("study", "list", "--tag", "none")[1:] == ("", "No study matches.\n")
    study.delete()
    assert mfbai_command("study", "list")[1:] == ("", "There are no studies.\n")


def test_the_list_is_filtered_and_sorted(study, succeed, refuse):
    succeed("study", "create", "p.toml", "--name", "bridges", "--delta", 0.1)
    succeed("study", "tag", "bridges", "[bold]draft")
    study.pause()
    table = succeed("study", "list")
    assert [line.split()[0] for line in table.splitlines()] == ["study", "wings", "bridges"]
    assert "[bold]draft" in table
    assert "s ago" in table
    for words, found in (
        (["--state", "paused"], ["wings"]),
        (["--tag", "[bold]draft"], ["bridges"]),
        (["--search", "RIDGE"], ["bridges"]),
        (["--sort", "name"], ["bridges", "wings"]),
        (["--sort", "created", "--descending"], ["bridges", "wings"]),
    ):
        assert [row["name"] for row in as_json(succeed, "list", *words)] == found
    assert "--sort is 'nane'" in refuse("study", "list", "--sort", "nane")
    assert "did you mean 'paused'" in refuse("study", "list", "--state", "pausd")


def test_the_list_says_where_finished_studies_stand(study, succeed, folder):
    (folder / "evaluate.py").write_text(
        "import sys\nprint({'deep': 0.98}.get(sys.argv[1], 0.84) + int(sys.argv[3]) % 7 / 1000)\n"
    )
    succeed("study", "run", "wings", "--command", PROGRAM)
    for _ in range(2):  # from the journal, then from what was kept of it
        (row,) = json.loads(succeed("study", "list", "--json"))
        assert (row["state"], row["leader"], row["risk"] <= 0.05) == ("decided", "deep", True)
