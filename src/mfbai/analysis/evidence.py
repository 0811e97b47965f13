"""What a set of evaluations says about which arm is best."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.analysis.values import Table, Values, read_values
from mfbai.checks import Cells, shape_of
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.kernels import transport
from mfbai.kernels.exact import take_all_exact, take_exact
from mfbai.kernels.stats import Stats, make_stats, record_all
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.problem import ROUNDING, Problem


@dataclass(frozen=True, eq=False, repr=False)
class Evidence:
    """The evidence for the leader, in nats: what `evidence` returns.

    value       F: 0 says nothing; at 10 a model in which the challenger is better is about e^-10 as likely as the best
                one
    leader      the arm that the data favour; if F is 0, the one whose least estimate is the greatest
    challenger  the arm hardest to tell from it
    top_means   of both in the closest model where the challenger is better; NaN if F is infinite
    estimates   (K, 2) for each arm the least and greatest true mean that fits its data best
    model       what it was computed with
    counts      (K, M) how many evaluations each cell had
    means       (K, M) of these, reflected if the problem minimises
    problem     the `Problem`

    With f_ij as in `evidence`, which measures how far the data are from any model in which arm j is better than arm i
    by more than the tolerance:

        F = max over i of min over j != i of f_ij

    >>> from mfbai import Gaussian, Problem, evidence
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> found = evidence(problem, counts=[[20, 2], [20, 2]], means=[[0.50, 0.52], [0.81, 0.79]])
    >>> found.matrix.round(2).tolist(), found.estimates[0].round(3).tolist()
    ([[inf, 0.0], [9.7, inf]], [0.52, 0.52])
    """

    value: float
    leader: int
    challenger: int
    top_means: tuple[float, float]
    estimates: NDArray[np.float64]
    model: Model
    counts: NDArray[np.float64]
    means: NDArray[np.float64]
    problem: Problem

    def __repr__(self) -> str:
        return f"<Evidence: {self.value:.6g} for arm {self.leader} against {self.challenger}>"

    @cached_property
    def matrix(self) -> NDArray[np.float64]:
        """(K, K) all f_ij, infinite on the diagonal. Computed when asked for."""
        matrix, seen = np.empty((len(self.counts), len(self.counts))), self.problem.noisy
        counts, means = (np.array(table[:, seen], order="C") for table in (self.counts, self.means))
        transport.matrix(self.model, counts, means, transport.make_work(self.model), matrix)
        return matrix

    @cached_property
    def against(self) -> NDArray[np.float64]:
        """(K,) the f of the leader against each other arm: its row of the matrix, which is too large for many arms."""
        row, seen = np.empty(len(self.counts)), self.problem.noisy
        counts, means = (np.array(table[:, seen], order="C") for table in (self.counts, self.means))
        transport.against_each(self.model, counts, means, self.leader, transport.make_work(self.model), row)
        return row

    @cached_property
    def supergradient(self) -> NDArray[np.float64]:
        """(K, M) what F gains, at first order, for each unit of cost spent on a cell of leader or challenger.

        Zero for all other arms, for cells without data, whose mean is unknown, for those of deterministic fidelities,
        which tell nothing more, and if F is infinite.
        """
        seen, sign = self.problem.noisy, self.problem.sign
        counts, means = (np.array(table[:, seen], order="C") for table in (self.counts, self.means))
        gradient = np.zeros(counts.shape)
        for arm, x in zip((self.leader, self.challenger), self.top_means, strict=True):
            if np.isfinite(self.value):
                transport.divergences(self.model, counts, means, arm, sign * x, gradient[arm])
        return self.problem.whole(gradient / self.model.cost, 0.0)


def evidence(
    problem: Problem | Instance,
    counts: ArrayLike | None = None,
    means: ArrayLike | None = None,
    tolerance: float = 0.0,
    *,
    values: Values | None = None,
) -> Evidence:
    """What evaluations say about which arm is best: returns an `Evidence`.

    problem    a `Problem`, or an `Instance`
    counts     (K, M) how many evaluations each cell has
    means      (K, M) the means of their values; anything where counts are 0
    tolerance  an arm is better only if by more than this
    values     in place of both, all values: rows of arm, fidelity and value, as tuples or dicts, a DataFrame with these
               columns, or the path of a CSV file. Those of a cell are in the order of evaluation; arms and fidelities
               are names, or indices from 0 (in a file numbers from 1). `Symmetric` and `Bounded` need the values, as
               they learn the size of the noise from them.

    With d the divergence of the family, the evidence for arm i against arm j is

        f_ij = min of sum counts * d(means, mu)
               over all means mu within the bias bounds in which j is better than i

    >>> from mfbai import Gaussian, Problem, evidence
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> found = evidence(problem, counts=[[20, 2], [20, 2]], means=[[0.50, 0.52], [0.81, 0.79]])
    >>> problem.arms[found.leader], round(found.value, 3)
    ('wide', 9.695)
    >>> evidence(problem, values=[("plain", 1, 0.5), ("wide", 1, 0.8), ("plain", 0, 0.45)])
    <Evidence: 2.58333 for arm 1 against 0>
    """
    problem = read_problem(problem)
    model, stats = read_evaluations(problem, counts, means, values, tolerance, Faults())
    work = transport.make_work(model)
    value, leader, challenger, x, y = transport.evaluate(model, stats.count, stats.mean, work)
    if value == 0:
        leader, challenger, x, y = _undecided(work, tolerance)
    elif value == np.inf:
        x = y = np.nan
    top_means = (problem.sign * x, problem.sign * y)
    estimates = np.sort(problem.sign * np.column_stack([work.psi_low, work.psi_high]), axis=1)
    tables = whole_tables(problem, model, stats)
    return Evidence(value, leader, challenger, top_means, estimates, model, *tables, problem)


def whole_tables(problem: Problem, model: Model, stats: Stats) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(K, M) counts and means of all fidelities; those of values that are known for certain are 1 and the value."""
    value = model.exact.value
    seen = ~np.isnan(value)
    return problem.whole(stats.count, seen), problem.whole(stats.mean, np.where(seen, value, 0.0))


