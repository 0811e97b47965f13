"""What the learner knows (Problem), what a simulation also knows (Instance), and what kernels see (Model).

Every array is indexed (arm, fidelity) = (K, M), the top fidelity, whose mean is the true one, last.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import SHOWN_CELLS, Cells, check_choice, check_names, real, shape_of
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.families import Family, Law

Array = NDArray[np.float64]
DIRECTIONS = {"maximise": 1.0, "minimise": -1.0}
ROUNDING = 1e-9  # relative slack for means written at the very edge of their bias bounds, such as 0.5 - 0.1


class Model(NamedTuple):
    """A problem as the compiled kernels see it: as if larger were always better."""

    cost: Array  # (K, M)
    bias_low: Array  # (K, M) least and
    bias_high: Array  # (K, M) greatest value of: mean here - mean at the top
    top_low: Array  # (K,) least and
    top_high: Array  # (K,) greatest top mean for which every cell still has a possible mean
    tolerance: float  # an arm this close to the best is as good
    law: Law


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

    def __init__(
        self,
        arms: int | Sequence[str],
        costs: ArrayLike,
        biases: ArrayLike | tuple[ArrayLike, ArrayLike],
        family: Family,
        *,
        fidelities: int | Sequence[str] | None = None,
        direction: str = "maximise",
    ) -> None:
        faults = Faults()
        cells = _cells(faults, arms, fidelities, costs, biases, family)
        known = _check_known(cells, costs, biases, family, direction)
        faults.raise_if_any("problem")
        vars(self).update(
            arms=cells.arms,
            fidelities=cells.fidelities,
            costs=_read_only(known.costs, cells.shape),
            bias_low=_read_only(known.bias_low, cells.shape),
            bias_high=_read_only(known.bias_high, cells.shape),
            family=copy.deepcopy(family),  # the caller may change the arrays that it was made of
            direction=direction,
        )

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

    def model(self, tolerance: float = 0.0) -> Model:
        """The arrays for the kernels, reflected if the problem minimises. They are copies: kernels compile a
        second time for read-only arrays."""
        gap = real(tolerance)
        if gap is None or not 0 <= gap < np.inf:
            raise InvalidInput([Fault("tolerance", f"is {tolerance!r:.60}: it must be 0 or more, and finite")])
        low, high, mean_range = self.bias_low, self.bias_high, self.family.mean_range
        if self.sign < 0:
            low, high, mean_range = 0.0 - high, 0.0 - low, (0.0 - mean_range[1], 0.0 - mean_range[0])  # no -0.0
        law = self.family.law(self.shape, self.sign)
        top = _top_interval(low, high, mean_range)
        return Model(self.costs.copy(), low.copy(), high.copy(), *top, gap, law)

    def with_variance(self, variance: ArrayLike) -> Problem:
        """The same problem with another known variance (or proxy)."""
        if getattr(self.family, "variance", None) is None:
            told = f"cannot be set: the {self.family.name} family of this problem has none to replace"
            raise InvalidInput([Fault("variance", told)])
        family = dataclasses.replace(self.family, variance=variance)  # type: ignore[call-arg]
        biases = (self.bias_low, self.bias_high)
        return Problem(self.arms, self.costs, biases, family, fidelities=self.fidelities, direction=self.direction)

    def towards(self, direction: str) -> Problem:
        """The same problem, to "maximise" or to "minimise"."""
        biases = (self.bias_low, self.bias_high)
        return Problem(self.arms, self.costs, biases, self.family, fidelities=self.fidelities, direction=direction)

    def to_dict(self) -> dict[str, Any]:
        """The tables of a spec file (see mfbai.model.spec)."""
        columns = zip(self.fidelities, self.costs.T, self.bias_low.T, self.bias_high.T, strict=True)
        return {
            "problem": {"arms": list(self.arms), "direction": self.direction},
            "fidelity": [
                {"name": name, "cost": _cost_entry(cost), "bias": _bias_entry(low, high)}
                for name, cost, low, high in columns
            ],
            "family": self.family.to_dict(),
        }

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        if (self.arms, self.fidelities, self.direction) != (other.arms, other.fidelities, other.direction):
            return False
        return self.family.name == other.family.name and all(map(np.array_equal, self._arrays(), other._arrays()))

    def __repr__(self) -> str:
        return f"<Problem: {self._summary()}>"

    def _arrays(self) -> tuple[Any, ...]:
        return (self.costs, self.bias_low, self.bias_high, *self.family.law(self.shape))

    def _summary(self) -> str:
        arms = f"{self.n_arms} arms ({_some(self.arms)})"
        word = "fidelity" if self.n_fidelities == 1 else "fidelities"
        fidelities = f"{self.n_fidelities} {word} ({_some(self.fidelities)})"
        return f"{arms}, {fidelities}, {self.family.name}, {self.direction}"


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Instance:
    """A problem and its truth: the (K, M) means. For simulation; a learner sees only `.problem`.

    The best arm must be unique, unless `ties` says otherwise: then a tolerance is needed to find an answer.

    >>> from mfbai.model.families import Gaussian
    >>> instance = Instance([[0.4, 0.5], [0.7, 0.6]], costs=[0.5, 5], biases=[0.1, 0], family=Gaussian(0.01))
    >>> instance.best, round(instance.gap, 3)
    (1, 0.1)
    """

    problem: Problem
    means: Array  # (K, M), read-only
    name: str | None  # a label; two instances of different names can be equal

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
        name: str | None = None,
        ties: bool = False,
    ) -> None:
        faults = Faults()
        cells = _cells(faults, arms, fidelities, costs, biases, family, means)
        known = _check_known(cells, costs, biases, family, direction)
        table = _check_means(cells, known, means)
        if table is not None and known.sign is not None and not ties:
            refuse_tie(faults, cells.arms, known.sign * table[:, -1])
        faults.raise_if_any("instance")
        problem = Problem(cells.arms, costs, biases, family, fidelities=cells.fidelities, direction=direction)
        vars(self).update(problem=problem, means=_read_only(table, cells.shape), name=name)

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

    def with_variance(self, variance: ArrayLike) -> Instance:
        """The same instance with another known variance (or proxy)."""
        other = copy.copy(self)
        vars(other).update(problem=self.problem.with_variance(variance))
        return other

    def to_dict(self) -> dict[str, Any]:
        """The tables of a spec file (see mfbai.model.spec)."""
        return {**self.problem.to_dict(), "truth": {"means": self.means.tolist()}}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Instance):
            return NotImplemented
        return self.problem == other.problem and np.array_equal(self.means, other.means)

    def __repr__(self) -> str:
        label = f" {self.name!r}" if self.name else ""
        return f"<Instance{label}: {self.problem._summary()}, best {self.arms[self.best]!r} by {self.gap:.4g}>"


class _Known(NamedTuple):
    """What the checks could read; None where a fault was noted."""

    costs: Array | None
    bias_low: Array | None
    bias_high: Array | None
    family: Family | None
    sign: float | None


def _cells(
    faults: Faults, arms: Any, fidelities: Any, costs: Any, biases: Any, family: Any, means: Any = None
) -> Cells:
    """The names of the arms and fidelities, counted from the tables where they are not given."""
    shapes = [shape_of(value) for value in (means, costs, *_bias_parts(biases), getattr(family, "variance", None))]
    n_arms = next((shape[0] for shape in shapes if len(shape) == 2), 2)
    n_fidelities = next((shape[-1] for shape in shapes if shape), 1)
    if arms is None and means is None:
        faults.add("arms", "is None: give how many arms there are, or a list of their names")
    return Cells(
        faults,
        check_names(faults, "arms", arms, count=n_arms, least=2),
        check_names(faults, "fidelities", fidelities, count=n_fidelities, least=1),
    )


def _check_known(cells: Cells, costs: Any, biases: Any, family: Any, direction: Any) -> _Known:
    costs = cells.read("costs", costs)
    if costs is not None:
        cells.refuse("costs", costs, costs <= 0, "a cost must be positive")
    low, high = _check_biases(cells, biases)
    family = _check_family(cells, family)
    if low is not None and high is not None and family is not None:
        _refuse_impossible_arms(cells, low, high, family)
    check_choice(cells.faults, "direction", direction, DIRECTIONS)
    return _Known(costs, low, high, family, DIRECTIONS.get(direction) if isinstance(direction, str) else None)


def _bias_parts(biases: Any) -> tuple[Any, ...]:
    """(low, high) of a pair, or the radii alone; Problem's docstring has the rule."""
    pair = isinstance(biases, tuple) and len(biases) == 2 and any(shape_of(part) for part in biases)
    return biases if pair else (biases,)


