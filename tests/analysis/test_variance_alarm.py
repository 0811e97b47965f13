"""Results that vary more than was stated raise an alarm, soon; where the variance is right they seldom do."""

from dataclasses import replace
from math import exp, fsum, log, pi, sqrt

import numpy as np
import pytest

from mfbai import Bernoulli, Gaussian, Instance, InvalidInput, Problem, SubGaussian, load, variance_alarms
from mfbai.analysis.variance import RATIOS, VarianceAlarm, find_variance_alarms, log_evidence
from mfbai.model.families import Bounded, Symmetric
from mfbai.simulation.experiment import Run, prepare

PLAIN = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian([0.01, 0.04]))


def rows(arm, fidelity, values):
    return [(arm, fidelity, value) for value in values]


def watch(instance, factor, runs, level, steps):
    """(runs,) whether there is an alarm within so many evaluations if the variance is `factor` times the one stated."""
    [setup] = prepare(instance, None, None, [1e-300], {}, {})
    law = setup.model.law._replace(deviation=sqrt(factor) * setup.model.law.deviation)
    run = Run(replace(setup, model=setup.model._replace(law=law)))
    alarmed = np.zeros(runs, dtype=bool)
    for number in range(runs):
        run.restart(7, number)
        until = 2
        while run.stats.steps[0] < steps and not alarmed[number]:
            run.advance(min(until, steps))
            alarmed[number] = bool(find_variance_alarms(run.model, run.stats, level))
            until = int(1.05 * until) + 1
    return alarmed


@pytest.mark.parametrize("name", ["paper-4x5", "one fidelity"])
def test_a_variance_stated_four_times_too_small_is_found_within_300_evaluations(name):
    """In 95 % of the runs at least: fewer than 90 of 100 would have a probability of 1.2 % if it were just so many."""
    one = Instance(np.linspace(0, 0.3, 8)[:, None], [1.0], [0.0], Gaussian(0.1))
    alarmed = watch(one if name == "one fidelity" else load(name), 4.0, runs=100, level=0.05, steps=300)
    assert alarmed.sum() >= 90


def test_a_variance_that_is_stated_right_raises_few_alarms():
    """At a level of 10 %: more than 45 alarms in 300 runs would have a probability of 0.3 % if it were just so many."""
    assert watch(load("paper-4x5"), 1.0, runs=300, level=0.1, steps=1000).sum() <= 45


def test_the_evidence_is_the_mixture_written_out():
    squares, count = np.array([[3.0, 40.0], [9.0, 0.0]]), np.array([[5.0, 12.0], [2.0, 0.0]])
    found = log_evidence(squares, count)
    for cell in ((0, 1), (1, 0)):
        S, n = squares[cell], count[cell]
        mixed = fsum(exp(S / 2 * (1 - 1 / c)) * c ** (-n / 2) / len(RATIOS) for c in RATIOS.tolist())
        assert found[cell] == pytest.approx(log(mixed))
    assert found[0, 0] == found[1, 1] == 0.0  # no evidence, and no data


@pytest.mark.parametrize("c", [1.25, 4.0, 1000.0])
def test_the_factor_of_a_value_has_a_mean_of_one_at_most(c):
    """Exactly one for normal values; less for others whose tails are no heavier: uniform ones, and two points."""
    x = np.linspace(-40.0, 40.0, 800_001) * sqrt(c)
    normal = np.exp(-(x**2) / 2) / sqrt(2 * pi)
    factor = np.exp(np.minimum(x**2 / 2 * (1 - 1 / c), 700.0)) / sqrt(c)
    both = np.exp(-(x**2) / (2 * c)) / sqrt(2 * pi * c)  # their product
    assert both.sum() * (x[1] - x[0]) == pytest.approx(1.0)
    near = abs(x) < 5
    np.testing.assert_allclose((factor * normal)[near], both[near])
    wide = abs(x) <= sqrt(3)
    assert factor[wide].mean() <= 1  # uniform, of variance 1
    assert exp((1 - 1 / c) / 2) / sqrt(c) <= 1  # 1 or -1


