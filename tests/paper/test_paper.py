"""The parts of the reproduction: verdicts follow from numbers, intervals hold what they should, files are trusted only
if they are whole, and documents are well formed."""

import ast
import json
import math
import subprocess
import sys
from contextlib import suppress
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from scipy.stats import binom

import mfbai
from mfbai.analysis.oracle import oracle
from mfbai.files import replacing
from mfbai.paper import appendix, beyond, constant, costs, shares, store, trap
from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED, Claim, above, below, near, tally, together
from mfbai.paper.document import MARKS, Grid, Heading, Paragraph, Picture, markdown, page
from mfbai.paper.experiment import DELTAS, Experiment, Scale, Setting, Table, complete, stacked, where
from mfbai.paper.intervals import Interval, mean, median_ratio, ratio, share
from mfbai.paper.store import Store

SETTING = Setting()
CERTAIN, FINAL = DELTAS
FALSE_ALARM = 1e-6  # the probability with which a check of coverage fails though the interval is as good as stated


def verdicts(claims):
    """{what the paper says: verdict}; no claim is made twice."""
    found = list(claims)
    assert len({claim.text for claim in found}) == len(found)
    return {claim.text: claim.verdict for claim in found}


def sample(middle, n, spread):
    """n values in shuffled order of this mean, exactly, and about this relative deviation."""
    rng = np.random.default_rng(n)
    return middle * (1 + spread * math.sqrt(3) * rng.permutation(np.linspace(-1, 1, n)))


# --- verdicts


@pytest.mark.parametrize(
    ("ends", "verdict"),
    [((2, 3), AGREES), ((0.9, 3), UNDECIDED), ((1, 3), UNDECIDED), ((0, 0.9), DISAGREES), ((1, 1), DISAGREES)],
)
def test_a_quantity_is_above_or_below_if_all_of_its_interval_is(ends, verdict):
    assert above(Interval(float("nan"), *ends), 1) == verdict
    assert below(Interval(float("nan"), -ends[1], -ends[0]), -1) == verdict


def test_a_quantity_is_near_if_its_estimate_is():
    verdicts = [near(Interval(middle, middle - 1, middle + 1), 3, 4) for middle in (1.9, 2.1, 3.5, 4.9, 5.1)]
    assert verdicts == [DISAGREES, UNDECIDED, AGREES, UNDECIDED, DISAGREES]


def test_a_statement_of_several_parts_fails_with_any_of_them():
    assert together([AGREES, AGREES]) == AGREES
    assert together([AGREES, UNDECIDED]) == UNDECIDED
    assert together([UNDECIDED, DISAGREES, AGREES]) == DISAGREES


def test_answers_are_tallied_apart():
    told = tally([Claim("", "", "", ANSWERED), Claim("", "", "", DISAGREES)])
    assert told == "0 agree, 1 disagree, 0 undecided, 1 open question answered"


# --- what the strategies cost

COSTS = {
    ("mf-grad", CERTAIN): 1000.0,
    ("mf-grad", FINAL): 2000.0,
    ("iise", CERTAIN): 3000.0,
    ("iise", FINAL): 7000.0,
    ("grad", CERTAIN): 1500.0,
    ("grad", FINAL): 4000.0,
    ("mf-grad-const", CERTAIN): 800.0,
    ("mf-grad-const", FINAL): 1500.0,
}


def cost_table(changes=None, errors=None, n=100, spread=0.1):
    """As an experiment would give it: mean costs and numbers of errors by strategy and delta."""
    means, wrong = {**COSTS, **(changes or {})}, errors or {}
    tables = {}
    for strategy in costs.STRATEGIES:
        errs = np.stack([np.arange(n) < wrong.get((strategy, delta), 0) for delta in DELTAS], axis=1).ravel()
        tables[strategy] = {
            "run": np.repeat(np.arange(n), 2),
            "delta": np.tile(DELTAS, n),
            "cost": np.stack([sample(means[strategy, delta], n, spread) for delta in DELTAS], axis=1).ravel(),
            "stopped": np.ones(2 * n, dtype=bool),
            "correct": ~errs,
        }
    return stacked(tables, "strategy")


def cost_results(**options):
    """The same numbers for all four instances."""
    return {costs.name(instance, SETTING): cost_table(**options) for instance in costs.INSTANCES}


def cost_verdicts(**options):
    return verdicts(costs.claims(cost_results(**options), SETTING))


