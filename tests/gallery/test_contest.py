"""bench/gallery.py in a small version: all procedures take part, on the same seeds, and are charged."""

import re
import sys
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

import mfbai

BENCH = Path(__file__).parents[2] / "bench"
NAMES = ("contest", "gallery", "baselines")
ROOT = BENCH.parent
PAGES = [page for page in sorted(ROOT.glob("docs/gallery/*.md")) if page.name != "README.md"]
OTHERS = (
    *("Kim-Nelson, zone [^|]*, common seeds", "Kim-Nelson, zone [^|]*, own seeds", "paired t-tests, Bonferroni, [^|]*"),
    *("equal allocation, zone [^|]*", "successive halving", "Optuna, median pruner", "Optuna, hyperband pruner"),
)


@pytest.fixture(scope="module")
def bench():
    """bench/gallery.py; its modules are not left behind for other tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCH)
        import gallery

        yield gallery
    for name in NAMES:
        sys.modules.pop(name, None)


@pytest.fixture(scope="module")
def problem():
    return mfbai.Problem(
        ["a", "b", "c"],
        costs=[1.0, 20.0],
        biases=None,
        family=mfbai.Symmetric(-9, 9),
        fidelities=["cheap", "true"],
        seeds="common",
    )


@pytest.fixture(scope="module")
def values():
    """(seeds, K, M): "c" is the best, and the cheap test likes "a". Much luck is shared."""
    rng = np.random.default_rng(11)
    shared, own = rng.standard_normal((400, 1, 1)), 0.6 * rng.standard_normal((400, 3, 1))
    means = np.array([[0.9, 0.0], [0.0, 0.2], [0.3, 0.9]])
    return means + shared + own + 0.1 * rng.standard_normal((400, 3, 2))


@pytest.fixture(scope="module")
def rows(bench, problem, values):
    given = bench.Contest(seeds=400, zone=0.4, batch=5, first=5)
    return bench.results(problem, values, given, repetitions=12)


def test_all_take_part(rows):
    names = " ".join(row.name for row in rows)
    for wanted in ("its pilot says", "true alone", "tolerance", "common seeds", "own seeds", "paired t", "equal"):
        assert wanted in names
    assert sum("halving" in row.name for row in rows) == 3
    assert sum("Optuna" in row.name for row in rows) == 4
    assert [row.costs.size for row in rows] == [12] * len(rows)


def test_those_with_a_stated_risk_seldom_err(rows):
    """Twelve runs at 0.05 have four errors or more with a probability of 0.2 %, for each of eight procedures."""
    assert max(row.errors for row in rows if row.kind != "states no risk") <= 3


def test_a_cheap_test_that_misleads_misleads_those_who_trust_it(bench, problem, values):
    """Two of three arms pass on after the cheap test. If "c" is the last there, all is lost; here by far."""
    misled = values.copy()
    misled[:, 2, 0] -= 2.0
    rows = bench.results(problem, misled, bench.Contest(seeds=400, zone=0.4, batch=5, first=5), repetitions=5)
    errors = {row.name: row.errors for row in rows}
    assert errors["successive halving, cheap tests first"] == 5
    assert errors["mfbai, as its pilot says"] == errors["mfbai, true alone"] == 0


@pytest.mark.parametrize("seeds", ["common", "independent"])
def test_mfbai_runs_as_identify_would(bench, problem, values, seeds):
    """On the same draws, to the same answer at the same cost: the seeds of a study stand for the numbers of draws."""
    top = problem.only([1]).replace(seeds=seeds)
    for repetition in range(3):
        draws = bench.Draws(problem, values, repetition)
        numbers = {}

        def evaluate(arm, fidelity, seed, draws=draws, numbers=numbers):
            return draws.value(top.arms.index(arm), numbers.setdefault(seed, len(numbers)))

        verdict = mfbai.identify(evaluate, top, bench.DELTA)
        found = bench.alone(problem, seeds=seeds)(draws)
        assert (top.arms[found.arm], found.cost) == (verdict.arm, pytest.approx(verdict.cost))


@pytest.mark.parametrize("seeds", ["common", "independent"])
def test_mfbai_controls_as_identify_would(bench, problem, values, seeds):
    """The same of controlled values. The true test comes first, and shares its seed with one of the cheap ones."""
    controlled = problem.controlled("cheap", others=3, coefficient=0.9).replace(seeds=seeds)
    for repetition in range(3):
        draws = bench.Draws(problem, values, repetition)
        own, others = {}, {}

        def evaluate(arm, fidelity, seed, draws=draws, own=own, others=others):
            k = problem.arms.index(arm)
            if fidelity == "true" or seed in own:
                return draws.at(k, fidelity, own.setdefault(seed, len(own)))
            return float(draws.values["cheap"][k, draws.others[others.setdefault(seed, len(others))]])

        verdict = mfbai.identify(evaluate, controlled, bench.DELTA)
        found = bench.piloted(problem, lambda _: controlled)(draws)
        assert (problem.arms[found.arm], found.cost) == (verdict.arm, pytest.approx(verdict.cost))
        assert len(others) == 3 * len(own)


def test_pilot_study_and_controls_draw_seeds_of_their_own(bench, problem, values):
    """Two of them have the same row in one of 400 places, by chance: within 5 standard errors."""
    draws = bench.Draws(problem, values, 5)
    drawn = [*np.split(draws.own, 2), draws.others, draws.pilot, *draws.of_arms]
    for one, other in combinations(drawn, 2):
        assert (one == other).mean() == pytest.approx(1 / 400, abs=5 * (400 * one.size) ** -0.5)


def test_the_risk_of_a_pilot_is_part_of_the_risk(bench, problem, values):
    """What is charged with 0.04 is studied at a delta of 0.01, not of 0.05."""
    draws = bench.Draws(problem, values, 0)
    top = problem.only([1])
    numbers = {}

    def evaluate(arm, fidelity, seed):
        return draws.value(top.arms.index(arm), numbers.setdefault(seed, len(numbers)))

    verdict = mfbai.identify(evaluate, top, bench.DELTA - 0.04)
    assert bench.alone(problem, charged=0.04)(draws).cost == pytest.approx(verdict.cost)
    assert bench.alone(problem)(draws).cost < verdict.cost


def test_pilots_are_paid_for(rows, problem):
    assert rows[0].pilot >= 8 * 3 * 21
    assert (rows[0].costs > rows[0].pilot).all()
    assert rows[1].pilot == 0


def test_no_procedure_without_a_risk_spends_more_than_mfbai(rows):
    """But for those that must evaluate every arm once in every round."""
    budget = rows[0].costs.mean()
    assert max(row.costs.max() for row in rows if row.kind == "states no risk") <= budget + 20


def test_independent_seeds_cost_more_where_luck_is_shared(rows):
    cost = {row.name: row.costs.mean() for row in rows}
    assert cost["Kim-Nelson, zone 0.4, own seeds"] > 1.5 * cost["Kim-Nelson, zone 0.4, common seeds"]


def test_the_table_and_the_picture_say_the_same(bench, problem, rows, tmp_path, monkeypatch):
    monkeypatch.setattr(bench, "PICTURES", tmp_path / "images")
    page = tmp_path / "pages" / "one.md"
    shown = bench.picture("one", rows, 12, page)
    assert shown.startswith("![Mean cost and wrong answers of 12 runs. mfbai")
    assert "](../images/one.png)" in shown
    assert (tmp_path / "images" / "one.png").stat().st_size > 10_000
    table = "\n".join(bench.shown(rows, problem, 12))
    for row in rows:
        assert f"| {row.name} | **{bench.number(row.costs.mean())}**\N{NO-BREAK SPACE}±" in table


def test_the_overview_sets_others_against_mfbai(bench, problem, rows, tmp_path, monkeypatch):
    """A row a problem; what several procedures of a column cost and err, from the least to the most."""
    page = tmp_path / "one.md"
    page.write_text("---\nfront: matter\n---\n# Which of three?\n\nText.\n")
    monkeypatch.setattr(bench, "subject", lambda name: bench.Subject(name, page, problem, "", None))
    monkeypatch.setattr(bench.tools, "GALLERY", tmp_path)
    heading, _, row = list(bench.overview({"one": rows}, 12))[2:]
    cells = dict(zip(heading.split(" | "), row.replace("\N{NO-BREAK SPACE}", " ").split(" | "), strict=True))
    cost = {row.name: row.costs.mean() for row in rows}
    assert cells["| problem"] == "| [Which of three?](one.md)"
    paired = cost["paired t-tests, Bonferroni, 20 looks"] / rows[0].costs.mean()
    assert float(cells["paired t-tests"].partition(" (")[0]) == pytest.approx(paired, rel=0.06)
    low, high = sorted(cost[f"Kim-Nelson, zone {zone}, common seeds"] for zone in ("0.4", "0.1"))
    assert cells["Kim-Nelson"].startswith(f"{low / rows[0].costs.mean():.2g} to {high / rows[0].costs.mean():.2g}")


def test_error_rates_have_exact_intervals(bench):
    """Clopper and Pearson: no error in 200 runs leaves 1 - 0.025^(1/200) = 1.83 %."""
    assert bench.limits(0, 200) == (0.0, pytest.approx(1 - 0.025 ** (1 / 200)))
    assert bench.limits(200, 200) == (pytest.approx(0.025 ** (1 / 200)), 1.0)
    low, high = bench.limits(11, 200)
    assert (low, high) == (pytest.approx(0.02778, abs=1e-4), pytest.approx(0.0963, abs=1e-3))


@pytest.mark.parametrize("page", [*PAGES, ROOT / "examples/diffusion/README.md"], ids=lambda page: page.stem)
def test_a_page_has_costs_and_wrong_answers_of_all_that_people_do(page):
    """With intervals, from 200 repetitions. The first row is ours."""
    text = page.read_text().replace("\N{NO-BREAK SPACE}", " ")
    assert "200 repetitions at delta = 0.05, with 95 % intervals" in text
    shown = r"\*\*[\d,.]+\*\* ± [\d,.]+ \| \d+ \([\d.]+ to [\d.]+ %\) \|"
    assert [name for name in OTHERS if not re.search(rf"^\| {name} \| {shown}", text, re.MULTILINE)] == []
    ours, others = (re.search(rf"^\| {name}[^|]* \| {shown}", text, re.MULTILINE) for name in ("[^K|]*", "Kim-Nelson"))
    assert ours.start() < others.start()