def _check_biases(cells: Cells, biases: Any) -> tuple[Array, Array] | tuple[None, None]:
    parts = _bias_parts(biases)
    if len(parts) == 2:
        return _check_bias_bounds(cells, *parts)
    radius = cells.read("biases", *parts)
    if radius is None:
        return None, None
    cells.refuse(
        "biases", radius, radius < 0, "a radius cannot be negative; bounds are a pair such as ([-0.1, 0], [0.2, 0])"
    )
    _refuse_top_bias(cells, "biases", radius)
    radius = np.broadcast_to(radius, cells.shape)
    return 0.0 - radius, radius


def _check_bias_bounds(cells: Cells, low: Any, high: Any) -> tuple[Array, Array] | tuple[None, None]:
    low, high = cells.read("bias_low", low), cells.read("bias_high", high)
    if low is None or high is None:
        return None, None
    _refuse_top_bias(cells, "bias_low", low)
    _refuse_top_bias(cells, "bias_high", high)
    low, high = (part.copy() for part in np.broadcast_arrays(low, high))
    cells.refuse("bias_low", low, low > high, lambda index: f"it is above its bias_high, {float(high[index])!r}")
    return np.broadcast_to(low, cells.shape), np.broadcast_to(high, cells.shape)


def _refuse_top_bias(cells: Cells, field: str, given: Array) -> None:
    why = "the last fidelity is the true one: its bias must be 0"
    if given.ndim == 0:
        cells.refuse(field, given, abs(given) > 0, f"{why}; give one per fidelity, the last of them 0")
        return
    at_top = np.arange(given.shape[-1]) == given.shape[-1] - 1
    cells.refuse(field, given, at_top & (abs(given) > 0), why)


