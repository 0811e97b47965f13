"""The rule "kaufmann-koolen": its thresholds against their formulas, its decisions against a plain loop."""

from itertools import product
from math import log, pi

import numpy as np
import pytest

import mfbai
from mfbai import Bernoulli, Exponential, Gaussian, Instance, SubGaussian
from mfbai.kernels.stats import make_stats
from mfbai.model.instances import random_instance
from mfbai.planning.ideal import ideal_costs
from mfbai.run.loop import make_outcome, step
from mfbai.stopping import RULES, kaufmann_koolen
from mfbai.strategies import STRATEGIES, ask

DELTAS = np.array([0.2, 0.01, 1e-5])
INSTANCES = {
    "gaussian": lambda: mfbai.load("paper-5x2"),
    "gaussian, costs per arm": lambda: random_instance(
        3, 3, seed=11, costs=np.random.default_rng(1).uniform(0.1, 5, size=(3, 3)), variance=0.02
    ),
    "subgaussian": lambda: Instance([[0.2, 0.3], [0.9, 0.8]], [0.2, 1], [0.15, 0], SubGaussian(bounds=(0, 1))),
    "bernoulli": lambda: Instance([[0.1, 0.15], [0.9, 0.85], [0.2, 0.1]], [0.2, 1], [0.15, 0], Bernoulli()),
    "exponential": lambda: Instance([[9.0, 8.0], [1.0, 1.5]], [0.2, 1], [1.5, 0], Exponential(), direction="minimise"),
}


def zeta(s):
    """By its sum, and the integral of the rest."""
    n = 200_000.0
    return float((np.arange(1, n) ** -s).sum()) + n ** (1 - s) / (s - 1) + n**-s / 2


def c_on_a_grid(x):
    """C of the paper, by looking at many l."""
    shares = np.linspace(0.6, 0.999, 800)
    g = 2 * shares - 2 * shares * np.log(4 * shares) - np.log(1 - shares) / 2 + [log(zeta(2 * s)) for s in shares]
    assert (g > 0).all()  # or cells without data would count
    return ((g + x) / shares).min()


def t_on_a_grid(x):
    """T of the paper, by looking at many y, and by bisection."""
    low, high = 1.0, 3 * (1 + x) + 10
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if middle - log(middle) < 1 + x else (low, middle)
    z = (low + log(pi**2 / 3)) / 2
    y = 1 + np.geomspace(1e-9, 0.5, 1_000_001)
    return 2 * (y * (z - np.log(np.log(y)))).min()


@pytest.mark.parametrize("x", [1e-6, 0.3, 1.0, 5.0, 30.0, 300.0])
def test_constants_are_those_of_their_formulas(x):
    assert kaufmann_koolen.gaussian(x) == pytest.approx(c_on_a_grid(x), rel=1e-5)
    assert kaufmann_koolen.any_family(x) == pytest.approx(t_on_a_grid(x), rel=1e-9)
    assert kaufmann_koolen.any_family(x) > kaufmann_koolen.gaussian(x) > x


@pytest.mark.parametrize("constant", [kaufmann_koolen.gaussian, kaufmann_koolen.any_family])
def test_more_cells_raise_the_threshold(constant):
    """So counting all cells of a pair, those without data too, is safe."""
    thresholds = [n * constant(log(300) / n) for n in range(1, 40)]
    assert (np.diff(thresholds) > 0).all()


@pytest.mark.parametrize(("family", "expected"), [(Gaussian(0.01), 68.2), (Bernoulli(), 143.9)])
def test_threshold_of_the_pages(family, expected):
    """K = 4, M = 5, delta = 0.01, 1000 evaluations of each cell."""
    problem = mfbai.Problem(4, [0.1, 0.2, 0.3, 0.4, 1.0], [0.1, 0.1, 0.1, 0.1, 0.0], family)
    assert threshold(problem, np.full((4, 5), 1000), 0.01, 5)[0, 1] == pytest.approx(expected, abs=0.05)
    rule = kaufmann_koolen.init(problem.model(), np.array([0.01]), 5)
    stats = make_stats((4, 5))
    stats.count[:] = 1000
    found = rule.glr.base[0] + 2 * kaufmann_koolen.penalty(stats, rule, 0)
    assert found == pytest.approx(expected, abs=0.05)


def threshold(problem, counts, delta, fidelities):
    """(K, K) of all pairs."""
    gaussian = problem.family.name in ("gaussian", "subgaussian")
    scale, offset = (2, 4) if gaussian else (3, 1)
    x = log((problem.n_arms - 1) / delta) / (2 * fidelities)
    base = 2 * fidelities * (kaufmann_koolen.gaussian(x) if gaussian else kaufmann_koolen.any_family(x))
    arms = np.array([sum(scale * log(offset + log(n)) for n in row if n > 0) for row in counts])
    return base + arms[:, None] + arms


