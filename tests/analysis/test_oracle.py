"""The oracle against brute force, its certificate, the literature, and what must hold for any instance."""

from math import log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mfbai import load
from mfbai.analysis import cutting_planes
from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from mfbai.kernels import allocation
from mfbai.model import instances
from mfbai.model.families import FAMILIES, Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from mfbai.model.problem import Instance
from support import naive_oracle
from support.naive_oracle import NAMES, Duel, certifiable, grid_bound, optimality, random_instance, random_tolerance

every_family = pytest.mark.parametrize("name", NAMES)
every_named = pytest.mark.parametrize("name", instances.names())
some_instances = given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(NAMES))
quick = settings(max_examples=60, deadline=None, derandomize=True)
SAME = 1e-9  # relative: twice the certified gap, and some rounding


def with_parts(instance, columns=slice(None), **parts):
    """The instance with some of its parts replaced, or with a selection of its fidelities."""
    problem = instance.problem
    family = parts.get("family", problem.family)
    if family.name == "gaussian":
        family = Gaussian(np.broadcast_to(family.variance, instance.shape)[:, columns])
    low, high = parts.get("low", problem.bias_low), parts.get("high", problem.bias_high)
    return Instance(
        parts.get("means", instance.means)[:, columns],
        parts.get("costs", problem.costs)[:, columns],
        (low[:, columns], high[:, columns]),
        family,
        direction=parts.get("direction", problem.direction),
        ties=True,
    )


def draw(seed, name, **options):
    """A random instance with an oracle that is precise enough to compare."""
    instance = random_instance(np.random.default_rng(seed), name, **options)
    return instance, oracle(instance)


# The optimality conditions, by brute force


@every_named
def test_named_instances_satisfy_the_optimality_conditions(name):
    """All transport costs are equal, and at some prices each cell is worth its cost, or less if it is not used."""
    instance, found = load(name), oracle(name)
    told = optimality(Duel(instance, 0.0, found.best), found.cost_complexity * found.weights)
    assert found.best == instance.best
    assert abs(told.shortfall) < 1e-12
    assert told.excess < 1e-12
    assert told.residual < 1e-7


@every_family
def test_random_instances_satisfy_the_optimality_conditions(name):
    """The same for every family, with asymmetric biases, means at their edges, both directions and tolerances."""
    tested = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        instance = random_instance(rng, name)
        tolerance = random_tolerance(rng, instance)
        found = oracle(instance, tolerance)
        if found.cost_complexity == 0:
            assert not len(Duel(instance, tolerance, found.best).rivals)
            continue
        told = optimality(Duel(instance, tolerance, found.best), found.cost_complexity * found.weights)
        assert abs(told.shortfall) < SAME, (seed, told)
        assert told.excess < 1e-7, (seed, told)
        assert not told.residual > 1e-5, (seed, told)
        tested += told.residual <= 1e-5
    assert tested > 40


@every_family
def test_alternatives_are_where_rivals_are_hardest_to_tell(name):
    """Each rival's alternative is a possible top mean at which its transport cost is the least one."""
    for seed in range(20):
        instance, found = draw(seed, name)
        duel, sign = Duel(instance, 0.0, found.best), instance.problem.sign
        rivals = np.flatnonzero(np.arange(len(instance.means)) != found.best)
        assert np.isnan(found.alternatives[found.best])
        etas = sign * found.alternatives[rivals]
        low, high = duel.range()
        slack = 1e-12 * abs(instance.means).max()
        assert (etas >= low[rivals] - slack).all()
        assert (etas <= high[rivals] + slack).all()
        bought = (found.cost_complexity * found.weights * duel.rates(rivals, etas)).sum(axis=(1, 2))
        np.testing.assert_allclose(bought, 1, rtol=1e-7)


# An independent solver


@every_family
def test_a_linear_program_over_a_fine_grid_finds_the_same_cost(name):
    """Its bound, the least of all arms that are good enough, never exceeds C* and comes close to it."""
    for seed in range(100, 125):
        rng = np.random.default_rng(seed)
        instance = random_instance(rng, name, K=rng.integers(2, 5), M=rng.integers(1, 4))
        tolerance = random_tolerance(rng, instance)
        found = oracle(instance, tolerance).cost_complexity
        if found > 0:
            bound = min(grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance))
            assert bound <= found * (1 + 1e-9), seed
            assert bound >= found * (1 - 1e-5), seed


