"""The oracle: the least cost at which any strategy can find the best arm, and the shares in which to spend it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import log
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.analysis import cutting_planes
from mfbai.analysis.sentences import ROUNDING
from mfbai.checks import Cells, check_delta
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.kernels import allocation, transport
from mfbai.kernels.exact import take_exact
from mfbai.kernels.parts import Wanted, load, needs
from mfbai.model.compiled import Model
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import check_instance
from mfbai.pictures import picture_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
GOOD = 1e-9  # a relative gap above this is worth the slower method
LEAST_NOISE = 1e-6  # of the range of the top means: a smaller deviation is too little to compute with
SLACK = 1e-7  # a cell this close to being worth its cost is taken to be worth it, when other optima are looked for


@dataclass(frozen=True, eq=False, repr=False)
class Oracle:
    """C*, the shares w* that attain it, and a proof that nothing is cheaper: what `oracle` returns.

    cost_complexity  C*; an upper bound, at most 1 + gap times the lower one
    weights          (K, M) the cost shares; zero if nothing need be spent, that is if C* is 0
    gap              the relative distance of an upper and a lower bound on C*, computed independently, from the weights
                     and from prices
    best             the arm to be answered; with a tolerance the cheapest to certify of those close enough to the best
    alternatives     (K,) top mean at which each rival is hardest to tell from the best arm; NaN for that itself
    problem          of the instance

    With f the least transport cost from the best arm to a rival, if the cost is spent in the shares w:

        1 / C* = max over w of min over rivals of f

    So after spending c in the optimal shares, the evidence for the best arm is c / C* against each of them.

    >>> from mfbai import oracle
    >>> found = oracle("lucb-trap")
    >>> round(found.cost_complexity, 3), round(found.lower_bound(0.01), 1)
    (4000.0, 14918.8)
    """

    cost_complexity: float
    weights: Array
    gap: float
    best: int
    alternatives: Array
    problem: Problem
    _program: cutting_planes.Program
    _solution: cutting_planes.Solution
    _tied: bool

    def __repr__(self) -> str:
        return f"<Oracle: C* = {self.cost_complexity:.7g} within {max(self.gap, ROUNDING):.0e}, best arm {self.best}>"

    def _repr_html_(self) -> str:
        from mfbai.analysis.markup import oracle_as_html  # for notebooks alone

        return oracle_as_html(self)

    def plot(self) -> Figure:
        """A picture of the optimal shares, by arm and fidelity. Needs matplotlib."""
        return picture_of(self)

    @property
    def assumes_normal(self) -> bool:
        """Whether C* is that of normal noise of the deviation in the instance: the family says nothing of its law."""
        return self.problem.family.learns

    @property
    def pulls(self) -> Array:
        """(K, M) the same shares, counted in evaluations."""
        pulls: Array = self.weights / np.where(self.problem.costs > 0, self.problem.costs, 1.0)
        return pulls / max(float(pulls.sum()), np.finfo(float).tiny)

    def lower_bound(self, delta: float) -> float:
        """The least expected cost of any strategy that errs with probability delta at most: C* ln(1 / (2.4 delta))."""
        faults = Faults()
        check_delta(faults, delta)
        if np.ndim(delta):
            faults.add("delta", f"is {delta!r}: give one risk at a time")
        faults.raise_if_any("call")
        return self.cost_complexity * max(-log(2.4) - log(delta), 0.0)

    @cached_property
    def unique(self) -> bool:
        """Whether these are the only optimal shares, up to rounding. Two linear programs."""
        return not self._tied and (self.cost_complexity == 0 or _is_unique(self._program, self._solution))


def oracle(instance: Instance | str, tolerance: float = 0.0, *, start: ArrayLike | Oracle | None = None) -> Oracle:
    """The optimal allocation for known means, with a certificate: returns an `Oracle`.

    instance   an `Instance`, or the name or file of one
    tolerance  an arm this close to the best is as good
    start      the result or the weights of a similar problem: quicker

    It solves

        C* = min over w of sum w
             s.t. min over eta of sum_m (w[best,m] A_m(eta) + w[a,m] B_{a,m}(eta)) >= 1 for every rival a

    and the shares are w / C*. A and B are the divergences, over cost, of each cell's mean from the nearest one that the
    bias bounds allow if the arm's top mean were eta. O(K M) a pass, some ten passes. For the families symmetric and
    bounded it is the bound of one who knows the deviation, if the noise were normal (`assumes_normal`). The values of
    deterministic fidelities are known from the start, and what they cost, once, is not counted: C* is a cost for each
    nat of certainty.

    >>> from mfbai import load, oracle
    >>> found = oracle(load("paper-5x2", variance=0.1))
    >>> round(found.cost_complexity, 4), found.weights[0].round(7).tolist()
    (266.4911, [0.0968565, 0.0])
    """
    return find_oracle(instance, tolerance, start, GOOD)


def find_oracle(
    instance: Instance | str, tolerance: float = 0.0, start: ArrayLike | Oracle | None = None, good: float = GOOD
) -> Oracle:
    """The same, where a relative gap up to `good` is not worth the slower method."""
    instance, programs, shares = _checked(instance, tolerance, start)
    _compile(type(programs[0].model.law), programs[0].model)
    found = _solve_all(programs, shares, good)
    costs = [solution.cost for solution in found]
    i = int(np.argmin(costs))
    if not np.isfinite(costs[i]):
        more = "another" if tolerance else "a"
        told = f"differ by {instance.gap:g} at the top: too little to compute with; give {more} tolerance"
        raise InvalidInput([Fault("the two best arms", told)])
    lower = min(solution.lower for solution in found if solution.cost < np.inf)  # others cost too much to compute
    gap = 0.0 if costs[i] == 0 else costs[i] / lower - 1 if lower > 0 else np.inf
    weights = instance.problem.whole(found[i].weights, 0.0)
    weights.flags.writeable = False  # they are what is certified
    return Oracle(
        cost_complexity=costs[i],
        weights=weights,
        gap=max(gap, 0.0),
        best=int(programs[i].best),
        alternatives=instance.problem.sign * _alternatives(programs[i], found[i]),
        problem=instance.problem,
        _program=programs[i],
        _solution=found[i],
        _tied=any(cost <= costs[i] * (1 + GOOD) for j, cost in enumerate(costs) if j != i),
    )


def needed_for_oracle(model: Model) -> list[Wanted]:
    """The compiled parts that the search takes."""
    (K, M), whole = model.cost.shape, np.zeros(1, dtype=np.int64)
    table, column, work = np.zeros((K, M)), np.zeros(K), allocation.make_work(model)
    return needs(
        (allocation.allocate, model, table, 0, work),
        (allocation.weakest, model, table, table, 0, transport.make_work(model), column, column),
        (allocation.rates_at, model, table, 0, whole, column, np.zeros((3, 1, 2, M))),
        (allocation.write, 0, work, table),
    )


_ready: set[type] = set()  # laws whose parts are there


def _compile(law: type, model: Model) -> None:
    if law not in _ready:
        load(needed_for_oracle(model))
        _ready.add(law)


def informed_model(instance: Instance, tolerance: float = 0.0) -> Model:
    """The model of one who knows the size of the noise, where the family learns it."""
    model = instance.model(tolerance)
    if not model.law.known:
        least = LEAST_NOISE * np.abs(model.top_high - model.top_low).max()
        model.law.precision[:] = 1 / np.maximum(model.law.deviation, least) ** 2
    return model


def _checked(
    given: Instance | str, tolerance: float, start: ArrayLike | Oracle | None
) -> tuple[Instance, list[cutting_planes.Program], Array | None]:
    """The instance, the program of every arm that can be the answer, and the shares to start from."""
    faults = Faults()
    with faults.absorb():
        instance = check_instance(given, ties=True)
    faults.raise_if_any("call")
    with faults.absorb():
        model = informed_model(instance, tolerance)
        answers = _answers(instance, model.tolerance)
    problem = instance.problem
    shares = None if start is None else _shares(faults, problem, start)
    faults.raise_if_any("call")
    means = problem.sign * instance.means
    for d, m in enumerate(problem.exact):
        for arm in range(problem.n_arms):
            take_exact(model, arm, d, means[arm, m])
    means = np.array(means[:, problem.noisy], order="C")
    shares = None if shares is None else np.array(shares[:, problem.noisy], order="C")
    return instance, [cutting_planes.Program(model, means, answer) for answer in answers], shares


def _solve_all(
    programs: list[cutting_planes.Program], shares: Array | None, good: float
) -> list[cutting_planes.Solution]:
    """By the fast method; those that it leaves inexact, and that may still be the cheapest, by cuts."""
    found = [_solve(program, shares) for program in programs]
    for i in np.argsort([solution.lower for solution in found]):
        if found[i].gap > good and found[i].lower < min(solution.cost for solution in found):
            found[i] = cutting_planes.solve(programs[i], found[i])
    return found


def _answers(instance: Instance, tolerance: float) -> NDArray[np.int64]:
    """The arms that can be told from all others, at some cost: the best one, or those within the tolerance of it."""
    top = instance.problem.sign * instance.means[:, -1]
    order = np.argsort(-top, kind="stable")
    ahead = np.where(np.arange(len(top)) == order[0], top[order[1]], top[order[0]])  # the best of the others
    answers = np.flatnonzero(top + tolerance > ahead)
    if not answers.size:
        first, second = (instance.arms[k] for k in order[:2])
        value = float(instance.means[order[0], -1])
        told = f"of arms {first!r} and {second!r} tie at the top fidelity, at {value!r}"
        remedy = "no evidence tells which is best; give a tolerance, within which they are equally good"
        raise InvalidInput([Fault("means", f"{told}: {remedy}")])
    return answers


def _shares(faults: Faults, problem: Problem, start: ArrayLike | Oracle) -> Array | None:
    start = start.weights if isinstance(start, Oracle) else start
    shares = Cells(faults, problem.arms, problem.fidelities).read("start", start, full=True)
    if shares is not None and not (shares.min() >= 0 and shares.sum() > 0):
        faults.add("start", "has negative shares, or none above 0: give the weights of an Oracle")
    return shares


def _solve(program: cutting_planes.Program, start: Array | None) -> cutting_planes.Solution:
    """By the fast method, whose result is as good as its gap says."""
    work = allocation.make_work(program.model)
    if start is not None:
        least = program.weakest(start)[0].min()
        work.x[:] = start[program.best] / least if least > 0 else 0.0
    cost, _ = allocation.allocate(program.model, program.means, program.best, work)
    weights = np.zeros(program.means.shape)
    rivals = np.flatnonzero(np.arange(len(weights)) != program.best)
    if cost == 0:
        return cutting_planes.Solution(weights, 0.0, rivals[:0], work.eta[:0], work.price[:0], 0.0)
    if cost == np.inf:
        weights[:, -1] = 1.0
    else:
        allocation.write(program.best, work, weights)
    priced = rivals[(work.price[rivals] > 0) & np.isfinite(work.price[rivals])]
    return program.judge(weights, priced, work.eta[priced], work.price[priced])


def _alternatives(program: cutting_planes.Program, solution: cutting_planes.Solution) -> Array:
    if solution.cost == 0:
        return np.full(len(program.means), np.nan)
    values, etas = program.weakest(solution.weights)
    return np.where(np.isfinite(values), etas, np.nan)


def _is_unique(program: cutting_planes.Program, solution: cutting_planes.Solution) -> bool:
    """Whether no direction leads to other optimal weights.

    All optimal weights live on cells that are worth their cost at the optimal prices, and leave value and slope at the
    priced points as they are.
    """
    from scipy.optimize import linprog  # here, as it takes long to load
    from scipy.sparse import diags_array, vstack

    priced = solution.prices > 1e-9 * solution.prices.sum()
    arms, etas = solution.arms[priced], solution.etas[priced]
    prices = solution.prices[priced] / solution.prices[priced].sum() * solution.lower
    worth = program.bought(arms, etas, prices) >= 1 - SLACK
    used = solution.weights[worth] > cutting_planes.TIGHT
    inside = (etas > program.low[arms]) & (etas < program.high[arms])
    value, slope, _ = program.rows(arms, etas)
    rows = vstack([value, slope[inside]])[:, np.flatnonzero(worth)]
    rows = diags_array(1 / np.maximum(abs(rows).max(axis=1).toarray().ravel(), 1e-300)) @ rows
    bounds = np.column_stack([np.where(used, -1.0, 0.0), np.ones(len(used))])
    direction = np.random.default_rng(0).standard_normal(len(used))
    for objective in (direction, -direction):
        done = linprog(objective, A_eq=rows, b_eq=np.zeros(rows.shape[0]), bounds=bounds, method="highs")
        if done.status == 0 and abs(done.x).max() > 0.5:  # any direction can be followed to the end of the box
            return False
    return True
