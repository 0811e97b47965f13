"""What a simulation also knows: an Instance is a problem with its truth."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mfbai.errors import Faults
from mfbai.model.compiled import Model, columns
from mfbai.model.control import Control, ControlsLike
from mfbai.model.correlation import Correlation, CorrelationLike, read_correlation
from mfbai.model.families import Bounded, Family
from mfbai.model.given import Array, check_deviation, check_known, check_means, read_names, read_only, refuse_tie
from mfbai.model.problem import Problem


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Instance:
    """A problem and its truth: the (K, M) means. For simulation; a learner sees only `.problem`.

    means        (K, M) the true means
    ties         allows several best arms: then a tolerance is needed to find an answer. Otherwise the best must be
                 unique.
    deviation    the standard deviation of the values, for families that do not state it: one number, one per fidelity
                 or (K, M)
    correlation  of values with the same seed, of all arms and fidelities; or a table with that of `arms` at one
                 fidelity, of `fidelities` of one arm, and the `factor` they share, "normal" or "heavy". It matters only
                 where seeds are common, and between the parts of a controlled value. None if values are independent.
    name         a label; two instances of different names can be equal

    The others, `costs`, `biases`, `family`, `arms`, `fidelities`, `direction`, `seeds`, `deterministic`, `controls` and
    `charged`, are those of `Problem`, and are in `problem`. `means` and `deviation` are attributes, (K, M) both, and so
    are `name` and `correlation`.

    >>> from mfbai import Gaussian, Instance
    >>> instance = Instance([[0.4, 0.5], [0.7, 0.6]], costs=[0.5, 5], biases=[0.1, 0], family=Gaussian(0.01))
    >>> instance.best, round(instance.gap, 3)
    (1, 0.1)
    """

    problem: Problem
    means: Array
    deviation: Array | None
    name: str | None
    correlation: Correlation | None

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
        controls: ControlsLike = None,
        charged: float = 0.0,
        name: str | None = None,
        ties: bool = False,
        deviation: ArrayLike | None = None,
        correlation: CorrelationLike = None,
    ) -> None:
        faults = Faults()
        cells = read_names(faults, arms, fidelities, costs, biases, family, means)
        known = check_known(cells, costs, biases, family, direction, seeds, deterministic, controls, charged)
        table = check_means(cells, known, means)
        if table is not None and known.sign is not None and not ties:
            refuse_tie(faults, cells.arms, known.sign * table[:, -1])
        spread = check_deviation(cells, known.family, deviation)
        shared = read_correlation(faults, correlation, known.family)
        faults.raise_if_any("instance")
        about: dict[str, Any] = {"direction": direction, "seeds": seeds, "deterministic": deterministic}
        about |= {"controls": controls, "charged": charged}
        problem = Problem(cells.arms, costs, biases, family, fidelities=cells.fidelities, **about)
        vars(self).update(
            problem=problem,
            means=read_only(table, cells.shape),
            deviation=None if spread is None else read_only(spread, cells.shape),
            name=name,
            correlation=shared,
        )
        if spread is not None and any(problem.controls):
            vars(self).update(deviation=read_only(self.deviations(), cells.shape))

    @property
    def arms(self) -> tuple[str, ...]:
        """Their names."""
        return self.problem.arms

    @property
    def fidelities(self) -> tuple[str, ...]:
        """Their names."""
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

    def deviations(self) -> Array:
        """(K, M) of the values, as a simulation draws them: stated, or the truth; of controlled fidelities that of the
        sums of their parts."""
        problem = self.problem
        found = self.deviation
        if found is None:
            table = np.asarray(getattr(problem.family, "proxy", getattr(problem.family, "variance", np.nan)))
            found = np.sqrt(np.broadcast_to(table.astype(np.float64), self.shape))
        full = np.array(found)
        for m, control in enumerate(problem.controls):
            if control is not None:
                full[:, m] = control.deviation(full, self.in_common(control))
        return full

    def in_common(self, control: Control) -> Array:
        """(K,) the correlation of the top and what controls it, at the same seed. Two-point values of different means
        and deviations, which stand for bounded ones, may not have as much as was asked for."""
        share = 0.0 if self.correlation is None else self.correlation.fidelities
        shares = np.full(self.shape[0], share)
        if not isinstance(self.problem.family, Bounded):
            return shares
        top, by = high_chances(self.problem.family, self.means)[:, [-1, control.by]].T
        less, more = np.minimum(top, by), np.maximum(top, by)
        with np.errstate(divide="ignore", invalid="ignore"):
            most = np.sqrt(less * (1 - more) / (more * (1 - less)))
        return np.asarray(np.minimum(shares, np.where(np.isnan(most), 0.0, most)))

    def model(self, tolerance: float = 0.0) -> Model:
        """That of the problem, with what a simulation draws values by."""
        model = self.problem.model(tolerance)
        if self.deviation is None:
            return model
        return model._replace(law=model.law._replace(deviation=columns(self.deviation, self.problem.noisy)))

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
        return f"<Instance{label}: {self.problem.summary()}, best {self.arms[self.best]!r} by {self.gap:.4g}{shared}>"

    def _repr_html_(self) -> str:
        from mfbai.model.markup import instance_as_html  # for notebooks alone

        return instance_as_html(self)


def high_chances(family: Bounded, means: Array) -> Array:
    """(K, M) that of the higher of two values, which have any mean and deviation possible between the bounds."""
    low, high = family.ranges(means.shape[1])
    return np.asarray((means - low) / (high - low))
