"""Sampling strategies, by name. How to add one: docs/adding_a_strategy.md."""

from mfbai.strategies import frugal, grad, iise, lucb, mf_grad, oracle, track_and_stop, uniform
from mfbai.strategies.interface import Strategy, ask, tell

__all__ = ["STRATEGIES", "Strategy", "ask", "tell"]

STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for module in (frugal, mf_grad, grad, track_and_stop, iise, lucb, uniform, oracle)
    for strategy in module.STRATEGIES
}