WRONG_COSTS = {
    "MF-GRAD is the cheapest on {} at delta = 0.01": {"changes": {("grad", CERTAIN): 900.0}},
    "MF-GRAD is the cheapest on {} at delta = 1e-10": {"changes": {("iise", FINAL): 1800.0}},
    "IISE is the worst on paper-5x2": {"changes": {("iise", CERTAIN): 1200.0}},
    "On {} the gap widens from delta = 0.01 to 1e-10": {"changes": {("grad", FINAL): 2300.0}},
    "Delta-correct at 0.01 on all instances: MF-GRAD, IISE, GRAD, MF-GRAD-CONST": {"errors": {("iise", CERTAIN): 20}},
    "Delta-correct at 1e-10 on all instances: MF-GRAD, IISE, GRAD, MF-GRAD-CONST": {"errors": {("grad", FINAL): 2}},
}


def test_costs_as_in_the_paper_agree():
    """But for a risk of 1e-10, which no number of runs can show."""
    found = cost_verdicts(n=1000)
    assert len(found) == 4 * 2 + 1 + 4 + 2
    assert found.pop("Delta-correct at 1e-10 on all instances: MF-GRAD, IISE, GRAD, MF-GRAD-CONST") == UNDECIDED
    assert set(found.values()) == {AGREES}


@pytest.mark.parametrize("text", WRONG_COSTS)
def test_other_costs_disagree(text):
    found = cost_verdicts(**WRONG_COSTS[text])
    for instance in costs.INSTANCES:
        assert found[text.format(instance)] == DISAGREES


def test_every_claim_about_costs_has_wrong_numbers_above():
    texts = {text.format(instance) for text in WRONG_COSTS for instance in costs.INSTANCES}
    assert texts == set(cost_verdicts())


def test_wrong_numbers_of_one_instance_touch_its_claims_alone():
    results = cost_results()
    results[costs.name("paper-mu2", SETTING)] = cost_table({("grad", CERTAIN): 500.0, ("grad", FINAL): 900.0})
    found = verdicts(costs.claims(results, SETTING))
    changed = {text for text, verdict in found.items() if verdict == DISAGREES}
    assert changed == {text for text in found if "paper-mu2" in text}


def test_iise_cheapest_on_5x2_contradicts_two_claims():
    found = cost_verdicts(changes={("iise", CERTAIN): 500.0})
    assert found["IISE is the worst on paper-5x2"] == DISAGREES
    assert found["MF-GRAD is the cheapest on paper-5x2 at delta = 0.01"] == DISAGREES
    assert found["MF-GRAD is the cheapest on paper-5x2 at delta = 1e-10"] == AGREES


def test_few_noisy_costs_decide_nothing():
    found = cost_verdicts(n=4, spread=1.0, errors={("grad", CERTAIN): 1})
    undecided = {text for text, verdict in found.items() if verdict == UNDECIDED}
    assert undecided >= {text for text in found if "cheapest" in text or "worst" in text or "widens" in text}


def test_one_error_in_a_hundred_is_no_evidence_at_a_risk_of_one_percent_but_is_at_a_smaller():
    found = cost_verdicts(errors={("mf-grad", CERTAIN): 1, ("mf-grad", FINAL): 1})
    assert found["Delta-correct at 0.01 on all instances: MF-GRAD, IISE, GRAD, MF-GRAD-CONST"] == UNDECIDED
    assert found["Delta-correct at 1e-10 on all instances: MF-GRAD, IISE, GRAD, MF-GRAD-CONST"] == DISAGREES


def test_runs_that_did_not_stop_are_no_errors():
    table = cost_table(errors={("grad", CERTAIN): 50}, n=1000)
    table["stopped"] &= table["correct"]
    found = verdicts(costs.claims({"costs-paper-4x5": table}, SETTING))
    assert found["Delta-correct at 0.01 on paper-4x5: MF-GRAD, IISE, GRAD, MF-GRAD-CONST"] == AGREES


@pytest.mark.parametrize("n", [15, 100, 1000])
def test_strategies_that_err_as_often_as_they_may_are_seldom_accused(n):
    """All sixteen err with probability delta: an accusation should have a probability of 5 %, and 400 trials of that
    have more than 45 with probability 1e-6."""
    rng = np.random.default_rng(1)
    trials, accused = 400, 0
    for errors in rng.binomial(n, CERTAIN, (trials, len(costs.INSTANCES), len(costs.STRATEGIES))):
        tables = {}
        for instance, counts in zip(costs.INSTANCES, errors, strict=True):
            runs = {"delta": np.full(n, CERTAIN), "cost": np.ones(n), "stopped": np.ones(n, dtype=bool)}
            parts = {
                strategy: {**runs, "correct": np.arange(n) >= count}
                for strategy, count in zip(costs.STRATEGIES, counts, strict=True)
            }
            tables[instance] = stacked(parts, "strategy")
        accused += costs.correct(tables, CERTAIN).verdict == DISAGREES
    assert binom.sf(accused - 1, trials, 0.05) > FALSE_ALARM


