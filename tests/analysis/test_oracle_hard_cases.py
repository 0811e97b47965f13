"""The oracle where arithmetic is hard: divergences that are not convex, tolerances, poles, edges, extremes."""

import numpy as np
import pytest

from mfbai.analysis import cutting_planes
from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from mfbai.model.families import FAMILIES, Bernoulli, Exponential, Gaussian, Poisson, SubGaussian
from mfbai.model.instance import Instance
from support.naive_oracle import Duel, certifiable, grid_bound, random_instance
from support.oracles import every_family

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
