"""mfbai study report: a page from the command line, and its verification."""

import re

import pytest

from mfbai import create_study, load_study
from mfbai.study.report.making import make_report
from support.commands import read_json
from support.studies import PROBLEM, finish

pytestmark = pytest.mark.usefixtures("folder")


@pytest.fixture
def study():
    made = create_study(PROBLEM, 0.05, name="designs")
    finish(made)
    return made


def test_a_report_is_written_and_verified(succeed, study):
    out = succeed("study", "report", "designs", "--out", "a report.html")
    assert re.fullmatch(
        r"a report\.html: 0\.\d MB\. Open it in a browser; anyone can check it: mfbai study verify 'a report\.html'\n",
        out,
    )
    told = succeed("study", "verify", "a report.html")
    assert told.startswith("Confirmed: every event follows from those before it.\nStudy 'designs': The best is 'wide'")


def test_a_program_can_read_what_was_written(succeed, study):
    found = read_json(succeed("study", "report", "designs", "--out", "report.html", "--json"))
    with open("report.html", "rb") as file:
        written = file.read()
    assert found == {"out": "report.html", "bytes": len(written)}
    assert written.decode("utf-8") == load_study("designs").report()


def test_a_changed_report_is_rejected(mfbai_command, succeed, study):
    succeed("study", "report", "designs", "--out", "report.html")
    with open("report.html", encoding="utf-8", newline="") as file:
        text = file.read()
    with open("report.html", "w", encoding="utf-8", newline="") as file:
        file.write(text.replace("<h1", "<h3", 1))
    code, out, _ = mfbai_command("study", "verify", "report.html")
    assert (code, out.startswith("REJECTED: the journal is right, but the page is not")) == (1, True)


def test_the_page_of_another_version_is_not_confirmed(mfbai_command, study):
    made = make_report(study)
    made.certificate["versions"]["mfbai"] = "0.1.1"
    with open("report.html", "w", encoding="utf-8", newline="") as file:
        file.write(made.html)
    code, out, _ = mfbai_command("study", "verify", "report.html")
    told, verdict = out.splitlines()
    assert code == 3
    assert told.startswith("PAGE NOT CHECKED: only the journal is confirmed: mfbai 0.1.1 made the page")
    assert verdict.startswith("Study 'designs': The best is 'wide'")
    code, out, _ = mfbai_command("study", "verify", "report.html", "--json")
    assert (code, read_json(out)["confirmed"], read_json(out)["unchecked"]) == (3, False, True)