def test_a_gap_in_favour_of_the_rivals_does_not_widen_by_closing():
    """A rival that is cheaper by 700 at first and by 100 at last: MF-GRAD's lead does not grow, as it has none."""
    rivals = {("iise", CERTAIN): 300.0, ("iise", FINAL): 1900.0, ("grad", CERTAIN): 300.0, ("grad", FINAL): 1900.0}
    assert cost_verdicts(changes=rivals)["On paper-4x5 the gap widens from delta = 0.01 to 1e-10"] != AGREES


def test_only_the_instances_there_are_judged():
    found = verdicts(costs.claims({"costs-paper-mu3": cost_table()}, SETTING))
    assert len(found) == 2 + 1 + 2
    assert not any("paper-5x2" in text for text in found)
    assert verdicts(costs.claims({}, SETTING)) == {}


def test_another_variance_reads_its_own_numbers():
    other = Setting(0.1)
    assert verdicts(costs.claims(cost_results(), other)) == {}
    assert len(verdicts(costs.claims({costs.name("paper-5x2", other): cost_table()}, other))) == 6


# --- a constant rate


@pytest.mark.parametrize(
    ("cost", "n", "spread", "verdict"),
    [(800.0, 100, 0.1, AGREES), (1200.0, 100, 0.1, DISAGREES), (800.0, 5, 1.0, UNDECIDED), (1200.0, 5, 1.0, UNDECIDED)],
)
def test_the_constant_rate_is_judged_by_its_mean_cost(cost, n, spread, verdict):
    results = cost_results(changes={("mf-grad-const", CERTAIN): cost}, n=n, spread=spread)
    assert verdicts(constant.claims(results, SETTING)) == {
        f"MF-GRAD-CONST outperforms MF-GRAD on {instance}": verdict for instance in constant.INSTANCES
    }


# --- shares


def share_table(instance, distances, spread=0.001, runs=20, last=None):
    """Shares at these distances, by step, from the initial ones at first and from omega* at last; `last` are the final
    ones, if given."""
    problem = mfbai.load(instance)
    weights = oracle(problem).weights
    initial = problem.problem.costs / problem.problem.costs.sum()
    steps = sorted(distances)
    found = np.stack([initial if step <= 1000 else weights for step in steps])[None].repeat(runs, axis=0)
    for n, step in enumerate(steps):
        found[:, n, 0, 0] += sample(distances[step], runs, spread)
    if last is not None:
        found[:, -1] = last
    K, M = weights.shape
    cells = {f"{a + 1}@{m + 1}": found[:, :, a, m].ravel() for a in range(K) for m in range(M)}
    return {"run": np.repeat(np.arange(runs), len(steps)), "step": np.tile(steps, runs), **cells}


THEORY, CONSTANT = {1000: 0.2, 100_000: 0.031}, {1000: 0.4, 100_000: 0.01}
DISTANCE = "On paper-5x2, MF-GRAD's shares after 10^5 steps are at a distance of 0.031 ± 0.0006 from omega*"
PATTERN = "On paper-4x5 the sparsity pattern emerges as well: one fidelity an arm"
SOONER = "MF-GRAD-CONST moves away from the initial shares way sooner than MF-GRAD on {}"


def share_verdicts(theory=THEORY, const=CONSTANT, **options):
    results = {}
    for instance in shares.INSTANCES:
        of_theory = options if instance == "paper-4x5" else {k: v for k, v in options.items() if k != "last"}
        of_constant = {k: v for k, v in options.items() if k != "last"}
        results[shares.name(instance, "mf-grad", SETTING)] = share_table(instance, theory, **of_theory)
        results[shares.name(instance, "mf-grad-const", SETTING)] = share_table(instance, const, **of_constant)
    return verdicts(shares.claims(results, SETTING))


def test_shares_as_in_the_paper_agree():
    texts = {DISTANCE, PATTERN, *(SOONER.format(instance) for instance in shares.INSTANCES)}
    assert share_verdicts() == dict.fromkeys(texts, AGREES)


@pytest.mark.parametrize("distance", [0.05, 0.02, 0.0322])
def test_another_distance_disagrees(distance):
    assert share_verdicts(theory={1000: 0.4, 100_000: distance})[DISTANCE] == DISAGREES


def test_an_uncertain_distance_is_undecided():
    assert share_verdicts(theory={1000: 0.4, 100_000: 0.033}, spread=0.5)[DISTANCE] == UNDECIDED


def test_equal_shares_are_not_sparse():
    assert share_verdicts(last=np.full((4, 5), 1 / 20))[PATTERN] == DISAGREES


def test_shares_at_the_dearest_fidelity_are_not_the_sparse_ones():
    """As uniform sampling has them: one cell of each arm has nearly all of its cost, but not one that omega* uses."""
    costs = mfbai.load("paper-4x5").problem.costs
    assert share_verdicts(last=costs / costs.sum())[PATTERN] == DISAGREES


