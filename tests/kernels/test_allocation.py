"""The allocation kernel gives what the oracle certifies."""

import numpy as np
import pytest

from mfbai.analysis.oracle import oracle
from mfbai.kernels import allocation
from mfbai.model.families import Bernoulli, Poisson, SubGaussian
from mfbai.model.instance import Instance
from support.naive_oracle import Duel, grid_bound, random_instance
from support.oracles import SAME, every_family, other_means, with_parts


@every_family
def test_the_kernel_follows_drifting_means(name):
    """`allocate`, called again and again with what it left in `work`, costs what the oracle says from scratch.

    Exponential means stay close together, where their divergences are convex. A best Poisson arm without events has
    its rivals' optima at a pole, where rounding shows.
    """
    rng = np.random.default_rng(4)
    compared, same = 0, 1e-7 if name == "poisson" else SAME
    for _ in range(12):
        instance = random_instance(rng, name, K=5, M=3, wild=0.3 if name == "exponential" else 1.0)
        problem, model = instance.problem, instance.problem.model()
        work, other = allocation.make_work(model), other_means(rng, instance)
        for part in np.linspace(0, 1, 15):
            now = with_parts(instance, means=(1 - part) * instance.means + part * other)
            if now.gap > 1e-3 * np.ptp(now.means[:, -1]):
                warm, _ = allocation.allocate(model, problem.sign * now.means, now.best, work)
                assert warm == pytest.approx(oracle(now).cost_complexity, rel=same)
                compared += 1
    assert compared > 120


# means, costs, biases, family, direction, tolerance; at an end of the range of top means some rate is infinite, or 0
EDGES = {
    "the best arm never fails": ([[0.05], [0.1], [0.0]], 1.0, 0.0, Bernoulli(), "minimise", 0.0),
    "the best arm never fails, one rival is far": ([[0.05], [0.3], [0.0]], 1.0, 0.0, Bernoulli(), "minimise", 0.0),
    "the best arm always succeeds": ([[0.1], [0.9], [1.0]], 1.0, 0.0, Bernoulli(), "maximise", 0.0),
    "the best arm has no events": ([[0.05], [0.1], [0.0]], 1.0, 0.0, Poisson(), "minimise", 0.0),
    "the rival has no events": ([[0.0], [0.3]], 1.0, 0.0, Poisson(), "maximise", 0.0),
    "the rival never succeeds": ([[0.0], [0.3]], 1.0, 0.0, Bernoulli(), "maximise", 0.0),
    "a tolerance, Bernoulli": ([[0.9], [0.7], [0.6]], 1.0, 0.0, Bernoulli(), "minimise", 0.15),
    "a tolerance, two arms": ([[0.92], [0.6]], [[0.2], [7.0]], 0.0, Bernoulli(), "minimise", 0.128),
    "a tolerance, Poisson": ([[0.0], [0.85]], 1.0, 0.0, Poisson(), "minimise", 0.5),
}  # fmt: skip


def oracle_and_kernel(means, costs, biases, family, direction, tolerance):
    """The oracle's result, checked on a grid, and what the kernel says alone: cost and lower bound."""
    instance = Instance(means, costs, biases, family, direction=direction)
    found, model = oracle(instance, tolerance), instance.problem.model(tolerance)
    assert found.cost_complexity == pytest.approx(grid_bound(Duel(instance, tolerance, found.best)), rel=1e-6)
    means = instance.problem.sign * instance.means
    return found, *allocation.allocate(model, means, found.best, allocation.make_work(model))


@pytest.mark.parametrize("which", EDGES)
def test_the_kernel_knows_the_edges_of_the_range(which):
    """Strategies call `allocate` alone: its cost is C* and its bound too, without help from the slower method."""
    found, cost, lower = oracle_and_kernel(*EDGES[which])
    assert cost == pytest.approx(found.cost_complexity, rel=SAME)
    assert lower == pytest.approx(found.cost_complexity, rel=SAME)


# The best arm's cells alone can rule the rival out: the total has an edge there, on which Newton steps can stall.
IDLE_RIVALS = {
    "a tolerance near the width": ([[0.3], [0.9]], 1.0, 0.0, SubGaussian(bounds=(0, 1)), "maximise", 0.9),
    "the same with two fidelities": (
        [[0.63, 0.67], [-0.05, -0.04]], [[0.8, 1.8], [0.16, 0.4]], ([[-0.05, 0], [-0.02, 0]], [[0.0, 0], [0.04, 0]]),
        SubGaussian(bounds=(-0.5, 1.5)), "minimise", 1.07,
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", IDLE_RIVALS)
def test_where_a_rival_can_need_nothing_the_slower_method_takes_over(which):
    """The kernel's bounds hold all the same."""
    found, cost, lower = oracle_and_kernel(*IDLE_RIVALS[which])
    assert found.gap <= 1e-9
    assert lower * (1 - SAME) <= found.cost_complexity <= cost * (1 + SAME)
