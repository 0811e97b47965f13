"""simulate, trace and what they return."""

import json
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import t

import mfbai
from mfbai import Bernoulli, Gaussian, Instance, InvalidInput, SubGaussian, simulate, trace

EASY = Instance([[0.2, 0.1], [0.9, 1.0], [0.3, 0.2]], [0.1, 1.0], [0.15, 0.0], Gaussian(0.04), name="easy")


def test_results_depend_on_the_seed_alone():
    """Neither the number of workers nor the number of runs changes a run."""
    one = simulate("paper-4x5", runs=40, seed=3, workers=1)
    two = simulate("paper-4x5", runs=60, seed=3, workers=2)
    np.testing.assert_array_equal(one.costs, two.costs[:40])
    np.testing.assert_array_equal(one.pulls, two.pulls[:40])
    assert not np.array_equal(one.costs, simulate("paper-4x5", runs=40, seed=4).costs)


def test_several_deltas_share_a_trajectory():
    """Each delta's outcome is what it would be alone, in the order given."""
    several = simulate(EASY, delta=[1e-6, 0.1, 0.01], runs=30)
    assert several.costs.shape == several.answers.shape == several.steps.shape == (30, 3)
    for column, delta in enumerate([1e-6, 0.1, 0.01]):
        alone = simulate(EASY, delta=delta, runs=30)
        assert alone.costs.shape == (30,)
        np.testing.assert_array_equal(alone.costs, several.costs[:, column])
        np.testing.assert_array_equal(alone.answers, several.answers[:, column])


def test_costs_steps_and_pulls_agree():
    """A run's pulls add up to its steps and its cost."""
    found = simulate(EASY, "mf-grad-const", runs=20)
    np.testing.assert_array_equal(found.pulls.sum(axis=(1, 2)), found.steps)
    np.testing.assert_allclose((found.pulls * EASY.problem.costs).sum(axis=(1, 2)), found.costs)
    assert found.stopped.all()
    assert (simulate(EASY, "mf-grad-const", runs=20, stopping="stylised").pulls >= 1).all()  # it waits for all cells


def test_summaries_are_those_of_the_arrays():
    """Mean, interval, median and error rate are computed from costs and answers."""
    found = simulate(EASY, runs=50, seed=1)
    assert found.mean_cost == pytest.approx(found.costs.mean())
    assert found.cost_ci95 == pytest.approx(t.ppf(0.975, 49) * found.costs.std(ddof=1) / 50**0.5)
    assert found.median_cost == np.median(found.costs)
    assert found.error_rate == (found.answers != 1).mean()
    assert np.isnan(simulate(EASY, runs=1).cost_ci95)


def test_records_and_json_are_complete():
    """A record has the documented fields; to_json is valid JSON with every run."""
    found = simulate(EASY, delta=[0.1, 0.01], runs=1)
    fields = ["instance", "strategy", "stopping", "delta", "runs", "seed", "mean_cost", "cost_ci95", "median_cost"]
    fields += ["error_rate", "mean_steps", "stopped", "seconds"]
    assert [list(record) for record in found.records()] == [fields] * 2
    told = json.loads(found.to_json())
    assert told["summary"][0]["cost_ci95"] is None
    assert len(told["costs"]) == 1
    assert np.shape(told["pulls"]) == (1, 3, 2)


def test_frame_has_a_row_for_each_run_and_delta():
    """The frame is long: one row per run and delta."""
    frame = simulate(EASY, delta=[0.1, 0.01], runs=5).to_frame()
    assert len(frame) == 10
    assert set(frame.columns) == {"run", "delta", "cost", "steps", "answer", "stopped", "correct"}


def test_unstopped_runs_are_reported_as_such():
    """A run cut by max_steps has no answer, and counts as no error."""
    found = simulate("paper-4x5", runs=10, max_steps=25)
    assert not found.stopped.any()
    assert (found.answers == -1).all()
    assert (found.steps == 25).all()
    assert found.error_rate == 0


def test_strategies_find_the_best_arm_in_every_family():
    """Right answers in easy instances of each family, both directions."""
    bounded = SubGaussian(bounds=(0.0, 1.0))
    for family, direction in ((Bernoulli(), "maximise"), (bounded, "minimise"), (Gaussian([0.1, 0.2]), "minimise")):
        instance = Instance([[0.1, 0.2], [0.9, 0.8]], [0.1, 1.0], [0.1, 0.0], family, direction=direction)
        found = simulate(instance, "mf-grad", runs=20)
        assert instance.best == (1 if direction == "maximise" else 0)
        assert found.error_rate <= 0.1


def test_top_only_strategies_use_the_top_fidelity_only():
    """GRAD never evaluates a cheap cell."""
    found = simulate(EASY, "grad", runs=5)
    assert (found.pulls[:, :, 0] == 0).all()
    assert (found.pulls[:, :, 1] > 0).all()


def test_stylised_threshold_counts_the_fidelities_in_use():
    """With one fidelity GRAD and MF-GRAD are the same algorithm, threshold included."""
    flat = Instance([[0.1], [0.3], [0.6]], [2.0], [0.0], Gaussian(0.05))
    grad, mf_grad = simulate(flat, "grad", runs=20), simulate(flat, "mf-grad", runs=20)
    np.testing.assert_array_equal(grad.steps, mf_grad.steps)


def test_theorem_stops_later_than_stylised():
    """The proven threshold is larger; it needs its constant."""
    stylised = simulate(EASY, runs=10)
    theorem = simulate(EASY, runs=10, stopping="theorem", options={"constant": 1.0})
    assert (theorem.steps > stylised.steps).all()
    with pytest.raises(InvalidInput, match="constant"):
        simulate(EASY, runs=10, stopping="theorem")


