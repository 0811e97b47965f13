"""What the learner knows (Problem), what a simulation also knows (Instance), and what kernels see (Model).

Every array is indexed (arm, fidelity) = (K, M), the top fidelity, whose mean is the true one, last.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.correlation import Correlation, CorrelationLike, read_correlation
from mfbai.model.families import Family, Law
from mfbai.model.given import DIRECTIONS as DIRECTIONS
from mfbai.model.given import ROUNDING as ROUNDING
from mfbai.model.given import SEEDS as SEEDS
from mfbai.model.given import Array as Array
from mfbai.model.given import check_deviation, check_known, check_means, read_names, refuse_tie, top_interval


class Exact(NamedTuple):
    """What the kernels know of the D deterministic fidelities, in the order of the problem: see `mfbai.run.exact`."""

    value: Array  # (K, D) NaN while unknown
    cost: Array  # (K, D)
    bias_low: Array  # (K, D)
    bias_high: Array  # (K, D)
    top: bool  # whether the top fidelity is one of them: the last
    contradicts: NDArray[np.bool_]  # (K, D) whether the value contradicts earlier ones of its arm
    pending: NDArray[np.int64]  # (K, D) under way
    spent: Array  # (1,) on values that are known
    nats: Array  # (1,) of evidence that rule out an arm; a run sets it
    wish: Array  # (K, D) how much each value is worth having; 0 for not at all
    sure: NDArray[np.bool_]  # (K, D) whether it is worth its cost even if the biases are the least favourable
    due: Array  # (1,) the cost at which to look again


class Model(NamedTuple):
    """A problem as the compiled kernels see it: as if larger were always better.

    Fidelities are those with noise, and the top one. What is known of the others moves the interval of the top means.
    """

    cost: Array  # (K, M)
    bias_low: Array  # (K, M) least and
    bias_high: Array  # (K, M) greatest value of: mean here - mean at the top
    top_low: Array  # (K,) least and
    top_high: Array  # (K,) greatest top mean for which every cell still has a possible mean
    tolerance: float  # an arm this close to the best is as good
    law: Law
    common: bool  # whether arms share seeds
    epoch: NDArray[np.int64]  # (1,) grows when `law` or the interval of top means has changed for other cells too
    beaten: NDArray[np.bool_]  # (K,) whether another arm is as good for certain, by the intervals of the top means
    exact: Exact


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Problem:
    """K arms to choose from, M fidelities to evaluate them at, and what is known beforehand.

    arms        how many, or their names
    costs       of one evaluation: one number, one per fidelity (M,), or (K, M)
    biases      how far a fidelity's mean can be from the top's: radii xi, |mean - top mean| <= xi, as one number,
                (M,) or (K, M); or a pair (low, high) of these, low <= mean - top mean <= high. Zero at the top.
    family      the noise: Gaussian(variance=0.01), Bernoulli(), ...
    fidelities  how many, or their names; cheapest first, the true one last
    direction   "maximise" or "minimise" the top mean
    seeds       "independent", or "common": arms are evaluated with the same seeds in turn, so that luck cancels
    deterministic  fidelities without noise, such as a formula: their names or indices, or true or false for each. They
                are evaluated once an arm, and may be free. A variance of 0 for all arms says the same.

    A tuple of two is read as a pair as soon as one of the two is itself a sequence: `([-0.1, 0], [0.3, 0])`.
    Anything else is radii, so `(0.25, 0)` says 0.25 and 0 for two fidelities; write a (2, M) table of radii as a
    list or an array.

    >>> from mfbai.model.families import Gaussian
    >>> Problem(["plain", "wide", "deep"], costs=[0.05, 5], biases=[0.1, 0], family=Gaussian(0.01))
    <Problem: 3 arms (plain, wide, deep), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise>
    """

    arms: tuple[str, ...]
    fidelities: tuple[str, ...]
    costs: Array  # (K, M), as are the biases; read-only
    bias_low: Array
    bias_high: Array
    family: Family
    direction: str
    seeds: str
    deterministic: NDArray[np.bool_]  # (M,), read-only

    def __init__(
        self,
        arms: int | Sequence[str],
        costs: ArrayLike,
        biases: ArrayLike | tuple[ArrayLike, ArrayLike],
        family: Family,
        *,
        fidelities: int | Sequence[str] | None = None,
        direction: str = "maximise",
        seeds: str = "independent",
        deterministic: str | int | Sequence[str] | Sequence[int] | ArrayLike | None = None,
    ) -> None:
        faults = Faults()
        cells = read_names(faults, arms, fidelities, costs, biases, family)
        known = check_known(cells, costs, biases, family, direction, seeds, deterministic)
        faults.raise_if_any("problem")
        vars(self).update(
            arms=cells.arms,
            fidelities=cells.fidelities,
            costs=_read_only(known.costs, cells.shape),
            bias_low=_read_only(known.bias_low, cells.shape),
            bias_high=_read_only(known.bias_high, cells.shape),
            family=copy.deepcopy(family),  # the caller may change the arrays that it was made of
            direction=direction,
            seeds=seeds,
            deterministic=known.deterministic,
        )
        self.deterministic.flags.writeable = False

    @property
    def n_arms(self) -> int:
        return len(self.arms)

    @property
    def n_fidelities(self) -> int:
        return len(self.fidelities)

    @property
    def shape(self) -> tuple[int, int]:
        """(K, M)."""
        return self.n_arms, self.n_fidelities

    @property
    def sign(self) -> float:
        """What values are multiplied by to make larger better."""
        return DIRECTIONS[self.direction]

    @cached_property
    def noisy(self) -> list[int]:
        """The fidelities that kernels see: those with noise, and the top one."""
        return [m for m in range(self.n_fidelities) if not self.deterministic[m] or m == self.n_fidelities - 1]

    @cached_property
    def exact(self) -> list[int]:
        """The deterministic fidelities."""
        return [int(m) for m in np.flatnonzero(self.deterministic)]

    def seen_as(self, fidelity: int) -> int:
        """The index by which kernels know a fidelity; -1 - d for the d-th deterministic one."""
        return -1 - self.exact.index(fidelity) if self.deterministic[fidelity] else self.noisy.index(fidelity)

    def whole(self, seen: ArrayLike, exact: ArrayLike) -> Array:
        """(K, M) of a table of what kernels see, (K, noisy), and one of the deterministic fidelities, (K, exact)."""
        table = np.zeros(self.shape)
        table[:, self.noisy], table[:, self.exact] = seen, exact
        return table

    def admits(self, value: float, fidelity: int) -> bool:
        """Whether an evaluation at a fidelity can return `value`: where there is no noise, any possible mean."""
        if not self.deterministic[fidelity]:
            return self.family.admits_at(value, fidelity)
        low, high = self.family.ranges(self.n_fidelities)
        return bool(np.isfinite(value) and low[fidelity] <= value <= high[fidelity])

    def model(self, tolerance: float = 0.0) -> Model:
        """The arrays for the kernels, reflected if the problem minimises. They are copies: kernels compile a
        second time for read-only arrays."""
        gap = real(tolerance)
        if gap is None or not 0 <= gap < np.inf:
            raise InvalidInput([Fault("tolerance", f"is {tolerance!r:.60}: it must be 0 or more, and finite")])
        low, high, ranges = self.bias_low, self.bias_high, self.family.ranges(self.n_fidelities)
        if self.sign < 0:
            low, high, ranges = 0.0 - high, 0.0 - low, (0.0 - ranges[1], 0.0 - ranges[0])  # no -0.0
        seen, costs = self.noisy, self._noisy_costs()
        law = self._noisy_family().law(costs.shape, self.sign)
        known = (costs, _columns(low, seen), _columns(high, seen), *top_interval(low, high, ranges))
        epoch, beaten = np.zeros(1, dtype=np.int64), np.zeros(self.n_arms, dtype=np.bool_)
        return Model(*known, gap, law, self.seeds == "common", epoch, beaten, self._exact(low, high))

    def _noisy_costs(self) -> Array:
        """Of what kernels see; a top fidelity that they never evaluate costs something, for arithmetic's sake."""
        costs = _columns(self.costs, self.noisy)
        costs[costs == 0] = 1.0
        return costs

    def _noisy_family(self) -> Family:
        """Of what kernels see; a top fidelity that they never evaluate has noise, for the same reason."""
        if not self.exact:
            return self.family
        family = self.family.at(self.noisy)
        variance = getattr(family, "variance", None)
        if variance is None or np.all(variance):
            return family
        table = np.asarray(variance, dtype=np.float64)
        return dataclasses.replace(family, variance=np.where(table > 0, table, 1.0))  # type: ignore[call-arg]

    def _exact(self, low: Array, high: Array) -> Exact:
        shape = self.n_arms, len(self.exact)
        return Exact(
            value=np.full(shape, np.nan),
            cost=_columns(self.costs, self.exact),
            bias_low=_columns(low, self.exact),
            bias_high=_columns(high, self.exact),
            top=bool(self.deterministic[-1]),
            contradicts=np.zeros(shape, dtype=np.bool_),
            pending=np.zeros(shape, dtype=np.int64),
            spent=np.zeros(1),
            nats=np.ones(1),
            wish=np.zeros(shape),
            sure=np.zeros(shape, dtype=np.bool_),
            due=np.zeros(1),
        )

    def replace(self, **changes: Any) -> Problem:
        """The same problem, but for the arguments of Problem given here.

        >>> from mfbai.model.families import Gaussian
        >>> Problem(2, costs=1, biases=0, family=Gaussian(0.01)).replace(arms=["old", "new"]).arms
        ('old', 'new')
        """
        given = {**self._arguments(), **changes}
        names = given["fidelities"]
        if "deterministic" not in changes and not isinstance(names, int) and set(names) <= set(self.fidelities):
            given["deterministic"] = [name for name in names if self.deterministic[self.fidelities.index(name)]]
        return Problem(**given)

    def instance(
        self, means: ArrayLike, *, name: str | None = None, ties: bool = False, deviation: ArrayLike | None = None
    ) -> Instance:
        """This problem with its truth, the (K, M) means, and where the family does not say it, the deviation."""
        return Instance(means, **self._arguments(), name=name, ties=ties, deviation=deviation)

    def with_variance(self, variance: ArrayLike) -> Problem:
        """The same problem with another known variance (or proxy)."""
        if getattr(self.family, "variance", None) is None:
            told = f"cannot be set: the {self.family.name} family of this problem has none to replace"
            raise InvalidInput([Fault("variance", told)])
        return self.replace(family=dataclasses.replace(self.family, variance=variance))  # type: ignore[call-arg]

    def towards(self, direction: str) -> Problem:
        """The same problem, to "maximise" or to "minimise"."""
        return self.replace(direction=direction)

    def to_dict(self) -> dict[str, Any]:
        """The tables of a spec file (see mfbai.model.spec)."""
        shared = {"seeds": self.seeds} if self.seeds != SEEDS[0] else {}
        columns = zip(self.fidelities, self.costs.T, self.bias_low.T, self.bias_high.T, self.deterministic, strict=True)
        return {
            "problem": {"arms": list(self.arms), "direction": self.direction, **shared},
            "fidelity": [
                {
                    "name": name,
                    "cost": _cost_entry(cost),
                    "bias": _bias_entry(low, high),
                    **({"deterministic": True} if exact else {}),
                }
                for name, cost, low, high, exact in columns
            ],
            "family": self.family.to_dict(),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        if self._words() != other._words():
            return False
        return self.family.name == other.family.name and all(map(np.array_equal, self._arrays(), other._arrays()))

    def __repr__(self) -> str:
        return f"<Problem: {self._summary()}>"

    def _words(self) -> tuple[Any, ...]:
        return self.arms, self.fidelities, self.direction, self.seeds, self.exact

    def _arguments(self) -> dict[str, Any]:
        """What Problem was made of."""
        return {
            "arms": self.arms,
            "costs": self.costs,
            "biases": (self.bias_low, self.bias_high),
            "family": self.family,
            "fidelities": self.fidelities,
            "direction": self.direction,
            "seeds": self.seeds,
            "deterministic": self.exact,
        }

    def _arrays(self) -> tuple[Any, ...]:
        noise = () if self.family.learns else self._noisy_family().law((self.n_arms, len(self.noisy)))
        return (self.costs, self.bias_low, self.bias_high, *self.family.ranges(self.n_fidelities), *noise)

    def _labels(self) -> list[tuple[str, bool]]:
        return list(zip(self.fidelities, self.deterministic.tolist(), strict=True))

    def _summary(self) -> str:
        arms = f"{self.n_arms} arms ({_some(self.arms)})"
        word = "fidelity" if self.n_fidelities == 1 else "fidelities"
        names = [f"{name}, deterministic" if exact else name for name, exact in self._labels()]
        fidelities = f"{self.n_fidelities} {word} ({_some(names)})"
        seeds = ", common seeds" if self.seeds == "common" else ""
        return f"{arms}, {fidelities}, {self.family.name}, {self.direction}{seeds}"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Instance:
    """A problem and its truth: the (K, M) means. For simulation; a learner sees only `.problem`.

    The best arm must be unique, unless `ties` says otherwise: then a tolerance is needed to find an answer.

    `deviation` is the standard deviation of the values, for families that do not state it: one number, one per
    fidelity or (K, M).

    `correlation` is that of values with the same seed, of all arms and fidelities; or a table with that of `arms` at
    one fidelity, of `fidelities` of one arm, and the `factor` they share, "normal" or "heavy". It matters only where
    seeds are common.

    >>> from mfbai.model.families import Gaussian
    >>> instance = Instance([[0.4, 0.5], [0.7, 0.6]], costs=[0.5, 5], biases=[0.1, 0], family=Gaussian(0.01))
    >>> instance.best, round(instance.gap, 3)
    (1, 0.1)
    """

    problem: Problem
    means: Array  # (K, M), read-only
    deviation: Array | None  # (K, M), read-only; None if the family states the noise
    name: str | None  # a label; two instances of different names can be equal
    correlation: Correlation | None  # None if values are independent

    def __init__(
        self,
        means: ArrayLike,
        costs: ArrayLike,
        biases: ArrayLike | tuple[ArrayLike, ArrayLike],
        family: Family,
        *,
        arms: int | Sequence[str] | None = None,
        fidelities: int | Sequence[str] | None = None,
        direction: str = "maximise",
        seeds: str = "independent",
        deterministic: str | int | Sequence[str] | Sequence[int] | ArrayLike | None = None,
        name: str | None = None,
        ties: bool = False,
        deviation: ArrayLike | None = None,
        correlation: CorrelationLike = None,
    ) -> None:
        faults = Faults()
        cells = read_names(faults, arms, fidelities, costs, biases, family, means)
        known = check_known(cells, costs, biases, family, direction, seeds, deterministic)
        table = check_means(cells, known, means)
        if table is not None and known.sign is not None and not ties:
            refuse_tie(faults, cells.arms, known.sign * table[:, -1])
        spread = check_deviation(cells, known.family, deviation)
        shared = read_correlation(faults, correlation, known.family)
        faults.raise_if_any("instance")
        about: dict[str, Any] = {"direction": direction, "seeds": seeds, "deterministic": deterministic}
        problem = Problem(cells.arms, costs, biases, family, fidelities=cells.fidelities, **about)
        vars(self).update(
            problem=problem,
            means=_read_only(table, cells.shape),
            deviation=None if spread is None else _read_only(spread, cells.shape),
            name=name,
            correlation=shared,
        )

    @property
    def arms(self) -> tuple[str, ...]:
        return self.problem.arms

    @property
    def fidelities(self) -> tuple[str, ...]:
        return self.problem.fidelities

    @property
    def shape(self) -> tuple[int, int]:
        """(K, M)."""
        return self.problem.shape

    @property
    def best(self) -> int:
        """The index of the best arm."""
        return int(np.argmax(self.problem.sign * self.means[:, -1]))

    @property
    def gap(self) -> float:
        """How much better the best arm is than the second, at the top fidelity."""
        second, first = np.sort(self.problem.sign * self.means[:, -1])[-2:]
        return float(first - second)

    def model(self, tolerance: float = 0.0) -> Model:
        """That of the problem, with what a simulation draws values by."""
        model = self.problem.model(tolerance)
        if self.deviation is None:
            return model
        return model._replace(law=model.law._replace(deviation=_columns(self.deviation, self.problem.noisy)))

    def with_variance(self, variance: ArrayLike) -> Instance:
        """The same instance with another known variance (or proxy)."""
        other = copy.copy(self)
        vars(other).update(problem=self.problem.with_variance(variance))
        return other

    def with_seeds(self, seeds: str) -> Instance:
        """The same instance with "independent" or "common" seeds."""
        other = copy.copy(self)
        vars(other).update(problem=self.problem.replace(seeds=seeds))
        return other

    def to_dict(self) -> dict[str, Any]:
        """The tables of a spec file (see mfbai.model.spec)."""
        shared = {} if self.correlation is None else {"correlation": self.correlation.to_spec()}
        spread = {} if self.deviation is None else {"deviation": self.deviation.tolist()}
        return {**self.problem.to_dict(), "truth": {"means": self.means.tolist(), **spread, **shared}}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        same = self.problem == other.problem and self.correlation == other.correlation
        tables = [(part.means, -1.0 if part.deviation is None else part.deviation) for part in (self, other)]
        return same and all(map(np.array_equal, *tables))

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        shared = "" if self.correlation is None else f", correlation {self.correlation}"
        return f"<Instance{label}: {self.problem._summary()}, best {self.arms[self.best]!r} by {self.gap:.4g}{shared}>"


def _columns(table: Array, fidelities: list[int]) -> Array:
    """A copy of these columns, as kernels want it."""
    return np.array(table[:, fidelities], order="C")


def _read_only(table: Array | None, shape: tuple[int, int]) -> Array:
    array = np.array(np.broadcast_to(np.asarray(table), shape), order="C")
    array.flags.writeable = False
    return array


def _cost_entry(cost: Array) -> Any:
    """One number where all arms share it, else one per arm."""
    return float(cost[0]) if (cost == cost[0]).all() else cost.tolist()


def _bias_entry(low: Array, high: Array) -> Any:
    """The shortest form that can be read in one way only: a radius or [low, high] for all arms, or per arm."""
    pairs = [[*bounds] for bounds in zip(low.tolist(), high.tolist(), strict=True)]
    shared = all(pair == pairs[0] for pair in pairs)
    if shared and low[0] == -high[0]:
        return float(high[0])
    return pairs[0] if shared and len(pairs) > 2 else pairs  # two arms: [low, high] could be a radius for each


def _some(names: Sequence[str]) -> str:
    return ", ".join(names if len(names) <= 6 else [*names[:3], "...", names[-1]])
