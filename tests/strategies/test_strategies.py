"""Every strategy keeps the contract; what each does is tested in a file of its own."""

import pytest

from mfbai import Bernoulli, Exponential, Instance, Poisson
from mfbai.strategies import STRATEGIES
from mfbai.testing.strategies import check_replay, check_strategy, check_without_jit

OTHER_FAMILIES = {
    "bernoulli": Instance([[0.3, 0.4], [0.5, 0.6], [0.35, 0.3]], [0.2, 1.0], [0.15, 0.0], Bernoulli()),
    "poisson": Instance([[3.0, 4.0], [5.0, 6.0]], [0.2, 1.0], [1.5, 0.0], Poisson(), direction="minimise"),
    "exponential": Instance([[0.8, 1.0], [2.0, 2.5]], [0.2, 1.0], [0.6, 0.0], Exponential()),
}


@pytest.mark.parametrize("name", STRATEGIES)
def test_strategy_keeps_the_contract(name):
    """Pure ask, bit-identical replay, one compilation, the same without compilation, and batches spread."""
    check_strategy(STRATEGIES[name])


@pytest.mark.parametrize("family", OTHER_FAMILIES)
def test_every_family_replays_and_runs_without_jit(family):
    """The families other than Gaussian run on the same contract."""
    check_replay(STRATEGIES["mf-grad"], OTHER_FAMILIES[family], 200)
    check_without_jit(STRATEGIES["mf-grad"], OTHER_FAMILIES[family], 200)