def test_the_rule_is_by_default_the_one_that_goes_with_the_strategy():
    """Contrasts for race, and the e-process, which suits every strategy, for the others."""
    assert [simulate(EASY, name, runs=2).stopping for name in ("race", "frugal", "uniform")] == [
        "contrasts",
        "e-process",
        "e-process",
    ]


def test_options_reach_the_strategy():
    """mf-grad at rate 0.25 is mf-grad-const."""
    a, b = simulate(EASY, "mf-grad", runs=5, options={"rate": 0.25}), simulate(EASY, "mf-grad-const", runs=5)
    np.testing.assert_array_equal(a.costs, b.costs)


def test_every_fault_of_a_call_is_told_at_once():
    """Unknown names, bad risks and counts in one exception."""
    with pytest.raises(InvalidInput) as caught:
        simulate(
            "paper-4x6", "mf-gard", delta=[0.1, 2.0], runs=0, seed=-1, stopping="stylized", max_steps=1.5, workers=0
        )
    told = str(caught.value)
    for part in ("'paper-4x5'", "'mf-grad'", "delta[1]", "runs", "seed", "'stylised'", "max_steps", "workers"):
        assert part in told


@pytest.mark.parametrize(
    "wrong",
    [{"stopping": 3}, {"seed": None}, {"runs": None}, {"delta": [[0.1, 0.01]]}, {"options": ["rate"]}],
    ids=lambda wrong: next(iter(wrong)),
)
def test_arguments_of_the_wrong_kind_are_refused(wrong):
    """None and nested lists are told by the argument's name, and nothing runs."""
    with pytest.raises(InvalidInput, match=next(iter(wrong))):
        simulate(EASY, **{"runs": 2, **wrong})


def test_options_are_checked_beside_other_faults():
    """A wrong risk does not hide a wrong option."""
    with pytest.raises(InvalidInput) as caught:
        simulate(EASY, "mf-grad", 3.0, stopping="theorem", options={"rat": 1.0, "rate": -1.0})
    assert {fault.field.split("[")[0] for fault in caught.value.faults} == {"delta", "options", "rate", "constant"}


def test_unknown_options_are_refused():
    """With the nearest name."""
    with pytest.raises(InvalidInput, match="did you mean 'rate'"):
        simulate(EASY, "mf-grad", options={"rat": 0.1}, runs=1)
    with pytest.raises(InvalidInput, match="rate"):
        simulate(EASY, "mf-grad", options={"rate": -1.0}, runs=1)


def test_a_problem_without_truth_cannot_be_simulated():
    """The message says what to add."""
    with pytest.raises(InvalidInput, match="truth"):
        simulate(EASY.problem, runs=1)  # type: ignore[arg-type]


INTERRUPTED = """
import os, signal
from mfbai import simulate
from mfbai.terminal import told_to

signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
pressed = []

def press_once(part):
    if not pressed:
        pressed.append(part)
        os.kill(os.getpid(), signal.SIGINT)

with told_to(press_once):  # as soon as some runs are done
    found = simulate("paper-4x5", runs=1_000_000, workers=1)
assert 0 < len(found) < 1_000_000
assert found.stopped.all()
assert (found.costs[:5] == simulate("paper-4x5", runs=5).costs).all()
"""


def test_interrupt_returns_what_is_done():
    """Ctrl-C in the middle gives the finished runs. (In a process of its own: test tools have hooks that can swallow
    the interrupt.)"""
    subprocess.run([sys.executable, "-c", INTERRUPTED], check=True)


def test_trace_records_cost_shares():
    """Shares sum to one at every point; bands shrink to nothing only with equal runs."""
    found = trace("paper-5x2", steps=2000, runs=8, points=20)
    assert found.steps[-1] == 2000
    np.testing.assert_allclose(found.shares.sum(axis=(2, 3)), 1.0)
    assert found.mean.shape == found.ci95.shape == (len(found.steps), 5, 2)
    assert found.distance(found.mean[-1]).shape == (8, len(found.steps))


def test_mf_grad_approaches_the_optimal_shares():
    """On paper-5x2, where they are known exactly (math: 1/(4 + sqrt 40) each for four arms)."""
    weights = np.zeros((5, 2))
    weights[:4, 0] = 1 / (4 + 40**0.5)
    weights[4, 1] = 1 - weights[:4, 0].sum()
    distance = trace("paper-5x2", steps=100_000, runs=20, points=2).distance(weights)[:, -1]
    # 100 runs gave .0306 +- .0007 (95 %); 20 runs leave this band with probability below 1e-6.
    assert abs(distance.mean() - 0.031) < 0.005


@pytest.mark.parametrize(
    ("name", "strategy", "variance", "cost"),
    [
        ("paper-4x5", "mf-grad", 0.01, 105),
        ("paper-4x5", "mf-grad-const", 0.01, 90),
        ("paper-5x2", "mf-grad", 0.01, 770),
        ("paper-4x5", "mf-grad", 0.1, 1150),
    ],
)
def test_published_costs_are_met(name, strategy, variance, cost):
    """Mean costs at delta .01, 300 runs: within five standard errors (a false alarm once in a million)."""
    found = simulate(mfbai.load(name, variance=variance), strategy, runs=300)
    assert abs(found.mean_cost - cost) < 5 * found.cost_ci95 / 1.96 + 0.02 * cost
    assert found.error_rate <= 0.03
