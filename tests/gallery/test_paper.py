"""The page "The paper in ten minutes": its values are the paper's, and what it says of sparsity and shares holds."""

from itertools import product

import numpy as np
import pytest

import mfbai


@pytest.fixture(scope="module")
def paper(definitions):
    return definitions("paper")


def test_nothing_is_known_of_biases_and_noise(paper):
    assert paper.problem.family.to_dict() == {"name": "symmetric", "low": 0.0, "high": 2.0}
    assert np.isinf(paper.problem.bias_high[:, :-1]).all()
    assert paper.problem.costs[0].tolist() == [0.05, 0.1, 0.2, 0.4, 5.0]


def test_values_have_the_means_and_the_deviation_of_the_paper(paper):
    """4,000 seeds: within 4.5 standard errors, which 20 cells miss once in 7,000 times."""
    n, problem = 4000, paper.problem
    values = np.array([[[paper.evaluate(a, m, s) for s in range(n)] for m in problem.fidelities] for a in problem.arms])
    assert np.abs(values.mean(axis=2) - paper.PAPER.means).max() < 4.5 * 0.1 / n**0.5
    assert values.std(axis=2) == pytest.approx(np.full(problem.shape, 0.1), rel=4.5 / (2 * n) ** 0.5)
    shared = np.corrcoef(values.reshape(-1, n))[~np.eye(20, dtype=bool)]
    assert np.abs(shared).max() < 5 / n**0.5  # every cell has luck of its own


def test_shared_luck_is_nine_tenths(paper):
    cells = [("arm 2", "fidelity 1"), ("arm 2", "fidelity 5"), ("arm 3", "fidelity 5")]
    values = np.array([[paper.evaluate_shared(arm, m, seed) for seed in range(4000)] for arm, m in cells])
    assert np.corrcoef(values)[0, 1] == pytest.approx(0.9, abs=0.02)
    assert np.corrcoef(values)[1, 2] == pytest.approx(0.0, abs=0.08)
    assert values.var(axis=1) == pytest.approx([0.1] * 3, rel=0.15)


def test_one_fidelity_an_arm_is_not_enough(paper):
    """The figures of the page, the least of all eight choices."""
    costs = [paper.confined(choice) for choice in product(range(2), repeat=3)]
    assert mfbai.oracle(paper.SMALL).cost_complexity == pytest.approx(47.7507, abs=5e-5)
    assert min(costs) == pytest.approx(47.9409, abs=5e-5)


def test_an_optimal_strategy_uses_one_fidelity_of_each_arm_and_never_the_true_one(paper):
    weights = mfbai.oracle(paper.PAPER).weights
    assert (weights > 0).sum(axis=1).tolist() == [1, 1, 1, 1]
    assert (weights[:, -1] == 0).all()