def test_half_sparse_shares_of_wavering_runs_are_undecided():
    """The cells that omega* uses have half of the cost, on average."""
    rng = np.random.default_rng(0)
    used = oracle("paper-4x5").weights > 0
    main = rng.permutation(np.linspace(0.3, 0.7, 20)) / 4
    table = share_table("paper-4x5", THEORY)
    for a in range(4):
        for m in range(5):
            cell = table[f"{a + 1}@{m + 1}"].reshape(20, 2)
            cell[:, -1] = main if used[a, m] else (0.25 - main) / 4
    results = {shares.name("paper-4x5", "mf-grad", SETTING): table}
    assert verdicts(shares.claims(results, SETTING)) == {PATTERN: UNDECIDED}


@pytest.mark.parametrize("instance", shares.INSTANCES)
def test_a_constant_rate_that_is_no_sooner_disagrees(instance):
    assert share_verdicts(const={1000: 0.1, 100_000: 0.01})[SOONER.format(instance)] == DISAGREES
    noisy = share_verdicts(const={1000: 0.21, 100_000: 0.01}, spread=0.5)
    assert noisy[SOONER.format(instance)] == UNDECIDED


def test_a_distance_after_fewer_steps_says_nothing_of_that_after_1e5():
    """0.3 after 2,000 steps is as it should be on the way to 0.031; and 0.031 would be no confirmation."""
    for distance in (0.3, 0.031):
        results = {"shares-paper-5x2-mf-grad": share_table("paper-5x2", {1000: 0.4, 2000: distance})}
        assert verdicts(shares.claims(results, SETTING))[DISTANCE] == UNDECIDED


def test_the_rates_are_compared_only_where_both_are():
    results = {"shares-paper-5x2-mf-grad-const": share_table("paper-5x2", CONSTANT)}
    assert verdicts(shares.claims(results, SETTING)) == {}


# --- the trap

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
    return verdicts(trap.claims({trap.name(strategy): table for strategy, table in tables.items()}))


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


# --- the appendix


def tables(**changes):
    """Tables like those of the appendix, in the form in which the claims would all hold."""
    compared = ("instance", "believed in", "used by w*", "cost of the believed", "C*", "cost / C*")
    made = {
        "lower-bounds": (
            ("instance", "earlier bound", "C*", "C* / earlier bound", "as derived in the paper"),
            [("2 x 2, a", 100.0, 200.0, 2.0, 2.0), ("2 x 2, b", 1.0, 500.0, 500.0, 500.0), ("x", 1.0, 1.5, 1.5, "-")],
        ),
        "believed-fidelities": (
            compared,
            [("Case 1, a", "2, 2", "2, 2", 8.0, 8.0, 1.0), ("Case 1, b", "1, 1", "2, 2", "never", 8.0, "-")],
        ),
        "rival-fidelities": (compared, [("Case 2", "any, 2", "1, 1", 30.0, 10.0, 3.0), ("x", "", "", 1.0, 1.0, 1.0)]),
        "null-weights": (
            ("instance", "cells", "unused by w*", "printed", "printed but used", "corrected", "corrected but used"),
            [("a", 10, 5, 5, 0, 5, 0), ("b", 4, 2, 1, 0, 1, 0)],
        ),
        "weights-5x2": (
            ("quantity", "paper", "from eta rounded", "exact", "oracle", "oracle - exact"),
            [
                ("eta", 0.539, 0.539, 0.6, 0.6, 0.0),
                ("w* of arms 1 to 4, fidelity 1", 0.09621, 0.09621, 0.09622, 0.09622, 0.0),
                ("w* of arm 5, fidelity 2", 0.61516, 0.61516, 0.61512, 0.61512, 0.0),
                ("w* of all other cells", 0.0, 0.0, 0.0, 0.1, 0.0),
            ],
        ),
        "sparsity": (
            ("instances of", "instances", "not sparse", "share", "low", "high", "excess cost"),
            [
                ("2 x 2", 500, 0, 0.0, 0.0, 0.01, "-"),
                ("2 x 3", 500, 0, 0.0, 0.0, 0.01, "-"),
                ("3 x 2", 500, 5, 0.01, 0.0, 0.02, 0.007),
                ("named", 1, 1, "-", "-", "-", 0.004),
            ],
        ),
    }
    return {
        name: Table(name, "", "", columns, tuple(changes.get(name.replace("-", "_"), rows)))
        for name, (columns, rows) in made.items()
    }


def appendix_claims(**changes):
    return {claim.text: claim for claim in appendix.claims(tables(**changes))}


