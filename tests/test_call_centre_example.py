"""examples/call_centre: the queue is right, seeds make days that all plans share, and evaluate.py is a good program."""

import importlib
import math
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import mfbai
from support.seeds import fix_keys

EXAMPLE = Path(__file__).parents[1] / "examples" / "call_centre"


@pytest.fixture(scope="module")
def centre():
    """The example's module. Its name is a common word, so it is not left behind for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(EXAMPLE)
        yield importlib.import_module("evaluate")
    del sys.modules["evaluate"]


@pytest.fixture(scope="module")
def values(centre):
    """(days, K)"""
    return np.array([[centre.evaluate(arm, "day", seed) for arm in centre.PLANS] for seed in range(60)])


def one_team(centre, agents, **settings):
    return [centre.Team(centre.BOTH, agents, **settings)]


def test_day_by_hand(centre):
    """One agent for an hour, three callers: one is answered at once, one after 4 minutes, one gives up after 3."""
    calls = [
        centre.Call(10.0, centre.QUESTION, 6.0, 1.0),
        centre.Call(12.0, centre.ORDER, 5.0, 5.0),
        centre.Call(13.0, centre.QUESTION, 5.0, 3.0),
    ]
    cost = centre.day_cost(one_team(centre, (1,)), calls)
    assert cost == pytest.approx(centre.WAGE + 4 * centre.WAIT + centre.LOST[centre.QUESTION])


def test_orders_come_first_if_the_plan_says_so(centre):
    """A question waits at minute 2, an order at minute 3, when the agent is free at minute 11."""
    calls = [
        centre.Call(1.0, centre.QUESTION, 10.0, 1.0),
        centre.Call(2.0, centre.QUESTION, 10.0, 10.0),
        centre.Call(3.0, centre.ORDER, 10.0, 10.0),
    ]
    lost = {
        orders_first: centre.day_cost(one_team(centre, (1,), orders_first=orders_first), calls)
        for orders_first in (False, True)
    }
    assert lost[False] == pytest.approx(centre.WAGE + 9 * centre.WAIT + centre.LOST[centre.ORDER])
    assert lost[True] == pytest.approx(centre.WAGE + 8 * centre.WAIT + centre.LOST[centre.QUESTION])


def test_agents_end_the_call_they_are_in_and_go_home(centre):
    """Two agents in the first hour, one in the second, none after: who calls at minute 121 is lost."""
    calls = [
        centre.Call(59.0, centre.ORDER, 5.0, 1.0),
        centre.Call(62.0, centre.ORDER, 70.0, 9.0),
        centre.Call(62.5, centre.ORDER, 1.0, 9.0),
        centre.Call(121.0, centre.ORDER, 1.0, 500.0),
    ]
    # One agent is free at 60 and goes; the other answers at 64, and is busy until 134.
    cost = centre.day_cost(one_team(centre, (2, 1)), calls)
    assert cost == pytest.approx(3 * centre.WAGE + 2 * centre.WAIT + 2 * centre.LOST[centre.ORDER])


def test_teams_answer_their_own_kind_alone(centre):
    plan = [centre.Team((centre.ORDER,), (1,)), centre.Team((centre.QUESTION,), (1,))]
    calls = [centre.Call(1.0, centre.ORDER, 30.0, 1.0), centre.Call(2.0, centre.ORDER, 30.0, 1.0)]
    assert centre.day_cost(plan, calls) == pytest.approx(2 * centre.WAGE + centre.LOST[centre.ORDER])


def test_share_of_lost_callers_is_that_of_the_theory(centre):
    """Erlang A: Poisson arrivals, exponential talks and patience. Its balance equations have a closed form."""
    rate, agents, talk, patience, hours = 0.6, 3, 5.0, 4.0, 1500
    rng = np.random.default_rng(7)
    arrivals = np.sort(rng.uniform(0, hours * centre.HOUR, rng.poisson(rate * hours * centre.HOUR)))
    calls = [centre.Call(a, centre.ORDER, rng.exponential(talk), rng.exponential(patience)) for a in arrivals.tolist()]
    plan = one_team(centre, (agents,) * hours)
    kept = {"WAIT": 0.0, "WAGE": 0.0, "LOST": (1.0, 1.0)}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in kept.items():
            patch.setattr(centre, name, value)
        share = centre.day_cost(plan, calls) / len(calls)
    weights = [1.0]
    for present in range(1, 60):
        leaving = min(present, agents) / talk + max(present - agents, 0) / patience
        weights.append(weights[-1] * rate / leaving)
    waiting = sum(w * max(n - agents, 0) for n, w in enumerate(weights)) / sum(weights)
    expected = waiting / patience / rate  # those who hang up, of those who call
    assert share == pytest.approx(expected, abs=4 * math.sqrt(2 * expected / len(calls)))  # calls of a rush are alike


def test_calls_are_those_of_the_seed(centre):
    assert centre.draw_calls(5) == centre.draw_calls(5)
    assert centre.draw_calls(5) != centre.draw_calls(6)
    calls = [call for seed in range(60) for call in centre.draw_calls(seed)]
    assert len(calls) / 60 == pytest.approx(sum(centre.CALLS), rel=0.06)
    assert np.mean([call.kind == centre.ORDER for call in calls]) == pytest.approx(centre.ORDERS, abs=0.02)
    assert np.mean([call.patience for call in calls]) == pytest.approx(centre.PATIENCE, rel=0.04)
    for kind in centre.BOTH:
        assert np.mean([call.talk for call in calls if call.kind == kind]) == pytest.approx(centre.TALK[kind], rel=0.05)


def test_common_seeds_correlate_all_plans(values):
    correlations = np.corrcoef(values.T)
    assert correlations.min() > 0.5


def test_best_plan_is_ahead_by_the_zone(centre, values):
    """The differences on common days are clear even after few days."""
    arms = list(centre.PLANS)
    best = arms.index("orders-first")
    assert values.mean(axis=0).argmin() == best
    assert np.delete(values - values[:, [best]], best, axis=1).mean(axis=0).min() > 5


def test_spec_has_the_arms_of_the_program(centre):
    problem = mfbai.load(EXAMPLE / "plans.toml")
    assert list(problem.arms) == list(centre.PLANS)
    assert (problem.fidelities, problem.direction, problem.seeds) == (("day",), "minimise", "common")


def test_program_prints_the_number_of_the_function(centre):
    command = [sys.executable, EXAMPLE / "evaluate.py", "peaks", "day", "7"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert float(ended.stdout) == centre.evaluate("peaks", "day", 7)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("peak", "day", "1"), "no arm 'peak'; known: flat, early, late"),
        (("peaks", "week", "1"), "no fidelity 'week'; known: day"),
        (("peaks", "day"), "usage: python evaluate.py ARM FIDELITY SEED"),
    ],
)
def test_program_refuses_what_it_does_not_know(centre, arguments, told, capsys):
    assert centre.main(arguments) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert told in printed.err


def test_both_sides_find_the_best_plan(centre, monkeypatch, capsys):
    fix_keys(monkeypatch)
    monkeypatch.syspath_prepend(EXAMPLE)
    runpy.run_path(str(EXAMPLE / "compare.py"), run_name="__main__")
    ours, theirs = capsys.readouterr().out.splitlines()
    assert ours.startswith("mfbai: orders-first, after ")
    assert theirs.startswith("Kim-Nelson: orders-first, after ")
