"""Reward families: what is known about the noise of an evaluation.

A family knows which means and which values are possible. Its *law* is the record of arrays that the compiled
kernels dispatch on (`mfbai.kernels.laws` holds the divergences and the sampling).

Kernels always maximise. For a problem that minimises, values, means and biases are reflected (multiplied by
`sign` = -1) on the way in, and the law carries the sign so that the divergence is that of the original values.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import Cells, numbers
from mfbai.errors import Faults

Law: TypeAlias = Any  # a NamedTuple of numbers and (K, M) arrays, with `traits`
Record = TypeVar("Record", bound=tuple[Any, ...])


def traits(
    *, quadratic: bool = False, convex: bool = True, tail_variance: float | None = None
) -> Callable[[type[Record]], type[Record]]:
    """Say of a law, a NamedTuple, what kernels choose their methods by. They read it off the type, when they compile.

    quadratic      d(p, q) = precision (p - q)^2 / 2 with an array `precision`, (K, M), and the noise is sub-Gaussian
                   with variances of 1 / precision
    convex         d(p, q) is convex in q
    tail_variance  if not quadratic: a number v such that no noise has heavier tails than a normal of variance v
    """

    def say(law: type[Record]) -> type[Record]:
        for name, value in {"quadratic": quadratic, "convex": convex, "tail_variance": tail_variance}.items():
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
    open_range: ClassVar[bool] = False  # whether the finite ends of mean_range are impossible as true means

    @property
    def mean_range(self) -> tuple[float, float]:
        """The closure of the possible means."""
        return -np.inf, np.inf

    def check(self, cells: Cells) -> None:  # noqa: B027 - not every family has something to check
        """Note what is wrong with the family's own settings."""

    def check_means(self, cells: Cells, means: NDArray[np.float64]) -> None:
        """Note the true means, (K, M), that are impossible."""
        low, high = self.mean_range
        outside = (means < low) | (means > high)
        if self.open_range:
            outside |= (means == low) | (means == high)
        where = f"strictly between {low:g} and {high:g}" if self.open_range else f"in [{low:g}, {high:g}]"
        cells.refuse("means", means, outside, f"a mean of this {self.name} family must be {where}")

    @abstractmethod
    def law(self, shape: tuple[int, int], sign: float = 1.0) -> Law:
        """The compiled form for K x M cells."""

    def admits(self, value: float) -> bool:
        """Whether an evaluation can return `value`."""
        low, high = self.mean_range
        return bool(np.isfinite(value) and low <= value <= high)

    def to_dict(self) -> dict[str, Any]:
        """The [family] table of a spec file."""
        return {"name": self.name}


@dataclass(frozen=True, eq=False)
class Gaussian(Family):
    """Normal rewards with a known variance: a scalar, (M,) or (K, M)."""

    name = "gaussian"
    variance: ArrayLike

    def check(self, cells: Cells) -> None:
        _check_variance(cells, self.variance)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> GaussianLaw:
        variance = np.broadcast_to(np.asarray(self.variance, dtype=np.float64, order="C"), shape)
        return GaussianLaw(1.0 / variance, np.sqrt(variance), -np.inf, np.inf)

    def to_dict(self) -> dict[str, Any]:
        return {"name": self.name, "variance": np.asarray(self.variance, dtype=np.float64).tolist()}


@dataclass(frozen=True, eq=False)
class SubGaussian(Family):
    """Rewards whose tails are no heavier than a normal's with variance `variance` (the proxy).

    Give either the proxy (a scalar, (M,) or (K, M)) or `bounds = (low, high)` for rewards that stay inside
    them, whose proxy is (high - low)^2 / 4. Simulation draws the least favourable: normals, or the two bounds.
    """

    name = "subgaussian"
    variance: ArrayLike | None = None
    bounds: tuple[float, float] | None = None

    @property
    def mean_range(self) -> tuple[float, float]:
        return (-np.inf, np.inf) if self.bounds is None else (float(self.bounds[0]), float(self.bounds[1]))

    @property
    def proxy(self) -> ArrayLike:
        if self.bounds is not None:
            return (self.bounds[1] - self.bounds[0]) ** 2 / 4
        assert self.variance is not None, "checked by Problem"
        return self.variance

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
    """Rewards 0 or 1."""

    name = "bernoulli"
    mean_range = (0.0, 1.0)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> BernoulliLaw:
        return BernoulliLaw(sign)

    def admits(self, value: float) -> bool:
        return value in (0, 1)


@dataclass(frozen=True, eq=False)
class Poisson(Family):
    """Counts: 0, 1, 2, ..."""

    name = "poisson"
    mean_range = (0.0, np.inf)

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> PoissonLaw:
        return PoissonLaw(sign)

    def admits(self, value: float) -> bool:
        return bool(np.isfinite(value) and value >= 0 and value == np.floor(value))


@dataclass(frozen=True, eq=False)
class Exponential(Family):
    """Positive waiting times: exponential with unknown mean."""

    name = "exponential"
    mean_range = (0.0, np.inf)
    open_range = True

    def law(self, shape: tuple[int, int], sign: float = 1.0) -> ExponentialLaw:
        return ExponentialLaw(sign)

    def admits(self, value: float) -> bool:
        return bool(np.isfinite(value) and value > 0)


def _check_variance(cells: Cells, variance: Any) -> None:
    array = cells.read("variance", variance)
    if array is not None:
        cells.refuse("variance", array, array < 1e-300, "a variance must be positive")


def _check_bounds(faults: Faults, bounds: Any) -> None:
    array = numbers(faults, "bounds", bounds)
    if array is None:
        return
    if array.shape != (2,) or not np.isfinite(array).all() or array[0] >= array[1]:
        faults.add("bounds", f"is {bounds!r}: give two finite numbers, the lower one first")


FAMILIES: dict[str, type[Family]] = {
    family.name: family for family in (Gaussian, SubGaussian, Bernoulli, Poisson, Exponential)
}
