"""The examples of the paper's appendix, each computed by the oracle, as tables.

What the paper prints is marked so, and stands beside what is computed. Fidelities count from 1, as in the paper.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.literature import believed_fidelities as first_notion
from mfbai.analysis.literature import believed_rival_fidelities as second_notion
from mfbai.analysis.literature import earlier_lower_bound, never_used
from mfbai.analysis.oracle import Oracle, oracle
from mfbai.model.families import Gaussian
from mfbai.model.instance import Instance
from mfbai.model.problem import ROUNDING
from mfbai.model.spec import check_instance
from mfbai.paper.pieces import Table
from mfbai.paper.sparsity import USED, confined, count, is_dense, prove

Row = tuple[str | float | int, ...]
Cells = NDArray[np.bool_]
Labelled = tuple[str, Instance]

NAMED = ("paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3", "lucb-trap", "nonsparse-3x2")
COMPARED = ("instance", "believed in", "used by w*", "cost of the believed", "C*", "cost / C*")
NEVER = "never"  # the cost of an allocation that brings no evidence, however much is spent
NOTHING = "-"  # there is no such number


def lower_bounds() -> Table:
    """The lower bound of Poiani et al. (2022) is below C*, and no constant factor makes up for it.

    >>> [round(row[3], 6) for row in lower_bounds().rows[:4]]
    [2.0, 5.0, 50.0, 500.0]
    """
    rows: list[Row] = []
    for ratio in (4, 10, 100, 1000):
        example = _pair(gap=0.2, radius=0.2, shift=0.1, costs=(1, ratio))
        rows.append((*_bounds(f"2 x 2, costs 1 : {ratio}", example), ratio / 2))
    rows += [(*_bounds(*named), NOTHING) for named in _named()]
    return Table(
        "lower-bounds",
        "The lower bound known before, and the tight one",
        "The paper's 2 x 2 example has gap = xi and cheap means half a radius better and worse than the true ones: the "
        "bound of Poiani et al. (2022), Theorem 1, is 8 cheap / gap^2 and C* is 4 dear / gap^2 (variance 1/2), so that "
        "their ratio, in the last column, grows with that of the costs. "
        "(The paper quotes the theorem with a sum over all arms; it is one over the rivals, the best arm has no term.)",
        ("instance", "earlier bound", "C*", "C* / earlier bound", "as derived in the paper"),
        tuple(rows),
    )


def believed_fidelities() -> Table:
    """Case 1: the optimal fidelities of Poiani et al. (2022), Theorem 1, and Wang et al. (2023).

    >>> believed_fidelities().rows[1][:4]
    ('Case 1, costs 1 : 4.1', '1, 1', '2, 2', 'never')
    """
    examples = [
        (f"Case 1, costs 1 : {dear:g}", _pair(gap=0.1, radius=0.1, shift=0.05, costs=(1, dear), variance=1))
        for dear in (3.9, 4.1, 50)
    ]
    return Table(
        "believed-fidelities",
        "The first notion of an optimal fidelity (Case 1)",
        "Poiani et al. (2022), Theorem 1, and Wang et al. (2023) call that fidelity optimal which, per unit of cost, "
        "best tells a rival from the best arm's true mean, and the best arm from the second's. "
        "The paper's example believes in the cheap one as soon as it costs less than a quarter; used alone, it never "
        "leads to an answer. "
        "For each arm: the fidelity believed in and those that w* uses; then the least cost if only the former are "
        "used, and C*.",
        COMPARED,
        tuple(_compare(label, instance, first_notion(instance)) for label, instance in (*examples, *_named())),
    )


def rival_fidelities() -> Table:
    """Case 2: the optimal fidelities of rivals by Poiani et al. (2022), Definition 1, the ground of IISE.

    >>> rival_fidelities().rows[0][:3]
    ('Case 2, gap 0.1, costs 1 : 4', 'any, 2', '1, 1')
    """
    examples = [
        (f"Case 2, gap {gap:g}, costs 1 : {dear:g}", _pair(gap=gap, radius=0.1, shift=0.1, costs=(1, dear)))
        for gap, dear in ((0.1, 4), (0.1, 50), (0.1, 1000), (0.4, 50), (0.5, 20), (0.5, 30))
    ]
    examples.append(("Case 2 with 4 arms, 3 fidelities", _at_the_edge(4, (0.2, 0.1, 0), (1, 2, 50))))
    return Table(
        "rival-fidelities",
        "The second notion of an optimal fidelity, for rivals (Case 2)",
        "Poiani et al. (2022), Definition 1, on which IISE is built, takes the least cost / (gap - 4 xi)^2 among "
        "fidelities with 4 xi below the gap. "
        "If all means are at the edge of their bias bounds, the rivals' too low and the best arm's too high, only the "
        "cheapest is worth its cost, but with a gap of 4 xi or less the notion names the top (here xi = 0.1; it can "
        "with a larger gap, too). "
        "The columns are those of Case 1, the best arm free to use any fidelity. "
        "(The paper prints xi of the wrong fidelity on the right-hand side of the definition. Its proof that only the "
        "cheapest is used moves epsilon / K to each arm, which suffices if the others cost more than K times as much; "
        "in general, almost all of epsilon must stay with the arm.)",
        COMPARED,
        tuple(_compare(label, instance, second_notion(instance)) for label, instance in (*examples, *_named())),
    )


def null_weights() -> Table:
    """The Proposition "null-weights" names cells that no optimal allocation uses; as printed, it names others too.

    >>> null_weights().rows[1]
    ('paper-5x2', 10, 5, 5, 4, 1, 0)
    """
    return Table(
        "null-weights",
        "Cells that no optimal allocation uses",
        'The paper\'s Proposition "null-weights" gives sufficient conditions for a cell to have no weight in w*. '
        "It prints mu[best,m] where the best arm's true mean, mu[best,M], is meant: as printed, it denies weight to "
        "cells that w* uses in two of the paper's own instances. "
        "The columns: how many cells there are, how many w* leaves out, how many the proposition names as printed and "
        "as corrected, and how many of those w* does use.",
        ("instance", "cells", "unused by w*", "printed", "printed but used", "corrected", "corrected but used"),
        tuple(_null_weights(*named) for named in _named()),
    )


def weights() -> Table:
    """w* of the 5 x 2 instance: as printed, in closed form, and by the oracle.

    At w* the four rivals have weight w each and the best arm 1 - 4 w, and with x = (eta - 0.5) / (0.6 - eta)

        4 (0.6 - eta)^2 / 5 = (eta - 0.5)^2 / 0.5   (optimality),   w (eta - 0.5) / 0.5 = (1 - 4 w) (0.6 - eta) / 5

    so that x = sqrt(0.4) and w = 1 / (4 + 10 x) = 1 / (4 + sqrt 40).

    >>> [round(row[5], 12) + 0 for row in weights().rows]
    [0.0, 0.0, 0.0, 0.0, 0.0]
    """
    instance = check_instance("paper-5x2")
    found = oracle(instance)
    shares, rivals = found.weights, np.arange(5) != instance.best
    printed_eta, printed_rival, printed_best = 0.539, 0.09621, 0.61516
    eta = (0.5 + 0.6 * sqrt(0.4)) / (1 + sqrt(0.4))
    rounded, exact = _rival_share(printed_eta), 1 / (4 + sqrt(40))
    others = shares[rivals, 1].sum() + shares[instance.best, 0]
    rows: list[tuple[str, float | str, float, float, float]] = [
        ("eta", printed_eta, printed_eta, eta, float(found.alternatives[0])),
        ("w* of arms 1 to 4, fidelity 1", printed_rival, rounded, exact, float(shares[rivals, 0].mean())),
        ("w* of arm 5, fidelity 2", printed_best, 1 - 4 * rounded, 1 - 4 * exact, float(shares[instance.best, 1])),
        ("w* of all other cells", 0.0, 0.0, 0.0, float(others)),
        ("cost", NOTHING, _cost_of_share(rounded), _cost_of_share(exact), found.cost_complexity),
    ]
    return Table(
        "weights-5x2",
        "The optimal weights of the 5 x 2 instance",
        "The paper derives w* and prints it to what it calls four decimals; exactly, the four rivals have "
        "1 / (4 + sqrt 40) each. "
        "The printed weights come from rounding eta, where the arms are hardest to tell apart, to 0.539 first: the "
        "third column goes that way. "
        "The last row is the cost of spending in such shares per unit of evidence, C* if they are exact (variance "
        "0.01), which the rounding hardly changes. "
        "In the equation for eta the paper prints the mean of arm 1 for that of arm 5, and eta - 1 for eta - xi.",
        ("quantity", "paper", "from eta rounded", "exact", "oracle", "oracle - exact"),
        tuple((*row, row[4] - row[3]) for row in rows),
    )


def two_arms(instances: int = 500) -> Table:
    """Two arms need one fidelity each; more arms can need two for one.

    >>> [row[2] for row in two_arms(instances=20).rows[:5]]
    [0, 0, 0, 0, 0]
    """
    shapes = (*((2, fidelities) for fidelities in range(2, 7)), (3, 2), (4, 5), (10, 5))
    rows: list[Row] = []
    for arms, fidelities in shapes:
        found = count(arms, fidelities, instances, examples=1)
        excess = found.examples[0].excess if found.examples else NOTHING
        rows.append((f"{arms} x {fidelities}", instances, len(found.dense), found.share, *found.interval, excess))
    known = check_instance("nonsparse-3x2")
    rows.append(("nonsparse-3x2", 1, int(is_dense(oracle(known))), NOTHING, NOTHING, NOTHING, prove(known).excess))
    return Table(
        "sparsity",
        "Is one fidelity for each arm enough?",
        "The paper proves that, of instances with two arms, almost none has an optimal allocation with two fidelities "
        "for an arm, and asks whether this holds for more arms: it does not. "
        "The columns: instances from the paper's generator (minimum gap 0.01), how many have two fidelities for an arm "
        "in their only optimal allocation, their share with Wilson's 95 % interval, and, for the first of them, a "
        "certified lower bound on how much more any allocation with one fidelity an arm costs, where all of those can "
        "be tried. The last row is an instance of the catalogue, not a draw.",
        ("instances of", "instances", "not sparse", "share", "low", "high", "excess cost"),
        tuple(rows),
    )


def _named() -> list[Labelled]:
    return [(name, check_instance(name)) for name in NAMED]


def _pair(gap: float, radius: float, shift: float, costs: tuple[float, float], variance: float = 0.5) -> Instance:
    """Two arms, of true means 0.5 + gap and 0.5, whose cheap means are `shift` better and worse than that."""
    means = [[0.5 + gap + shift, 0.5 + gap], [0.5 - shift, 0.5]]
    return Instance(means, costs, [radius, 0], Gaussian(variance))


def _at_the_edge(arms: int, radii: Sequence[float], costs: Sequence[float]) -> Instance:
    """Of the paper's class A_KM: true means of 0.05 for the first arm and -0.05 for the others, and each mean as far
    beyond as its radius allows."""
    sides = np.where(np.arange(arms) == 0, 1.0, -1.0)[:, None]
    return Instance(sides * (0.05 + np.array(radii)), costs, radii, Gaussian(0.5))


def _bounds(label: str, instance: Instance) -> tuple[str, float, float, float]:
    earlier, tight = earlier_lower_bound(instance), oracle(instance).cost_complexity
    return label, earlier, tight, tight / earlier


def _compare(label: str, instance: Instance, believed: NDArray[np.int64]) -> Row:
    """The cost if each arm is evaluated at the fidelity believed in alone (-1: at any), and C*."""
    names = ", ".join("any" if fidelity < 0 else str(fidelity + 1) for fidelity in believed)
    allowed = (np.arange(instance.shape[1]) == believed[:, None]) | (believed[:, None] < 0)
    found, within = oracle(instance), confined(instance, allowed)
    cost, least = within.cost_complexity, found.cost_complexity
    if within.weights[~allowed].sum() > 0.5:  # at such a cost they are used only where the others never give an answer
        return label, names, _used(found), NEVER, least, NOTHING
    return label, names, _used(found), cost, least, cost / least


def _used(found: Oracle) -> str:
    """The fidelities of each arm that have weight: "1, 1+2" if the second arm has two."""
    return ", ".join("+".join(str(m + 1) for m in np.flatnonzero(arm > USED)) for arm in found.weights)


def _null_weights(label: str, instance: Instance) -> Row:
    used = oracle(instance).weights > USED
    printed, corrected = _never_used_as_printed(instance), never_used(instance)
    counts = (printed, printed & used, corrected, corrected & used)
    return (label, used.size, int((~used).sum()), *(int(cells.sum()) for cells in counts))


def _never_used_as_printed(instance: Instance) -> Cells:
    """Rivals' cells with mu[a,m] + xi_m >= mu[best,m], and the best arm's with mu[best,m] - xi_m <= all mu[j,M]."""
    means, best, problem = instance.means, instance.best, instance.problem
    named: Cells = means - problem.bias_low >= means[best] - ROUNDING
    named[best] = means[best] - problem.bias_high[best] <= means[:, -1].min() + ROUNDING
    return named


def _rival_share(eta: float) -> float:
    """Each rival's weight in the 5 x 2 instance, if the arms were hardest to tell apart at eta."""
    return 1 / (4 + 5 / 0.5 * (eta - 0.5) / (0.6 - eta))


def _cost_of_share(share: float) -> float:
    """1 / f in the 5 x 2 instance, of variance 0.01 and gap 0.1, if the rivals have this weight each."""
    return 2 * 0.01 * (0.5 / share + 5 / (1 - 4 * share)) / 0.1**2