@pytest.mark.parametrize("K", range(2, 11))
@every_family
def test_one_fidelity_gives_the_characteristic_time_of_track_and_stop(name, K):
    """With M = 1 and cost 1, C* is T* of Garivier and Kaufmann (2016), found as the root of their equation."""
    rng = np.random.default_rng(K)
    means = rng.uniform(0.1, 0.9, size=(K, 1)) * (5 if name in ("poisson", "exponential") else 1)
    family = {"gaussian": Gaussian(0.3), "subgaussian": SubGaussian(bounds=(0, 1))}.get(name) or FAMILIES[name]()
    instance = Instance(means, 1.0, 0.0, family, direction=["maximise", "minimise"][K % 2])
    expected = naive_oracle.characteristic_time(instance)
    assert oracle(instance).cost_complexity == pytest.approx(expected, rel=1e-10)
    assert oracle(with_parts(instance, costs=np.full((K, 1), 7.0))).cost_complexity == pytest.approx(7 * expected)


# The certificate


@every_named
def test_named_instances_are_solved_to_ten_digits(name):
    """The certified gap of the catalogue is 1e-10 at most."""
    assert oracle(name).gap <= 1e-10


@every_family
def test_random_instances_are_solved_to_nine_digits(name):
    """The certified gap of a sweep is 1e-9 at most; `python tests/naive_oracle.py` runs a larger one."""
    for row in naive_oracle.sweep(oracle, name, 300 if name == "gaussian" else 60):
        assert row.gap <= 1e-9, row


# Known numbers


def test_the_weights_of_the_5x2_instance_have_a_closed_form():
    """Arms 1 to 4 get 1 / (4 + sqrt 40) at fidelity 1 and arm 5 the rest at fidelity 2.

    math.md prints .0968563 and .6125748 for .0968565 and .6125741, which its own closed form gives.
    """
    found = oracle(load("paper-5x2", variance=0.1))
    expected = np.zeros((5, 2))
    expected[:4, 0] = 1 / (4 + sqrt(40))
    expected[4, 1] = 1 - 4 / (4 + sqrt(40))
    np.testing.assert_allclose(found.weights, expected, rtol=0, atol=1e-9)
    assert found.cost_complexity == pytest.approx(266.4911, abs=5e-5)
    assert found.alternatives[0] == pytest.approx(0.538743, abs=5e-7)
    assert found.unique


def test_the_4x5_instance_uses_one_fidelity_of_each_arm():
    """C* is 19.98528 at variance .1, spent on fidelities 2, 4, 3 and 2 of arms 1 to 4."""
    found = oracle(load("paper-4x5", variance=0.1))
    assert found.cost_complexity == pytest.approx(19.98528, abs=5e-6)
    assert np.argwhere(found.weights > 1e-9).tolist() == [[0, 1], [1, 3], [2, 2], [3, 1]]


def test_one_fidelity_per_arm_can_be_dearer():
    """On nonsparse-3x2 C* is 47.7507 with two fidelities for arm 1; the best sparse allocation costs 0.40 % more."""
    found = oracle("nonsparse-3x2")
    sparse = naive_oracle.best_single_fidelities(Duel(load("nonsparse-3x2"), 0.0, found.best))
    assert found.cost_complexity == pytest.approx(47.7507, abs=5e-5)
    np.testing.assert_allclose(found.weights[0], [0.147, 0.099], atol=1e-3)
    assert sparse == pytest.approx(47.9409, abs=5e-5)
    assert sparse / found.cost_complexity - 1 == pytest.approx(0.0040, abs=5e-5)


def test_the_lower_bound_is_that_of_the_change_of_measure():
    """C* ln(1 / (2.4 delta)), and never negative."""
    found = oracle("paper-4x5")
    assert found.lower_bound(0.01) == pytest.approx(found.cost_complexity * log(1 / 0.024))
    assert found.lower_bound(0.9) == 0
    with pytest.raises(InvalidInput, match="delta"):
        found.lower_bound(0.0)


# What must hold for any instance


