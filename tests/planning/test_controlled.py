"""Plans with controlled fidelities and pilots, and from a plan to a study in one step."""

import json
import random

import numpy as np
import pytest

import mfbai
from mfbai import Guess, InvalidInput
from mfbai.model.spec import load_with_guess, loads
from mfbai.planning.controlled import caution, flat, hide_top, more_pilot, whole
from mfbai.planning.fidelities import plan_fidelities
from support.pilots import changed, draw_pilot, make_problem, rows_of

BARE = mfbai.Problem(
    ["plain", "wide"],
    costs=[0.01, 0.5, 1.0],
    biases=[np.inf, 0.0001, 0.0],
    family=mfbai.Gaussian([1.0, 1.0, 1.0]),
    fidelities=["sketch", "coarse", "fine"],
)
GUESS = Guess([0.0, 0.7])
SPEC = """
[problem]
arms = ["plain", "wide"]
[[fidelity]]
name = "rough"
cost = 0.9
bias = 5.0
[[fidelity]]
name = "fine"
cost = 1.0
[family]
name = "gaussian"
variance = 0.01
[guess]
means = [0.8, 1.0]
"""


def controlled(variance):
    """Controlled values of this variance, at a tenth more than the cost of the top."""
    return BARE.only([0, 2]).controlled("sketch", others=9, coefficient=0.9, variance=variance)


def test_a_controlled_fidelity_is_planned_as_one_of_its_own():
    problem = flat(controlled(0.1))
    assert problem.fidelities == ("fine by sketch", "fine")
    assert problem.costs[0].tolist() == [1.1, 1.0]
    assert problem.controls == (None, None)
    assert flat(problem) == problem


def test_where_it_is_used_it_stands_for_the_top():
    assert hide_top([1], [0, 1, 2]) == [0, 1]
    assert hide_top([1], [0, 2]) == [0, 2]
    assert hide_top([], [0, 1, 2]) == [0, 1, 2]


def test_a_chosen_one_brings_its_parts():
    assert whole(controlled(0.1), ("fine by sketch", "fine")).fidelities == ("sketch", "fine by sketch", "fine")
    assert whole(controlled(0.1), ("fine",)).fidelities == ("fine",)


def test_a_plan_weighs_control():
    good, bad = (mfbai.plan(controlled(variance), GUESS, delta=0.05) for variance in (0.1, 1.0))
    assert good.advised == controlled(0.1)
    assert good.choice == "The plan uses 'fine by sketch', 'fine': all are worth having."
    assert good.expected.cost["all"].median < 0.5 * good.expected.cost["top"].median
    assert bad.advised.fidelities == ("fine",)
    assert bad.choice.startswith("The plan uses 'fine'; it leaves out 'fine by sketch' (")


def test_what_control_saves_depends_on_a_correlation():
    problem = make_problem(2).controlled(0, 9, 0.9)
    with pytest.raises(InvalidInput, match="has no 'correlation': what control saves depends on it"):
        mfbai.plan(problem, Guess([0.0, 0.7], deviation=1.0))


def test_a_fidelity_of_unknown_bias_that_controls_nothing_cannot_be_planned():
    with pytest.raises(InvalidInput, match="biases of 'sketch' are not bounded, and it controls nothing"):
        mfbai.plan(BARE, GUESS)


def test_a_guess_may_have_a_correlation():
    guess = Guess(gap=0.1, deviation=0.2, correlation={"fidelities": 0.9})
    assert guess.to_dict() == {
        "gap": 0.1,
        "deviation": 0.2,
        "correlation": {"arms": 0.0, "fidelities": 0.9, "factor": "normal"},
    }
    with pytest.raises(InvalidInput, match="correlation is 2: give a number of 0 or more and below 1"):
        Guess(gap=0.1, correlation=2)


