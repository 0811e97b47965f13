"""Track-and-Stop and the oracle: every decision is that of the plain algorithm, up to rounding."""

from math import log

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Instance
from support import naive_baselines as plain
from support.baselines import BOUNDED, INSTANCES, Compiled, beta_noise, noise

# Track-and-Stop and the oracle: every decision, up to rounding


def assert_preferred(naive, cell, scores):
    """The cell scores as high as any, but for what rounding does to shares of t evaluations."""
    slack = 1e-9 + 1e-7 * naive.told.t
    assert scores[cell] >= scores.max() - slack, f"{cell} after {naive.told.t:.0f} evaluations"


def stylised_stop(naive, delta):
    """The answer at the top fidelity, or -1."""
    t = naive.told.t
    if not naive.told.count[:, -1].all():
        return -1
    value, best = naive.evidence()
    return best if value >= log(naive.told.K / delta) + log(log(t) + 1) else -1


@pytest.mark.parametrize("name", INSTANCES)
def test_track_and_stop_is_the_plain_algorithm(name):
    """Every cell asked for is the plain version's choice, and `simulate` stops where its evidence suffices."""
    instance, delta, cap = INSTANCES[name](), 0.01, 600
    found = mfbai.simulate(instance, "track-and-stop", delta, 2, seed=12, stopping="stylised", max_steps=cap)
    for run in range(2):
        compiled, naive = Compiled("track-and-stop", instance, delta), plain.TrackAndStop(instance)
        draw, answer, steps = noise(instance, 12, run), -1, 0
        while answer < 0 and steps < cap:
            cell = tuple(compiled.ask())
            assert_preferred(naive, cell, naive.preferences())
            x = draw(cell)
            compiled.tell(*cell, x)
            naive.tell(*cell, x)
            answer, steps = stylised_stop(naive, delta), steps + 1
        assert (found.steps[run], found.answers[run]) == (steps, answer)


@pytest.mark.parametrize("name", BOUNDED)
def test_track_and_stop_is_the_plain_algorithm_for_bounded_rewards(name):
    """The optimal shares are those of the family's divergence."""
    instance = BOUNDED[name]()
    compiled, naive, draw = Compiled("track-and-stop", instance), plain.TrackAndStop(instance), beta_noise(instance, 13)
    for _ in range(150):
        cell = tuple(compiled.ask())
        assert_preferred(naive, cell, naive.preferences())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)


def test_track_and_stop_counts_evaluations_under_way():
    """Asked again with its own choices pending, it spreads as the plain version does."""
    instance = mfbai.load("paper-mu3")
    compiled, naive, draw = Compiled("track-and-stop", instance), plain.TrackAndStop(instance), noise(instance, 14, 0)
    for _ in range(30):
        cell = tuple(compiled.ask())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)
    pending = np.zeros(instance.shape, dtype=np.int64)
    for _ in range(60):
        cell = tuple(compiled.ask(pending))
        assert_preferred(naive, cell, naive.preferences(pending))
        pending[cell] += 1
    assert (pending[:, -1] > 0).all()


def test_track_and_stop_ignores_other_fidelities():
    """What a live study was told at a coarse fidelity changes no choice."""
    instance = mfbai.load("paper-5x2")
    deaf, hearing = (Compiled("track-and-stop", instance) for _ in range(2))
    draw = noise(instance, 15, 0)
    for step in range(200):
        cell = tuple(deaf.ask())
        assert tuple(hearing.ask()) == cell
        x = draw(cell)
        deaf.tell(*cell, x)
        hearing.tell(*cell, x)
        hearing.tell(step % 5, 0, 0.9)


def test_track_and_stop_takes_turns_while_the_best_are_tied():
    """With equal empirical means no allocation is optimal: the fewest evaluations decide."""
    instance = Instance([[0.5, 0.5]] * 4, [0.25, 1.0], [0.25, 0.0], Gaussian(1.0), ties=True)
    compiled = Compiled("track-and-stop", instance)
    cells = []
    for _ in range(20):
        cells.append(tuple(map(int, compiled.ask())))
        compiled.tell(*cells[-1], 0.5)
    assert cells == [(step % 4, 1) for step in range(20)]


def test_track_and_stop_neglects_no_arm():
    """Each arm has about sqrt(t) - K/2 evaluations at least, a hopeless one too."""
    instance = Instance([[0.0], [0.9], [1.0]], [1.0], [0.0], Gaussian(1e-4))
    compiled, draw = Compiled("track-and-stop", instance), noise(instance, 16, 0)
    for step in range(1, 1500):
        cell = compiled.ask()
        compiled.tell(*cell, draw(cell))
        assert compiled.stats.count.min() >= np.sqrt(step) - 1.5 - 1


@pytest.mark.parametrize("name", INSTANCES)
def test_oracle_tracks_the_optimal_allocation(name):
    """Every cell asked for is the plain version's choice: counts stay within K M of t pi, and off its support at 0."""
    instance = INSTANCES[name]()
    compiled, naive, draw = Compiled("oracle", instance), plain.OracleTracker(instance), noise(instance, 17, 0)
    for _ in range(400):
        cell = tuple(compiled.ask())
        assert_preferred(naive, cell, naive.preferences())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)
    weights = mfbai.oracle(instance).weights
    assert not compiled.stats.count[weights <= 1e-9].any()
    pi = weights / instance.problem.costs / (weights / instance.problem.costs).sum()
    assert abs(compiled.stats.count - 400 * pi).max() <= instance.means.size


def test_the_two_plain_versions_of_the_optimal_shares_agree():
    """The closed form for Gaussian arms finds what the general oracle finds."""
    rng = np.random.default_rng(18)
    for _ in range(100):
        K = int(rng.integers(2, 8))
        mean, v, cost = rng.normal(size=K), rng.uniform(0.01, 2, K), rng.uniform(0.1, 5, K)
        problem = mfbai.Problem(K, cost[:, None], [0.0], Gaussian(v[:, None]))
        np.testing.assert_allclose(plain.gaussian_shares(mean, v, cost), plain.oracle_shares(problem, mean), atol=1e-7)