@some_instances
@quick
def test_weights_are_shares(seed, name):
    """Weights and pulls are not negative and sum to 1; pulls are the weights per cost."""
    rng = np.random.default_rng(seed)
    instance = random_instance(rng, name)
    found = oracle(instance, random_tolerance(rng, instance))
    for shares in (found.weights, found.pulls) if found.cost_complexity > 0 else ():
        assert shares.min() >= 0
        assert shares.sum() == pytest.approx(1, abs=1e-12)
    np.testing.assert_allclose(
        found.pulls * (found.weights / instance.problem.costs).sum(), found.weights / instance.problem.costs
    )


@given(seed=st.integers(0, 2**32 - 1), factor=st.floats(1e-3, 1e3))
@quick
def test_cost_is_proportional_to_variance(seed, factor):
    """A Gaussian instance with all variances scaled costs as many times as much, in the same shares."""
    instance, found = draw(seed, "gaussian")
    scaled = oracle(instance.with_variance(factor * np.asarray(instance.problem.family.variance)))
    assert scaled.cost_complexity == pytest.approx(factor * found.cost_complexity, rel=SAME)
    if found.unique:
        np.testing.assert_allclose(scaled.weights, found.weights, atol=1e-6)


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(NAMES), factor=st.floats(1e-3, 1e3))
@quick
def test_cost_is_proportional_to_costs(seed, name, factor):
    """All costs in another unit give C* in that unit."""
    instance, found = draw(seed, name)
    scaled = oracle(with_parts(instance, costs=factor * instance.problem.costs))
    assert scaled.cost_complexity == pytest.approx(factor * found.cost_complexity, rel=SAME)


@some_instances
@quick
def test_a_further_fidelity_never_costs(seed, name):
    """An instance without its first fidelity is at least as dear as with it."""
    instance, found = draw(seed, name, M=3)
    without = oracle(with_parts(instance, slice(1, None)))
    assert found.cost_complexity <= without.cost_complexity * (1 + SAME)


@some_instances
@quick
def test_a_useless_fidelity_changes_nothing(seed, name):
    """A fidelity whose bias can be anything gets no weight, and C* stays."""
    instance, found = draw(seed, name, M=2)
    problem, family = instance.problem, instance.problem.family
    if name == "gaussian":
        variance = np.broadcast_to(family.variance, instance.shape)
        family = Gaussian(np.column_stack([variance[:, :1], variance]))
    wide = np.full((len(instance.means), 1), 1e9 * abs(instance.means).max())
    more = oracle(
        Instance(
            np.column_stack([instance.means[:, -1:], instance.means]),
            np.column_stack([1e-3 * problem.costs[:, :1], problem.costs]),
            (np.column_stack([-wide, problem.bias_low]), np.column_stack([wide, problem.bias_high])),
            family,
            direction=problem.direction,
        )
    )
    assert more.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME)
    assert more.weights[:, 0].max() <= 1e-12


@some_instances
@quick
def test_knowing_the_bias_better_never_costs(seed, name):
    """Tighter bounds around the same means never raise C*."""
    instance, found = draw(seed, name)
    rng, problem = np.random.default_rng(seed), instance.problem
    off = instance.means - instance.means[:, -1:]
    part = rng.random((2, *instance.shape))
    low, high = problem.bias_low, problem.bias_high
    low, high = low + part[0] * np.maximum(off - low, 0), high - part[1] * np.maximum(high - off, 0)
    tighter = oracle(with_parts(instance, low=np.minimum(low, high), high=high))
    assert tighter.cost_complexity <= found.cost_complexity * (1 + SAME)


@some_instances
@quick
def test_arms_can_be_listed_in_any_order(seed, name):
    """Permuting the arms permutes the weights, and the best arm with them."""
    instance, found = draw(seed, name)
    order = np.random.default_rng(seed).permutation(len(instance.means))
    tables = {"means": instance.means, "costs": instance.problem.costs}
    tables |= {"low": instance.problem.bias_low, "high": instance.problem.bias_high}
    family = instance.problem.family
    if name == "gaussian":
        family = Gaussian(np.broadcast_to(family.variance, instance.shape)[order])
    moved = oracle(with_parts(instance, family=family, **{part: table[order] for part, table in tables.items()}))
    assert order[moved.best] == found.best
    assert moved.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME)
    if found.unique:
        np.testing.assert_allclose(moved.weights, found.weights[order], atol=1e-5)


