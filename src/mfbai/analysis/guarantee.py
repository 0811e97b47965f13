"""What a set of evaluations proves, at any time and however they were chosen: the martingales of the e-process rule.

Each statement holds at all times at once, so one may look as often as one likes, and stop when one likes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.analysis.evidence import read_evaluations, read_problem
from mfbai.analysis.values import Values
from mfbai.checks import check_delta
from mfbai.errors import Faults
from mfbai.kernels import differences, e_values, transport
from mfbai.kernels.parts import Wanted, needs
from mfbai.kernels.stats import Stats
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.problem import Array, Problem
from mfbai.stopping import e_process

FEW = 100  # arms of which each is looked at by itself


@dataclass(frozen=True, eq=False)
class Risk:
    """The level at which the leader is already certified by the e-process rule: what `risk` returns.

    level         1 if nothing is certain
    leader        the arm of the largest estimated top mean
    log_evidence  (K,) ln E: evidence that each arm is not better than the leader, in nats

    Stopping as soon as `level` is delta or less, and answering `leader`, errs with a probability of delta at most.

    >>> from mfbai import Bernoulli, Problem, risk
    >>> found = risk(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), [[40], [40]], [[0.2], [0.7]])
    >>> found
    <Risk: arm 1 leads, certified at 0.000578>
    """

    level: float
    leader: int
    log_evidence: NDArray[np.float64]

    def __repr__(self) -> str:
        return f"<Risk: arm {self.leader} leads, certified at {self.level:.3g}>"


@dataclass(frozen=True)
class BiasAlarm:
    """An arm's data contradict the bias bounds stated for it: what `bias_alarms` finds.

    arm       its index
    fidelity  its index
    level     at all levels down to this one the alarm would have been given
    certain   true if the bound of this very fidelity is wrong: its data contradict those of the top. If not, some bound
              of the arm is wrong, and this fidelity is the one that fits the least.

    >>> from mfbai import Gaussian, Problem, bias_alarms
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> [alarm] = bias_alarms(problem, [[20, 20], [20, 20]], [[0.50, 0.80], [0.81, 0.79]], delta=0.01)
    >>> alarm.arm, alarm.fidelity, alarm.certain
    (0, 0, True)
    """

    arm: int
    fidelity: int
    level: float
    certain: bool


def risk(
    problem: Problem | Instance,
    counts: ArrayLike | None = None,
    means: ArrayLike | None = None,
    tolerance: float = 0.0,
    *,
    values: Values | None = None,
) -> Risk:
    """The risk of answering the leader now that the data prove: returns a `Risk`.

    problem    a `Problem`, or an `Instance`
    counts     (K, M) how many evaluations each cell has
    means      (K, M) the means of their values
    tolerance  an arm this close to the best is as good
    values     in place of both, all values, as `evidence` takes them

    It is what the e-process proves, in whatever order the evaluations were made: with ln E the evidence against each
    arm,

        level = (K - 1) exp(-min over rivals of ln E)

    A study that stops by the rule `contrasts` has evidence of its own, which depends on that order: its status has it.

    >>> from mfbai import Gaussian, Problem, risk
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> found = risk(problem, counts=[[20, 2], [20, 2]], means=[[0.50, 0.52], [0.81, 0.79]])
    >>> problem.arms[found.leader], round(found.level, 4)
    ('wide', 0.0062)
    >>> from mfbai import Bounded
    >>> scores = [(arm, 0, x) for arm, x in [("old", 0.71), ("new", 0.88), ("old", 0.69), ("new", 0.9)] * 15]
    >>> found = risk(Problem(["old", "new"], costs=1, biases=0, family=Bounded(0, 1)), values=scores)
    >>> found.leader, found.level < 0.05
    (1, True)
    """
    model, stats, _ = _read(problem, counts, means, values, tolerance)
    return find_risk(model, stats)


def find_risk(model: Model, stats: Stats, rule: e_process.State | None = None, answer: int | None = None) -> Risk:
    """The same of statistics, for the leader or another `answer`; `rule` remembers what was proven earlier."""
    work, arms = _fits(model, stats), range(len(stats.count))
    seen = stats.count.sum(axis=1) > 0
    placed = (seen | (~np.isnan(model.exact.value)).any(axis=1)) & ~model.beaten
    with np.errstate(invalid="ignore"):  # arms that are not placed may be anywhere
        first = int(np.argmax(np.where(placed, work.psi_low + work.psi_high, -inf)))
    leader = first if answer is None else answer
    evidence = np.where(np.arange(len(arms)) == leader, inf, 0.0)
    alike_laws = not any(map(np.ndim, model.law)) and len(arms) > FEW
    first_alike = _first_alike(model, stats, leader) if alike_laws else None
    looked_at = seen if first_alike is None else seen & (first_alike == np.arange(len(arms)))
    e_values.against_all(model, stats, leader, looked_at, work, e_values.make_work(), evidence)
    if first_alike is not None:
        evidence = evidence[first_alike]
    evidence[model.beaten & (np.arange(len(arms)) != leader) & (not model.beaten[leader])] = inf
    evidence[model.top_low[leader] + model.tolerance >= model.top_high] = inf
    if rule is not None and leader in rule.owner:
        np.maximum(evidence, rule.proven[rule.owner.tolist().index(leader)], out=evidence)
    least = float(evidence.min())
    level = min((len(arms) - 1) * exp(-max(least, -1.0)), 1.0)
    return Risk(level, leader, evidence)


def _first_alike(model: Model, stats: Stats, leader: int) -> NDArray[np.int64]:
    """(K,) for each arm the first one of which the same is known, for laws that are the same in all cells: where values
    are 0 or 1, a few of thousands are different. The leader is like no other."""
    own = np.arange(len(stats.count)) == leader
    known = (stats.count, stats.mean, model.bias_low, model.bias_high)
    rows = np.column_stack([*known, model.top_low, model.top_high, own]) + 0.0  # -0.0 is 0.0
    columns = np.ascontiguousarray(rows).view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()
    _, first, group = np.unique(columns, return_index=True, return_inverse=True)
    found: NDArray[np.int64] = first[group]
    return found


def needed_for_risk(model: Model, stats: Stats) -> list[Wanted]:
    """The compiled parts that `find_risk` takes."""
    work, claim, K = transport.make_work(model), e_values.make_work(), len(stats.count)
    proof = (0, np.zeros(K, dtype=np.bool_), work, claim, np.zeros(K))
    return needs(
        (e_values.against_all, model, stats, *proof),
        (transport.fit_all, model, stats.count, stats.mean, work),
    )


def _fits(model: Model, stats: Stats) -> transport.Work:
    """What fits each arm's data best."""
    work = transport.make_work(model)
    transport.fit_all(model, stats.count, stats.mean, work)
    return work


