"""Sampling strategies, by name. How to add one: docs/developer/extending.md.

interface       the shape of a strategy
audit           evaluations without bias that no strategy asks for by itself
common          what several of them share
race            leader and rivals in step: the cheapest
frugal          the most certainty for its cost, for every family
mf_grad         the paper's gradient method
grad            the same at the top fidelity alone
track_and_stop  tracks the optimal shares at the top fidelity
iise            successive elimination, one fidelity after the other
lucb            LUCB and its explorations of several fidelities
uniform         every cell equally often
oracle          tracks the optimal shares of the true means: for simulations only
"""

from mfbai.strategies import frugal, grad, iise, lucb, mf_grad, oracle, race, track_and_stop, uniform
from mfbai.strategies.interface import Strategy, ask, tell

__all__ = ["STRATEGIES", "Strategy", "ask", "tell"]


STRATEGIES: dict[str, Strategy] = {
    strategy.name: strategy
    for module in (race, frugal, mf_grad, grad, track_and_stop, iise, lucb, uniform, oracle)
    for strategy in module.STRATEGIES
}