@given(seed=st.integers(0, 2**32 - 1), by=st.floats(-3, 3))
@quick
def test_gaussian_cost_does_not_depend_on_the_origin(seed, by):
    """Adding a constant to all Gaussian means changes nothing, but for rounding."""
    instance, found = draw(seed, "gaussian")
    scale = np.ptp(instance.means[:, -1])
    moved = oracle(with_parts(instance, means=instance.means + by * scale))
    rounding = 1e-14 * scale / instance.gap
    assert moved.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME + rounding)


@given(seed=st.integers(0, 2**32 - 1), name=st.sampled_from(["gaussian", "bernoulli"]))
@quick
def test_minimising_is_maximising_in_the_mirror(seed, name):
    """The mirror image (x to -x, successes to failures) with the other direction has the same C* and weights."""
    instance, found = draw(seed, name)
    other = {"maximise": "minimise", "minimise": "maximise"}[instance.problem.direction]
    means = 1 - instance.means if name == "bernoulli" else -instance.means
    low, high = -instance.problem.bias_high, -instance.problem.bias_low
    mirrored = oracle(with_parts(instance, means=means, low=low, high=high, direction=other))
    rounding = 1e-14 / instance.gap
    assert mirrored.cost_complexity == pytest.approx(found.cost_complexity, rel=SAME + rounding)
    if found.unique:
        np.testing.assert_allclose(mirrored.weights, found.weights, atol=1e-5)


@some_instances
@quick
def test_a_larger_tolerance_never_costs(seed, name):
    """C* falls, or stays, as the tolerance grows."""
    instance, found = draw(seed, name)
    costs = [oracle(instance, part * instance.gap).cost_complexity for part in (0.1, 0.7, 1.5, 4.0)]
    assert (np.diff([found.cost_complexity, *costs]) <= SAME * found.cost_complexity).all()


# Several optima


def test_identical_useful_fidelities_have_several_optima():
    """Two exact copies of the best fidelity can share its weight in any way; a dearer copy cannot."""
    means = [[0.4, 0.4, 0.4], [0.5, 0.5, 0.5], [0.8, 0.8, 0.8]]
    biases = [0.05, 0.05, 0.0]
    assert not oracle(Instance(means, [0.1, 0.1, 5], biases, Gaussian(1.0))).unique
    assert oracle(Instance(means, [0.1, 0.1001, 5], biases, Gaussian(1.0))).unique


@some_instances
@quick
def test_copies_are_noticed_wherever_they_are_used(seed, name):
    """Of two fidelities that are copies, if any arm uses them, the optimum is not unique; it is if one is dearer."""
    instance = random_instance(np.random.default_rng(seed), name, K=4, M=3)
    copied = with_parts(instance, [1, 1, 2])
    perturbed = with_parts(copied, costs=copied.problem.costs * [1.01, 1.0, 1.0])
    if oracle(copied).weights[:, :2].max() > 1e-6:
        assert not oracle(copied).unique
        assert oracle(perturbed).unique


def test_identical_useless_fidelities_do_not_matter():
    """Copies of a fidelity that no arm uses leave the optimum unique."""
    means = [[0.4, 0.4, 0.4], [0.5, 0.5, 0.5], [0.8, 0.8, 0.8]]
    assert oracle(Instance(means, [0.1, 0.1, 5], [3.0, 3.0, 0.0], Gaussian(1.0))).unique


def test_two_equally_good_answers_are_several_optima():
    """With a tolerance, tied arms are equally cheap to certify."""
    instance = Instance([[0.7], [0.7], [0.1]], 1.0, 0.0, Gaussian(1.0), ties=True)
    assert not oracle(instance, tolerance=0.1).unique


# Divergences that are not convex

