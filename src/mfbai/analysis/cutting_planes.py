"""The optimal allocation as a semi-infinite linear program, solved by cuts: slower, and it needs no convexity.

    minimise sum w   s.t.   sum_cells w * rate(a, eta) >= 1   for every rival a and every eta

(see `kernels.allocation`, which is a thousand times as fast where divergences are convex). A linear program over the
points (a, eta) found so far is solved; each rival's weakest point is added; and so on. Near the optimum Newton steps on
the optimality conditions replace what a linear program cannot resolve.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels import allocation, transport
from mfbai.model.compiled import Model

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
ENOUGH = 1e-11  # relative gap at which there is nothing left to gain
ROUNDS, POLISH = 60, 8
SAME = 0.01  # points of an arm closer than this part of its range stand for one: cuts straddle what they look for
STEEP = 1e6  # times the rate in the middle of the range: too large for a linear program
TIGHT = 1e-9  # shares below this part of the whole count as none


@dataclass(frozen=True)
class Solution:
    """Weights with their cost, and prices at points (arm, eta), with the lower bound that they prove."""

    weights: Array  # (K, M) cost shares
    cost: float
    arms: Indices  # (P,)
    etas: Array  # (P,)
    prices: Array  # (P,)
    lower: float

    @property
    def gap(self) -> float:
        return self.cost / self.lower - 1 if self.lower > 0 else np.inf

    def better(self, other: Solution) -> Solution:
        """The cheaper weights and the higher bound of the two."""
        cheap, high = min(self, other, key=lambda s: s.cost), max(self, other, key=lambda s: s.lower)
        return replace(high, weights=cheap.weights, cost=cheap.cost)


class Program:
    """The problem of one arm against its rivals."""

    def __init__(self, model: Model, means: Array, best: int) -> None:
        self.model, self.means, self.best = model, means, best
        self.low = np.maximum(means[:, -1] - model.tolerance, model.top_low[best])
        self.high = np.minimum(means[best, -1], model.top_high - model.tolerance)
        self._work = transport.make_work(model)

    def rates(self, arms: Indices, etas: Array) -> Array:
        """(3, P, 2, M) what a unit of cost buys at each point in the cells of best arm and rival, with slope and
        curvature in eta."""
        rates = np.zeros((3, len(arms), 2, self.means.shape[1]))
        allocation.rates_at(self.model, self.means, self.best, arms, etas, rates)
        return rates

    def rows(self, arms: Indices, etas: Array) -> list[csr_array]:
        """The same as three sparse tables, points x cells."""
        from scipy.sparse import csr_array

        K, M = self.means.shape
        cells = np.stack([np.full(len(arms), self.best), arms], axis=1)[:, :, None] * M + np.arange(M)  # (P, 2, M)
        starts = np.arange(len(arms) + 1) * 2 * M
        return [csr_array((r.ravel(), cells.ravel(), starts), (len(arms), K * M)) for r in self.rates(arms, etas)]

    def weakest(self, weights: Array) -> tuple[Array, Array]:
        """Each rival's transport cost and eta; infinite for those that cannot be better."""
        values, etas = np.zeros(len(self.means)), np.zeros(len(self.means))
        counts = weights / self.model.cost
        allocation.weakest(self.model, counts, self.means, self.best, self._work, values, etas)
        return values, np.clip(etas, self.low, np.maximum(self.low, self.high))

    def judge(self, weights: Array, arms: Indices, etas: Array, prices: Array) -> Solution:
        """Any weights and prices >= 0, with the bounds that they prove."""
        weights = weights / weights.sum()
        value = float(self.weakest(weights)[0].min())
        bought = self.bought(arms, etas, prices).max(initial=0)
        lower = float(prices.sum() / bought) if 0 < bought < np.inf else 0.0
        return Solution(weights, 1 / value if value > 0 else np.inf, arms, etas, prices, lower)

    def bought(self, arms: Indices, etas: Array, prices: Array) -> Array:
        """(K, M) what a unit of cost is worth in each cell at these prices."""
        priced = prices > 0
        arms, etas, prices = arms[priced], etas[priced], prices[priced]
        best_arm, rivals = np.moveaxis(prices[:, None, None] * self.rates(arms, etas)[0], 1, 0)
        worth = np.zeros(self.means.shape)
        worth[self.best] = best_arm.sum(axis=0)
        np.add.at(worth, arms, rivals)
        return worth

    def inward(self, arms: Indices, etas: Array) -> Array:
        """The points, moved off the ends of their ranges where a rate is infinite, or too large to compute with."""
        middle = 0.5 * (self.low[arms] + self.high[arms])
        most = STEEP * self.rates(arms, middle)[0].max(axis=(1, 2))
        for k in range(48, 0, -4):
            steep = ~(self.rates(arms, etas)[0].max(axis=(1, 2)) <= most)
            etas = etas + np.where(steep, middle - etas, 0.0) * 2.0**-k
        return etas


