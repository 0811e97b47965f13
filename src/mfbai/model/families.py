"""Reward families: what is known about the noise of an evaluation.

A family knows which means and which values are possible. Its *law* is the record of arrays that the compiled
kernels dispatch on (`mfbai.kernels.laws` holds the divergences and the sampling).

Kernels always maximise. For a problem that minimises, values, means and biases are reflected (multiplied by
`sign` = -1) on the way in, and the law carries the sign so that the divergence is that of the original values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import Cells, numbers, real
from mfbai.errors import Faults
from mfbai.model.control import Control

Law: TypeAlias = Any  # a NamedTuple of numbers and (K, M) arrays, with `traits`
NO_SUMS = (
    "values of a controlled fidelity are sums of others, which this family does not describe; take bounded, symmetric, "
    "or gaussian with variances"
)
LEVELS = 65  # of the histogram of bounded values
PER_FIDELITY = ("variance", "low", "high")  # entries of a family that may have a number for each fidelity
Record = TypeVar("Record", bound=tuple[Any, ...])


def traits(
    *, quadratic: bool = False, convex: bool = True, known: bool = True, tail_variance: float | None = None
) -> Callable[[type[Record]], type[Record]]:
    """Say of a law, a NamedTuple, what kernels choose their methods by. They read it off the type, when they compile.

    quadratic      d(p, q) = precision (p - q)^2 / 2 with an array `precision`, (K, M), and the noise is sub-Gaussian
                   with variances of 1 / precision
    convex         d(p, q) is convex in q
    known          if quadratic: whether `precision` is stated; else it is what was learnt so far, which steers what is
                   evaluated and is no part of any proof
    tail_variance  if not quadratic: a number v such that no noise has heavier tails than a normal of variance v
    """

    def say(law: type[Record]) -> type[Record]:
        says = {"quadratic": quadratic, "convex": convex, "known": known, "tail_variance": tail_variance}
        for name, value in says.items():
            setattr(law, name, value)
        return law

    return say


@traits(quadratic=True)
class GaussianLaw(NamedTuple):
    """d(p, q) = (p - q)^2 / (2 variance), for a variance or its proxy."""

    precision: NDArray[np.float64]  # (K, M) 1 / variance
    deviation: NDArray[np.float64]  # (K, M) sqrt(variance)
    low: float  # rewards are drawn from {low, high} if these are finite, else from a normal
    high: float


class Memory(NamedTuple):
    """What a run has learnt of noise whose size nobody stated: see `kernels.laws.symmetric`."""

    pooled: NDArray[np.float64]  # (2, M) of each fidelity: sums of squared deviations from the cells' means; how many
    total: NDArray[np.float64]  # (3,) of all values: how many, their mean, the sum of squared deviations from it
    due: NDArray[np.float64]  # (1,) the number of values at which all cells are estimated again


@traits(quadratic=True, known=False)
class SymmetricLaw(NamedTuple):
    """Noise that is symmetric around the mean; for sampling decisions, a normal of the variance estimated so far."""

    precision: NDArray[np.float64]  # (K, M) 1 / estimated variance; changes
    memory: Memory
    deviation: NDArray[np.float64]  # (K, M) the truth of a simulation, which draws normals
    low: float  # ends of the interval that holds all top means, as kernels see them
    high: float


@traits(quadratic=True, known=False)
class BoundedLaw(NamedTuple):
    """Values between two bounds; for sampling decisions, a normal of the variance estimated so far."""

    precision: NDArray[np.float64]  # (K, M) 1 / estimated variance; changes
    memory: Memory
    deviation: NDArray[np.float64]  # (K, M) the truth of a simulation, which draws from Beta laws
    low: NDArray[np.float64]  # (M,) of the values, as kernels see them
    high: NDArray[np.float64]  # (M,)
    levels: NDArray[np.float64]  # (K, M, LEVELS) how many values are at each level; those in between are split


@traits(tail_variance=0.25)
class BernoulliLaw(NamedTuple):
    """d(p, q) = p ln(p/q) + (1-p) ln((1-p)/(1-q))."""

    sign: float


@traits()
class PoissonLaw(NamedTuple):
    """d(p, q) = q - p + p ln(p/q)."""

    sign: float


@traits(convex=False)
class ExponentialLaw(NamedTuple):
    """d(p, q) = p/q - 1 - ln(p/q); in q it is convex only up to q = 2p."""

    sign: float


@dataclass(frozen=True, eq=False)
class Family(ABC):
    """What every family answers: its name, its possible means, its possible values."""

    name: ClassVar[str]
    learns: ClassVar[bool] = False  # whether nobody states the size of the noise: it is estimated on the way
    open_range: ClassVar[bool] = False  # whether the finite ends of mean_range are impossible as true means

    @property
    def mean_range(self) -> tuple[float, float]:
        """The closure of the possible means."""
        return -np.inf, np.inf

    @property
    def sums(self) -> bool:
        """Whether it also describes sums of values, of which those of controlled fidelities are made."""
        return False

    def check(self, cells: Cells) -> None:  # noqa: B027 - not every family has something to check
        """Note what is wrong with the family's own settings."""

    def check_means(self, cells: Cells, means: NDArray[np.float64]) -> None:
        """Note the true means, (K, M), that are impossible."""
        low, high = self.ranges(means.shape[1])
        outside = (means < low) | (means > high)
        if self.open_range:
            outside |= (means == low) | (means == high)

        def why(index: tuple[int, ...]) -> str:
            ends = f"{low[index[1]]:g}", f"{high[index[1]]:g}"
            where = f"strictly between {ends[0]} and {ends[1]}" if self.open_range else f"in [{ends[0]}, {ends[1]}]"
            return f"a mean of this {self.name} family must be {where}"

        cells.refuse("means", means, outside, why)

    @abstractmethod
    def law(self, shape: tuple[int, int], sign: float = 1.0) -> Law:
        """The compiled form for K x M cells."""

    def ranges(self, n_fidelities: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The same for each fidelity, (M,)."""
        low, high = (np.full(n_fidelities, end) for end in self.mean_range)
        return low, high

    def at(self, fidelities: list[int]) -> Family:
        """The family of these fidelities alone."""
        tables = {entry.name: getattr(self, entry.name) for entry in fields(self) if entry.name in PER_FIDELITY}
        kept = {name: np.asarray(table)[..., fidelities] for name, table in tables.items() if np.ndim(table)}
        return replace(self, **kept) if kept else self

    def admits(self, value: float) -> bool:
        """Whether an evaluation can return `value`."""
        low, high = self.mean_range
        return bool(np.isfinite(value) and low <= value <= high)

    def admits_at(self, value: float, fidelity: int) -> bool:
        """Whether an evaluation at this fidelity can: for families in which that differs."""
        return self.admits(value)

    def controlled(self, faults: Faults, controls: Sequence[Control | None]) -> Family:
        """The family with what it must know of controlled fidelities; a fault if their values are not of its kind."""
        faults.add("family", f"is {self.name}: {NO_SUMS}")
        return self

    def to_dict(self) -> dict[str, Any]:
        """The [family] table of a spec file."""
        return {"name": self.name}


@dataclass(frozen=True, eq=False)
class Gaussian(Family):
    """Normal values with a known variance.

    variance  one number, one per fidelity (M,), or (K, M)

    n values of mean p are evidence of n d(p, q) against a true mean q, with

        d(p, q) = (p - q)^2 / (2 variance)

    >>> from mfbai import Gaussian, Problem
    >>> Problem(["plain", "wide"], costs=[1, 20], biases=[0.05, 0], family=Gaussian([0.04, 0.01]))
    <Problem: 2 arms (plain, wide), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise>
    """

    name = "gaussian"
    variance: ArrayLike

    def check(self, cells: Cells) -> None:
        _check_variance(cells, self.variance)

    @property
    def sums(self) -> bool:
        return True

    def controlled(self, faults: Faults, controls: Sequence[Control | None]) -> Family:
        _check_own_variance(faults, self.variance)
        return self

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> GaussianLaw:
        variance = np.broadcast_to(np.asarray(self.variance, dtype=np.float64, order="C"), shape)
        return GaussianLaw(1.0 / variance, np.sqrt(variance), -np.inf, np.inf)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "variance": np.asarray(self.variance, dtype=np.float64).tolist()}


@dataclass(frozen=True, eq=False)
class SubGaussian(Family):
    """Values whose tails are no heavier than those of a normal. Give exactly one of the two:

    variance  that of the normal (the proxy): one number, one per fidelity (M,), or (K, M)
    bounds    a pair (low, high) that values stay inside

    With bounds, the proxy is that of the worst case, and in both cases evidence is that of `Gaussian`:

        proxy = (high - low)^2 / 4

    Simulation draws the least favourable: normals, or the two bounds. `Bounded` finds out the variance, and so mostly
    needs fewer values.

    >>> from mfbai import Problem, SubGaussian
    >>> Problem(["old", "new"], costs=1, biases=0, family=SubGaussian(bounds=(0, 1)))
    <Problem: 2 arms (old, new), 1 fidelity (fidelity 1), subgaussian, maximise>
    """

    name = "subgaussian"
    variance: ArrayLike | None = None
    bounds: tuple[float, float] | None = None

    @property
    def mean_range(self) -> tuple[float, float]:
        return (-np.inf, np.inf) if self.bounds is None else (float(self.bounds[0]), float(self.bounds[1]))

    @property
    def proxy(self) -> ArrayLike:
        """The variance of a normal that has tails as heavy."""
        if self.bounds is not None:
            return (self.bounds[1] - self.bounds[0]) ** 2 / 4
        assert self.variance is not None, "checked by Problem"
        return self.variance

    @property
    def sums(self) -> bool:
        return self.variance is not None

    def controlled(self, faults: Faults, controls: Sequence[Control | None]) -> Family:
        if not self.sums:
            return super().controlled(faults, controls)
        _check_own_variance(faults, self.variance)
        return self

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> GaussianLaw:
        low, high = sorted(sign * end for end in self.mean_range)
        return Gaussian(self.proxy).law(shape)._replace(low=low, high=high)

    def check(self, cells: Cells) -> None:
        if (self.variance is None) == (self.bounds is None):
            cells.faults.add("family", "is subgaussian, which needs a variance or bounds: give exactly one of the two")
        if self.variance is not None:
            _check_variance(cells, self.variance)
        if self.bounds is not None:
            _check_bounds(cells.faults, self.bounds)

    def to_dict(self) -> dict[str, Any]:
        if self.bounds is not None:
            return {"name": self.name, "bounds": list(self.mean_range)}
        return {"name": self.name, "variance": np.asarray(self.variance, dtype=np.float64).tolist()}


@dataclass(frozen=True, eq=False)
class Bernoulli(Family):
    """Values 0 or 1: failure or success. n values of mean p are evidence of n d(p, q) against a true mean q, with

        d(p, q) = p ln(p / q) + (1 - p) ln((1 - p) / (1 - q))

    >>> from mfbai import Bernoulli, Problem
    >>> Problem(["old", "new"], costs=1, biases=0, family=Bernoulli())
    <Problem: 2 arms (old, new), 1 fidelity (fidelity 1), bernoulli, maximise>
    """

    name = "bernoulli"
    mean_range = (0.0, 1.0)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> BernoulliLaw:
        return BernoulliLaw(sign)

    def admits(self, value: float) -> bool:
        return value in (0, 1)


@dataclass(frozen=True, eq=False)
class Poisson(Family):
    """Counts: 0, 1, 2, ... n values of mean p are evidence of n d(p, q) against a true mean q, with

        d(p, q) = q - p + p ln(p / q)

    >>> from mfbai import Poisson, Problem
    >>> Problem(["day", "night"], costs=1, biases=0, family=Poisson(), direction="minimise")
    <Problem: 2 arms (day, night), 1 fidelity (fidelity 1), poisson, minimise>
    """

    name = "poisson"
    mean_range = (0.0, np.inf)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> PoissonLaw:
        return PoissonLaw(sign)

    def admits(self, value: float) -> bool:
        return bool(np.isfinite(value) and value >= 0 and value == np.floor(value))


@dataclass(frozen=True, eq=False)
class Exponential(Family):
    """Positive waiting times, exponential. n values of mean p are evidence of n d(p, q) against a true mean q, with

        d(p, q) = p / q - 1 - ln(p / q)

    >>> from mfbai import Exponential, Problem
    >>> Problem(["one line", "two lines"], costs=1, biases=0, family=Exponential(), direction="minimise")
    <Problem: 2 arms (one line, two lines), 1 fidelity (fidelity 1), exponential, minimise>
    """

    name = "exponential"
    mean_range = (0.0, np.inf)
    open_range = True

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> ExponentialLaw:
        return ExponentialLaw(sign)

    def admits(self, value: float) -> bool:
        return bool(np.isfinite(value) and value > 0)


@dataclass(frozen=True, eq=False)
class Symmetric(Family):
    """Noise of any size that is symmetric around its mean. Nobody has to state a variance, which may also change from
    value to value. Heavy tails do no harm.

    low   no true mean is lower
    high  no true mean is higher

    That X is a value of mean p says that these two have the same law:

        X - p    and    p - X

    >>> from mfbai import Problem, Symmetric
    >>> Problem(["small", "large"], costs=[1, 50], biases=None, family=Symmetric(0, 100), direction="minimise")
    <Problem: 2 arms (small, large), 2 fidelities (fidelity 1 of unknown bias, fidelity 2), symmetric, minimise>
    """

    name = "symmetric"
    learns = True
    low: float
    high: float

    def ranges(self, n_fidelities: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high = super().ranges(n_fidelities)
        low[-1], high[-1] = self.low, self.high  # of the true means; those of other fidelities follow by their bias
        return low, high

    def check(self, cells: Cells) -> None:
        low, high = real(self.low), real(self.high)
        if low is None or high is None or not (np.isfinite(high - low) and low < high):
            told = f"is {self.low!r:.60}, and high is {self.high!r:.60}"
            cells.faults.add("low", f"{told}: give two finite numbers, low below high")

    @property
    def sums(self) -> bool:
        return True

    def controlled(self, faults: Faults, controls: Sequence[Control | None]) -> Family:
        return self  # jointly symmetric values have symmetric sums

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> SymmetricLaw:
        low, high = sorted(sign * float(end) for end in (self.low, self.high))
        return SymmetricLaw(*_learning(shape, high - low), np.full(shape, np.nan), low, high)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "low": float(self.low), "high": float(self.high)}


@dataclass(frozen=True, eq=False)
class Bounded(Family):
    """Values between two bounds, of any law: scores, accuracies. Nobody has to state a variance.

    low   no value is lower: one number, or one per fidelity
    high  no value is higher: one number, or one per fidelity

    >>> from mfbai import Bounded, Problem
    >>> Problem(["old", "new"], costs=1, biases=0, family=Bounded(0, 1))
    <Problem: 2 arms (old, new), 1 fidelity (fidelity 1), bounded, maximise>
    """

    name = "bounded"
    learns = True
    low: ArrayLike
    high: ArrayLike

    @property
    def mean_range(self) -> tuple[float, float]:
        return float(np.min(self.low)), float(np.max(self.high))

    def ranges(self, n_fidelities: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        low, high = (np.full(n_fidelities, end, dtype=np.float64) for end in (self.low, self.high))
        return low, high

    def check(self, cells: Cells) -> None:
        low, high = numbers(cells.faults, "low", self.low), numbers(cells.faults, "high", self.high)
        if low is None or high is None:
            return
        M = cells.shape[1]
        for name, end in {"low": low, "high": high}.items():
            if end.shape not in ((), (M,)) or not np.isfinite(end).all():
                told = f"give a finite number, or a list of {M}, one per fidelity"
                cells.faults.add(name, f"is {getattr(self, name)!r:.60}: {told}")
                return
        if not (low < high).all():
            cells.faults.add("low", f"is {self.low!r:.60}, and high is {self.high!r:.60}: low must be below high")

    @property
    def sums(self) -> bool:
        return True

    def controlled(self, faults: Faults, controls: Sequence[Control | None]) -> Family:
        low, high = self.ranges(len(controls))
        for m, control in enumerate(controls):
            if control is not None:
                swing = abs(control.coefficient) * (high[control.by] - low[control.by])
                low[m], high[m] = low[-1] - swing, high[-1] + swing
        return replace(self, low=low, high=high)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> BoundedLaw:
        low, high = self.ranges(shape[1])
        if sign < 0:
            low, high = 0.0 - high, 0.0 - low
        learning = _learning(shape, float((high - low)[-1]))
        return BoundedLaw(*learning, np.full(shape, np.nan), low, high, np.zeros((*shape, LEVELS)))

    def admits_at(self, value: float, fidelity: int) -> bool:
        low, high = np.asarray(self.low, dtype=np.float64), np.asarray(self.high, dtype=np.float64)
        inside = low.flat[fidelity if low.ndim else 0] <= value <= high.flat[fidelity if high.ndim else 0]
        return bool(np.isfinite(value) and inside)

    def to_dict(self) -> dict[str, Any]:
        ends = {name: np.asarray(getattr(self, name), dtype=np.float64).tolist() for name in ("low", "high")}
        return {"name": self.name, **ends}


def _learning(shape: tuple[int, int], width: float) -> tuple[NDArray[np.float64], Memory]:
    """What is known of noise before the first value: that it is not much wider than the range."""
    memory = Memory(np.zeros((2, shape[1])), np.zeros(3), np.zeros(1))
    return np.full(shape, 16.0 / width**2), memory


def _check_variance(cells: Cells, variance: Any) -> None:
    array = cells.read("variance", variance)
    if array is not None:
        cells.refuse("variance", array, (array < 1e-300) & ~noise_free(array), "a variance must be positive")


def _check_own_variance(faults: Faults, variance: Any) -> None:
    if np.ndim(variance) == 0:
        told = "give one per fidelity, as that of a controlled fidelity is its own"
        faults.add("variance", f"is {variance!r:.60}: {told}")


def noise_free(variance: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Of a variance as given, () or (M,) or (K, M): of which fidelities it is 0, for all arms. One number is not."""
    none = variance == 0
    return np.asarray(none.all(axis=0) if variance.ndim == 2 else none & (variance.ndim == 1))


def _check_bounds(faults: Faults, bounds: Any) -> None:
    array = numbers(faults, "bounds", bounds)
    if array is None:
        return
    if array.shape != (2,) or not np.isfinite(array).all() or array[0] >= array[1]:
        faults.add("bounds", f"is {bounds!r}: give two finite numbers, the lower one first")


FAMILIES: dict[str, type[Family]] = {
    family.name: family for family in (Gaussian, SubGaussian, Symmetric, Bounded, Bernoulli, Poisson, Exponential)
}
