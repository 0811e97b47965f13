"""Strategies with a rule of their own: every decision is that of the plain algorithm."""

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Instance, random_instance
from support.baselines import (
    BOUNDED,
    EXPLORES,
    INSTANCES,
    MEANS_4X3,
    OWN_RULE,
    PAPER,
    Compiled,
    assert_same_decisions,
    beta_noise,
    noise,
    play,
)

# Rules of their own: every decision


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", INSTANCES)
def test_decisions_are_those_of_the_plain_algorithm(name, strategy):
    """Every cell asked for, the stopping time and the answer."""
    instance = INSTANCES[name]()
    for delta, run in ((0.1, 0), (1e-4, 1)):
        compiled, naive = Compiled(strategy, instance, delta), OWN_RULE[strategy](instance, delta)
        assert_same_decisions(compiled, naive, noise(instance, 5, run), 700)


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", BOUNDED)
def test_decisions_are_the_same_for_bounded_rewards(name, strategy):
    """Variance proxies are those of the family: 1/4 for values in [0, 1]."""
    instance = BOUNDED[name]()
    compiled, naive = Compiled(strategy, instance, 0.1), OWN_RULE[strategy](instance, 0.1)
    assert_same_decisions(compiled, naive, beta_noise(instance, 6), 2500)


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", [name for name in INSTANCES if name != "lucb-trap"])
def test_whole_runs_are_those_of_the_plain_algorithm(name, strategy):
    """`simulate` stops each run at the same step with the same answer, after the same evaluations of every cell."""
    instance, cap = INSTANCES[name](), 4000
    for delta in (0.1, 1e-6):
        found = mfbai.simulate(instance, strategy, delta=delta, runs=3, seed=7, max_steps=cap)
        for run in range(3):
            naive = OWN_RULE[strategy](instance, delta)
            steps = len(play(naive, noise(instance, 7, run), cap))
            assert found.steps[run] == steps
            assert found.answers[run] == naive.answer
            assert found.stopped[run] == (naive.answer >= 0)
            np.testing.assert_array_equal(found.pulls[run], naive.told.count)
            assert found.costs[run] == pytest.approx((naive.told.count * naive.told.cost).sum())


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_decisions_are_the_same_on_random_instances(strategy):
    """Many small instances, each with its own size, costs and asymmetric bounds."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        K, M = rng.integers(2, 6), rng.integers(1, 4)
        low, high = rng.uniform(-0.15, 0.0, (K, M)), rng.uniform(0.0, 0.15, (K, M))
        low[:, -1] = high[:, -1] = 0.0
        costs = np.sort(rng.uniform(0.1, 3.0, (K, M)), axis=1)
        instance = random_instance(int(K), int(M), seed=seed, biases=(low, high), costs=costs, variance=0.005)
        delta = 10.0 ** -rng.uniform(0.5, 8)
        compiled, naive = Compiled(strategy, instance, delta), OWN_RULE[strategy](instance, delta)
        assert_same_decisions(compiled, naive, noise(instance, seed, 0), 150)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize("strategy", EXPLORES)
def test_explores_use_the_given_means(strategy, direction):
    """mu1 and mu2 are in the user's units, and change the cells that are asked for."""
    sign = {"maximise": 1, "minimise": -1}[direction]
    means = 0.5 + sign * (np.array(MEANS_4X3) - 0.5)
    instance = Instance(means, [0.1, 0.5, 2.0], [0.1, 0.06, 0.0], Gaussian(0.01), direction=direction)
    cells = {}
    for far in (0.0, 0.2):
        told = {"mu1": 0.5 + sign * (0.15 + far), "mu2": 0.5 + sign * (0.0 - far)}
        naive = OWN_RULE[strategy](instance, 0.01, **told)
        assert_same_decisions(Compiled(strategy, instance, 0.01, **told), naive, noise(instance, 8, 0), 1000)
        cells[far] = naive.told.count
    naive = OWN_RULE[strategy](instance, 0.01)
    play(naive, noise(instance, 8, 0), 1000)
    np.testing.assert_array_equal(naive.told.count, cells[0.0])  # the default is the truth
    assert not np.array_equal(cells[0.0], cells[0.2])


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_first_of_equals_is_taken(strategy):
    """Arms that are exactly alike are taken in order."""
    instance = Instance([[0.5, 0.5]] * 3, [0.25, 1.0], [0.25, 0.0], Gaussian(1.0), ties=True)
    options = {"mu1": 0.75, "mu2": 0.25} if strategy in EXPLORES else {}
    compiled, naive = Compiled(strategy, instance, **options), OWN_RULE[strategy](instance, 0.01, **options)
    assert_same_decisions(compiled, naive, lambda cell: 0.5, 300)


