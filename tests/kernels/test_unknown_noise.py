"""Bets on noise of unknown size, and what they prove, against the plain versions of naive_unknown_noise.py."""

from functools import cache
from itertools import product
from math import exp, inf, isfinite, log

import numpy as np
import pytest

from mfbai import Bounded, Problem, Symmetric
from mfbai.errors import InvalidInput
from mfbai.kernels import e_values, transport
from mfbai.kernels.chords import CLOSE
from mfbai.kernels.laws import wager
from mfbai.kernels.stats import make_stats, record_all
from support import naive_unknown_noise as plain

CASES = 8
FAMILIES = {"symmetric": Symmetric(-1.0, 2.0), "bounded": Bounded([-2.0, -1.5, -1.0], [2.0, 3.0, 2.0])}


def random_case(rng, name):
    """A problem of two arms and three fidelities, rows of (arm, fidelity, value), and a tolerance."""
    low, high = rng.uniform(-0.3, 0.0, (2, 3)), rng.uniform(0.0, 0.3, (2, 3))
    low[:, -1] = high[:, -1] = 0.0
    direction = str(rng.choice(["maximise", "minimise"]))
    problem = Problem(2, np.ones(3), (low, high), FAMILIES[name], direction=direction)
    tops = rng.uniform(-0.5, 1.5, 2)
    deviation = rng.choice([0.02, 0.2, 0.6])
    rows = []
    for arm, m in product(range(2), range(3)):
        values = tops[arm] + rng.uniform(low[arm, m], high[arm, m]) + deviation * rng.standard_normal(rng.integers(25))
        if name == "bounded":
            values = np.clip(values, *(np.asarray(end)[m] for end in (FAMILIES[name].low, FAMILIES[name].high)))
        rows += [(arm, m, x) for x in values]
    rows += [(arm, 2, tops[arm]) for arm in range(2)]
    return problem, rows, float(rng.choice([0.0, 0.1]))


def kernel_inputs(problem, rows, tolerance=0.0):
    model, stats = problem.model(tolerance), make_stats(problem.shape)
    arms, fidelities, values = (np.array(column) for column in zip(*rows, strict=True))
    record_all(model, stats, arms, fidelities, problem.sign * values.astype(float))
    return model, stats


def one_cell(family, values, direction="maximise"):
    problem = Problem(2, 1, 0, family, direction=direction)
    return kernel_inputs(problem, [(0, 0, x) for x in values])


@cache
def cases(name):
    rng = np.random.default_rng(5)
    return [random_case(rng, name) for _ in range(CASES)]


@pytest.mark.parametrize("name", FAMILIES)
def test_the_capital_is_that_of_betting_on_every_value(name):
    for problem, rows, _ in cases(name):
        model, stats = kernel_inputs(problem, rows)
        slow, sign = plain.Claims(problem, rows), problem.sign
        for arm, m, up in product(range(2), range(3), (True, False)):
            if stats.count[arm, m]:
                side = sign if up else -sign
                for q in (-0.9, 0.1, 0.33, 1.2):
                    expected = slow.capital(arm, m, q, up)
                    found = wager(model.law, stats, arm, m, sign * q, sign * q, side)[0]
                    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("name", FAMILIES)
def test_evidence_is_just_below_that_of_the_plain_version(name):
    seen = 0
    for problem, rows, tolerance in cases(name):
        model, stats = kernel_inputs(problem, rows, tolerance)
        slow, claim = plain.Claims(problem, rows, tolerance), e_values.make_work()
        for i, j in ((0, 1), (1, 0)):
            expected = slow.pair(i, j)
            for start in (-5.0, 0.2, 1.0):
                found = e_values.against(model.law, model, stats, i, j, start, -inf, claim)[0]
                assert found <= expected + 1e-6 * (1 + abs(expected))
                assert found >= expected - 2 * CLOSE
            passed = e_values.against(model.law, model, stats, i, j, 0.2, expected - 0.05, claim)[0]
            assert passed >= expected - 0.05
            failed = e_values.against(model.law, model, stats, i, j, 0.2, expected + 0.05, claim)[0]
            assert failed < expected + 0.05
            seen += 1.0 < expected < 100.0
    assert seen >= 3


@pytest.mark.parametrize("name", FAMILIES)
def test_contradictions_are_just_below_those_of_the_plain_version(name):
    for problem, rows, _ in cases(name):
        model, stats = kernel_inputs(problem, rows)
        slow, claim = plain.Claims(problem, rows), e_values.make_work()
        for arm in range(2):
            expected = slow.contradiction(arm)
            found = e_values.search(model, stats, arm, -1, -1, 0.3, -inf, claim)[0]
            assert expected - 2 * CLOSE <= found <= expected + 1e-6 * (1 + abs(expected))


