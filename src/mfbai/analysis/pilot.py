"""Pilot: what values at common seeds tell about fidelities."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from mfbai.analysis.controls import ControlAdvice, best_of, make_advice, make_terms, more_seeds, states_variances
from mfbai.analysis.onward import Onward, check_level
from mfbai.analysis.paired_noise import Interval, covariance_of_arms, estimate, share_of_arms, t_quantile
from mfbai.analysis.pairs import Pairs, read_pairs
from mfbai.analysis.values import Values
from mfbai.errors import Faults
from mfbai.model.problem import Array, Problem
from mfbai.pictures import picture_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SHOWN_LEVEL = 0.05  # of the bias intervals that are shown
SHARE_PAYS = 0.5  # the correlation between arms from which on common seeds clearly save more than they cost


class BiasInterval(NamedTuple):
    """Where the mean of a cell is, less that of its arm at the top."""

    arm: str
    fidelity: str
    estimate: float | None  # None for an arm that the pilot left out
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Pilot:
    """What a pilot found: see `mfbai.pilot`.

    given         the problem as it was before
    pairs         the values
    between_arms  the correlation of two arms at the top, at one seed; None if there is one arm

    >>> from mfbai import Problem, Symmetric, pilot
    >>> problem = Problem(["old", "new"], [1, 50], None, Symmetric(0, 10), fidelities=["draft", "full"])
    >>> full = {"old": [4.3, 2.9, 4.8, 4.1, 3.4, 5.2, 3.8, 4.5], "new": [5.4, 5.1, 4.2, 6.3, 5.8, 4.6, 5.5, 4.9]}
    >>> rows = [(arm, "full", seed, x) for arm in full for seed, x in enumerate(full[arm])]
    >>> rows += [(arm, "draft", seed, round(x)) for arm, _, seed, x in rows]
    >>> found = pilot(rows, problem)
    >>> found.seeds, found.cost, found.control.fidelity
    (8, 816.0, 'draft')
    """

    given: Problem
    pairs: Pairs
    between_arms: Interval | None

    @property
    def arms(self) -> tuple[str, ...]:
        """Those that were evaluated."""
        return tuple(self.given.arms[arm] for arm in self.pairs.arms)

    @property
    def fidelities(self) -> tuple[str, ...]:
        """Those that were evaluated, with the top last."""
        return tuple(self.given.fidelities[m] for m in self.pairs.fidelities)

    @property
    def seeds(self) -> int:
        """How many there were."""
        return len(self.pairs.seeds)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The arms that were not evaluated."""
        return tuple(arm for arm in self.given.arms if arm not in self.arms)

    @cached_property
    def cost(self) -> float:
        """Of all evaluations; one for each arm where there is no noise."""
        times = np.where(self.given.deterministic[self.pairs.fidelities], 1, self.seeds)
        return float((self.given.costs[np.ix_(self.pairs.arms, self.pairs.fidelities)] * times).sum())

    @cached_property
    def means(self) -> Array:
        """(arms, fidelities) of the values."""
        return np.asarray(self.pairs.values.mean(axis=1))

    @cached_property
    def deviations(self) -> Array:
        """(arms, fidelities) the standard deviations of the values."""
        return np.asarray(self.pairs.values.std(axis=1, ddof=1))

    @cached_property
    def controls(self) -> tuple[ControlAdvice, ...]:
        """What each noisy fidelity below the top would bring as a control.

        fidelity     its name
        correlation  with the top, at the same seed
        others       how many other seeds to take, as for `Problem.controlled`
        coefficient  as for `Problem.controlled`
        cost         of a controlled value, over that of the top
        deviation    of controlled values
        gain         the cost of a decision by the top alone, over that by controlled values
        verdict      "pays", "does not pay" or "too few seeds to tell"
        more_seeds   that would tell; None if it is known, or takes too many
        """
        shared = self.shares_seeds and self.between_arms is not None
        return make_advice(self.given, self.pairs, make_terms(self.given, self.pairs, shared))

    @property
    def control(self) -> ControlAdvice | None:
        """The best of the `controls` that pay; None if none is known to. Where the family states variances, that of a
        controlled value is taken to be stated as well."""
        return best_of(self.controls)

    @property
    def common_seeds_pay(self) -> bool | None:
        """Whether common seeds clearly save more than they cost; None if there are too few seeds to tell."""
        if self.between_arms is None or self.between_arms.low >= SHARE_PAYS:
            return self.between_arms is not None or None
        return False if self.between_arms.high < SHARE_PAYS else None

    @property
    def shares_seeds(self) -> bool:
        """Whether arms are to have the same seeds: as told, or as it pays; but then no proof uses variances, so that
        they are not advised where variances are stated."""
        pays = bool(self.common_seeds_pay) and not states_variances(self.given)
        return self.given.seeds == "common" or pays

    @property
    def more_seeds(self) -> int | None:
        """How many more would tell whether a control pays; None if that is known, or takes too many."""
        return more_seeds(self.controls)

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        return self.onward().advice

    def biases(self, level: float = SHOWN_LEVEL) -> list[BiasInterval]:
        """Intervals of all biases below the top, which all hold at once with a probability of 1 - level, if differences
        at one seed are normal; for arms that were left out, if their biases are drawn from the same normal law."""
        faults = Faults()
        check_level(faults, "level", level)
        faults.raise_if_any("call")
        low, high = self._bias_bounds(level)
        off = self.means - self.means[:, -1:]
        return [
            BiasInterval(
                arm,
                name,
                float(off[self.pairs.arms.index(k), n]) if k in self.pairs.arms else None,
                float(low[k, n]),
                float(high[k, n]),
            )
            for n, name in enumerate(self.fidelities[:-1])
            for k, arm in enumerate(self.given.arms)
        ]

    def problem(self, bounds: float | None = None, variances: float | None = None) -> Problem:
        """The problem to go on with.

        By default the top is controlled by the fidelity that brings most, if one pays, and fidelities without a bias
        bound that are no part of that are left out. With `bounds`, all fidelities are kept as they are, with bias
        intervals that all hold with a probability of 1 - bounds. With `variances`, noise is taken to be normal, with
        upper limits of the variances that all hold with a probability of 1 - variances; where the family states them,
        they are kept, and only that of the controlled fidelity is taken from the pilot. Both are added to what the
        problem is charged with, as far as it rests on them.
        """
        return self.onward(bounds, variances).problem

    def spec(self, bounds: float | None = None, variances: float | None = None) -> str:
        """The text of a spec file of `problem`, with comments that say where its numbers come from."""
        return self.onward(bounds, variances).spec

    def onward(self, bounds: float | None = None, variances: float | None = None) -> Onward:
        """How to go on, with bounds or variances at these levels: `advice`, `controls`, `control`, `problem`, `spec`,
        `charged` and `assumptions`. See `problem`."""
        return Onward(self, bounds, variances)

    def to_dict(self, bounds: float | None = None, variances: float | None = None) -> dict[str, Any]:
        """As plain values; controls and advice are for these levels."""
        onward = self.onward(bounds, variances)
        return {
            "arms": list(self.arms),
            "fidelities": list(self.fidelities),
            "seeds": self.seeds,
            "cost": self.cost,
            "means": self.means.tolist(),
            "deviations": self.deviations.tolist(),
            "biases": [one._asdict() for one in self.biases()],
            "between_arms": None if self.between_arms is None else self.between_arms._asdict(),
            "common_seeds_pay": self.common_seeds_pay,
            "controls": [
                {**one._asdict(), "correlation": one.correlation._asdict(), "gain": one.gain._asdict()}
                for one in onward.controls
            ],
            "more_seeds": more_seeds(onward.controls),
            "advice": onward.advice,
            "assumptions": onward.assumptions,
        }

    def __repr__(self) -> str:
        arms = "1 arm" if len(self.arms) == 1 else f"{len(self.arms)} arms"
        return f"<Pilot of {arms}, {self.seeds} seeds: {self.advice}>"

    def __str__(self) -> str:
        from mfbai.analysis.plain import pilot_as_text

        return pilot_as_text(self.onward())

    def _repr_html_(self) -> str:
        from mfbai.analysis.markup import pilot_as_html  # for notebooks alone

        return pilot_as_html(self)

    def plot(self) -> Figure:
        """A picture of values of cheap fidelities against those of the top, at the same seeds. Needs matplotlib."""
        return picture_of(self)

    def _bias_bounds(self, level: float) -> tuple[Array, Array]:
        """(K, fidelities - 1) ends of the intervals. They use half of the level, as differences are seldom normal."""
        off = self.pairs.values[:, :, :-1] - self.pairs.values[:, :, -1:]
        each = level / (2 * self.given.n_arms * off.shape[2])
        middle, room = off.mean(axis=1), off.std(axis=1, ddof=1) / np.sqrt(self.seeds)
        room = room * t_quantile(self.seeds - 1, each / 2)
        low, high = (np.empty((self.given.n_arms, off.shape[2])) for _ in range(2))
        if self.left_out:
            low[:], high[:] = _prediction(off, each)
        low[self.pairs.arms], high[self.pairs.arms] = middle - room, middle + room
        return low, high


