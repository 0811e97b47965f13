"""Whether results vary more than was stated: a test of the variances that holds at all times at once.

For a cell with n values, a stated variance v and a ratio c > 1,

    exp( (1 - 1/c) S / (2 v) ) / c^(n/2),    S = sum (x - mean of the cell's values)^2,

is at most what it is with the true mean in place of the values' own, as S is least there. That is a product over the
values of factors whose mean is 1 at most, whenever the noise is sub-Gaussian with a variance of v or less: a
supermartingale, whichever cell is evaluated next. So are mixtures over c, and products over cells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import log

import numpy as np

from mfbai.analysis.evidence import read_problem, record_values
from mfbai.analysis.values import Values, read_values
from mfbai.checks import check_delta
from mfbai.errors import Faults
from mfbai.kernels.stats import Stats, make_stats
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.problem import Array, Problem

RATIOS = 1.25 * 2.0 ** np.arange(20)  # of the true variance to the stated one, up to 655,360: all are tried at once
MOST = 10  # alarms of single cells: where one variance was stated for a thousand, one mistake is enough
LARGEST = 1e300  # of a sum of squares over its variance: beyond it, all that matters is that it is large


@dataclass(frozen=True)
class VarianceAlarm:
    """Results vary more than their stated variance allows: what `variance_alarms` finds.

    arm       its index; None for all cells, taken together
    fidelity  its index; None likewise
    level     at all levels down to this one the alarm would have been given
    ratio     an estimate of how many times as large as stated the variance is

    >>> from mfbai import Gaussian, Problem, variance_alarms
    >>> problem = Problem(["plain", "wide"], costs=1.0, biases=0.0, family=Gaussian(0.01))
    >>> rows = [("plain", 0, x) for x in (0.1, 0.9, 0.3, 0.8)]
    >>> alarm = variance_alarms(problem, rows, delta=0.05)[-1]
    >>> problem.arms[alarm.arm], round(alarm.ratio, 1)
    ('plain', 14.9)
    """

    arm: int | None
    fidelity: int | None
    level: float
    ratio: float


def variance_alarms(problem: Problem | Instance, values: Values, delta: float) -> list[VarianceAlarm]:
    """Where results vary more than the problem's stated variances allow: a list of `VarianceAlarm`.

    problem  a `Problem`, or an `Instance`
    values   all values, as `evidence` takes them
    delta    if the variances are right there is ever an alarm, however often one looks, with this probability at most

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
        rows = read_values(problem, values)
    faults.raise_if_any("evaluations")
    model = problem.model()
    stats = make_stats(model.cost.shape)
    record_values(problem, model, stats, rows)
    return variances_of(problem, model, stats, delta)


def variances_of(problem: Problem, model: Model, stats: Stats, delta: float) -> list[VarianceAlarm]:
    """The same of statistics."""
    alarms = find_variance_alarms(model, stats, delta)
    return [
        alarm if alarm.fidelity is None else replace(alarm, fidelity=problem.noisy[alarm.fidelity]) for alarm in alarms
    ]


def find_variance_alarms(model: Model, stats: Stats, delta: float) -> list[VarianceAlarm]:
    """The same, with fidelities as kernels know them."""
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
    surest = sorted(np.argwhere(levels <= delta).tolist(), key=lambda cell: levels[tuple(cell)])[:MOST]
    for arm, m in sorted(surest):
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