def intervals(
    problem: Problem | Instance,
    counts: ArrayLike | None = None,
    means: ArrayLike | None = None,
    delta: float = 0.05,
    *,
    values: Values | None = None,
) -> Array:
    """(K, 2) intervals of the arms' true means, from all their fidelities.

    problem  a `Problem`, or an `Instance`
    counts   (K, M) how many evaluations each cell has
    means    (K, M) the means of their values
    delta    with a probability of 1 - delta all true means are inside at all times
    values   in place of counts and means, all values, as `evidence` takes them

    Two bets are made against every mean that an arm can have: that its values are too high for it, and too low. The
    interval holds the means against which neither bet has multiplied its stake by

        2 K / delta

    An interval whose low end is above its high end is empty: the arm's data contradict its bias bounds.

    >>> from mfbai import Gaussian, Problem, intervals
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> intervals(problem, [[20, 2], [20, 2]], [[0.50, 0.52], [0.81, 0.79]], delta=0.05).round(3).tolist()
    [[0.332, 0.672], [0.638, 0.978]]
    """
    model, stats, sign = _read(problem, counts, means, values, 0.0, delta)
    return find_intervals(model, stats, sign, delta)


def find_intervals(model: Model, stats: Stats, sign: float, delta: float) -> Array:
    """The same of statistics."""
    K = len(stats.count)
    ends = np.zeros((K, 2))
    e_values.limits(model, stats, log(2 * K / delta), e_values.make_work(), ends)
    return ends if sign > 0 else -ends[:, ::-1]