def read_pilot(problem: Problem, values: Values) -> Pilot:
    """What values of a pilot, evaluated before, tell: rows of arm, fidelity, seed and value, or the path of a file."""
    return make_pilot(problem, read_pairs(problem, values))


def make_pilot(problem: Problem, pairs: Pairs) -> Pilot:
    between = None
    if len(pairs.arms) > 1:
        between = estimate(lambda values: share_of_arms(covariance_of_arms(values)), pairs.values[:, :, -1]).interval()
    return Pilot(problem, pairs, between)


def _prediction(off: Array, level: float) -> tuple[Array, Array]:
    """(fidelities - 1,) ends for an arm not seen, from differences to the top, (arms, seeds, fidelities - 1).

    Half of the level is for how far the mean bias of the arms seen is off, which errs with the seeds, that all arms
    share; the other half for how far the arm's bias is from that mean.
    """
    arms, seeds, _ = off.shape
    if arms < 2:
        return np.full(off.shape[2], -np.inf), np.full(off.shape[2], np.inf)
    per_seed, per_arm = off.mean(axis=0), off.mean(axis=1)
    middle = per_seed.mean(axis=0)
    room = t_quantile(seeds - 1, level / 4) * per_seed.std(axis=0, ddof=1) / np.sqrt(seeds)
    room += t_quantile(arms - 1, level / 4) * per_arm.std(axis=0, ddof=1) * np.sqrt(1 + 1 / arms)
    return middle - room, middle + room
