"""Deterministic fidelities in runs: asked for once, where that pays, and certain from then on."""

import numpy as np
import pytest

from mfbai import Bernoulli, Gaussian, Instance, evidence, intervals, oracle, risk, simulate, trace
from mfbai.analysis.guarantee import bias_alarms
from mfbai.kernels.exact import certain, take_exact
from mfbai.kernels.stats import OWN_SEED, make_stats
from mfbai.run import loop
from mfbai.run.assemble import assemble
from mfbai.run.exact import wanted_exact
from mfbai.run.state import arrays_of, changing
from mfbai.simulation.experiment import Run, prepare
from mfbai.strategies import ask

TOPS = np.array([0.9, 0.8, 0.7, 0.5, 0.4, 0.3, 0.2, 0.1])
OFF = np.array([-0.05, 0.05, 0.1, -0.1, 0.0, 0.02, -0.03, 0.1])


def with_formula(cost, variance=0.1, bias=0.1, tops=TOPS, off=OFF, **about):
    means = np.column_stack([tops + bias / 0.1 * off, tops])
    return Instance(means, costs=[cost, 1.0], biases=[bias, 0.0], family=Gaussian([0.0, variance]), **about)


def top_alone(variance=0.1, tops=TOPS):
    return Instance(tops[:, None], costs=1.0, biases=0.0, family=Gaussian(variance))


# --- what values say


def test_a_value_puts_the_top_mean_into_an_interval():
    model = with_formula(0.0).problem.model()
    take_exact(model, 0, 0, 0.85)
    assert (model.top_low[0], model.top_high[0]) == pytest.approx((0.75, 0.95))
    assert not model.beaten.any()
    take_exact(model, 4, 0, 0.4)
    assert model.beaten.tolist() == [arm == 4 for arm in range(8)]
    assert model.epoch[0] == 2
    assert certain(model) < 0


def test_values_can_decide_alone():
    model = with_formula(0.0).problem.model(tolerance=0.2)
    for arm in range(8):
        take_exact(model, arm, 0, TOPS[arm])
    assert certain(model) == 0


def test_values_that_contradict_each_other_are_an_alarm_without_doubt():
    means = np.column_stack([TOPS, TOPS, TOPS])
    problem = Instance(means, costs=1.0, biases=[0.1, 0.1, 0], family=Gaussian(0.1), deterministic=[0, 1]).problem
    counts = np.array([[1, 1, 0]] * 8)
    assert bias_alarms(problem, counts, means, 0.1) == []
    means[3, 1] += 0.21
    [alarm] = bias_alarms(problem, counts, means, 0.1)
    assert (alarm.arm, alarm.fidelity, alarm.level) == (3, 1, 0.0)


def test_noisy_values_that_contradict_a_formula_are_an_alarm():
    instance = with_formula(0.1, variance=0.01)
    counts = np.tile([1, 200], (8, 1))
    means = instance.means.copy()
    means[5, 0] = means[5, 1] + 0.3
    [alarm] = bias_alarms(instance, counts, means, 0.01)
    assert (alarm.arm, alarm.fidelity, alarm.certain) == (5, 0, True)


def test_evidence_risk_and_intervals_use_values():
    instance = with_formula(0.1)
    counts = np.column_stack([np.ones(8), np.full(8, 20)])
    without = np.column_stack([np.zeros(8), np.full(8, 20)])
    assert evidence(instance, counts, instance.means).value >= evidence(instance, without, instance.means).value
    assert risk(instance, counts, instance.means).level <= risk(instance, without, instance.means).level
    found = risk(instance, counts, instance.means)
    assert found.leader == 0
    assert np.isinf(found.log_evidence[3:]).all()
    ends = intervals(instance, counts, instance.means, 0.05)
    assert (ends[:, 0] >= instance.means[:, 0] - 0.1 - 1e-12).all()
    assert (ends[:, 1] <= instance.means[:, 0] + 0.1 + 1e-12).all()
    assert evidence(instance, counts, instance.means).supergradient[:, 0].tolist() == [0.0] * 8


def test_the_oracle_knows_them():
    """C* is that of the top alone with top means in known intervals: by brute force over where arms may meet."""
    instance = Instance(
        [[0.88, 0.8], [0.72, 0.7], [0.15, 0.2]], costs=[0.2, 1], biases=[0.1, 0], family=Gaussian([0, 0.1])
    )
    found = oracle(instance)
    assert found.weights[:, 0].tolist() == [0.0, 0.0, 0.0]
    assert found.weights[2].tolist() == [0.0, 0.0]  # beaten
    # The top mean of arm 0 is .78 at least, that of arm 1 is .82 at most: they may meet between.
    eta, shares = np.linspace(0.78, 0.82, 401), np.linspace(0.0, 1.0, 1001)[:, None]
    rate = (shares * (0.8 - eta).clip(min=0) ** 2 + (1 - shares) * (eta - 0.7) ** 2) / 0.2
    assert found.cost_complexity == pytest.approx(1 / rate.min(axis=1).max(), rel=1e-3)
    assert found.cost_complexity < 0.5 * oracle(top_alone(tops=instance.means[:, 1])).cost_complexity
    exact_top = Instance([[0.8, 0.8], [0.7, 0.7]], costs=1, biases=[0.1, 0], family=Gaussian(0.1), deterministic=1)
    assert oracle(exact_top).cost_complexity == 0


# --- runs