def find_differences(model: Model, stats: Stats, sign: float, delta: float, leader: int, known: Array) -> Array:
    """(K, 2) intervals of the leader's top mean minus each arm's: with a probability of 1 - delta all are true, at all
    times and whichever arm leads. Those of arms without data are as wide as the family and the bias bounds allow.

    For laws that are not quadratic, the search would take a minute for a thousand arms; for those that learn their
    noise, what is ruled out need not be all beyond one end. There they follow from the `known` intervals of the arms at
    the same delta, and are a little wider.
    """
    if model.law.quadratic and model.law.known:
        ends = _search_differences(model, stats, delta, leader)
        ends = ends if sign > 0 else 0.0 - ends[:, ::-1]
    else:
        ends = known[leader] - known[:, ::-1]
    ends[leader] = 0.0
    return ends


def _search_differences(model: Model, stats: Stats, delta: float, leader: int) -> Array:
    K = len(stats.count)
    work, seen, ends = _fits(model, stats), stats.count.any(axis=1), np.empty((K, 2))
    middles = np.zeros(K)
    middles[seen] = (work.psi_low[seen] + work.psi_high[seen]) / 2
    differences.fill(model, stats, leader, seen, middles, log(K * (K - 1) / delta), e_values.make_work(), ends)
    return ends


def bias_alarms(
    problem: Problem | Instance,
    counts: ArrayLike | None = None,
    means: ArrayLike | None = None,
    delta: float = 0.05,
    *,
    values: Values | None = None,
) -> list[BiasAlarm]:
    """The arms whose data contradict their stated bias bounds: a list of `BiasAlarm`.

    problem  a `Problem`, or an `Instance`
    counts   (K, M) how many evaluations each cell has
    means    (K, M) the means of their values
    delta    if all bounds hold there is ever an alarm, however often one looks, with this probability at most
    values   in place of counts and means, all values, as `evidence` takes them

    Data must contradict each other, or the range of the family: an arm evaluated at one fidelity mostly raises no
    alarm.

    >>> from mfbai import Gaussian, Problem, bias_alarms
    >>> problem = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))
    >>> found = bias_alarms(problem, [[20, 20], [20, 20]], [[0.50, 0.80], [0.81, 0.79]], delta=0.01)
    >>> [(problem.arms[alarm.arm], problem.fidelities[alarm.fidelity], alarm.certain) for alarm in found]
    [('plain', 'fidelity 1', True)]
    """
    model, stats, _ = _read(problem, counts, means, values, 0.0, delta)
    return all_alarms(read_problem(problem), model, stats, delta)


def all_alarms(problem: Problem, model: Model, stats: Stats, delta: float) -> list[BiasAlarm]:
    """The same of statistics, and of the values of deterministic fidelities in the model."""
    found = contradictions(problem, model)
    wrong = {alarm.arm for alarm in found}
    for alarm in find_alarms(model, stats, delta):
        if alarm.arm in wrong:
            continue
        known = np.flatnonzero(~np.isnan(model.exact.value[alarm.arm]))
        top = model.cost.shape[1] - 1
        if len(known) and alarm.fidelity == top and not alarm.certain:  # only the values can contradict the top
            ends = model.exact.value[alarm.arm, known] - [model.exact.bias_high[alarm.arm, known]]
            middles = ends[0] + (model.exact.bias_high - model.exact.bias_low)[alarm.arm, known] / 2
            worst = known[np.argmax(abs(middles - stats.mean[alarm.arm, top]))]
            found.append(BiasAlarm(alarm.arm, problem.exact[worst], alarm.level, certain=len(known) == 1))
        else:
            found.append(replace(alarm, fidelity=problem.noisy[alarm.fidelity]))
    return sorted(found, key=lambda alarm: (alarm.arm, alarm.fidelity))


