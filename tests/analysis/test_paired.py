"""Intervals of differences of values with the same seeds."""

from math import inf, log, tanh

import numpy as np
import pytest

from mfbai.analysis.paired import FIRST, SCALES, lower_end

TARGET = log(1 / 0.05)


def plain_evidence(differences, q):
    """The capital of each scale, bet by bet."""
    capitals = []
    for scale in SCALES:
        capital = 1.0
        for n in range(FIRST, len(differences)):
            capital *= 1 + tanh(scale / np.std(differences[:n], ddof=1) * (differences[n] - q))
        capitals.append(capital)
    return log(np.mean(capitals))


@pytest.mark.parametrize("seed", range(5))
def test_the_end_is_where_the_evidence_is_just_enough(seed):
    differences = np.random.default_rng(seed).normal(1.0, 0.5, size=40)
    end = lower_end(differences, TARGET)
    assert end < 1.0 < end + 1.0
    assert plain_evidence(differences, end) >= TARGET - 1e-9
    assert plain_evidence(differences, end + 0.003 * (differences.mean() - end)) < TARGET


def test_few_differences_tell_nothing():
    assert lower_end(np.array([1.0, 1.1, 0.9, 1.0]), TARGET) == -inf


def test_equal_differences_tell_nothing():
    assert lower_end(np.ones(20), TARGET) == -inf


@pytest.mark.parametrize("law", ["normal", "laplace", "cauchy"])
def test_the_end_is_below_the_truth_at_all_times(law):
    # 5 % are allowed of each of 200 rows; 25 or more would have a probability of 1e-4.
    rng = np.random.default_rng(8)
    draw = {"normal": rng.standard_normal, "laplace": rng.laplace, "cauchy": rng.standard_cauchy}[law]
    above = 0
    for _ in range(200):
        row = draw(size=120)
        above += any(lower_end(row[:n], TARGET) > 0.0 for n in range(8, 121, 7))
    assert above < 25


def test_the_end_comes_close():
    differences = np.random.default_rng(3).normal(0.0, 1.0, size=4000)
    assert -0.1 < lower_end(differences, TARGET) < 0.0
