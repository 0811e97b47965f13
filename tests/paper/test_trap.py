"""What is said of the trap follows from the numbers."""

import numpy as np
import pytest

from mfbai.paper import trap
from mfbai.paper.claims import AGREES, DISAGREES, UNDECIDED
from support.paper import sample, verdicts

STOPS = "On the trap, LUCB stops after about 100k evaluations (within a factor of 1.5)"
PAYS = "On the trap, LUCB pays a total cost of roughly 500k (within a factor of 1.5)"
NEVER_A = "LUCBExploreA never stops within 10^8 evaluations"
SPENT_A = "LUCBExploreA has spent about 10^7 by then (within a factor of 1.5)"
SHARE_B = "70 % of the runs of LUCBExploreB do not stop within 10^8 evaluations"


def trap_table(steps, stopped=True, price=5.0):
    steps = np.asarray(steps, dtype=np.int64)
    return {
        "run": np.arange(len(steps)),
        "cost": price * steps,
        "steps": steps,
        "stopped": np.broadcast_to(stopped, steps.shape).copy(),
    }


def lucb(steps=100_000, n=10, spread=0.05):
    return trap_table(sample(steps, n, spread).round())


def going(count, n=10, limit=10**8):
    """`count` of n runs are given up at the limit, the others stop."""
    return trap_table(np.where(np.arange(n) < count, limit, 5000), np.arange(n) >= count, 0.1)


def trap_verdicts(plain=None, a=None, b=None):
    tables = {"lucb": plain or lucb(), "lucb-explore-a": a or going(10), "lucb-explore-b": b or going(7)}
    return verdicts(trap, {trap.name(strategy): table for strategy, table in tables.items()})


def test_a_trap_as_in_the_paper_agrees():
    assert trap_verdicts() == dict.fromkeys((STOPS, PAYS, NEVER_A, SPENT_A, SHARE_B), AGREES)


@pytest.mark.parametrize("steps", [10**6, 20_000])
def test_lucb_that_stops_at_another_time_disagrees(steps):
    found = trap_verdicts(lucb(steps))
    assert found == {STOPS: DISAGREES, PAYS: DISAGREES, NEVER_A: AGREES, SPENT_A: AGREES, SHARE_B: AGREES}


def test_lucb_that_never_stops_disagrees():
    found = trap_verdicts(trap_table(np.full(10, 10**8), False))
    assert (found[STOPS], found[PAYS]) == (DISAGREES, DISAGREES)


def test_lucb_of_widely_varying_length_is_undecided():
    found = trap_verdicts(lucb(170_000, n=4, spread=0.5))
    assert (found[STOPS], found[PAYS]) == (UNDECIDED, UNDECIDED)


@pytest.mark.parametrize("limit", [80_000, 120_000])
def test_lucb_that_was_given_up_is_not_said_to_have_stopped(limit):
    """However near the limit is to what the paper says."""
    assert trap_verdicts(trap_table(np.full(10, limit), False))[STOPS] != AGREES
    half = trap_table(np.where(np.arange(10) < 5, limit, 100_000), np.arange(10) >= 5)
    assert trap_verdicts(half)[STOPS] != AGREES


def test_lucb_given_up_too_soon_is_not_contradicted():
    """After 20,000 evaluations nobody knows that it would not stop after 100,000."""
    found = trap_verdicts(trap_table(np.full(10, 20_000), False))
    assert (found[STOPS], found[PAYS]) == (UNDECIDED, UNDECIDED)


def test_lucb_of_which_one_run_never_stops_disagrees():
    """The paper says that it stops; one run that does not in 10^8 evaluations is enough."""
    one = trap_table(np.where(np.arange(10) < 1, 10**8, 100_000), np.arange(10) >= 1)
    assert trap_verdicts(one)[STOPS] == DISAGREES


@pytest.mark.parametrize("limit", [10**6, 10**8])
@pytest.mark.parametrize("count", [0, 5, 9])
def test_lucb_explore_a_that_stops_disagrees(count, limit):
    assert trap_verdicts(a=going(count, limit=limit))[NEVER_A] == DISAGREES


@pytest.mark.parametrize("limit", [10**6, 10**8])
@pytest.mark.parametrize("count", [0, 5])
def test_lucb_explore_b_that_stops_disagrees(count, limit):
    assert trap_verdicts(b=going(count, n=50, limit=limit))[SHARE_B] == DISAGREES


def test_lucb_explore_b_that_never_stops_disagrees_if_there_are_many_runs():
    assert trap_verdicts(b=going(10))[SHARE_B] == UNDECIDED
    assert trap_verdicts(b=going(100, n=100))[SHARE_B] == DISAGREES


def test_runs_given_up_early_confirm_nothing():
    found = trap_verdicts(a=going(10, limit=10**8 - 1), b=going(7, limit=10**6))
    assert (found[NEVER_A], found[SHARE_B]) == (UNDECIDED, UNDECIDED)


def test_some_runs_given_up_early_confirm_nothing():
    mixed = going(10)
    mixed["steps"][0] = 10**6
    assert trap_verdicts(a=mixed)[NEVER_A] == UNDECIDED


def test_lucb_explore_a_that_spends_otherwise_disagrees():
    dear = {**going(10), "cost": sample(10**8, 10, 0.01)}
    assert trap_verdicts(a=dear)[SPENT_A] == DISAGREES


def test_many_runs_given_up_early_do_not_contradict_that_some_stop_later():
    assert trap_verdicts(b=going(100, n=100, limit=10**6))[SHARE_B] == UNDECIDED
