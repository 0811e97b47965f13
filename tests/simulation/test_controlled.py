"""Simulated values of controlled fidelities."""

import numpy as np
import pytest

from mfbai import Gaussian, Problem
from mfbai.model.families import Bounded, Symmetric
from support.turns import run_of, values_of


def problem_of(family, **about):
    plain = Problem(3, costs=[0.05, 5.0], biases=[float("inf"), 0.0], family=family, **about)
    variance = {} if family.learns else {"variance": 0.02}
    return plain.controlled(0, 12, 0.9, **variance)


@pytest.mark.parametrize("sign", ["maximise", "minimise"])
@pytest.mark.parametrize("seeds", ["independent", "common"])
@pytest.mark.parametrize("family", [Symmetric(0, 1), Bounded(0, 1), Gaussian([0.0144, 0.0225])])
def test_simulated_values_have_the_true_mean_whatever_the_bias(family, seeds, sign):
    """Means of 20,000 values within five standard errors: false alarms below 1e-4 in all."""
    problem = problem_of(family, direction=sign, seeds=seeds)
    means = np.array([[0.9, 0.3, 0.3], [0.2, 0.4, 0.4], [0.6, 0.6, 0.6]])
    noise = {"deviation": [0.12, 0.1, 0.15]} if family.learns else {}
    instance = problem.instance(means, correlation={"fidelities": 0.8}, **noise)
    spread = instance.deviations()
    values = problem.sign * values_of(run_of(instance, 2500), 1, 0)
    assert values.shape[2] == 1
    assert np.all(abs(values.mean(axis=0) - means[:, 1:2]) < 5 * spread[:, 1:2] / np.sqrt(len(values)))
    assert values.std(axis=0) == pytest.approx(spread[:, 1:2], rel=0.05)
    if not isinstance(family, Bounded):
        top, by, rho = spread[0, 2], 0.9 * spread[0, 0], 0.8
        assert spread[0, 1] == pytest.approx(np.sqrt(top**2 + by**2 * (1 + 1 / 12) - 2 * rho * top * by))