@pytest.mark.parametrize("strategy", ["race", "frugal"])
def test_a_formula_is_asked_for_once_an_arm_and_pays_or_costs_next_to_nothing(strategy):
    tops = np.array([0.9, 0.7, 0.65, 0.6, 0.55, 0.5, 0.45, 0.4])
    alone = simulate(top_alone(tops=tops), strategy, 0.05, runs=400)
    for cost, most in ((0.0, 0.9), (0.01, 0.9), (0.1, 0.95), (0.5, 1.0)):
        found = simulate(with_formula(cost, tops=tops), strategy, 0.05, runs=400)
        assert found.pulls[:, :, 0].max() <= 1
        assert found.mean_cost < most * alone.mean_cost
        assert found.error_rate <= 0.05
    for cost in (0.01, 0.5, 1.0):
        wide = simulate(with_formula(cost, tops=tops, bias=2.0), strategy, 0.05, runs=400)
        assert wide.mean_cost - wide.cost_ci95 < 1.02 * alone.mean_cost + alone.cost_ci95


def test_free_values_come_first_and_beaten_arms_are_never_evaluated():
    for strategy in ("race", "frugal", "uniform"):
        found = simulate(
            with_formula(0.0), strategy, 0.05, runs=20, stopping=None if strategy == "race" else "e-process"
        )
        assert (found.pulls[:, :, 0] == 1).all()
        assert (found.pulls[:, 3:, 1] == 0).all()


def test_a_deterministic_top_needs_no_noisy_evaluation():
    means = np.column_stack([TOPS + OFF, TOPS + OFF / 2, TOPS])
    about = {"costs": [0.1, 0.01, 1.0], "biases": [0.1, 0.05, 0.0], "deterministic": [0, 2]}
    found = simulate(Instance(means, family=Gaussian(0.1), **about), delta=0.05, runs=3)
    assert (found.answers == 0).all()
    assert (found.pulls[:, :, 1] == 0).all()
    assert (found.pulls[:, :, 0] == 1).all()
    assert (found.pulls[:, 3:, 2] == 0).all()
    assert (found.pulls[:, 0, 2] == 1).all()


def test_other_families_and_minimising_work_alike():
    means = 1.0 - np.column_stack([TOPS + OFF, TOPS]) * 0.9
    about = {"costs": [0.001, 1.0], "biases": [0.1, 0.0], "direction": "minimise", "deterministic": 0}
    found = simulate(Instance(means, family=Bernoulli(), **about), "frugal", 0.1, runs=100)
    assert found.error_rate <= 0.1
    assert (found.pulls[:, :, 0] == 1).all()
    assert (found.pulls[:, 4:, 1] == 0).all()


def test_traces_show_all_fidelities():
    found = trace(with_formula(0.1), "uniform", steps=100, runs=2, points=3)
    assert found.shares.shape[2:] == (8, 2)
    assert found.shares.sum(axis=(2, 3)) == pytest.approx(1)


def test_ties_at_the_edge_of_the_bounds_are_no_more_often_decided_wrongly():
    """The best looks the worst by the formula: the proof must hold there."""
    tops = np.array([0.5, 0.5, 0.5 + 1e-9])
    off = np.array([0.1, 0.1, -0.1])
    instance = with_formula(0.01, variance=0.01, tops=tops, off=off * (1 - 1e-8))
    for strategy in ("race", "frugal"):
        found = simulate(instance, strategy, 0.1, runs=1000, max_steps=600)
        errors = int((found.stopped & (found.answers != 2)).sum())
        assert errors <= 130  # 100 are expected at most: more has a probability of .001


@pytest.mark.parametrize("strategy", ["race", "frugal"])
def test_loop_steps_and_replay_agree_to_the_bit(strategy):
    instance = with_formula(0.1)
    [setup] = prepare(instance, strategy, None, 0.05, {}, {})
    run = Run(setup)
    run.restart(5, 0)
    run.advance(10_000)
    records, journal = [], []
    for replayed in (False, True):
        parts = assemble(instance, strategy, setup.stopping, np.array([0.05]), {})
        state = parts.make_state()
        kept = (make_stats(parts.model.cost.shape), state, parts.make_rule(state), loop.make_outcome(1))
        if replayed:
            told = [np.array(column) for column in zip(*journal, strict=True)]
            loop.replay(parts.model, *kept, *told, np.tile(OWN_SEED, (len(told[0]), 1)))
        else:
            step_by_step(instance, parts.model, kept, journal)
        records.append((changing(parts.model), *kept))
    whole = (changing(run.model), run.stats, run.state, run.rule, run.outcome)
    for one in records:
        for mine, its in zip(arrays_of(one), arrays_of(whole), strict=True):
            assert np.array_equal(mine, its, equal_nan=True)


def step_by_step(instance, model, records, journal):
    from mfbai.kernels.laws import sample

    rng = np.random.default_rng(np.random.SeedSequence(5, spawn_key=(0,)))
    pending = np.zeros(records[0].count.shape, dtype=np.int64)
    while not records[3].levels[0]:
        arm, d = wanted_exact(model, records[0])
        if arm >= 0:
            row = arm, -1 - d, instance.means[arm, 0]
        else:
            arm, fidelity = ask(model, *records[:2], pending)
            row = arm, fidelity, sample(model.law, rng, arm, fidelity, instance.means[arm, 1 + fidelity])
        loop.step(model, *records, *row)
        journal.append(row)