WRONG_TABLES = {
    "The lower bound is tighter": [
        {"lower_bounds": [("a", 1.0, 2.0, 2.0, 2.5), ("x", 1.0, 2.0, 2.0, "-")]},
        {"lower_bounds": [("a", 1.0, 2.0, 2.0, 2.0), ("x", 2.0, 1.0, 0.5, "-")]},
    ],
    "The fidelities that Poiani et al.": [
        {"believed_fidelities": [("Case 1, a", "", "", 8.0, 8.0, 1.0), ("x", "", "", "never", 8.0, "-")]}
    ],
    "The fidelities on which IISE": [{"rival_fidelities": [("Case 2", "", "", 1.0, 1.0, 1.0)]}],
    "Proposition": [{"null_weights": [("a", 10, 5, 5, 1, 5, 0), ("b", 4, 2, 1, 0, 1, 0)]}],
    "omega* of paper-5x2": [
        {"weights_5x2": [("w* of arm 5, fidelity 2", 0.61516, 0.61516, 0.6, 0.61522, 0.0)]},
        {"weights_5x2": [("w* of arms 1 to 4, fidelity 1", 0.09621, 0.09621, 0.6, 0.09686, 0.0)]},
    ],
    "In almost all 2 x M": [{"sparsity": [("2 x 6", 500, 1, 0.002, 0.0, 0.01, 0.1), ("n", 1, 1, "-", "-", "-", 0.1)]}],
}


def claim_of(start, claims):
    (found,) = (claim for text, claim in claims.items() if text.startswith(start))
    return found


def test_an_appendix_without_mistakes_agrees():
    found = appendix_claims()
    assert {claim_of(start, found).verdict for start in WRONG_TABLES} == {AGREES}
    assert len(found) == len(WRONG_TABLES) + 1


@pytest.mark.parametrize("start", WRONG_TABLES)
def test_tables_with_other_rows_disagree(start):
    for wrong in WRONG_TABLES[start]:
        found = appendix_claims(**wrong)
        assert claim_of(start, found).verdict == DISAGREES
        others = {claim.verdict for text, claim in found.items() if not text.startswith((start, "Question"))}
        assert others == {AGREES}


def test_the_open_question_is_answered_by_a_certified_excess_alone():
    assert claim_of("Question", appendix_claims()).verdict == ANSWERED
    none = [("2 x 2", 5, 0, 0.0, 0.0, 0.5, "-"), ("3 x 2", 5, 0, 0.0, 0.0, 0.5, "-"), ("n", 1, 0, "-", "-", "-", 0.0)]
    claim = claim_of("Question", appendix_claims(sparsity=none))
    assert claim.verdict == UNDECIDED
    assert not claim.measured.startswith("no:")


def test_what_is_said_of_the_corrected_proposition_is_computed():
    """Column 6 counts cells that even the corrected one denies weight though they are used."""
    rows = [("a", 10, 5, 5, 4, 5, 1), ("b", 4, 2, 1, 0, 1, 0)]
    claim = claim_of("Proposition", appendix_claims(null_weights=rows))
    assert claim.verdict == DISAGREES
    assert not claim.measured.endswith("it holds")


def test_what_is_said_of_the_variants_that_end_is_computed():
    """If none goes on for ever, none of them are `others`."""
    rows = [("Case 1, a", "", "", 8.0, 8.0, 1.0), ("Case 1, b", "", "", 9.0, 8.0, 9 / 8)]
    claim = claim_of("The fidelities that Poiani", appendix_claims(believed_fidelities=rows))
    assert "more than a quarter" not in claim.measured


def test_rivals_fidelities_that_never_end_are_not_optimal():
    rows = [("Case 2", "any, 1", "2, 2", "never", 8.0, "-")]
    assert claim_of("The fidelities on which IISE", appendix_claims(rival_fidelities=rows)).verdict == AGREES


@pytest.mark.parametrize("name", tables())
def test_a_table_alone_has_its_own_claims(name):
    found = list(appendix.claims({name: tables()[name]}))
    assert len(found) == (2 if name == "sparsity" else 1)


def test_the_tables_that_are_computed_have_the_form_that_claims_read():
    """The real ones, with few random instances."""
    made = {sheet.name: sheet.build({}, Scale(instances=3)) for sheet in appendix.sheets()}
    assert made.keys() == tables().keys()
    for name, table in tables().items():
        assert made[name].columns == table.columns
    assert {claim.text for claim in appendix.claims(made)} >= {
        claim.text for claim in appendix.claims(tables()) if "paper-5x2" not in claim.text
    }


# --- experiments' tables


def test_rows_are_selected_by_values():
    table = cost_table(n=10)
    found = where(table, strategy="grad", delta=FINAL)
    assert len(found["cost"]) == 10
    assert found["cost"].mean() == pytest.approx(COSTS["grad", FINAL])


