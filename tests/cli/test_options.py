"""Options that several commands share: how numbers are read, and what the help says of names."""

import json
import re
import subprocess
import sys

import pytest

import mfbai
from mfbai import stopping, strategies
from mfbai.paper.parts import PARTS

COMMANDS = {
    "simulate": ["instance.toml", "--runs", "2"],
    "plan": ["instance.toml"],
    "oracle": ["instance.toml"],
    "evidence": ["instance.toml", "evaluations.csv"],
}


pytestmark = pytest.mark.usefixtures("folder")


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(("given", "wanted"), [("5%", "0.05"), ("0.5 %", "0.005"), ("few", "0.05"), ("%", "0.05")])
def test_a_risk_that_is_no_number_is_refused_with_one(command, given, wanted, refuse):
    told = refuse(command, *COMMANDS[command], "--delta", given)
    assert told == f"error: delta is {given!r}: give a number such as {wanted}\n"


def test_faults_of_the_risk_and_of_the_problem_are_told_at_once(refuse):
    told = refuse("evidence", "none.toml", "evaluations.csv", "--delta", "5%")
    assert "give a number such as 0.05" in told
    assert "none.toml" in told


def test_a_risk_outside_0_and_1_is_refused_by_evidence(refuse):
    assert "strictly between 0 and 1" in refuse("evidence", "instance.toml", "evaluations.csv", "--delta", "5")


def test_with_one_fidelity_nothing_rests_on_bias_bounds(succeed, folder):
    (folder / "one.toml").write_text(mfbai.dumps(mfbai.Problem(["a", "b"], [1.0], [0.0], mfbai.Gaussian(0.01))))
    (folder / "many.json").write_text('{"counts": [[1000], [1000]], "means": [[0.5], [0.7]]}')
    out = succeed("evidence", "one.toml", "many.json")
    assert "Answering 'b' now has a risk of " in out
    assert "bias bounds" not in out


def words_of(out):
    """Lines of the help are broken at hyphens."""
    return set(re.findall(r"[a-z][a-z-]*[a-z]", re.sub(r"-\n\s+", "-", out)))


@pytest.mark.parametrize("command", [["simulate"], ["study", "create"]])
def test_the_help_lists_what_is_registered(command, succeed, monkeypatch):
    monkeypatch.setitem(strategies.STRATEGIES, "a-new-strategy", strategies.STRATEGIES["uniform"])
    monkeypatch.setitem(stopping.RULES, "a-new-rule", stopping.RULES["stylised"])
    out = succeed(*command, "--help")
    assert words_of(out) >= {*strategies.STRATEGIES, *stopping.RULES}
    assert "{" not in out.partition("Options:")[2]


def test_the_help_of_reproduce_lists_the_parts(succeed):
    assert words_of(succeed("reproduce", "--help")) >= {part.group for part in PARTS}


@pytest.mark.parametrize("command", [["simulate"], ["study", "create"]])
def test_the_help_says_the_defaults(command, succeed):
    out = " ".join(succeed(*command, "--help").split())
    assert "By default the cheapest for the problem: race where it is proven, else frugal." in out
    assert "By default the rule of the strategy: contrasts for race, else e-process." in out.replace("e- p", "e-p")


@pytest.mark.parametrize(
    ("family", "strategy", "rule"),
    [(mfbai.Gaussian(0.01), "race", "contrasts"), (mfbai.Bernoulli(), "frugal", "e-process")],
)
def test_without_names_the_cheapest_strategy_that_is_proven_is_used(family, strategy, rule, succeed, folder):
    instance = mfbai.Instance([[0.3, 0.32], [0.9, 0.9]], [0.1, 1.0], [0.05, 0.0], family)
    (folder / "known.toml").write_text(mfbai.dumps(instance))
    (record,) = json.loads(succeed("simulate", "known.toml", "--runs", 2, "--json"))
    assert (record["strategy"], record["stopping"]) == (strategy, rule)


def test_the_command_line_is_loaded_without_numba():
    """Names in help texts are looked up only when the help of their command is shown."""
    script = "import sys, mfbai.cli; print(sorted({'numpy', 'numba', 'rich'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