def run(instance, strategy, seed, max_steps):
    """(rule's answers and stops), (plain loop's), for all DELTAS, on one trajectory."""
    problem, entry = instance.problem, STRATEGIES[strategy]
    model, fidelities = problem.model(), 1 if entry.top_only else problem.n_fidelities
    stats, pending = make_stats(problem.shape), np.zeros(problem.shape, dtype=np.int64)
    state = entry.make(instance, DELTAS[-1])
    rule, outcome = RULES["kaufmann-koolen"].init(model, DELTAS, fidelities), make_outcome(len(DELTAS))
    rng, stops, answers = np.random.default_rng(seed), [], []
    while stats.steps[0] < max_steps and len(stops) < len(DELTAS):
        arm, fidelity = ask(model, stats, state, pending)
        x = problem.sign * draw(problem.family, rng, instance.means[arm, fidelity])
        step(model, stats, state, rule, outcome, arm, fidelity, x)
        f = mfbai.evidence(problem, stats.count, problem.sign * stats.mean).matrix
        while len(stops) < len(DELTAS):
            rows = (f >= threshold(problem, stats.count, DELTAS[len(stops)], fidelities)).sum(axis=1)
            if (rows < problem.n_arms).all():
                break
            stops.append(int(stats.steps[0]))
            answers.append(np.flatnonzero(rows == problem.n_arms).tolist())
    return outcome, stops, answers


def draw(family, rng, mean):
    match family.name:
        case "gaussian":
            return rng.normal(mean, float(np.max(family.variance)) ** 0.5)
        case "exponential":
            return rng.exponential(mean)
    return float(rng.random() < mean)


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        *product(INSTANCES, ["uniform", "oracle"]),
        ("gaussian", "grad"),
        ("gaussian", "mf-grad-row"),
        ("bernoulli", "grad"),
    ],
)
def test_stops_when_a_plain_loop_does(name, strategy):
    """At every delta, with cells that have no data and with the top fidelity alone, too."""
    for seed in range(2):
        outcome, stops, answers = run(INSTANCES[name](), strategy, seed, 1500)
        decided = int(outcome.levels[0])
        assert outcome.steps[:decided].tolist() == stops
        assert all(answer in passing for answer, passing in zip(outcome.answer, answers, strict=False))
        assert decided > 0


def test_data_that_contradict_the_bounds():
    """Any row may pass; the rule stops when the first does, though its witnesses are those of one row."""
    rng = np.random.default_rng(3)
    problem = mfbai.Problem(4, [0.1, 1.0], [0.05, 0.0], Gaussian(0.05))
    model, state = problem.model(), STRATEGIES["uniform"].init(problem.model())
    answers = []  # whether each is the arm of the largest psi
    for _ in range(20):
        stats, outcome = make_stats(problem.shape), make_outcome(1)
        rule = kaufmann_koolen.init(model, np.array([0.1]), 2)
        means, passing = rng.uniform(0.3, 0.7, size=(4, 2)), np.array([False])
        while not passing.any() and stats.steps[0] < 2000:
            arm, fidelity = divmod(int(stats.steps[0]) % 8, 2)
            x = rng.normal(means[arm, fidelity], 0.05**0.5)
            step(model, stats, state, rule, outcome, arm, fidelity, x)
            f = mfbai.evidence(problem, stats.count, stats.mean)
            passing = (f.matrix >= threshold(problem, stats.count, 0.1, 2)).all(axis=1)
            assert (outcome.levels[0] == 1) == passing.any()
        if passing.any():
            assert passing[outcome.answer[0]]
            answers.append(outcome.answer[0] == f.estimates[:, 0].argmax())
    assert any(answers)
    assert not all(answers)


def test_it_is_dearer_than_the_stylised_rule():
    loose, stylised = (mfbai.simulate("paper-4x5", runs=20, stopping=name) for name in ("kaufmann-koolen", "stylised"))
    assert (loose.steps > stylised.steps).all()
    assert (loose.answers == loose.instance.best).all()


def test_planning_knows_its_ideal_cost():
    """Counts are set there, not observed one by one, and rounded up."""
    instance = mfbai.load("paper-4x5")
    problem, found = instance.problem, mfbai.oracle(instance)
    rule = RULES["kaufmann-koolen"]
    (cost,) = ideal_costs(problem, instance.means[None], [found], rule, 0.01, 0.0)
    rounded_up = problem.costs[found.weights > 0].sum()  # one evaluation of each cell at most

    def passed(cost):
        """The least evidence over its threshold, of the best arm against each other."""
        counts = cost * found.weights / problem.costs
        f = mfbai.evidence(problem, counts, instance.means).matrix[instance.best]
        wanted = threshold(problem, np.where(counts > 0, np.maximum(counts, 1), 0), 0.01, 5)[instance.best]
        return np.delete(f / wanted, instance.best).min()

    assert passed(cost - rounded_up) <= 1.0 + 1e-3
    assert 1.0 - 1e-3 <= passed(cost) <= 1.0 + rounded_up / cost