NOT_CONVEX = {
    "two arms": ([[0.01, 0.13], [8.58, 8.38]], [0.1, 1.53], [0.35, 0], "maximise"),
    "a cheap mean far too low": ([[1.07, 1.09], [0.01, 0.14]], [0.89, 7.3], [0.24, 0], "maximise"),
    "three fidelities": ([[7.66, 8.82, 8.2], [0.01, 1.4, 2.2]], [0.42, 1.23, 1.42], [4.51, 1.68, 0], "maximise"),
    "four fidelities": (
        [[1.85, 2.03, 1.96, 2.11], [0.26, 0.07, 0.01, 0.14]], [0.14, 0.24, 0.37, 2.58], [0.3, 0.13, 0.19, 0], "minimise"
    ),
    "three arms": (
        [[3.28, 3.48, 3.56, 3.43], [0.03, 0.15, 0.23, 0.18], [4.9, 4.34, 4.66, 4.51]],
        [0.22, 0.36, 1.47, 3.62], [0.46, 0.19, 0.28, 0], "minimise",
    ),
    "four arms": (
        [[1.06, 1.34, 1.05, 1.05], [9.06, 9.31, 8.94, 8.96], [0.3, 0.01, 0.17, 0.15], [1.79, 1.76, 1.58, 1.64]],
        [0.5, 0.97, 1.0, 8.26], [0.17, 0.36, 0.08, 0], "minimise",
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", NOT_CONVEX)
def test_exponential_means_over_decades_are_solved_by_cuts(which, monkeypatch):
    """Where the fast method stops at a wrong peak, the slower one is called, and finds what the grid finds."""
    means, costs, biases, direction = NOT_CONVEX[which]
    instance = Instance(means, costs, biases, Exponential(), direction=direction)
    calls = []
    monkeypatch.setattr(
        cutting_planes, "solve", lambda *args, solve=cutting_planes.solve: calls.append(1) or solve(*args)
    )
    found = oracle(instance)
    bound = grid_bound(Duel(instance, 0.0, found.best))
    assert calls
    assert found.gap <= 1e-9
    assert bound <= found.cost_complexity * (1 + 1e-9)
    assert bound >= found.cost_complexity * (1 - 1e-5)


# Tolerances, poles and edges


POLES = {
    "bernoulli": (Bernoulli(), [[0.1], [0.9]], 0.4),
    "bernoulli at the edge": (Bernoulli(), [[0.1], [1.0]], 0.4),
    "bernoulli, three arms": (Bernoulli(), [[0.1], [0.2], [0.9]], 0.4),
    "poisson": (Poisson(), [[0.1], [0.9]], 0.4),
    "exponential": (Exponential(), [[0.1], [0.9]], 0.4),
    "exponential, just beyond": (Exponential(), [[0.1], [0.9]], 0.1),
    "exponential, far beyond": (Exponential(), [[0.1], [0.9]], 2.0),
    "exponential, two answers": (Exponential(), [[0.55], [1.8]], 1.3),
}


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize("which", POLES)
def test_a_tolerance_may_reach_beyond_the_possible_means(which, direction):
    """Where it is larger than a mean, a divergence is infinite at an end of the range of top means."""
    family, means, tolerance = POLES[which]
    instance = Instance(means, np.linspace(1, 2, len(means))[:, None], 0.0, family, direction=direction)
    found = oracle(instance, tolerance)
    bound = min(grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance))
    assert found.gap <= 1e-9
    assert found.cost_complexity == pytest.approx(bound, rel=1e-5)


# means, costs, bias_low, bias_high, family, direction, tolerance
HARD = {
    "a best arm without events": (
        [[0.0, 0.0], [891.0, 966.0], [87.8, 0.0013]], [0.016, 64.0], [-90.0, 0], [90.0, 0], Poisson(), "minimise", 0.0
    ),
    "two good arms with few events": (
        [[0.4, 0.0015], [0.13, 0.0032], [31.0, 31.0]], [[0.034, 170.0], [0.0019, 170.0], [0.037, 250.0]],
        np.zeros((3, 2)), [[0.65, 0], [0.14, 0], [0.43, 0]], Poisson(), "minimise", 0.0018,
    ),
    "means over five decades": (
        [[92.8233, 92.8282, 92.8275], [0.063701, 0.0851083, 0.0621416], [0.00141782, 0.0011645, 0.00367341]],
        [[60.0, 7.0, 400.0], [100.0, 0.02, 0.5], [0.03, 0.3, 0.003]],
        [[-0.005, -0.02, 0], [-0.001, 0.02, 0], [-0.003, -0.02, 0]],
        [[-0.004, 0.0008, 0], [0.008, 0.03, 0], [-0.001, 0.001, 0]], Exponential(), "minimise", 0.0,
    ),
    "biases that only add": (
        [[44.0, 0.0022], [660.0, 580.0], [31.0, 0.012]], [0.002, 400.0], [0.0, 0], [80.0, 0],
        Exponential(), "minimise", 0.026,
    ),
    "one fidelity, three arms": (
        [[0.02], [0.002], [100.0]], [[39.0], [0.0054], [0.018]], [0.0], [0.0], Exponential(), "minimise", 0.006
    ),
    "one fidelity, four arms": (
        [[4.4], [0.56], [1.5], [0.15]], [[5.0], [3.0], [500.0], [0.002]], [0.0], [0.0], Exponential(), "minimise", 1.0
    ),
    "one fidelity, a huge tolerance": (
        [[3.0], [0.03]], [[0.004], [700.0]], [0.0], [0.0], Exponential(), "maximise", 900.0
    ),
    "the second arm is the cheaper answer": (
        [[0.06, 0.01], [8.0, 8.0], [1e-06, 0.004]], [[1.0, 0.002], [0.002, 0.4], [20.0, 200.0]],
        [[-0.05, 0], [-0.02, 0], [-0.2, 0]], [[0.05, 0], [0.006, 0], [0.09, 0]], Exponential(), "minimise", 0.008,
    ),
    "a tolerance just below the gap": (
        [[0.7683], [0.9414], [0.4314], [0.3506]], [[33.0], [0.049], [60.0], [2.1]], [0.0], [0.0],
        Bernoulli(), "maximise", 0.08653,
    ),
}  # fmt: skip


@pytest.mark.parametrize("which", HARD)
def test_hard_cases_are_solved(which):
    """What once went wrong in larger sweeps, made small: a loose certificate, or shares below 0."""
    means, costs, low, high, family, direction, tolerance = HARD[which]
    instance = Instance(means, costs, (low, high), family, direction=direction)
    found = oracle(instance, tolerance)
    bound = min(grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance))
    assert found.cost_complexity >= bound * (1 - 1e-9)
    assert found.cost_complexity == pytest.approx(bound, rel=1e-2)  # means over decades need a finer grid
    assert found.gap <= 1e-9
    assert found.weights.min() >= 0


