"""The oracle's starts, and the arguments it refuses."""

import numpy as np
import pytest

from mfbai import load
from mfbai.analysis.oracle import oracle
from mfbai.errors import InvalidInput
from support.naive_oracle import random_instance
from support.oracles import SAME, every_family, other_means, with_parts

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