def _undecided(work: transport.Work, tolerance: float) -> tuple[int, int, float, float]:
    """Leader, challenger and a common top mean if there is no evidence. An arm without data leads only if all are."""
    leader = int(np.argmax(work.psi_low))
    rivals = work.psi_high.copy()
    rivals[leader] = -np.inf
    challenger = int(np.argmax(rivals))
    x = float(work.psi_low[leader])
    return leader, challenger, x, max(x + tolerance, float(work.psi_low[challenger]))


def read_problem(problem: Any) -> Problem:
    if not isinstance(problem, Problem | Instance):
        told = f"is {problem!r:.80}: give a Problem or an Instance; mfbai.load reads one by its name or file"
        raise InvalidInput([Fault("problem", told)])
    return problem.problem if isinstance(problem, Instance) else problem


def read_evaluations(
    problem: Problem,
    counts: ArrayLike | None,
    means: ArrayLike | None,
    values: Values | None,
    tolerance: float,
    faults: Faults,
) -> tuple[Model, Stats]:
    """What the kernels take, of counts and means or of values. Raises all faults, with those found before.

    Arms that share seeds are compared seed by seed, for which none of these are enough.
    """
    with faults.absorb():
        model = problem.model(tolerance)
    if problem.seeds == "common":
        told = "of a problem with common seeds cannot be judged: they do not say how arms differ at the same seed"
        faults.add("totals", f"{told}; look at the status of a study")
    if values is not None and (counts is not None or means is not None):
        faults.add("values", "are given beside counts or means: give either all values, or counts and means")
    elif values is None and (counts is None or means is None):
        faults.add("values", "are missing: give all values, or both counts and means")
    elif values is None and problem.family.learns:
        told = f"the {problem.family.name} family learns the size of the noise from them, and means do not tell it"
        faults.add("values", f"are needed, not counts and means: {told}")
    elif values is None:
        assert counts is not None
        assert means is not None
        with faults.absorb():
            tables = read_tables(problem, counts, means)
    else:
        with faults.absorb():
            rows = read_values(problem, values)
    faults.raise_if_any("evaluations")
    stats = make_stats(model.cost.shape)
    if values is None:
        stats.count[:], stats.mean[:] = split_tables(problem, model, *tables)
    else:
        record_values(problem, model, stats, rows)
    return model, stats


def split_tables(
    problem: Problem, model: Model, weights: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """What kernels see of both tables. Values of deterministic fidelities go into the model, for good."""
    if problem.exact:
        known = np.where(weights[:, problem.exact] > 0, values[:, problem.exact], np.nan)
        take_all_exact(model, np.ascontiguousarray(known))
    seen = problem.noisy
    counts, means = np.array(weights[:, seen], order="C"), np.array(values[:, seen], order="C")
    counts[:, [problem.deterministic[m] for m in seen]] = 0.0  # the top, if it is one of them
    return counts, means


def record_values(problem: Problem, model: Model, stats: Stats, rows: Table) -> None:
    """The same of values, one by one."""
    values = problem.sign * rows.values
    where = np.array([problem.seen_as(m) for m in rows.fidelities], dtype=np.int64)
    for arm, d, x in zip(rows.arms, -1 - where, values, strict=True):
        if d >= 0:
            take_exact(model, arm, d, x)
    noisy = where >= 0
    record_all(model, stats, rows.arms[noisy], where[noisy], values[noisy])


def read_tables(
    problem: Problem, counts: ArrayLike, means: ArrayLike
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Both tables as the kernels want them."""
    faults = Faults()
    cells = Cells(faults, problem.arms, problem.fidelities)
    weights = cells.read("counts", counts, full=True)
    if weights is not None:
        cells.refuse("counts", weights, weights < 0, "a count cannot be negative")
        alone = np.broadcast_to(problem.parts_only, problem.shape) & (weights > 0)
        cells.refuse("counts", weights, alone, "it counts only as part of a controlled fidelity: give 0")
        if shape_of(means) == weights.shape:
            table = np.where(weights > 0, np.asarray(means, dtype=object), _some_mean(problem))
            means = [[np.nan if x is None else x for x in row] for row in table.tolist()]  # None is missing in JSON
    values = cells.read("means", means, full=True)
    if values is not None:
        inside = np.clip(values, *problem.family.ranges(problem.n_fidelities))
        values = np.where(abs(values - inside) <= ROUNDING * abs(values), inside, values)  # a mean of bounds, rounded
        problem.family.check_means(cells, values)
    faults.raise_if_any("evidence")
    assert weights is not None
    assert values is not None
    return weights, problem.sign * values


def _some_mean(problem: Problem) -> float:
    """A possible mean, for cells that have no data."""
    low, high = problem.family.mean_range
    return float(np.clip(0.5, low, high))