def test_a_tolerance_finds_the_cheapest_good_arm():
    """A second-best arm that is cheap to evaluate is certified if it is good enough."""
    instance = Instance([[0.5], [0.501], *[[0.45]] * 5], [[0.01], [50.0], *[[1.0]] * 5], 0.0, Gaussian(1.0))
    strict, loose = oracle(instance, 0.0005), oracle(instance, 0.3)
    assert strict.best == 1
    assert loose.best == 0
    for tolerance, found in ((0.0005, strict), (0.3, loose)):
        bounds = [grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance)]
        assert found.cost_complexity == pytest.approx(min(bounds), rel=1e-6)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize(
    "family", [Gaussian(1.0), Bernoulli(), Poisson(), Exponential()], ids=lambda family: family.name
)
def test_a_tolerance_may_be_the_gap(family, direction):
    """An arm at the very edge of the tolerance may seem within it, by rounding: it is no cheap answer, and no fault."""
    hit = 0
    for low, high in [(0.04, 0.11), (0.07, 0.11), (0.08, 0.21), (0.2, 0.3), (0.35, 0.42)]:
        instance = Instance([[low], [high]], 1.0, 0.0, family, direction=direction)
        for tolerance in (round(high - low, 2), np.nextafter(instance.gap, 1), instance.gap * (1 + 1e-15)):
            found = oracle(instance, float(tolerance))
            hit += len(certifiable(instance, tolerance)) > 1
            assert found.gap <= 1e-9
            assert found.cost_complexity == pytest.approx(oracle(instance, 0.9999999 * tolerance).cost_complexity, 1e-5)
    assert hit > 5


@every_family
def test_a_tolerance_may_be_the_gap_of_any_instance(name):
    """The same on random instances: the smallest tolerance with which the second arm counts as good enough."""
    for seed in range(40):
        instance = random_instance(np.random.default_rng(seed), name)
        tolerance = instance.gap
        while len(certifiable(instance, tolerance)) < 2:
            tolerance = float(np.nextafter(tolerance, np.inf))
        assert oracle(instance, tolerance).gap <= 1e-9


def test_ties_need_a_tolerance():
    """Two best arms cannot be told apart: the message names them; with a tolerance t they cost 8 variance / t^2."""
    instance = Instance([[0.7], [0.7]], 1.0, 0.0, Gaussian(0.5), arms=["left", "right"], ties=True)
    with pytest.raises(InvalidInput, match=r"'left' and 'right' tie .* tolerance"):
        oracle(instance)
    assert oracle(instance, tolerance=0.2).cost_complexity == pytest.approx(8 * 0.5 / 0.2**2)


