"""What was believed before the tight lower bound, for comparison with the oracle.

From the appendix of the paper: the lower bound of Poiani et al. (2022), Theorem 1; two notions of an arm's "optimal"
fidelity; cells that no optimal allocation uses; and a class of instances for which the cheapest fidelity is enough.
All take an instance, or its name or file. The formulas are stated there for Gaussian rewards of variance 1/2 and radii
shared by all arms; here d(p, q) is the family's divergence, and costs and biases may differ between arms.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.cutting_planes import Program
from mfbai.analysis.oracle import informed_model
from mfbai.model.instance import Instance
from mfbai.model.problem import ROUNDING
from mfbai.model.spec import check_instance

Array = NDArray[np.float64]
NOTHING = 1e-24  # what rounding leaves of a divergence of zero, beside others


def earlier_lower_bound(instance: Instance | str) -> float:
    """The bound of Poiani et al. (2022), Theorem 1, in the place of C*: never larger, and sometimes far smaller.

        min_m cost_m / d(mu[best,m], mu[second,M] + xi_m)  +  sum_a min_m cost_m / d(mu[a,m], mu[best,M] - xi_m)

    >>> from mfbai import load, oracle
    >>> from mfbai.analysis.literature import earlier_lower_bound
    >>> round(earlier_lower_bound(load("lucb-trap")), 1), round(oracle("lucb-trap").cost_complexity, 1)
    (250.0, 4000.0)
    """
    return float((1 / _information(check_instance(instance)).max(axis=1)).sum())


def believed_fidelities(instance: Instance | str) -> NDArray[np.int64]:
    """(K,) each arm's optimal fidelity by Poiani et al. (2022), Theorem 1, and Wang et al. (2023): the one whose
    evaluations, per unit of cost, best tell a rival from the best arm's true mean, and the best arm from the second's.

    The paper shows that an allocation to these fidelities alone may never reach an answer (appendix, Case 1).

    >>> from mfbai.analysis.literature import believed_fidelities
    >>> believed_fidelities("paper-5x2").tolist()
    [0, 0, 0, 0, 1]
    """
    believed: NDArray[np.int64] = _information(check_instance(instance)).argmax(axis=1)
    return believed


def believed_rival_fidelities(instance: Instance | str) -> NDArray[np.int64]:
    """(K,) each rival's optimal fidelity by Poiani et al. (2022), Definition 1, the ground of IISE; -1 for the best.

    Of the fidelities with 4 xi_m below the arm's distance from the best, the one of the least

        cost_m / (distance - 4 xi_m)^2

    (The paper's appendix, Case 2, prints xi_m for xi of the other fidelity on the right-hand side.) The top fidelity is
    always one of them.

    >>> from mfbai.analysis.literature import believed_rival_fidelities
    >>> believed_rival_fidelities("paper-5x2").tolist()
    [1, 1, 1, 1, -1]
    """
    instance = check_instance(instance)
    problem, best = instance.problem, instance.best
    radius = np.maximum(problem.bias_high, -problem.bias_low)
    top = problem.sign * instance.means[:, -1]
    room = (top[best] - top)[:, None] - 2 * radius - 2 * radius[best]  # 4 xi_m if all arms share their radii
    with np.errstate(divide="ignore"):
        price = np.where(room > 0, problem.costs / room**2, np.inf)
    return np.where(np.arange(len(top)) == best, -1, price.argmin(axis=1))


def never_used(instance: Instance | str) -> NDArray[np.bool_]:
    """(K, M) cells that no optimal allocation uses, by the paper's Proposition "null-weights", corrected.

    A rival's cell says nothing if its bias allows the best arm's true mean, mu[best,M] (the paper prints mu[best,m]);
    the best arm's says nothing if its bias allows every rival's. Sufficient conditions: others may be unused, too.

    >>> from mfbai.analysis.literature import never_used
    >>> never_used("paper-5x2").tolist()
    [[False, False], [False, False], [False, False], [False, False], [True, False]]
    """
    instance = check_instance(instance)
    information = _information(instance)
    worst = np.argmin(instance.problem.sign * instance.means[:, -1])
    information[instance.best] = _rates(instance, [worst], [instance.means[worst, -1]])[0, 0]
    unused: NDArray[np.bool_] = information <= NOTHING * information.max()
    return unused


def only_cheapest(instance: Instance | str) -> bool:
    """Whether the instance is of a class in which optimal allocations use the cheapest cell of each arm alone (the
    paper's Proposition "sparsity-example", whose proof needs no more than this).

    In it, the noise is Gaussian of the same variance at all of an arm's fidelities, and each cell's mean is at the edge
    of its bias bounds, above the truth for the best arm and below it for the rivals: then all fidelities tell the same.

    >>> from mfbai.analysis.literature import only_cheapest
    >>> only_cheapest("paper-5x2")
    False
    """
    instance = check_instance(instance)
    problem = instance.problem
    precision = getattr(informed_model(instance).law, "precision", None)
    if precision is None or not np.allclose(precision, precision[:, -1:]):
        return False
    low, high = (problem.bias_low, problem.bias_high) if problem.sign > 0 else (-problem.bias_high, -problem.bias_low)
    edge = np.where(np.arange(len(low))[:, None] == instance.best, high, low)
    means = problem.sign * instance.means
    return bool((abs(means - means[:, -1:] - edge) <= ROUNDING * (1 + abs(means))).all())


def _information(instance: Instance) -> Array:
    """(K, M) what a unit of cost tells: of a rival, that it is not as good as the best arm; of the best, that it is not
    as poor as the second."""
    best, top = instance.best, instance.means[:, -1]
    order = np.argsort(-instance.problem.sign * top)
    rivals = order[1:]
    information = np.zeros(instance.shape)
    information[rivals] = _rates(instance, rivals, np.full(len(rivals), top[best]))[:, 1]
    information[best] = _rates(instance, order[1:2], top[order[1:2]])[0, 0]
    return information


def _rates(instance: Instance, arms: object, etas: object) -> Array:
    """(P, 2, M) divergence over cost of the best arm's and the rival's cells, if both top means were eta."""
    problem = instance.problem
    program = Program(informed_model(instance), problem.sign * instance.means, instance.best)
    rates: Array = program.rates(np.asarray(arms, dtype=np.int64), problem.sign * np.asarray(etas, dtype=np.float64))[0]
    return rates
