"""What is said of costs, at the theory's rate, at a constant one, and beyond the paper, follows from the numbers."""

import numpy as np
import pytest
from scipy.stats import binom

from mfbai.paper import beyond, constant, costs
from mfbai.paper.claims import AGREES, DISAGREES, UNDECIDED
from mfbai.paper.pieces import DELTAS, Noise, stacked
from support.paper import CERTAIN, FALSE_ALARM, FINAL, NOISE, cost_results, cost_table, sample, verdicts

# --- what the strategies cost


def cost_verdicts(**options):
    return verdicts(costs, cost_results(**options), NOISE)


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
    results[costs.name("paper-mu2", NOISE)] = cost_table({("grad", CERTAIN): 500.0, ("grad", FINAL): 900.0})
    found = verdicts(costs, results, NOISE)
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
    found = verdicts(costs, {"costs-paper-4x5": table}, NOISE)
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
    found = verdicts(costs, {"costs-paper-mu3": cost_table()}, NOISE)
    assert len(found) == 2 + 1 + 2
    assert not any("paper-5x2" in text for text in found)
    assert verdicts(costs, {}, NOISE) == {}


def test_another_variance_reads_its_own_numbers():
    other = Noise(0.1)
    assert verdicts(costs, cost_results(), other) == {}
    assert len(verdicts(costs, {costs.name("paper-5x2", other): cost_table()}, other)) == 6


# --- a constant rate


@pytest.mark.parametrize(
    ("cost", "n", "spread", "verdict"),
    [(800.0, 100, 0.1, AGREES), (1200.0, 100, 0.1, DISAGREES), (800.0, 5, 1.0, UNDECIDED), (1200.0, 5, 1.0, UNDECIDED)],
)
def test_the_constant_rate_is_judged_by_its_mean_cost(cost, n, spread, verdict):
    results = cost_results(changes={("mf-grad-const", CERTAIN): cost}, n=n, spread=spread)
    assert verdicts(constant, results, NOISE) == {
        f"MF-GRAD-CONST outperforms MF-GRAD on {instance}": verdict for instance in constant.INSTANCES
    }


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
        results[beyond.name(instance, NOISE)] = stacked(tables, "strategy")
    return results


@pytest.mark.parametrize(("floor", "verdict"), [(500.0, AGREES), (1500.0, DISAGREES)])
def test_the_oracle_is_judged_as_a_floor(floor, verdict):
    results = beyond_results(floor)
    found = verdicts(beyond, results, NOISE)
    assert (
        found["(Ours.) The oracle is cheaper than all others of the table on all instances at delta = 0.01"] == verdict
    )