def test_an_alarm_names_the_cell_the_level_and_the_ratio():
    told = rows("plain", "fidelity 2", [0.0, 2.0] * 4) + rows("wide", 0, [0.5, 0.6, 0.4])
    every, one = variance_alarms(PLAIN, told, 0.05)
    assert one == VarianceAlarm(0, 1, one.level, pytest.approx(8 / 7 / 0.04))
    assert one.level == pytest.approx(8 * exp(-log_evidence(np.array([200.0]), np.array([8.0]))[0]))
    assert (every.arm, every.fidelity) == (None, None)
    assert every.ratio == pytest.approx((200 + 2) / 9)
    assert variance_alarms(PLAIN, told, one.level) == [one]
    assert variance_alarms(PLAIN, told, 0.99 * one.level) == []


def test_cells_that_are_each_too_few_raise_an_alarm_together():
    problem = Problem(20, costs=1.0, biases=0.0, family=Gaussian(0.01))
    told = [row for arm in range(20) for row in rows(arm, 0, [0.0, 0.5])]
    assert [alarm.arm for alarm in variance_alarms(problem, told, 0.01)] == [None]


def test_it_does_not_matter_where_the_values_lie_nor_which_way_is_better():
    values = [0.1, 0.9, 0.3, 0.8, 0.2]
    found = variance_alarms(PLAIN, rows(0, 0, values), 0.05)
    assert len(found) == 2
    moved = variance_alarms(PLAIN.towards("minimise"), rows(0, 0, [1e4 - x for x in values]), 0.05)
    assert [alarm.level for alarm in moved] == pytest.approx([alarm.level for alarm in found], rel=1e-6)


@pytest.mark.parametrize(
    "family", [Symmetric(-1, 9), Bounded(0, 9), SubGaussian(bounds=(0, 9)), Bernoulli()], ids=lambda f: f.name
)
def test_a_family_that_states_no_variance_has_no_alarm(family):
    told = rows(0, 0, [0, 1] * 50)
    assert variance_alarms(PLAIN.replace(family=Gaussian(0.01)), told, 0.05) != []
    assert variance_alarms(PLAIN.replace(family=family), told, 0.05) == []


def test_common_seeds_have_no_alarm():
    assert variance_alarms(PLAIN.replace(seeds="common"), rows(0, 0, [0.0, 1.0] * 50), 0.05) == []


def test_without_data_or_with_single_values_there_is_no_alarm():
    assert variance_alarms(PLAIN, [], 0.5) == []
    assert variance_alarms(PLAIN, [(arm, m, 1e6 * arm + m) for arm in (0, 1) for m in (0, 1)], 0.5) == []


def test_values_however_large_do_no_harm():
    problem = PLAIN.replace(family=Gaussian(1e-290))
    for value in (1.0, 1e100, 9e149):
        found = variance_alarms(problem, rows(0, 0, [-value, value]), 0.05)
        assert {alarm.level for alarm in found} == {0.0}
        assert all(np.isfinite(alarm.ratio) for alarm in found)


@pytest.mark.parametrize(
    ("values", "told"),
    [
        ([("thin", 0, 1.0)], "values[0] has an unknown arm, 'thin': known: plain, wide"),
        ([(0, 0, 1.0), (0, 2, 1.0)], "values[1] has an unknown fidelity, 2"),
        ([(True, 0, 1.0)], "values[0] has an unknown arm, True"),
        ([(0, 0, "1")], "values[0] the value is '1': give a number"),
        ([(0, 0, float("nan"))], "values[0] the value is nan: a gaussian evaluation cannot return that"),
        ([(0, 0)], "values[0] is (0, 0): give arm, fidelity and value"),
    ],
)
def test_a_table_that_cannot_be_read_is_refused(values, told):
    with pytest.raises(InvalidInput) as error:
        variance_alarms(PLAIN, values, 0.05)
    assert told in str(error.value)


def test_the_level_must_be_one_risk():
    for delta in (0.0, 1.5, [0.1, 0.2]):
        with pytest.raises(InvalidInput, match="delta"):
            variance_alarms(PLAIN, [], delta)
