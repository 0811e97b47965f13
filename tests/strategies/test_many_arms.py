"""Many arms: fast paths against plain loops, memory linear in K M, and steps that do not grow with K."""

from itertools import pairwise
from time import process_time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbai import Bernoulli, Gaussian, Instance, Symmetric, simulate
from mfbai.kernels.stats import make_stats
from mfbai.run.state import arrays_of
from mfbai.simulation.experiment import Run, prepare
from mfbai.stopping import e_process
from mfbai.stopping.e_process import MANY
from mfbai.strategies import STRATEGIES, ask
from mfbai.strategies.common import first_look, first_look_from, make_seen, seen_all
from support import naive_arms

FAMILIES = {"gaussian": Gaussian(0.01), "bernoulli": Bernoulli(), "symmetric": Symmetric(-2.0, 3.0)}
COSTS, BIASES = [0.05, 0.3, 1.0], [0.1, 0.03, 0.0]


def instance_of(arms, family="gaussian", rivals=0, seed=0, near=0.86):
    """One arm at .9, so many rivals close to it, and all others far below."""
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.1, 0.4, arms)
    best, *close = rng.choice(arms, rivals + 1, replace=False)
    top[close], top[best] = near, 0.9
    means = np.clip(top[:, None] + BIASES * rng.uniform(-0.9, 0.9, (arms, 3)), 0.01, 0.99)
    return Instance(means, COSTS, BIASES, FAMILIES[family], deviation=0.1 if family == "symmetric" else None)


def run_of(instance, strategy="frugal", delta=0.05):
    run = Run(prepare(instance, strategy, "e-process", [delta], {}, {})[0])
    run.restart(1, 0)
    return run


@pytest.mark.parametrize("family", FAMILIES)
def test_leader_least_gap_and_rivals_are_those_of_plain_loops(family):
    """Up to MANY arms, after every evaluation."""
    run, checked = run_of(instance_of(30, family, rivals=3)), 0
    run.advance(30)
    while not run.decided and run.stats.steps[0] < 400:
        state = run.state
        leader = naive_arms.leader(run.model, state.rule.work)
        assert state.leader[0] == leader
        live = naive_arms.live(state, leader)
        assert sorted(state.live[: state.listed[0]]) == live
        assert -state.gaps[1] == min(state.gap[j] for j in live)
        checked += 1
        run.advance(int(run.stats.steps[0]) + 1)
    assert checked > 100


@settings(max_examples=40, deadline=None)
@given(st.integers(30, 300), st.integers(0, 2**32 - 1))
def test_with_evaluations_under_way_it_asks_what_a_plain_loop_does(steps, seed):
    run, rng = run_of(instance_of(30, rivals=4), delta=1e-6), np.random.default_rng(seed)
    run.advance(steps)
    pending = rng.integers(0, 4, run.pending.shape) * (rng.random(run.pending.shape) < rng.random())
    run.model.beaten[:] = rng.random(30) < 0.2
    for _ in range(20):
        arm, fidelity = ask(run.model, run.stats, run.state, pending)
        assert (arm, fidelity) == naive_arms.frugal_ask(run.model, run.stats, run.state, pending)
        pending[arm, fidelity] += 1


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_the_first_look_is_the_same_from_where_it_got_to(arms, seed):
    rng = np.random.default_rng(seed)
    model, stats, seen = instance_of(arms).problem.model(), make_stats((arms, 3)), make_seen()
    cheapest, pending = rng.integers(0, 3, arms), np.zeros((arms, 3), dtype=np.int64)
    for _ in range(3 * arms):
        stats.count[rng.integers(arms) // 2, rng.integers(3)] += 1
        pending[rng.integers(arms), rng.integers(3)] += 1
        if rng.random() < 0.1:
            model.beaten[1:] = rng.random(arms - 1) < 0.5
            model.epoch[0] += 1
        assert seen_all(model, stats, cheapest, seen) == e_process.all_looked_at(model, stats)
        asked = first_look_from(model, stats, cheapest, pending, seen)
        assert asked == first_look(model, stats, cheapest, pending)


@pytest.mark.parametrize("family", FAMILIES)
def test_more_than_many_arms_are_decided_rightly(family):
    found = simulate(instance_of(MANY + 200, family, rivals=2), "frugal", 0.05, runs=2, seed=3)
    assert found.stopped.all()
    assert found.error_rate == 0


def test_one_arm_more_than_many_costs_little_more():
    """It changes how passes are made. Of the cost of 40 runs the standard error is some 3 %."""
    whole = instance_of(MANY + 1, rivals=2)
    least = np.argmin(whole.means[:, -1])
    less = Instance(np.delete(whole.means, least, axis=0), COSTS, BIASES, whole.problem.family)
    few, many = (simulate(instance, "frugal", 0.05, runs=40, seed=5).mean_cost for instance in (less, whole))
    assert 0.8 < many / few < 1.2


@pytest.mark.parametrize("strategy", ["frugal", "mf-grad", "mf-grad-const", "mf-grad-row"])
def test_the_first_batch_asks_for_every_arm_once(strategy):
    instance = instance_of(MANY + 50)
    model, stats = instance.problem.model(), make_stats(instance.shape)
    state, pending = STRATEGIES[strategy].make(instance, 0.05), np.zeros(instance.shape, dtype=np.int64)
    first = len(pending) if strategy == "frugal" else pending.size
    for _ in range(first):
        pending[ask(model, stats, state, pending)] += 1
    assert pending.max() == 1
    assert (pending.sum(axis=1) > 0).all()


@pytest.mark.parametrize("strategy", ["frugal", "mf-grad", "mf-grad-const", "mf-grad-row"])
def test_memory_is_linear_in_the_number_of_cells(strategy):
    def each(arms):
        run = run_of(instance_of(arms), strategy)
        return sum(array.nbytes for array in arrays_of((run.model, run.stats, run.state, run.rule))) / (3 * arms)

    sizes = [each(arms) for arms in (4096, 8192, 16384)]
    assert all(after <= 1.01 * before for before, after in pairwise(sizes))
    assert sizes[-1] < 800  # bytes; 170 of them remember what the last 64 leaders have proven


def test_a_step_does_not_grow_with_the_arms_that_are_ruled_out():
    """With 8 times as many arms, and as many live rivals, it takes 3 times as long at most; a loop would take 8."""

    def best_time(arms):
        run = run_of(instance_of(arms, rivals=10, seed=2, near=0.89), delta=0.001)
        while e_process_open(run) > 15:
            run.advance(int(run.stats.steps[0]) + 200)
        times = []
        for _ in range(4):
            begun = process_time()
            run.advance(int(run.stats.steps[0]) + 1000)
            times.append(process_time() - begun)
        assert not run.decided
        return min(times)

    assert best_time(32_000) < 3 * best_time(4000)


def e_process_open(run):
    """How many rivals are not ruled out."""
    rule = run.state.rule
    return rule.listed[0] if rule.leader[0] >= 0 else rule.start.size