# Rules of their own: properties


@pytest.mark.parametrize("name", [*PAPER, "3x3, costs per arm", "6x2, biases on one side", "4x3, minimise"])
def test_iise_eliminates_in_phases(name):
    """Fidelities only go up, survivors of a phase are evaluated equally often, and who is dropped stays so."""
    instance = INSTANCES[name]()
    compiled = Compiled("iise", instance, 0.01)
    cells = play(compiled, noise(instance, 9, 0), 5000)
    phases = [fidelity for _, fidelity in cells]
    assert phases == sorted(phases)
    last = {arm: step for step, (arm, _) in enumerate(cells)}
    for phase in set(phases):
        count = np.zeros(instance.shape[0], dtype=int)
        for step, (arm, fidelity) in enumerate(cells):
            if fidelity == phase:
                count[arm] += 1
                left = [a for a in last if last[a] > step]
                assert not left or np.ptp(count[left]) <= 1
    assert compiled.answer == max(last, key=last.get) or compiled.answer in [arm for arm, _ in cells[-2:]]


@pytest.mark.parametrize(
    ("costs", "skipped"),
    [([1.0, 0.5, 3.0], [0]), ([2.0, 1.0, 1.0], [0, 1]), ([0.1, 1.0, 0.5, 3.0], [1]), ([1.0, 2.0, 3.0], [])],
)
def test_iise_skips_fidelities_that_a_better_one_undercuts(costs, skipped):
    """Not one evaluation is made where a later fidelity is no dearer and no more biased."""
    instance = random_instance(3, len(costs), seed=19, gap=0.03, costs=costs)
    found = mfbai.simulate(instance, "iise", runs=20, seed=1)
    useful = [m for m in range(len(costs)) if m not in skipped]
    assert found.stopped.all()
    assert not found.pulls[:, :, skipped].any()
    assert (found.pulls[:, :, useful[0]] > 0).all()
    assert found.pulls[:, :, useful].any(axis=(0, 1)).all()


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_answer_is_given_once_and_stays(strategy):
    """After its answer a strategy can be told more, by a study that goes on, and keeps to it."""
    instance = mfbai.load("paper-mu2")
    compiled = Compiled(strategy, instance, 0.1)
    draw = noise(instance, 10, 0)
    play(compiled, draw, 20_000)
    answer = compiled.answer
    assert answer == instance.best
    for _ in range(50):
        cell = compiled.ask()
        compiled.tell(*cell, draw(cell))
        assert compiled.answer == answer


@pytest.mark.parametrize("name", ["paper-4x5", "4x3, minimise"])
def test_lucb_stays_at_the_top_fidelity(name):
    """The others might as well not exist: another cost or bias there changes nothing."""
    instance = INSTANCES[name]()
    found = mfbai.simulate(instance, "lucb", runs=5, seed=2, max_steps=3000)
    assert not found.pulls[:, :, :-1].any()
    top = Instance(
        instance.means[:, -1:],
        instance.problem.costs[:, -1:],
        [0.0],
        instance.problem.family,
        direction=instance.problem.direction,
    )
    alone = mfbai.simulate(top, "lucb", runs=5, seed=2, max_steps=3000)
    np.testing.assert_array_equal(found.steps, alone.steps)
    np.testing.assert_array_equal(found.pulls[:, :, -1], alone.pulls[:, :, 0])


@pytest.mark.parametrize("strategy", EXPLORES)
def test_explores_begin_with_every_cell(strategy):
    """Once, arm by arm, the cheapest fidelity first."""
    instance = mfbai.load("paper-4x5")
    K, M = instance.shape
    cells = play(Compiled(strategy, instance), noise(instance, 11, 0), K * M)
    assert cells == [(a, m) for a in range(K) for m in range(M)]


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_errors_are_rarer_than_delta(strategy):
    """400 runs at delta .1. These bounds are loose: were the risk .1, a sound version would fail one time in 10^4."""
    found = mfbai.simulate("paper-mu2", strategy, delta=0.1, runs=400, seed=3)
    assert found.stopped.all()
    assert found.error_rate <= 0.16