@pytest.mark.parametrize("name", FAMILIES)
def test_an_interval_leaves_out_only_what_is_ruled_out_and_not_much_less(name):
    target = log(40.0)
    for problem, rows, _ in cases(name)[:6]:
        model, stats = kernel_inputs(problem, rows)
        slow, claim = plain.Claims(problem, rows), e_values.make_work()
        for arm in range(2):
            found = e_values.limit(model, stats, arm, 1.0, target, claim)
            first = slow.first_left(arm, target)
            step = (slow.most[arm] - slow.least[arm]) / 399
            assert found <= first + 1e-6
            assert found >= first - 1.1 * step or first <= slow.least[arm] + 1.1 * step


def test_a_bet_on_a_pair_of_points_around_a_poorer_mean_does_not_win():
    """Laws that are symmetric around q - s are mixtures of pairs q - s +- a: the whole proof of Symmetric."""
    q = 0.3
    for s, a, side in product((0.0, 0.01, 0.1, 0.5, 2.0, 10.0), (0.0, 1e-3, 0.03, 0.1, 0.4, 1.0, 3.0, 50.0), (1, -1)):
        wealth = {
            signs: exp(min(wager(model.law, stats, 0, 0, q, q, float(side))[0], 700.0))
            for signs in product((1, -1), repeat=2)
            for model, stats in [one_cell(Symmetric(0.0, 1.0), [q - side * s + n * a for n in signs])]
        }
        assert np.mean(list(wealth.values())) <= 1.0 + 1e-12, (s, a)


def test_a_bet_on_bounded_values_of_a_poorer_mean_does_not_win():
    """The two bounds are the least favourable law; the whole capital after two values."""
    for q, p, side in product((0.05, 0.5, 0.97), (0.5, 0.9, 1.0), (1, -1)):
        mean = p * q if side > 0 else 1 - p * (1 - q)
        total = 0.0
        for pair in product((0.0, 1.0), repeat=2):
            model, stats = one_cell(Bounded(0.0, 1.0), pair)
            chance = np.prod([mean if x else 1 - mean for x in pair])
            total += chance * exp(wager(model.law, stats, 0, 0, q, q, float(side))[0])
        assert total <= 1.0 + 1e-12


ODD = {
    "one value": [0.5],
    "equal values": [0.5] * 50,
    "equal values at the edge": [1.0] * 50,
    "huge values": [1e300, -1e300, 1e300],
    "values far away": [1e6 + 1e-3 * n for n in range(40)],
    "nearly equal values": [0.5 + 1e-15 * n for n in range(40)],
    "one far away": [0.5] * 40 + [1e12],
}


@pytest.mark.parametrize("case", ODD)
@pytest.mark.parametrize("family", [Symmetric(0.0, 1.0), Bounded(0.0, 1.0)], ids=lambda family: family.name)
def test_odd_values_make_no_odd_capitals(family, case):
    values = [x for x in ODD[case] if family.name == "symmetric" or 0.0 <= x <= 1.0]
    if not values:
        return
    model, stats = one_cell(family, values)
    for q, other, side in product((0.0, 0.25, 0.5, 1.0), (0.0, 1.0), (1.0, -1.0)):
        value, slope = wager(model.law, stats, 0, 0, q, other, side)
        assert isfinite(value)
        assert isfinite(slope)
        assert value >= log(0.3) - 1e-12  # what is held in cash
        if family.name == "symmetric":
            assert value <= 0.5 * len(values) + 1e-9  # half a nat a value at most


def test_biases_wider_than_the_range_prove_nothing_and_break_nothing():
    problem = Problem(2, [0.1, 1.0], [50.0, 0.0], Symmetric(0.0, 1.0))
    rng = np.random.default_rng(1)
    rows = [(arm, 0, 40.0 * arm + rng.standard_normal()) for _ in range(100) for arm in range(2)]
    model, stats = kernel_inputs(problem, rows)
    found = e_values.against(model.law, model, stats, 1, 0, 0.5, -inf, e_values.make_work())[0]
    assert found <= 0.0


def test_a_mean_outside_the_range_of_a_bounded_fidelity_is_ruled_out_for_certain():
    """Values at 0.9 contradict a top mean of which this fidelity is 1.2 or more away."""
    with pytest.raises(InvalidInput, match="no possible mean"):
        Problem(2, [0.1, 1.0], ([2.0, 0.0], [3.0, 0.0]), Bounded(0.0, 1.0))
    problem = Problem(2, [0.1, 1.0], ([-0.1, 0.0], [0.1, 0.0]), Bounded([0.0, 0.0], [0.5, 1.0]))
    model, stats = kernel_inputs(problem, [(0, 0, 0.45)] * 30 + [(0, 1, 0.5)] * 30 + [(1, 1, 0.2)] * 60)
    claim, work = e_values.make_work(), transport.make_work(model)
    transport.fit(model, stats.count, stats.mean, 0, work)
    assert e_values.against(model.law, model, stats, 0, 1, 0.3, -inf, claim)[0] > 5.0
    assert model.top_high[0] == pytest.approx(0.6)