def test_a_short_table_is_an_interrupted_one():
    table = {"run": np.repeat(np.arange(5), 2)}
    assert complete(table, 5) is table
    with pytest.raises(KeyboardInterrupt):
        complete(table, 6)


# --- intervals


def check_coverage(hits, trials, low=0.94, high=0.97):
    """Fails with probability below FALSE_ALARM if the true coverage is between these."""
    assert binom.cdf(hits, trials, low) > FALSE_ALARM
    assert binom.sf(hits - 1, trials, high) > FALSE_ALARM


@pytest.mark.parametrize("n", [2, 10])
def test_the_interval_of_a_mean_has_its_coverage(n):
    rng = np.random.default_rng(n)
    found = [mean(values) for values in rng.normal(3, 2, (3000, n))]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 3000)


@pytest.mark.parametrize("n", [20, 100])
def test_the_interval_of_a_ratio_has_its_coverage_for_skewed_costs(n):
    """Gamma of shape 4, which deviates from its mean by a half, like the costs of runs."""
    rng = np.random.default_rng(n)
    pairs = zip(3 * rng.gamma(4, size=(2000, n)), rng.gamma(4, size=(2000, n)), strict=True)
    found = [ratio(*pair) for pair in pairs]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 2000)


def test_the_interval_of_a_ratio_of_medians_has_its_coverage():
    """The bootstrap of medians errs on the wide side."""
    rng = np.random.default_rng(5)
    pairs = zip(3 * rng.gamma(4, size=(300, 60)), rng.gamma(4, size=(300, 60)), strict=True)
    found = [median_ratio(*pair, resamples=500) for pair in pairs]
    check_coverage(sum(one.low <= 3 <= one.high for one in found), 300, low=0.93, high=0.99)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_the_interval_of_a_share_has_its_coverage_on_average(n):
    """Exactly, by summing over all counts; Wilson's is 95 % on average over p, and less for some."""
    ends = [share(count, n) for count in range(n + 1)]
    chances = (np.arange(400) + 0.5) / 400
    inside = np.array([[one.low <= p <= one.high for one in ends] for p in chances])
    coverage = (binom.pmf(np.arange(n + 1), n, chances[:, None]) * inside).sum(axis=1)
    assert 0.945 < coverage.mean() < 0.96
    assert coverage[(chances > 0.1) & (chances < 0.9)].min() > 0.90


def test_one_value_alone_tells_nothing_of_its_error():
    assert mean(np.array([2.0])) == (2.0, -math.inf, math.inf)
    assert ratio(np.array([2.0]), np.array([1.0, 1.1])) == (pytest.approx(2 / 1.05), 0.0, math.inf)
    assert mean(np.array([2.0])).half == math.inf


def test_equal_values_have_an_interval_of_no_width():
    fives, twos = np.full(10, 5.0), np.full(10, 2.0)
    assert mean(fives) == (5, 5, 5)
    assert ratio(fives, twos) == (2.5, 2.5, 2.5)
    assert median_ratio(fives, twos) == (2.5, 2.5, 2.5)


@pytest.mark.parametrize("n", [1, 2, 10, 1000])
def test_shares_of_none_and_of_all_mirror_each_other(n):
    none, every = share(0, n), share(n, n)
    assert (none.estimate, none.low) == (0, 0)
    assert (every.estimate, every.high) == (1, pytest.approx(1, abs=1e-12))
    assert 0 < none.high == pytest.approx(1 - every.low)
    assert every.high <= 1


def test_intervals_do_not_depend_on_the_call():
    values, other = sample(3, 50, 0.2), sample(2, 40, 0.2)
    assert median_ratio(values, other) == median_ratio(values, other)


# --- files

TABLE = {
    "strategy": np.array(["mf-grad", 'a "b", c', "täglich", ""]),
    "run": np.array([0, -1, 2**62, 3]),
    "cost": np.array([0.1, 1 / 3, 5e-324, -0.0]),
    "odd": np.array([math.inf, -math.inf, math.nan, 1e308]),
    "stopped": np.array([True, False, True, True]),
}


def made(name="some", compute=None, **about):
    uses = ("runs", "steps")
    about = {"instance": "x", "deltas": DELTAS, **about}
    return Experiment(name, 1.0, ("mf-grad",), uses, about, compute or (lambda scale: TABLE))


@pytest.fixture
def kept(tmp_path):
    """A folder with an experiment's numbers."""
    found = Store(tmp_path / "data", Scale())
    found.save(made(), TABLE, 12.5)
    return found


def test_numbers_come_back_to_the_bit(kept):
    table, seconds = kept.load(made())
    assert seconds == 12.5
    assert list(table) == list(TABLE)
    for name, column in TABLE.items():
        assert table[name].dtype.kind == column.dtype.kind
        assert table[name].tobytes() == column.tobytes() or column.dtype.kind == "U"
    assert table["strategy"].tolist() == TABLE["strategy"].tolist()