def solve(program: Program, start: Solution) -> Solution:
    """The best solution found, starting from another one."""
    found = start
    rivals = np.flatnonzero((program.low <= program.high) & (np.arange(len(program.means)) != program.best))
    middles = 0.5 * (program.low[rivals] + program.high[rivals])
    arms = np.append(rivals, start.arms)
    etas = program.inward(arms, np.append(middles, start.etas))
    ready = 0.3  # the gap below which Newton steps may converge, and are worth their time
    for _ in range(ROUNDS):
        master = _master(program, arms, etas, scale=found.cost if np.isfinite(found.cost) else 1.0)
        if master is None:
            break
        found = found.better(master)
        if master.gap <= ready:
            found, ready = found.better(_polish(program, master)), 0.3 * master.gap
        if found.gap <= ENOUGH:
            break
        values, weak = program.weakest(master.weights * master.lower)
        new = rivals[values[rivals] < 1 - 1e-13]
        if not new.size:
            break
        arms, etas = np.append(arms, new), np.append(etas, program.inward(new, weak[new]))
    return found


def _master(program: Program, arms: Indices, etas: Array, scale: float) -> Solution | None:
    """The linear program over these points."""
    from scipy.optimize import linprog  # here, as it takes long to load
    from scipy.sparse import diags_array

    rows = program.rows(arms, etas)[0] * scale
    norms = rows.max(axis=1).toarray().ravel()
    if not norms.all():
        return None  # a point where nothing can be bought
    tolerances = {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10}
    table = -diags_array(1 / norms) @ rows
    done = linprog(np.ones(rows.shape[1]), table, -1 / norms, method="highs", options=tolerances)
    if done.status != 0 or done.fun <= 0:
        return None
    prices = np.maximum(-done.ineqlin.marginals / norms, 0)
    return program.judge(np.maximum(done.x, 0).reshape(program.means.shape), arms, etas, prices)


def _polish(program: Program, rough: Solution) -> Solution:
    """Newton's method on the optimality conditions of the cells and points that matter in a rough solution:
    value 1 and slope 0 at every point, and each cell's rates, weighted by prices, sum to 1."""
    best = rough
    arms, etas, prices = _merged(program, rough)
    cells = rough.weights > TIGHT
    weights, prices = rough.weights[cells] * rough.lower, prices * rough.lower / prices.sum()
    for _ in range(POLISH):
        inside = (etas > program.low[arms]) & (etas < program.high[arms])
        value, slope, bend = (table[:, cells.ravel()].toarray() for table in program.rows(arms, etas))
        if not np.isfinite([value, slope, bend]).all():
            break
        slope, bend = slope * inside[:, None], bend * inside[:, None]  # a point at the end of its range stays there
        step = _newton_step(value, slope, bend, weights, prices)
        weights, etas, prices = weights + step[0], etas + step[1], prices + step[2]
        etas = np.clip(etas, program.low[arms], program.high[arms])
        if min(weights.min(), prices.min()) < -TIGHT * weights.sum():
            break
        full = np.zeros(program.means.shape)
        full[cells] = np.maximum(weights, 0)
        best = best.better(program.judge(full, arms, etas, np.maximum(prices, 0)))
        if best.gap <= ENOUGH:
            break
    return best


def _newton_step(value: Array, slope: Array, bend: Array, weights: Array, prices: Array) -> list[Array]:
    """Of weights, etas and prices. The rates' value, slope and bend are (P, C): points x cells."""
    P, C = value.shape
    curvature = bend @ weights
    none, fixed = np.zeros((P, P)), np.diag(np.where(curvature == 0, 1.0, curvature))
    matrix = np.block(
        [
            [value, np.diag(slope @ weights), none],
            [slope, fixed, none],
            [np.zeros((C, C)), (slope * prices[:, None]).T, value.T],
        ]
    )
    error = np.concatenate([value @ weights - 1, slope @ weights, prices @ value - 1])
    try:
        step = np.linalg.solve(matrix, -error)
    except np.linalg.LinAlgError:  # several optima
        step = np.linalg.lstsq(matrix, -error, rcond=1e-14)[0]
    return np.split(step, [C, C + P])


def _merged(program: Program, rough: Solution) -> tuple[Indices, Array, Array]:
    """The points that have a price; neighbours of one arm become one point."""
    arms: list[int] = []
    etas: list[float] = []
    prices: list[float] = []
    for p in np.lexsort((rough.etas, rough.arms)):
        arm, eta, price = int(rough.arms[p]), float(rough.etas[p]), float(rough.prices[p])
        if price <= TIGHT * rough.prices.sum():
            continue
        near = SAME * (program.high[arm] - program.low[arm])
        if arms and arms[-1] == arm and eta - etas[-1] <= near:
            both = prices[-1] + price
            etas[-1], prices[-1] = (etas[-1] * prices[-1] + eta * price) / both, both
        else:
            arms.append(arm)
            etas.append(eta)
            prices.append(price)
    return np.array(arms), np.array(etas), np.array(prices)
