"""docs/gallery/staffing.md: the queue is right, plans share the callers of a seed, and a week begins its quarter."""

import math

import numpy as np
import pytest


@pytest.fixture(scope="module")
def centre(definitions):
    return definitions("staffing")


@pytest.fixture(scope="module")
def values(centre):
    """(seeds, K) of the first week"""
    return np.array([[centre.evaluate(arm, "week", seed) for arm in centre.PLANS] for seed in range(12)])


def one_team(centre, agents, **settings):
    return [centre.Team(centre.BOTH, agents, **settings)]


def test_day_by_hand(centre):
    """One agent for an hour, three callers: one is answered at once, one after 4 minutes, one gives up after 3."""
    calls = [
        centre.Call(10.0, centre.QUESTION, 6.0, 1.0),
        centre.Call(12.0, centre.ORDER, 5.0, 5.0),
        centre.Call(13.0, centre.QUESTION, 5.0, 3.0),
    ]
    cost, back = centre.work_day(one_team(centre, (1,)), calls)
    assert back == []
    assert cost == pytest.approx(centre.WAGE + 4 * centre.WAIT + centre.LOST[centre.QUESTION])


def test_orders_come_first_if_the_plan_says_so(centre):
    """A question waits at minute 2, an order at minute 3, when the agent is free at minute 11."""
    calls = [
        centre.Call(1.0, centre.QUESTION, 10.0, 1.0),
        centre.Call(2.0, centre.QUESTION, 10.0, 10.0),
        centre.Call(3.0, centre.ORDER, 10.0, 10.0),
    ]
    lost = {
        orders_first: centre.work_day(one_team(centre, (1,), orders_first=orders_first), calls)[0]
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
    cost, _ = centre.work_day(one_team(centre, (2, 1)), calls)
    assert cost == pytest.approx(3 * centre.WAGE + 2 * centre.WAIT + 2 * centre.LOST[centre.ORDER])


def test_teams_answer_their_own_kind_alone(centre):
    plan = [centre.Team((centre.ORDER,), (1,)), centre.Team((centre.QUESTION,), (1,))]
    calls = [centre.Call(1.0, centre.ORDER, 30.0, 1.0), centre.Call(2.0, centre.ORDER, 30.0, 1.0)]
    assert centre.work_day(plan, calls)[0] == pytest.approx(2 * centre.WAGE + centre.LOST[centre.ORDER])


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
            patch.setitem(centre.work_day.__globals__, name, value)
        share = centre.work_day(plan, calls)[0] / len(calls)
    weights = [1.0]
    for present in range(1, 60):
        leaving = min(present, agents) / talk + max(present - agents, 0) / patience
        weights.append(weights[-1] * rate / leaving)
    waiting = sum(w * max(n - agents, 0) for n, w in enumerate(weights)) / sum(weights)
    expected = waiting / patience / rate  # those who hang up, of those who call
    assert share == pytest.approx(expected, abs=4 * math.sqrt(2 * expected / len(calls)))  # calls of a rush are alike


def test_who_hangs_up_may_call_again_the_next_day(centre):
    """One agent, two callers at once. The second tries again at minute 30 of the next day, which then costs a wait."""
    first = [centre.Call(10.0, centre.ORDER, 9.0, 1.0), centre.Call(10.5, centre.ORDER, 6.0, 2.0, again=30.0)]
    second = [centre.Call(29.0, centre.ORDER, 2.0, 1.0)]
    plan = one_team(centre, (1,))
    cost, back = centre.work_day(plan, first)
    assert cost == pytest.approx(centre.WAGE + centre.ANNOYED)
    assert back == [first[1]._replace(arrival=30.0)]
    expected = centre.WAGE + (centre.ANNOYED + centre.WAIT * 1.0) / 2
    assert np.mean(centre.day_costs(plan, [first, second])) == pytest.approx(expected)


def test_calls_are_those_of_the_seed(centre):
    assert centre.draw_days(5, 2) == centre.draw_days(5, 2)
    assert centre.draw_days(5, 2) != centre.draw_days(6, 2)
    quarters = [centre.draw_days(seed, 60) for seed in range(6)]
    sizes = [sum(map(len, days)) / len(days) / sum(centre.CALLS) for days in quarters]
    low, high = centre.BUSYNESS
    assert low - 0.03 < min(sizes) < max(sizes) < high + 0.03
    calls = [call for days in quarters for calls in days for call in calls]
    assert np.mean([call.kind == centre.ORDER for call in calls]) == pytest.approx(centre.ORDERS, abs=0.01)
    assert np.mean([call.patience for call in calls]) == pytest.approx(centre.PATIENCE, rel=0.02)
    assert np.mean([call.again is not None for call in calls]) == pytest.approx(centre.AGAIN, abs=0.01)
    for kind in centre.BOTH:
        assert np.mean([call.talk for call in calls if call.kind == kind]) == pytest.approx(centre.TALK[kind], rel=0.02)


def test_a_week_is_the_beginning_of_the_quarter(centre):
    """So both are cheap, or expensive, at the same seeds. The week lacks many calls that come back."""
    days = centre.draw_days(5, 60)
    assert days[:5] == centre.draw_days(5, 5)
    costs = centre.day_costs(centre.PLANS["lean"], days)
    assert centre.evaluate("lean", "quarter", 5) == pytest.approx(sum(costs) / 60)
    assert centre.evaluate("lean", "week", 5) == pytest.approx(sum(costs[:5]) / 5)
    found = [[centre.evaluate("lean", fidelity, seed) for fidelity in centre.DAYS] for seed in range(10)]
    week, quarter = np.transpose(found)
    assert np.corrcoef(week, quarter)[0, 1] > 0.7
    assert np.mean(quarter - week) > 10


def test_common_seeds_correlate_all_plans(values):
    assert np.corrcoef(values.T).min() > 0.5


def test_best_plan_is_ahead_of_most_in_a_week(centre, values):
    """Of all but the lean one, whose price shows later."""
    means = dict(zip(centre.PLANS, values.mean(axis=0), strict=True))
    del means["lean"]
    assert min(means, key=means.get) == "orders-first"


def test_the_lean_plan_looks_good_in_a_week_and_is_not(centre):
    """On average over quarters from a quiet one to a busy one: 6 a day cheaper at first, 26 dearer in the end."""
    seeds = sorted(range(100), key=centre.how_busy)[8::14]
    found = [
        [
            centre.evaluate("lean", fidelity, seed) - centre.evaluate("orders-first", fidelity, seed)
            for fidelity in centre.DAYS
        ]
        for seed in seeds
    ]
    week, quarter = np.mean(found, axis=0)
    assert week < 0 < quarter


def test_the_problem_has_the_cells_of_the_simulation(centre):
    problem = centre.problem
    assert list(problem.arms) == list(centre.PLANS)
    assert list(problem.fidelities) == list(centre.DAYS)
    assert (problem.direction, problem.seeds) == ("minimise", "common")
    assert problem.idle == ["week"]
    assert problem.costs[0].tolist() == [days / centre.DAYS["week"] for days in centre.DAYS.values()]