def test_saving_what_was_loaded_changes_no_byte(kept):
    before = (kept.folder / "some.csv").read_bytes()
    kept.save(made(), kept.load(made())[0], 1.0)
    assert (kept.folder / "some.csv").read_bytes() == before


def test_nothing_there_is_nothing_loaded(tmp_path, kept):
    assert Store(tmp_path / "nowhere", Scale()).load(made()) is None
    assert kept.load(made("other")) is None


@pytest.mark.parametrize("change", [{"runs": 999}, {"steps": 10}])
def test_numbers_of_another_scale_are_not_used(kept, change):
    assert Store(kept.folder, Scale(**change)).load(made()) is None


@pytest.mark.parametrize("change", [{"pulls": 10}, {"instances": 1}])
def test_what_an_experiment_does_not_use_does_not_matter(kept, change):
    assert Store(kept.folder, Scale(**change)).load(made()) is not None


@pytest.mark.parametrize("about", [{"instance": "y"}, {"deltas": (0.01,)}, {"strategy": "new"}])
def test_numbers_of_another_definition_are_not_used(kept, about):
    assert kept.load(made(**about)) is None


def test_numbers_of_another_seed_or_code_are_not_used(kept, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "SEED", 1)
        assert kept.load(made()) is None
    with monkeypatch.context() as patch:
        patch.setattr(store, "sources_digest", lambda *parts: "other")
        assert kept.load(made()) is None
    assert kept.load(made()) is not None


@pytest.mark.parametrize("name", ["some.csv", "some.json"])
def test_numbers_without_their_other_file_are_not_used(kept, name):
    (kept.folder / name).unlink()
    assert kept.load(made()) is None


@pytest.mark.parametrize("name", ["some.csv", "some.json"])
@pytest.mark.parametrize("drop", [1, 2, 3, 10, 60, 10**6])
def test_truncated_files_are_not_used(kept, name, drop):
    """Not even if it is the last letter of a number or of "True"; a lost line break alone does no harm."""
    file = kept.folder / name
    content = file.read_bytes()
    file.write_bytes(content[: max(0, len(content) - drop)])
    found = kept.load(made())
    if found is not None:
        assert found[0]["stopped"].tolist() == TABLE["stopped"].tolist()
        assert drop == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.1", "0.2"),
        ("True", "Tru"),
        ("run", "runs"),
        ("-1,", "one,"),
        ("mf-grad,", "mf-grad,extra,"),
        ("mf-grad,0,0.1,inf,True\n", ""),
        ("4611686018427387904", "99999999999999999999"),
    ],
)
def test_edited_numbers_are_not_used(kept, old, new):
    file = kept.folder / "some.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert kept.load(made()) is None


def test_a_stray_quote_in_a_long_file_is_not_used(tmp_path):
    """It makes one field of all that follows, longer than the csv module reads."""
    long = {"cost": np.arange(50_000.0)}
    found = Store(tmp_path, Scale())
    found.save(made(), long, 1.0)
    file = tmp_path / "some.csv"
    file.write_text(file.read_text().replace("\n0.0", '\n"0.0', 1))
    assert found.load(made()) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b'"x"', b"\xff\xfe", b"[" * 50])
@pytest.mark.parametrize("name", ["some.csv", "some.json"])
def test_rubbish_is_not_used(kept, name, content):
    (kept.folder / name).write_bytes(content)
    assert kept.load(made()) is None


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    with suppress(ZeroDivisionError), replacing(tmp_path / "a.csv") as part:
        part.write_text(f"half {1 / 0}")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.csv", "old")]


def test_two_processes_may_write_the_same_file(tmp_path):
    code = f"from pathlib import Path; from mfbai.paper.store import replace; path = Path({str(tmp_path / 'a')!r})"
    code += "; [replace(path, str(n) * 10000) for n in range(300)]"
    writers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert (tmp_path / "a").read_text() == "299" * 10000


@pytest.mark.parametrize("seconds", [-1.0, math.inf, math.nan, "long"])
def test_an_impossible_time_is_not_used(kept, seconds):
    about = json.loads((kept.folder / "some.json").read_text())
    (kept.folder / "some.json").write_text(json.dumps({**about, "seconds": seconds}))
    assert kept.load(made()) is None


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_write_that_fails_leaves_nothing_that_is_used(kept, monkeypatch, fails_at):
    """Old numbers with the description of new ones, or the reverse."""
    calls, real = [], store.replace

    def failing(path, text):
        calls.append(path)
        if len(calls) > fails_at:
            raise OSError("disk full")
        real(path, text)

    monkeypatch.setattr(store, "replace", failing)
    other = {name: column[::-1] for name, column in TABLE.items()}
    with pytest.raises(OSError, match="disk full"):
        kept.save(made(), other, 1.0)
    assert kept.load(made()) is None