def _check_family(cells: Cells, family: Any) -> Family | None:
    if not isinstance(family, Family):
        cells.faults.add("family", f"is {family!r}: give a family, such as Gaussian(variance=0.01)")
        return None
    before = len(cells.faults)
    family.check(cells)
    return family if len(cells.faults) == before else None


def _refuse_impossible_arms(cells: Cells, low: Array, high: Array, family: Family) -> None:
    top_low, top_high = _top_interval(low, high, family.mean_range)
    for arm in np.flatnonzero(top_low > top_high)[:SHOWN_CELLS]:
        why = f"leave no possible mean: {family.name} means are in {list(family.mean_range)}"
        cells.faults.add("biases", f"{why}; check arm {cells.arms[arm]!r}")


def _check_means(cells: Cells, known: _Known, means: Any) -> Array | None:
    table = cells.read("means", means, full=True)
    if table is None:
        return None
    if known.family is not None:
        known.family.check_means(cells, table)
    if known.bias_low is not None and known.bias_high is not None:
        _refuse_beyond_bias(cells, table, known.bias_low, known.bias_high)
    return table


def _refuse_beyond_bias(cells: Cells, means: Array, low: Array, high: Array) -> None:
    top = means[:, -1:]
    off = means - top
    slack = ROUNDING * (abs(means) + abs(top))

    def why(index: tuple[int, ...]) -> str:
        bounds = f"[{low[index]:g}, {high[index]:g}]"
        return f"it is {off[index]:+.6g} from the arm's top mean, outside the bias bounds {bounds}"

    cells.refuse("means", means, (off < low - slack) | (off > high + slack), why)


def refuse_tie(faults: Faults, arms: Sequence[str], top: Array) -> None:
    """The best of the top means (larger is better) must be unique."""
    tied = np.flatnonzero(top == top.max())
    if len(tied) > 1:
        names = " and ".join(repr(arms[arm]) for arm in tied[:2])
        faults.add("means", f"of arms {names} tie at the top fidelity; the best arm must be unique")


def _top_interval(low: Array, high: Array, mean_range: tuple[float, float]) -> tuple[Array, Array]:
    """(K,) ends of {x : x + [low, high] meets the mean range at every fidelity}."""
    return (mean_range[0] - high).max(axis=1), (mean_range[1] - low).min(axis=1)


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
