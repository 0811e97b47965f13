"""The examples of the paper's appendix: what is computed is what its formulas give."""

from math import isfinite, sqrt

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Instance
from mfbai.paper import appendix, examples, sparsity
from mfbai.paper.pieces import Scale


def column(table, name):
    """{first column: the named one}"""
    at = table.columns.index(name)
    return {row[0]: row[at] for row in table.rows}


@pytest.fixture(scope="module")
def tables():
    scale = Scale(instances=10)
    return {sheet.name: sheet.build({}, scale) for sheet in appendix.sheets()}


# --- all tables


def test_each_row_has_a_value_for_each_column(tables):
    assert len(tables) == 6
    for table in tables.values():
        assert len(set(table.columns)) == len(table.columns)
        assert {len(row) for row in table.rows} == {len(table.columns)}
        assert len({row[0] for row in table.rows}) == len(table.rows)


def test_values_are_plain_and_finite(tables):
    """Numpy's numbers and infinities have no place in a report."""
    values = [value for table in tables.values() for row in table.rows for value in row]
    assert {type(value) for value in values} <= {str, int, float}
    assert all(isfinite(value) for value in values if not isinstance(value, str))


# --- the lower bounds


@pytest.mark.parametrize("ratio", [4, 10, 100, 1000])
def test_the_2x2_example_has_the_bounds_that_the_paper_derives(tables, ratio):
    """8 cheap / gap^2 and 4 dear / gap^2, at gap = 0.2 and costs of 1 and `ratio`."""
    row = next(row for row in tables["lower-bounds"].rows if row[0] == f"2 x 2, costs 1 : {ratio}")
    assert row[1:] == pytest.approx((8 / 0.2**2, 4 * ratio / 0.2**2, ratio / 2, ratio / 2), rel=1e-9)


def test_the_earlier_bound_never_exceeds_the_tight_one(tables):
    assert min(column(tables["lower-bounds"], "C* / earlier bound").values()) >= 1


def test_the_earlier_bound_of_5x2_is_that_of_its_formula(tables):
    """Variance 0.01, gap 0.1: four rivals at 0.5 each, at the edge, and the best arm at 5, times 2 * 0.01 / 0.1^2."""
    assert column(tables["lower-bounds"], "earlier bound")["paper-5x2"] == pytest.approx(2 * (4 * 0.5 + 5))


# --- optimal fidelities


def test_the_first_notion_leads_nowhere_above_a_cost_ratio_of_four(tables):
    table = tables["believed-fidelities"]
    assert column(table, "believed in")["Case 1, costs 1 : 3.9"] == "2, 2"
    assert column(table, "cost of the believed")["Case 1, costs 1 : 3.9"] == pytest.approx(8 * 3.9 / 0.1**2)
    for label in ("Case 1, costs 1 : 4.1", "Case 1, costs 1 : 50", "lucb-trap"):
        assert column(table, "believed in")[label] == "1, 1"
        assert column(table, "used by w*")[label] == "2, 2"
        assert column(table, "cost of the believed")[label] == "never"


def test_the_top_alone_is_optimal_in_case_1(tables):
    """4 dear 2 variance / gap^2, at variance 1 and gap 0.1."""
    assert column(tables["believed-fidelities"], "C*")["Case 1, costs 1 : 50"] == pytest.approx(8 * 50 / 0.1**2)


def test_a_fidelity_that_tells_little_is_dear_and_not_hopeless():
    """Cheap means that leave 0.0002 between the arms: 8 cheap / 0.0002^2, at variance 1."""
    instance = Instance([[0.6501, 0.6], [0.4499, 0.5]], [1, 50], [0.1, 0], Gaussian(1))
    row = examples._compare("", instance, np.array([0, 0]))
    assert row[3] == pytest.approx(8 / 0.0002**2, rel=1e-6)


def test_one_fidelity_an_arm_costs_nonsparse_3x2_what_the_proof_says(tables):
    """The fidelities believed in are the best choice of one for each arm there."""
    excess = sparsity.prove(mfbai.load("nonsparse-3x2")).excess
    ratio = column(tables["believed-fidelities"], "cost / C*")["nonsparse-3x2"]
    assert ratio == pytest.approx(1 + excess, rel=1e-9)
    assert column(tables["sparsity"], "not sparse")["nonsparse-3x2"] == 1
    assert column(tables["sparsity"], "excess cost")["nonsparse-3x2"] == pytest.approx(excess)


@pytest.mark.parametrize(("gap", "dear"), [(0.1, 4), (0.1, 50), (0.1, 1000), (0.4, 50), (0.5, 20)])
def test_the_second_notion_names_the_top_where_the_cheapest_is_optimal(tables, gap, dear):
    """With one arm at cost 1 and the other at `dear`, all means at the edge: (1 + sqrt dear)^2 / gap^2."""
    label = f"Case 2, gap {gap:g}, costs 1 : {dear}"
    row = next(row for row in tables["rival-fidelities"].rows if row[0] == label)
    assert row[1:3] == ("any, 2", "1, 1")
    assert row[3:] == pytest.approx(((1 + sqrt(dear)) ** 2 / gap**2, 4 / gap**2, (1 + sqrt(dear)) ** 2 / 4), rel=1e-9)


