"""Sampling strategies, by name. How to add one: docs/developer/extending.md."""

from mfbai.strategies import frugal, grad, iise, lucb, mf_grad, oracle, track_and_stop, uniform
from mfbai.strategies.interface import Strategy, ask, tell

__all__ = ["DEFAULT", "STRATEGIES", "Strategy", "ask", "tell"]

DEFAULT = "frugal"  # of studies: the cheapest

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for module in (frugal, mf_grad, grad, track_and_stop, iise, lucb, uniform, oracle)
    for strategy in module.STRATEGIES
}
