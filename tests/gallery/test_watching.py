"""docs/gallery/watching.md: the warehouse is counted right, and all policies see the same demand."""

import numpy as np
import pytest

import mfbai

YEARS = 120


@pytest.fixture(scope="module")
def values(page):
    """(years, K, M)"""
    arms, fidelities = page.problem.arms, page.problem.fidelities
    return np.array(
        [[[page.evaluate(arm, days, seed) for days in fidelities] for arm in arms] for seed in range(YEARS)]
    )


@pytest.fixture
def calm(page, monkeypatch):
    """Sets a demand and a delivery that are the same every day."""

    def calmed(demand, delivery):
        days = page.DAYS["year"]
        monkeypatch.setitem(page.simulate.__globals__, "luck", lambda _: ([demand] * days, [delivery] * days))

    return calmed


def test_stock_and_costs_are_those_counted_by_hand(page, calm):
    """60/160, 40 pieces a day, delivery in two days: an order at 40 left, for 120; 40 more are sold, then it comes."""
    calm(40, 2)
    stocks, costs = page.simulate("60/160", 0, 8)
    assert stocks == [120, 80, 40, 0, 80, 40, 0, 80]
    shelves = [page.SHELF * stock for stock in stocks]
    orders = [page.FREIGHT * ordered for ordered in (0, 0, 1, 0, 0, 1, 0, 0)]
    assert costs == pytest.approx([shelf + order for shelf, order in zip(shelves, orders, strict=True)])


def test_what_is_not_there_is_lost(page, calm):
    """60/160, 50 pieces a day, delivery in four days: what is ordered on the second day comes on the sixth."""
    calm(50, 4)
    stocks, costs = page.simulate("60/160", 0, 7)
    assert stocks == [110, 60, 10, 0, 0, 50, 0]
    assert costs[1] == page.SHELF * 60 + page.FREIGHT  # 60 are few enough: 100 are ordered
    assert costs[3] == page.LOST * 40
    assert costs[4] == page.LOST * 50
    assert costs[2] == page.SHELF * 10  # 110 with those on their way


def test_a_calm_warehouse_costs_what_theory_says(page, calm):
    """Of a saw tooth: 10 pieces a day, 100 are ordered every tenth day at 60, and come when 50 are left."""
    calm(10, 2)
    _, costs = page.simulate("60/160", 0, 364)
    teeth = costs[14:354]  # 34 of them
    assert np.mean(teeth) == pytest.approx(page.FREIGHT / 10 + page.SHELF * np.mean(range(50, 150, 10)))


def test_stock_is_never_below_nothing_nor_above_the_most(page):
    for policy, (_, high) in page.POLICIES.items():
        for seed in range(10):
            stocks, costs = page.simulate(policy, seed, page.DAYS["year"])
            assert min(stocks) >= 0
            assert max(stocks) <= high
            assert min(costs) >= 0


def test_a_quarter_is_the_first_of_its_year(page):
    for policy in page.POLICIES:
        year = page.simulate(policy, 3, page.DAYS["year"])
        quarter = page.simulate(policy, 3, page.DAYS["quarter"])
        assert [days[: page.DAYS["quarter"]] for days in year] == list(quarter)
        assert page.evaluate(policy, "quarter", 3) == pytest.approx(np.mean(quarter[1]))


def test_customers_do_not_know_the_policy(page):
    """A seed has one demand; another seed another one."""
    demand, delivery = page.luck(7)
    page.luck.cache_clear()
    assert page.luck(7) == (demand, delivery)
    assert page.luck(8)[0] != demand
    assert set(delivery) == set(page.DELIVERY)


def test_demand_is_twelve_a_day_and_as_restless_as_said(page):
    """The mean of exp(level) is exp(variance / 2). A year's mean varies by 0.22 of it: five standard errors are 8 %."""
    level = page.DRIFT**2 * (1 - page.MEMORY ** (2 * np.arange(1, 365))) / (1 - page.MEMORY**2)
    expected = 12 * np.mean(np.exp(level / 2))
    assert page.WEEK.mean() == pytest.approx(1)
    assert np.mean([page.luck(seed)[0] for seed in range(200)]) == pytest.approx(expected, rel=0.08)


def test_years_are_good_or_bad_for_all_policies(values):
    """The least of the true correlations is above 0.4, three standard errors above the limit."""
    assert np.corrcoef(values[:, :, 1].T).min() > 0.15


def test_the_program_of_the_page_is_resumed_after_a_crash(page, tmp_path):
    """Trials that were told stay told, and the others get the same seeds again."""
    settings = {"delta": 0.2, "name": "reorder", "tolerance": 1.0, "storage": f"sqlite:///{tmp_path}/warehouse.db"}
    top, seen = page.problem.only([1]), []

    def until_the_power_cut(arm, fidelity, seed):
        seen.append((arm, seed))
        if len(seen) > 20:
            raise OSError("no power")
        return page.evaluate(arm, fidelity, seed)

    with pytest.raises(OSError, match="no power"):
        mfbai.identify(until_the_power_cut, top, **settings)
    study = mfbai.load_study("reorder", storage=settings["storage"])
    assert study.status().told == 20
    again = []

    def noted(arm, fidelity, seed):
        again.append((arm, seed))
        return page.evaluate(arm, fidelity, seed)

    verdict = mfbai.identify(noted, top, **settings)
    assert verdict.state == "decided"
    assert again[0] == seen[-1]
    assert not set(again) & set(seen[:20])
    assert mfbai.verify(study.export()).confirmed


def test_the_problem_states_no_bound(page):
    problem = page.problem
    assert list(problem.arms) == list(page.POLICIES)
    assert list(problem.fidelities) == list(page.DAYS)
    assert (problem.direction, problem.seeds, problem.idle) == ("minimise", "common", ["quarter"])
