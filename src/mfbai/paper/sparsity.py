"""Is one fidelity for each arm enough? The paper proves it for almost all instances of two arms, and asks for more (its
open question i). The answer is no: `python -m mfbai.paper.sparsity` counts, among random instances, those whose only
optimal allocation gives some arm two fidelities, and proves it of examples.

The proof of an example is arithmetic: the oracle's upper bound on C* is below the lower bounds on the cost of all
allocations of one fidelity an arm, each support a problem of its own.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.oracle import Oracle, oracle
from mfbai.model.instance import Instance
from mfbai.model.instances import random_instance
from mfbai.paper.intervals import share

SHAPES = ((2, 2), (2, 5), (3, 2), (3, 5), (4, 5), (6, 5), (10, 5), (20, 5))
USED = 1e-6  # a share of the whole cost that no gap of 1e-9 explains away
FORBIDDEN = 1e9  # times the cost: a fidelity that no allocation of reasonable cost uses
MOST_SUPPORTS = 1024  # supports of one fidelity an arm that are tried for a proof


@dataclass(frozen=True)
class Example:
    """A random instance for which one fidelity an arm is not enough, and by how much."""

    seed: int
    cost_complexity: float  # an upper bound on C*
    sparse_cost: float  # a lower bound on the cost of all allocations with one fidelity an arm

    @property
    def excess(self) -> float:
        return self.sparse_cost / self.cost_complexity - 1


@dataclass(frozen=True)
class Count:
    """How many of some random instances of K arms and M fidelities need two fidelities for an arm."""

    arms: int
    fidelities: int
    instances: int
    dense: tuple[int, ...]  # the seeds of those
    examples: tuple[Example, ...]  # with a proof

    @property
    def share(self) -> float:
        return len(self.dense) / self.instances

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the share."""
        found = share(len(self.dense), self.instances)
        return found.low, found.high


def count(arms: int, fidelities: int, instances: int = 500, examples: int = 2, gap: float = 0.01) -> Count:
    """Draw the instances of seeds 0, 1, ... from the paper's generator, and prove the first examples where that is
    feasible.

    >>> count(2, 3, instances=20).share
    0.0
    """
    dense = tuple(seed for seed in range(instances) if is_dense(oracle(_draw(arms, fidelities, seed, gap))))
    if fidelities**arms > MOST_SUPPORTS:
        return Count(arms, fidelities, instances, dense, ())
    proofs = tuple(prove(_draw(arms, fidelities, seed, gap), seed) for seed in dense[:examples])
    return Count(arms, fidelities, instances, dense, proofs)


def is_dense(found: Oracle) -> bool:
    """Whether some arm uses two fidelities, in the only optimal allocation."""
    return bool((np.sort(found.weights, axis=1)[:, -2:].min(axis=1) > USED).any()) and found.unique


def prove(instance: Instance, seed: int = -1) -> Example:
    """The bounds for an instance, by trying all supports of one fidelity an arm.

    >>> from mfbai import load
    >>> round(100 * prove(load("nonsparse-3x2")).excess, 2)
    0.4
    """
    return Example(seed, oracle(instance).cost_complexity, min(_sparse_costs(instance)))


def confined(instance: Instance, allowed: NDArray[np.bool_]) -> Oracle:
    """The best allocation to the (K, M) allowed cells: the others cost too much to be used, unless these alone never
    tell which arm is best. Its cost, over 1 + gap, is a lower bound for all such allocations."""
    problem = instance.problem
    prices = np.where(allowed, problem.costs, FORBIDDEN * problem.costs)
    return oracle(problem.replace(costs=prices).instance(instance.means))


def _sparse_costs(instance: Instance) -> list[float]:
    """A lower bound on the cost of the allocations of each support."""
    K, M = instance.shape
    supports = (np.eye(M, dtype=bool)[list(support)] for support in product(range(M), repeat=K))
    found = (confined(instance, support) for support in supports)
    return [one.cost_complexity / (1 + one.gap) for one in found]


def _draw(arms: int, fidelities: int, seed: int, gap: float) -> Instance:
    return random_instance(arms, fidelities, seed=seed, gap=gap)


def main() -> None:
    """Print the table."""
    argparse.ArgumentParser(prog="python -m mfbai.paper.sparsity", description=__doc__).parse_args()
    print(f"{'arms x fidelities':>18} {'not sparse':>11} {'95 % interval':>16}   proved examples: seed, excess cost")
    for arms, fidelities in SHAPES:
        found = count(arms, fidelities)
        low, high = found.interval
        proofs = ", ".join(f"{example.seed}: +{100 * example.excess:.3g} %" for example in found.examples)
        interval = f"{100 * low:.1f} - {100 * high:.1f} %"
        print(f"{f'{arms} x {fidelities}':>18} {100 * found.share:>9.1f} % {interval:>16}   {proofs}", flush=True)


if __name__ == "__main__":
    main()
