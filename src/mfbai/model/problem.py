"""What the learner knows: the Problem.

Every array is indexed (arm, fidelity) = (K, M), the top fidelity, whose mean is the true one, last.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.compiled import Model, make_model, noisy_family
from mfbai.model.control import Control, ControlsLike
from mfbai.model.correlation import CorrelationLike
from mfbai.model.families import Family
from mfbai.model.given import DIRECTIONS as DIRECTIONS
from mfbai.model.given import ROUNDING as ROUNDING
from mfbai.model.given import SEEDS as SEEDS
from mfbai.model.given import Array as Array
from mfbai.model.given import check_known, read_names, read_only

if TYPE_CHECKING:
    from mfbai.model.instance import Instance


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Problem:
    """K arms to choose from, M fidelities to evaluate them at, and what is known beforehand.

    arms           how many, or their names
    costs          of one evaluation: one number, one per fidelity (M,), or (K, M)
    biases         how far a fidelity's mean can be from the top's: radii, as one number, (M,) or (K, M); or a pair
                   (low, high) of these. Zero at the top.
    family         the noise: `Gaussian(variance=0.01)`, `Bernoulli()`, ...
    fidelities     how many, or their names; cheapest first, the true one last
    direction      "maximise" or "minimise" the top mean
    seeds          "independent", or "common": arms are evaluated with the same seeds in turn, so that luck cancels
    deterministic  fidelities without noise, such as a formula: their names or indices, or true or false for each. They
                   are evaluated once an arm, and may be free. A variance of 0 for all arms says the same.
    controls       of controlled fidelities, by name: `{"by": ..., "others": ..., "coefficient": ...}`; `controlled`
                   adds one
    charged        the probability that bounds or variances, as stated, are wrong: what a pilot found them at

    What the biases say of each arm and fidelity, for a radius xi or a pair:

        |mean - top mean| <= xi    or    low <= mean - top mean <= high

    A bias of infinity says that nothing is known: such a fidelity is evaluated only to control the top. None in place
    of all biases says so of all fidelities below the top.

    A tuple of two is read as a pair as soon as one of the two is itself a sequence: `([-0.1, 0], [0.3, 0])`. Anything
    else is radii, so `(0.25, 0)` says 0.25 and 0 for two fidelities; write a (2, M) table of radii as a list or an
    array.

    What was given can be read from attributes of the same names, complete: `arms` and `fidelities` are names, `costs`
    and, for the biases, `bias_low` and `bias_high` are (K, M), `deterministic` is (M,), and `controls` has an entry for
    each fidelity, None if it is not controlled.

    >>> from mfbai import Gaussian, Problem
    >>> problem = Problem(["plain", "wide", "deep"], costs=[0.05, 5], biases=[0.1, 0], family=Gaussian(0.01))
    >>> problem
    <Problem: 3 arms (plain, wide, deep), 2 fidelities (fidelity 1, fidelity 2), gaussian, maximise>
    >>> problem.shape, problem.bias_low[0].tolist()
    ((3, 2), [-0.1, 0.0])
    """

    arms: tuple[str, ...]
    fidelities: tuple[str, ...]
    costs: Array
    bias_low: Array
    bias_high: Array
    family: Family
    direction: str
    seeds: str
    deterministic: NDArray[np.bool_]
    controls: tuple[Control | None, ...]
    charged: float

    def __init__(
        self,
        arms: int | Sequence[str],
        costs: ArrayLike,
        biases: ArrayLike | tuple[ArrayLike, ArrayLike] | None,
        family: Family,
        *,
        fidelities: int | Sequence[str] | None = None,
        direction: str = "maximise",
        seeds: str = "independent",
        deterministic: str | int | Sequence[str] | Sequence[int] | ArrayLike | None = None,
        controls: ControlsLike = None,
        charged: float = 0.0,
    ) -> None:
        faults = Faults()
        cells = read_names(faults, arms, fidelities, costs, biases, family)
        known = check_known(cells, costs, biases, family, direction, seeds, deterministic, controls, charged)
        faults.raise_if_any("problem")
        vars(self).update(
            arms=cells.arms,
            fidelities=cells.fidelities,
            costs=read_only(known.costs, cells.shape),
            bias_low=read_only(known.bias_low, cells.shape),
            bias_high=read_only(known.bias_high, cells.shape),
            family=copy.deepcopy(known.family),  # the caller may change the arrays that it was made of
            direction=direction,
            seeds=seeds,
            deterministic=known.deterministic,
            controls=known.controls,
            charged=known.charged,
        )
        self.deterministic.flags.writeable = False

    @property
    def n_arms(self) -> int:
        """K, the number of arms."""
        return len(self.arms)

    @property
    def n_fidelities(self) -> int:
        """M, the number of fidelities."""
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
    def arm_indices(self) -> dict[str, int]:
        """The index of each arm, by its name: to look for it in `arms` takes long if there are many."""
        return {name: arm for arm, name in enumerate(self.arms)}

    @cached_property
    def unbounded(self) -> NDArray[np.bool_]:
        """(M,) the fidelities of whose bias nothing is known: values of theirs alone say nothing."""
        return np.asarray(np.isinf(self.bias_high).all(axis=0))

    @property
    def idle(self) -> list[str]:
        """The names of the fidelities of unknown bias that control nothing, and so are of no use."""
        used = {control.by for control in self.controls if control is not None}
        return [self.fidelities[m] for m in np.flatnonzero(self.unbounded) if m not in used]

    @cached_property
    def parts_only(self) -> NDArray[np.bool_]:
        """(M,) the fidelities that are evaluated only as parts of controlled ones: those of unknown bias, and the top
        if it is controlled, as alone it would tell less for its cost."""
        found = self.unbounded.copy()
        found[-1] = any(self.controls)
        return found

    @cached_property
    def noisy(self) -> list[int]:
        """The fidelities that kernels see: those with noise that are evaluated, and the top one. What stands for the
        top, a controlled fidelity if there is one, comes last."""
        top = self.n_fidelities - 1
        unseen = self.deterministic | self.parts_only
        seen = [m for m in range(top) if not unseen[m]] + ([] if self.parts_only[top] else [top])
        return sorted(seen, key=lambda m: self.controls[m] is not None)

    @cached_property
    def exact(self) -> list[int]:
        """The deterministic fidelities."""
        return [int(m) for m in np.flatnonzero(self.deterministic & ~self.unbounded)]

    def seen_as(self, fidelity: int) -> int:
        """The index by which kernels know a fidelity; -1 - d for the d-th deterministic one."""
        return -1 - self.exact.index(fidelity) if self.deterministic[fidelity] else self.noisy.index(fidelity)

    def whole(self, seen: ArrayLike, exact: ArrayLike) -> Array:
        """(K, M) of a table of what kernels see, (K, noisy), and one of the deterministic fidelities, (K, exact)."""
        table = np.zeros(self.shape)
        table[:, self.noisy], table[:, self.exact] = seen, exact
        return table

    def controlled(
        self,
        by: str | int,
        others: int,
        coefficient: float,
        *,
        name: str | None = None,
        variance: ArrayLike | None = None,
    ) -> Problem:
        """The same problem with one more fidelity, just below the top: the top controlled by another at the same seed.

        by           the fidelity that controls it: its name or index. Its bias needs no bound.
        others       at how many other seeds that is evaluated
        coefficient  how much of its deviation is subtracted; see `mfbai.pilot` for the best numbers
        name         of the new fidelity; made up by default
        variance     where the family states variances, that of the new values: one number, or one for each arm

        The values, for a seed s, have the true mean whatever the bias of `by`:

            X_top(s) - coefficient X_by(s) + coefficient * mean of X_by at the other seeds

        >>> from mfbai import Problem, Symmetric
        >>> plain = Problem(3, costs=[0.1, 5], biases=[float("inf"), 0], family=Symmetric(0, 1))
        >>> plain.controlled(0, others=12, coefficient=0.9).costs[0].tolist()
        [0.1, 6.3, 5.0]
        """
        M = self.n_fidelities
        known = by if isinstance(by, str) or not _is_index(by, M) else self.fidelities[by]
        label = name or f"{self.fidelities[-1]} by {known}"
        table = {"by": known, "others": others, "coefficient": coefficient}
        stated = getattr(self.family, "variance", None)
        if (stated is None) != (variance is None):
            told = "is missing: the family states variances" if variance is None else "is given: the family has none"
            raise InvalidInput(
                [Fault("variance", f"{told}, so {'give' if variance is None else 'leave out'} that of it")]
            )
        before = [*range(M - 1), M - 1, M - 1]  # the new column begins as a copy of the top's
        family = self.family.at(before)
        if variance is not None:
            spread = np.array(np.broadcast_to(np.asarray(stated, dtype=np.float64), self.shape))[:, before]
            spread[:, M - 1] = variance
            family = dataclasses.replace(self.family, variance=spread)  # type: ignore[call-arg]
        return self.replace(
            costs=self.costs[:, before],
            biases=(self.bias_low[:, before], self.bias_high[:, before]),
            family=family,
            fidelities=[*self.fidelities[:-1], label, self.fidelities[-1]],
            deterministic=[self.deterministic[m] for m in before],
            controls={**self._arguments()["controls"], label: table},
        )

    def compose(self, fidelity: int, parts: Sequence[float]) -> float:
        """The value of a controlled fidelity, from those of its parts."""
        control = self.controls[fidelity]
        assert control is not None
        low, high = self.family.ranges(self.n_fidelities)
        value = control.value(parts)  # at the very ends of the range up to rounding
        return float(min(max(value, low[fidelity]), high[fidelity])) if np.isfinite(value) else value

    def admits(self, value: float, fidelity: int) -> bool:
        """Whether an evaluation at a fidelity can return `value`: where there is no noise, any possible mean."""
        if not self.deterministic[fidelity]:
            return self.family.admits_at(value, fidelity)
        low, high = self.family.ranges(self.n_fidelities)
        return bool(np.isfinite(value) and low[fidelity] <= value <= high[fidelity])

    def model(self, tolerance: float = 0.0) -> Model:
        """What kernels see."""
        return make_model(self, tolerance)

    def replace(self, **changes: Any) -> Problem:
        """The same problem, but for the arguments of Problem given here.

        >>> from mfbai.model.families import Gaussian
        >>> Problem(2, costs=1, biases=0, family=Gaussian(0.01)).replace(arms=["old", "new"]).arms
        ('old', 'new')
        """
        given = {**self._arguments(), **changes}
        names = given["fidelities"]
        if not isinstance(names, int) and set(names) <= set(self.fidelities):
            if "deterministic" not in changes:
                given["deterministic"] = [name for name in names if self.deterministic[self.fidelities.index(name)]]
            if "controls" not in changes:
                given["controls"] = {name: table for name, table in given["controls"].items() if name in names}
        return Problem(**given)

    def only(self, fidelities: Sequence[int]) -> Problem:
        """The same problem with these of its fidelities, given by their indices; the top must be the last of them."""
        kept = list(fidelities)
        return self.replace(
            costs=self.costs[:, kept],
            biases=(self.bias_low[:, kept], self.bias_high[:, kept]),
            family=self.family.at(kept),
            fidelities=[self.fidelities[m] for m in kept],
        )

    def instance(
        self,
        means: ArrayLike,
        *,
        name: str | None = None,
        ties: bool = False,
        deviation: ArrayLike | None = None,
        correlation: CorrelationLike = None,
    ) -> Instance:
        """This problem with its truth, an `Instance`: the (K, M) `means`; where the family does not say it, the
        `deviation`; and in `correlation` what values of one seed have in common."""
        from mfbai.model.instance import Instance  # which has a problem in it

        about: dict[str, Any] = {"name": name, "ties": ties, "deviation": deviation, "correlation": correlation}
        return Instance(means, **self._arguments(), **about)

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
        shared: dict[str, Any] = {"seeds": self.seeds} if self.seeds != SEEDS[0] else {}
        shared |= {"charged": self.charged} if self.charged else {}
        return {
            "problem": {"arms": list(self.arms), "direction": self.direction, **shared},
            "fidelity": [self._fidelity_entry(m) for m in range(self.n_fidelities)],
            "family": self.family.to_dict(),
        }

    def _fidelity_entry(self, m: int) -> dict[str, Any]:
        name = self.fidelities[m]
        if self.controls[m] is not None:
            return {"name": name, "controlled": {"top": self.fidelities[-1], **self._arguments()["controls"][name]}}
        bias = {} if self.unbounded[m] else {"bias": _bias_entry(self.bias_low[:, m], self.bias_high[:, m])}
        exact = {"deterministic": True} if self.deterministic[m] else {}
        return {"name": name, "cost": _cost_entry(self.costs[:, m]), **bias, **exact}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Problem):
            return NotImplemented
        if self._words() != other._words():
            return False
        return self.family.name == other.family.name and all(map(np.array_equal, self._arrays(), other._arrays()))

    def __repr__(self) -> str:
        return f"<Problem: {self.summary()}>"

    def _repr_html_(self) -> str:
        from mfbai.model.markup import problem_as_html  # for notebooks alone

        return problem_as_html(self)

    def _words(self) -> tuple[Any, ...]:
        return self.arms, self.fidelities, self.direction, self.seeds, self.exact, self.controls, self.charged

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
            "deterministic": np.flatnonzero(self.deterministic).tolist(),
            "controls": {
                name: {**control._asdict(), "by": self.fidelities[control.by]}
                for name, control in zip(self.fidelities, self.controls, strict=True)
                if control is not None
            },
            "charged": self.charged,
        }

    def _arrays(self) -> tuple[Any, ...]:
        noise = () if self.family.learns else noisy_family(self).law((self.n_arms, len(self.noisy)))
        return (self.costs, self.bias_low, self.bias_high, *self.family.ranges(self.n_fidelities), *noise)

    def _label(self, m: int) -> str:
        name = self.fidelities[m]
        if self.controls[m] is not None:
            return f"controlled {name}"
        if self.unbounded[m]:
            return f"{name} of unknown bias"
        return f"{name}, deterministic" if self.deterministic[m] else name

    def summary(self) -> str:
        arms = f"{self.n_arms} arms ({_some(self.arms)})"
        word = "fidelity" if self.n_fidelities == 1 else "fidelities"
        names = [self._label(m) for m in range(self.n_fidelities)]
        fidelities = f"{self.n_fidelities} {word} ({_some(names)})"
        seeds = ", common seeds" if self.seeds == "common" else ""
        return f"{arms}, {fidelities}, {self.family.name}, {self.direction}{seeds}"


def _is_index(given: Any, count: int) -> bool:
    return isinstance(given, int | np.integer) and not isinstance(given, bool) and bool(0 <= given < count)


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


def __getattr__(name: str) -> Any:
    """Instance was here once."""
    if name != "Instance":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from mfbai.model.instance import Instance

    return Instance
