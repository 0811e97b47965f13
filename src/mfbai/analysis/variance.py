"""Whether results vary more than was stated: a test of the variances that holds at all times at once.

For a cell with n values, a stated variance v and a ratio c > 1,

    exp( (1 - 1/c) S / (2 v) ) / c^(n/2),    S = sum (x - mean of the cell's values)^2,

is at most what it is with the true mean in place of the values' own, as S is least there. That is a product over the
values of factors whose mean is 1 at most, whenever the noise is sub-Gaussian with a variance of v or less: a
supermartingale, whichever cell is evaluated next. So are mixtures over c, and products over cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np

from mfbai.analysis.evidence import read_problem
from mfbai.checks import check_delta, real
from mfbai.errors import Fault, Faults, InvalidInput, suggestion
from mfbai.kernels.stats import Stats, make_stats
from mfbai.model.problem import Array, Instance, Model, Problem

RATIOS = 1.25 * 2.0 ** np.arange(20)  # of the true variance to the stated one, up to 655,360: all are tried at once
LARGEST = 1e300  # of a sum of squares over its variance: beyond it, all that matters is that it is large
SQUARE = 1e150  # values below it have a finite square


@dataclass(frozen=True)
class VarianceAlarm:
    """Results vary more than their stated variance allows: those of a cell, or of all cells taken together."""

    arm: int | None  # None: all cells together
    fidelity: int | None
    level: float  # at all levels down to this one the alarm would have been given
    ratio: float  # an estimate of how many times as large as stated the variance is


def variance_alarms(
    problem: Problem | Instance, values: Iterable[tuple[str | int, str | int, float]], delta: float
) -> list[VarianceAlarm]:
    """Where `values`, rows of arm, fidelity and value, vary more than the problem's stated variances allow.

    If the variances are right, the probability that there is ever an alarm, however often one looks, is delta at most.
    There is none if the family states no variance, nor with common seeds, where no proof uses it.

    >>> from mfbai import Gaussian, Problem, variance_alarms
    >>> problem = Problem(["plain", "wide"], costs=1.0, biases=0.0, family=Gaussian(0.01))
    >>> rows = [("plain", 0, x) for x in (0.1, 0.9, 0.3, 0.8)] + [("wide", 0, x) for x in (0.5, 0.6, 0.4)]
    >>> [(alarm.arm, round(alarm.ratio, 1)) for alarm in variance_alarms(problem, rows, delta=0.05)]
    [(None, 9.4), (0, 14.9)]
    """
    problem = read_problem(problem)
    faults = Faults()
    check_delta(faults, delta)
    if np.ndim(delta):
        faults.add("delta", f"is {delta!r}: give one risk")
    with faults.absorb():
        stats = _tally(problem, values)
    faults.raise_if_any("evaluations")
    return find_variance_alarms(problem.model(), stats, delta)


def _tally(problem: Problem, values: Any) -> Stats:
    """What alarms need of a table of values."""
    faults = Faults()
    cells: dict[tuple[int, int], list[float]] = {}
    for n, row in enumerate(values):
        try:
            arm, fidelity, value = row
        except (TypeError, ValueError):
            told = f"is {row!r:.60}: give an arm, a fidelity and a value"
            raise InvalidInput([Fault(f"values[{n}]", told)]) from None
        a = _index(faults, f"values[{n}]", "arm", arm, problem.arms)
        m = _index(faults, f"values[{n}]", "fidelity", fidelity, problem.fidelities)
        x = real(value)
        if x is None or not abs(x) < SQUARE:
            faults.add(f"values[{n}]", f"has the value {value!r:.60}: give a finite number")
        else:
            cells.setdefault((a, m), []).append(x)
    faults.raise_if_any("values")
    stats = make_stats(problem.shape)
    for cell, of_cell in cells.items():
        stats.count[cell], stats.squares[cell] = len(of_cell), len(of_cell) * np.var(of_cell)
    return stats


def _index(faults: Faults, place: str, kind: str, given: Any, names: tuple[str, ...]) -> int:
    if isinstance(given, str) and given in names:
        return names.index(given)
    if isinstance(given, int | np.integer) and not isinstance(given, bool) and 0 <= given < len(names):
        return int(given)
    faults.add(place, f"has the {kind} {given!r:.60}: {suggestion(str(given), names)}")
    return 0


def find_variance_alarms(model: Model, stats: Stats, delta: float) -> list[VarianceAlarm]:
    """The same of statistics."""
    if model.common or not (model.law.quadratic and model.law.known):
        return []  # no variance was stated; with common seeds no proof uses it
    precision = np.where(np.isfinite(model.law.precision), model.law.precision, 0.0)
    with np.errstate(over="ignore"):
        squares = np.minimum(stats.squares * precision, LARGEST)
    count = np.where(precision > 0.0, stats.count, 0.0)
    # Half of delta is for all cells together, which find a common factor soonest; half for each cell alone.
    found = []
    level = _level(log_evidence(squares.sum(keepdims=True), count.sum(keepdims=True)), 2)[0, 0]
    if level <= delta:
        spare = max(count.sum() - np.count_nonzero(count), 1.0)
        found.append(VarianceAlarm(None, None, float(level), float(squares.sum() / spare)))
    levels = _level(log_evidence(squares, count), 2 * count.size)
    for arm, m in np.argwhere(levels <= delta).tolist():
        found.append(VarianceAlarm(arm, m, float(levels[arm, m]), float(squares[arm, m] / (count[arm, m] - 1))))
    return found


def log_evidence(squares: Array, count: Array) -> Array:
    """ln of the mixture for each cell, given the sums of squares over the stated variance."""
    evidence = np.zeros(squares.shape)
    varied = squares > count  # elsewhere no ratio is evidence
    S, n = squares[varied, None], count[varied, None]
    each = 0.5 * (S * (1 - 1 / RATIOS) - n * np.log(RATIOS))
    most = each.max(axis=1)
    evidence[varied] = most + np.log(np.exp(each - most[:, None]).mean(axis=1))
    return evidence


def _level(evidence: Array, tests: int) -> Array:
    return np.exp(np.minimum(log(tests) - evidence, 0.0))