@pytest.mark.parametrize("family", [Bernoulli(), SubGaussian(bounds=(0, 1))], ids=["bernoulli", "subgaussian"])
def test_nothing_is_spent_if_every_arm_is_good_enough(family):
    """With a tolerance beyond the range of the means there is no alternative: C* is 0, all the rest is defined."""
    instance = Instance([[0.3, 0.2], [0.8, 0.9], [0.5, 0.5]], [0.1, 1], [0.1, 0], family)
    found = oracle(instance, tolerance=1.5)
    assert found.cost_complexity == 0
    assert found.gap == 0
    assert found.lower_bound(0.01) == 0
    assert found.unique in (True, False)
    assert not found.weights.any()
    assert not found.pulls.any()
    assert np.isnan(found.alternatives).all()


@pytest.mark.parametrize("tolerance", [0.0, 0.05, 0.25])
@pytest.mark.parametrize(
    "means",
    [
        [[0.2, 0.0], [0.9, 1.0]],
        [[0.0, 0.0], [1.0, 1.0]],
        [[0.0, 0.1], [0.0, 0.0], [0.8, 0.7]],
        [[1.0, 0.9], [1.0, 1.0], [0.3, 0.3]],
        [[0.0, 0.0], [0.1, 0.1], [0.0, 0.0]],
    ],
)
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_bernoulli_means_may_be_0_or_1(means, tolerance, direction):
    """Arms that always fail or always succeed are instances like any other."""
    instance = Instance(means, [0.1, 1], [0.2, 0], Bernoulli(), direction=direction, ties=True)
    if not certifiable(instance, tolerance):
        return
    found = oracle(instance, tolerance)
    bound = min(grid_bound(Duel(instance, tolerance, arm)) for arm in certifiable(instance, tolerance))
    assert found.gap <= 1e-9
    assert found.cost_complexity == pytest.approx(bound, rel=1e-5)


@every_family
@pytest.mark.parametrize("gap", [1e-3, 1e-6, 1e-9, 1e-12, 1e-14, 1e-15, 2e-16])
def test_nearly_tied_arms_are_solved_or_refused(name, gap):
    """However small the gap: an honest certificate, to nine digits if rounding allows, or a message; never NaN."""
    family = Gaussian(1.0) if name == "gaussian" else SubGaussian(bounds=(0, 1)) if name == "subgaussian" else None
    means = np.array([[0.3, 0.3], [0.6, 0.6], [0.6 + gap, 0.6 + gap]])
    instance = Instance(means, [0.1, 1], [0.1, 0], family or FAMILIES[name]())
    if gap < 1e-12 and refused(instance):
        return
    found = oracle(instance)
    assert np.isfinite([found.cost_complexity, found.gap, *found.weights.ravel()]).all()
    assert found.gap <= (1e-9 if gap > 1e-10 else np.inf)


def refused(instance):
    try:
        oracle(instance)
    except InvalidInput as error:
        return "too little to compute with" in str(error)
    return False


# Extremes


EXTREMES = {
    "cheap by a million": {"costs": [1e-6, 1.0]},
    "dear by a million": {"costs": [1e6, 1.0]},
    "tiny costs": {"costs": [1e-12, 2e-12]},
    "huge costs": {"costs": [1e12, 2e12]},
    "exact copies": {"biases": [0.0, 0.0], "means": [[0.35, 0.35], [0.55, 0.55], [0.62, 0.62]]},
    "almost exact copies": {"biases": [1e-12, 0.0], "means": [[0.35, 0.35], [0.55, 0.55], [0.62, 0.62]]},
    "useless": {"biases": [1e9, 0.0]},
    "one-sided bias": {"biases": ([-0.1, 0.0], [-0.02, 0.0])},
    "identical rivals": {"means": [[0.1, 0.1], *[[0.5, 0.5]] * 8, [0.9, 0.9]]},
    "many fidelities": {
        "means": np.array([[0.35], [0.55], [0.62]]) - np.linspace(0.1, 0, 20),
        "costs": np.geomspace(0.01, 10, 20),
        "biases": np.linspace(0.1, 0, 20),
    },
}