def test_the_second_notion_is_right_with_a_large_gap_and_a_dear_top(tables):
    """1 / (0.5 - 0.4)^2 < 30 / 0.5^2"""
    assert column(tables["rival-fidelities"], "cost / C*")["Case 2, gap 0.5, costs 1 : 30"] == pytest.approx(1)


def test_only_the_cheapest_is_used_in_the_papers_class(tables):
    """Three rivals at the same distance, 0.1, and variance 1/2: (1 + sqrt 3)^2 cost / gap^2."""
    label = "Case 2 with 4 arms, 3 fidelities"
    assert column(tables["rival-fidelities"], "used by w*")[label] == "1, 1, 1, 1"
    assert column(tables["rival-fidelities"], "C*")[label] == pytest.approx((1 + sqrt(3)) ** 2 / 0.1**2)


def test_the_second_notion_makes_5x2_a_problem_of_one_fidelity(tables):
    """Four rivals and the best arm at cost 5: (1 + sqrt 4)^2 * 5 * 2 * 0.01 / 0.1^2."""
    assert column(tables["rival-fidelities"], "cost of the believed")["paper-5x2"] == pytest.approx(90)


@pytest.mark.parametrize("name", ["believed-fidelities", "rival-fidelities"])
def test_no_restriction_is_cheaper_than_none(tables, name):
    ratios = [ratio for ratio in column(tables[name], "cost / C*").values() if ratio != "-"]
    assert min(ratios) >= 1 - 1e-9


# --- weights


def test_null_weights_hold_as_corrected_and_fail_as_printed(tables):
    """In the 5 x 2 instance, 0.4 + 0.1 >= 0.5, the best arm's cheap mean: the cells that w* gives weight."""
    assert set(column(tables["null-weights"], "corrected but used").values()) == {0}
    assert column(tables["null-weights"], "printed but used")["paper-5x2"] == 4


def test_the_oracle_has_the_closed_form_of_5x2(tables):
    assert max(abs(value) for value in column(tables["weights-5x2"], "oracle - exact").values()) < 1e-9
    assert column(tables["weights-5x2"], "exact")["cost"] == pytest.approx(10 * (1 + sqrt(0.4)) ** 2)


def test_the_printed_weights_come_from_a_rounded_eta(tables):
    """0.09621 to its five decimals; 0.61516 is what that leaves, 1 - 4 * 0.09621."""
    table = tables["weights-5x2"]
    printed, rounded, exact = (column(table, name) for name in ("paper", "from eta rounded", "exact"))
    rival, best = "w* of arms 1 to 4, fidelity 1", "w* of arm 5, fidelity 2"
    assert round(rounded[rival], 5) == printed[rival]
    assert printed[best] == pytest.approx(1 - 4 * printed[rival], abs=1e-12)
    assert abs(printed[rival] - exact[rival]) > 6e-4


def test_the_cost_of_shares_is_that_of_the_evidence_they_bring(tables):
    """One unit of cost spent as the rounded weights say brings 1 / cost of evidence."""
    instance = mfbai.load("paper-5x2")
    rounded = column(tables["weights-5x2"], "from eta rounded")
    shares = np.array([[rounded["w* of arms 1 to 4, fidelity 1"], 0]] * 4 + [[0, rounded["w* of arm 5, fidelity 2"]]])
    counts = 1e6 * shares / instance.problem.costs
    found = mfbai.evidence(instance.problem, counts, instance.means).value
    assert found == pytest.approx(1e6 / rounded["cost"], rel=1e-9)


# --- sparsity


@pytest.mark.parametrize("fidelities", range(2, 7))
def test_two_arms_have_one_optimal_allocation_with_one_fidelity_each(fidelities):
    """The theorem speaks of every optimal allocation, so that there must be one only."""
    for seed in range(15):
        found = mfbai.oracle(mfbai.random_instance(2, fidelities, seed=seed, gap=0.01))
        assert ((found.weights > sparsity.USED).sum(axis=1) == 1).all()
        assert found.unique


def test_draws_are_counted_with_their_interval():
    table = examples.two_arms(instances=30)
    assert [row[0] for row in table.rows[:5]] == [f"2 x {fidelities}" for fidelities in range(2, 7)]
    assert all(row[1] == 30 and row[4] <= row[3] == row[2] / 30 <= row[5] for row in table.rows[:-1])
    assert [row[2] for row in table.rows[:5]] == [0] * 5


def test_four_arms_can_need_two_fidelities_for_one():
    """Seeds 20 and 24 are among the first 30; the first of them is proved."""
    row = next(row for row in examples.two_arms(instances=30).rows if row[0] == "4 x 5")
    assert row[2] >= 2
    assert row[6] == pytest.approx(0.00197, abs=1e-5)