def test_what_was_made_with_can_be_read_by_people(kept):
    about = json.loads((kept.folder / "some.json").read_text())
    assert about["made with"]["experiment"] == {"instance": "x", "deltas": list(DELTAS), "strategies": ["mf-grad"]}
    assert about["made with"]["scale"] == {"runs": 1000, "steps": 100_000}


def test_all_code_that_numbers_come_from_is_in_the_digest():
    """What simulations import, directly or not. Messages of errors and guesses for planning change no number."""
    root = Path(mfbai.__file__).parent
    seen = {root / "__init__.py"}
    todo = [root / "model" / "spec.py", *(root / "simulation").glob("*.py"), *(root / "strategies").glob("*.py")]
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += imported(file, root)
    parts = {file.relative_to(root).parts[0] for file in seen} - {
        "__init__.py",
        "errors.py",
        "checks.py",
        "terminal.py",
        "files.py",
    }
    assert parts - set(store.SOURCES) == set()


def imported(file, root):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "mfbai":
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                base = root.parent / name.replace(".", "/")
                yield from (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.exists())


# --- documents

EVIL = """<script>alert("x")</script> & 'quoted' > |pipe|"""


class Balanced(HTMLParser):
    """Fails on tags that do not match; collects texts and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


BLOCKS = [
    Heading(1, EVIL),
    Paragraph(EVIL),
    Picture("figures/a", EVIL),
    Grid(["one", EVIL], [[EVIL, AGREES], [1.5, 2_000_000.0], [3, DISAGREES], ["", UNDECIDED], ["q", ANSWERED]]),
]


def test_html_is_balanced_and_escapes_everything():
    html = page(EVIL, BLOCKS)
    assert "<script" not in html
    found = parsed(html)
    places = ("title", "heading", "paragraph", "caption", "column", "cell")
    assert [text.strip() for text in found.texts if EVIL in text] == [EVIL] * len(places)
    assert 'alt="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#x27;quoted&#x27; &gt; |pipe|"' in html
    assert set(found.links) == {"figures/a.png", "figures/a.svg"}


def test_markdown_tables_have_the_same_columns_in_every_line():
    lines = [line for line in markdown(BLOCKS).splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + 5
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}
    assert lines[1] == "| --- | --- |"


@pytest.mark.parametrize("verdict", MARKS)
def test_verdicts_have_their_mark_in_both_forms(verdict):
    grid = Grid(["claim", "verdict"], [["x", verdict]])
    assert f"| x | {MARKS[verdict]} {verdict} |" in markdown([grid])
    assert f'<td class="mark {verdict}">{MARKS[verdict]} {verdict}</td>' in page("", [grid])
    assert len(set(MARKS.values())) == len(MARKS)


def test_every_verdict_has_a_colour():
    html = page("", [])
    for verdict in MARKS:
        assert f".{verdict} {{ color:" in html


@pytest.mark.parametrize(
    ("cell", "text"),
    [(0.1, "0.1"), (1 / 3, "0.333333"), (12345.678, "12,345.7"), (2.5e7, "25,000,000"), (1e-10, "1e-10"), (5, "5")],
)
def test_numbers_are_short(cell, text):
    assert f"| {text} |" in markdown([Grid(["x"], [[cell]])])


def test_a_caption_with_an_asterisk_stays_emphasised_as_a_whole():
    """Between its first and last asterisk no other may end the emphasis."""
    caption = markdown([Picture("a", "dashed: omega*.")]).strip().splitlines()[-1]
    assert caption[0] in "*_"
    assert caption[-1] == caption[0]
    assert caption[0] not in caption[1:-1].replace(f"\\{caption[0]}", "")


# --- beyond the paper


def beyond_results(floor):
    """All strategies cost 1000 and more, the oracle as given."""
    results = cost_results()
    for instance in costs.INSTANCES:
        means = dict.fromkeys(beyond.STRATEGIES, 1200.0) | {"oracle": floor}
        tables = {
            strategy: {"delta": np.repeat(DELTAS, 50), "cost": sample(middle, 100, 0.1)}
            for strategy, middle in means.items()
        }
        results[beyond.name(instance, SETTING)] = stacked(tables, "strategy")
    return results


@pytest.mark.parametrize(("floor", "verdict"), [(500.0, AGREES), (1500.0, DISAGREES)])
def test_the_oracle_is_judged_as_a_floor(floor, verdict):
    results = beyond_results(floor)
    found = verdicts(beyond.claims(results, SETTING))
    assert (
        found["(Ours.) The oracle is cheaper than all others of the table on all instances at delta = 0.01"] == verdict
    )