@every_family
@pytest.mark.parametrize("which", EXTREMES)
def test_extreme_instances_are_solved(which, name):
    """Costs, biases and shapes that stretch the arithmetic still get a certificate of nine digits."""
    family = Gaussian(1.0) if name == "gaussian" else SubGaussian(bounds=(0, 1)) if name == "subgaussian" else None
    parts = {"means": [[0.3, 0.35], [0.5, 0.55], [0.6, 0.62]], "costs": [0.1, 1.0], "biases": [0.1, 0.0]}
    for direction in ("maximise", "minimise"):
        instance = Instance(family=family or FAMILIES[name](), direction=direction, **(parts | EXTREMES[which]))
        assert oracle(instance).gap <= 1e-9


@pytest.mark.parametrize("wild", [4.0, 6.0])
def test_gaussian_instances_over_many_decades_are_solved(wild):
    """Costs, variances and scales from 1e-6 to 1e6 in one instance."""
    rng = np.random.default_rng(6)
    for _ in range(60):
        instance = random_instance(rng, "gaussian", K=rng.integers(2, 10), wild=wild)
        assert oracle(instance).gap <= 1e-9


@every_family
def test_many_arms_are_solved(name):
    """2000 arms of three fidelities."""
    instance = random_instance(np.random.default_rng(1), name, K=2000, M=3)
    assert oracle(instance).gap <= 1e-9


# Starts


@every_family
def test_a_start_changes_nothing(name):
    """From the weights of a similar instance, or from any others, C* is the same."""
    rng = np.random.default_rng(3)
    for _ in range(15):
        instance = random_instance(rng, name)
        similar = with_parts(instance, means=0.95 * instance.means + 0.05 * other_means(rng, instance))
        expected = oracle(instance).cost_complexity
        bare = np.eye(instance.means.size)[-1].reshape(instance.shape)
        for start in (oracle(similar).weights, rng.exponential(size=instance.shape), np.ones(instance.shape), bare):
            found = oracle(instance, start=start)
            assert found.gap <= 1e-9
            assert found.cost_complexity == pytest.approx(expected, rel=SAME)


@pytest.mark.parametrize(
    "start",
    [
        [0.5, 0.5],
        np.ones((2, 5)),
        np.ones((5, 2)) * [1, np.nan],
        np.ones((5, 2)) * [1, np.inf],
        np.ones((5, 2)) * [1, -1e-9],
        np.zeros((5, 2)),
        "uniform",
        [[1, 0], [1]],
    ],
    ids=["1-d", "transposed", "NaN", "infinite", "negative", "zero", "text", "ragged"],
)
def test_a_start_that_is_none_is_refused(start):
    """Shares must be a table of the instance's shape, finite, not negative, not all zero."""
    with pytest.raises(InvalidInput, match="start"):
        oracle("paper-5x2", start=start)


@pytest.mark.parametrize("tolerance", [-0.1, np.nan, np.inf, "0.1", None, True])
def test_a_tolerance_that_is_none_is_refused(tolerance):
    """A tolerance is 0 or more, and finite."""
    with pytest.raises(InvalidInput, match="tolerance"):
        oracle("paper-5x2", tolerance)


def test_the_result_itself_can_be_the_start_and_cannot_be_changed():
    """Shares that were certified stay as they are."""
    found = oracle("paper-4x5")
    assert oracle("paper-4x5", start=found).cost_complexity == pytest.approx(found.cost_complexity, rel=1e-12)
    with pytest.raises(ValueError, match="read-only"):
        found.weights[0, 0] = 1.0


def test_one_risk_at_a_time_has_a_lower_bound():
    """A list is refused, as is what is no risk."""
    for wrong in ([0.1, 0.01], 2.0, "0.1"):
        with pytest.raises(InvalidInput, match="delta"):
            oracle("paper-5x2").lower_bound(wrong)


def test_a_problem_without_means_is_refused():
    """The oracle needs the truth."""
    with pytest.raises(InvalidInput, match="true means"):
        oracle(load("paper-5x2").problem)


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


def other_means(rng, instance):
    """Other means that the same problem allows; all between the two are allowed too."""
    problem = instance.problem
    while True:
        tops = rng.permutation(instance.means[:, -1])
        means = naive_oracle.random_means(rng, tops, problem.bias_low, problem.bias_high, problem.family)
        try:
            return with_parts(instance, means=means).means
        except InvalidInput:  # another arm's top mean can be impossible with one's own biases
            continue