def test_a_guess_of_a_file_may_have_a_correlation(tmp_path):
    file = tmp_path / "designs.toml"
    file.write_text(SPEC + "correlation = {fidelities = 0.9}\n")
    loads(file.read_text())
    assert load_with_guess(file)[1].correlation.fidelities == 0.9


# --- pilots


def test_a_plan_with_a_pilot_is_for_what_the_pilot_advises():
    problem = make_problem(2, family=mfbai.Gaussian([1.0, 1.0]))
    pilot = draw_pilot(np.random.default_rng(1), problem, rho=0.99, arms=2)[0]
    found = mfbai.plan(problem, Guess([0.0, 0.5]), delta=0.05, pilot=rows_of(pilot))
    assert found.advised.fidelities == ("fidelity 1", "fidelity 2 by fidelity 1", "fidelity 2")
    assert (found.more_pilot.seeds, found.more_pilot.pays) == (0, False)
    assert str(found.more_pilot) == "More pilot would not pay: it would not change what to do."
    assert found.to_dict()["more_pilot"]["pays"] is False


def test_more_pilot_pays_where_much_is_at_stake():
    pilot = draw_pilot(np.random.default_rng(3), make_problem(), rho=0.7, seeds=4)[0]
    assert pilot.more_seeds == 1
    little, much = (more_pilot(pilot, cost) for cost in (1.0, 1000.0))
    assert (little.pays, much.pays) == (False, True)
    assert little.cost == pytest.approx(6 * 1.01)
    assert str(much).startswith("More pilot would pay: 1 more seed costs 6.06, and control would save ")


def test_a_gap_that_the_pilot_cannot_tell_from_none_is_said():
    """The cost goes with the gap squared."""
    drawn = draw_pilot(np.random.default_rng(4), make_problem(2), rho=0.99, arms=2, seeds=8)[0]
    drawn = changed(drawn, drawn.pairs.values - drawn.means[:, None, -1:])  # both means are 0
    close, apart = (changed(drawn, drawn.pairs.values + np.array([0.0, gap])[:, None, None]) for gap in (0.01, 20.0))
    told = caution(close, Guess(close.means[:, -1]))
    assert "is ahead of 'arm 1' by 0.01, give or take " in told
    assert caution(apart, Guess(apart.means[:, -1])) == ""
    assert caution(close, Guess([0.0, 0.5])) == ""  # what was guessed does not rest on the pilot


# --- one step


def test_the_plan_of_a_study_takes_its_direction_and_seeds():
    planned = plan_fidelities(BARE.only([2]), Guess([0.0, 0.7]), 0.05, 0.0, "minimise", None)
    assert planned.advised.direction == "minimise"


def test_identify_leaves_out_what_is_not_worth_having(tmp_path, capsys):
    file = tmp_path / "designs.toml"
    file.write_text(SPEC)
    used = set()

    def evaluate(arm, fidelity, seed):
        used.add(fidelity)
        return random.Random(seed).gauss(0.8 if arm == "plain" else 1.0, 0.1)

    assert mfbai.identify(evaluate, file, delta=0.05, plan=True).arm == "wide"
    assert used == {"fine"}
    assert capsys.readouterr().err == "The plan uses 'fine'; it leaves out 'rough' (useless).\n"


def test_a_study_is_created_with_what_is_worth_having(tmp_path, monkeypatch, succeed, refuse):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "designs.toml").write_text(SPEC)
    words = ("study", "create", "designs.toml", "--delta", "0.05", "--plan")
    assert succeed(*words, "--name", "a").startswith("The plan uses 'fine'; it leaves out 'rough' (useless).\n")
    assert json.loads(succeed(*words, "--name", "b", "--json"))["fidelities"] == ["fine"]
    assert mfbai.load_study("a").problem.fidelities == ("fine",)
    (tmp_path / "designs.toml").write_text(SPEC.split("[guess]")[0])
    assert "give a Guess, or a [guess] table in the file" in refuse(*words, "--name", "c")