def contradictions(problem: Problem, model: Model) -> list[BiasAlarm]:
    """The arms whose deterministic values contradict each other, or the range of the family: that has no risk."""
    exact, found = model.exact, []
    for arm, d in zip(*np.nonzero(exact.contradicts), strict=True):
        others = np.flatnonzero(~np.isnan(exact.value[arm]))
        if exact.top and not np.isnan(exact.value[arm, -1]):
            off = exact.value[arm] - exact.value[arm, -1]
            wrong = [k for k in others if not exact.bias_low[arm, k] <= off[k] <= exact.bias_high[arm, k]]
            found += [BiasAlarm(int(arm), problem.exact[k], 0.0, certain=True) for k in wrong]
        else:
            found.append(BiasAlarm(int(arm), problem.exact[d], 0.0, certain=len(others) == 1))
    return sorted(set(found), key=lambda alarm: (alarm.arm, alarm.fidelity))


def find_alarms(model: Model, stats: Stats, delta: float) -> list[BiasAlarm]:
    """The same of statistics, by the fidelities that kernels see."""
    K, M = stats.count.shape
    fits = _fits(model, stats)
    psi = np.clip(0.0, fits.psi_low, fits.psi_high)  # the top mean that fits best, one of them if there are many
    suspects = _suspects(model, stats, fits, psi, delta)
    # Half of delta is for the arms as a whole, half for each lower fidelity with the top, which has no bias.
    found = [
        BiasAlarm(arm, m, level, certain=True)
        for arm in suspects
        for m in range(M - 1)
        if stats.count[arm, m] > 0 < stats.count[arm, -1]
        and (level := _contradiction(model, stats, arm, m, float(psi[arm]), 2 * K * (M - 1), delta)) <= delta
    ]
    for arm in set(suspects) - {alarm.arm for alarm in found}:
        if (level := _contradiction(model, stats, arm, -1, float(psi[arm]), 2 * K, delta)) <= delta:
            found.append(BiasAlarm(arm, _worst_fit(model, stats, arm, float(psi[arm])), level, certain=False))
    return sorted(found, key=lambda alarm: (alarm.arm, alarm.fidelity))


def _suspects(model: Model, stats: Stats, fits: transport.Work, psi: Array, delta: float) -> list[int]:
    """The arms whose data may contradict each other by so many nats as an alarm takes: a proof has no more of them
    than the misfit has, unless the law learns its noise; then it is looked for."""
    K, M = stats.count.shape
    target = log(2 * K / delta)
    if model.law.known:
        return [int(arm) for arm in np.flatnonzero(fits.misfit >= target * (1 - 1e-9))]
    found, claim = np.zeros(K, dtype=np.bool_), e_values.make_work()
    e_values.contradicted(model, stats, -1, psi, target, claim, found)
    for m in range(M - 1):
        e_values.contradicted(model, stats, m, psi, log(2 * K * (M - 1) / delta), claim, found)
    return [int(arm) for arm in np.flatnonzero(found)]


def _contradiction(model: Model, stats: Stats, arm: int, only: int, x: float, tests: int, delta: float) -> float:
    """The least level, of those down from delta, at which an arm's data contradict each other; 1 if they do not. The
    search starts from the top mean x."""
    claim, target = e_values.make_work(), log(tests / delta)
    if e_values.search(model, stats, arm, -1, only, x, target, claim)[0] < target:
        return 1.0
    return tests * exp(-max(e_values.search(model, stats, arm, -1, only, x, -inf, claim)[0], target))


def _worst_fit(model: Model, stats: Stats, arm: int, x: float) -> int:
    misfit = np.zeros(stats.count.shape[1])
    transport.divergences(model, stats.count, stats.mean, arm, x, misfit)
    return int(np.argmax(np.where(stats.count[arm] > 0, stats.count[arm] * misfit, -inf)))


def _read(
    problem: Problem | Instance,
    counts: ArrayLike | None,
    means: ArrayLike | None,
    values: Values | None,
    tolerance: float,
    delta: float = 0.5,
) -> tuple[Model, Stats, float]:
    """What the kernels take; and -1 if the problem minimises."""
    problem = read_problem(problem)
    faults = Faults()
    check_delta(faults, delta)
    if np.ndim(delta):
        faults.add("delta", f"is {delta!r}: give one risk")
    model, stats = read_evaluations(problem, counts, means, values, tolerance, faults)
    return model, stats, problem.sign
