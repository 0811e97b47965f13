"""Pilot: what values at common seeds tell about fidelities, and the problem to go on with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from mfbai._version import __version__
from mfbai.analysis import controls
from mfbai.analysis.controls import ControlAdvice
from mfbai.analysis.paired_noise import (
    Interval,
    covariance_of_arms,
    estimate,
    pair_factor,
    share_of_arms,
    t_quantile,
    variance_factor,
)
from mfbai.analysis.pairs import Pairs, read_pairs
from mfbai.analysis.values import Values
from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.families import Gaussian
from mfbai.model.problem import Array, Problem
from mfbai.model.spec import dumps
from mfbai.text import digits

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
    """What a pilot found: see `mfbai.pilot`."""

    given: Problem  # as it was before
    pairs: Pairs
    controls: tuple[ControlAdvice, ...]  # for each noisy fidelity below the top
    between_arms: Interval | None  # the correlation of two arms at the top, at one seed; None if there is one arm

    @property
    def arms(self) -> tuple[str, ...]:
        """Those that were evaluated."""
        return tuple(self.given.arms[arm] for arm in self.pairs.arms)

    @property
    def fidelities(self) -> tuple[str, ...]:
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
        """(arms, fidelities)"""
        return np.asarray(self.pairs.values.mean(axis=1))

    @cached_property
    def deviations(self) -> Array:
        """(arms, fidelities)"""
        return np.asarray(self.pairs.values.std(axis=1, ddof=1))

    @property
    def control(self) -> ControlAdvice | None:
        """The best of those that pay; None if none is known to."""
        return best_of(self.controls)

    @property
    def common_seeds_pay(self) -> bool | None:
        """None if there are too few seeds to tell."""
        if self.between_arms is None or self.between_arms.low >= SHARE_PAYS:
            return self.between_arms is not None or None
        return False if self.between_arms.high < SHARE_PAYS else None

    @property
    def more_seeds(self) -> int | None:
        """How many more would tell whether a control pays; None if that is known, or takes too many."""
        return None if self.control else max((one.more_seeds or 0 for one in self.controls), default=0) or None

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        top, chosen = self.fidelities[-1], self.control
        shared = "Use common seeds, and " if self.common_seeds_pay else ""
        if chosen is not None:
            told = f"{shared}control {top!r} by {chosen.fidelity!r} with {chosen.others} other seeds"
            gain = f"{digits(chosen.gain.estimate, 2)} times cheaper than {top!r} alone"
            told = f"{told}: {gain} ({digits(chosen.gain.low, 2)} to {digits(chosen.gain.high, 2)})"
        elif unsure := [one for one in self.controls if one.verdict == controls.OPEN]:
            best = max(unsure, key=lambda one: one.gain.estimate)
            gain = f"{digits(best.gain.low, 2)} to {digits(best.gain.high, 2)} times cheaper"
            more = f"{self.more_seeds} more" if self.more_seeds else f"more than {controls.MOST_SEEDS}"
            told = f"{shared}evaluate {more} seeds to tell whether control by {best.fidelity!r} pays ({gain})"
        else:
            told = f"{shared}evaluate {top!r} alone: no other fidelity has enough in common with it at the same seed"
        return f"{told[0].upper()}{told[1:]}."

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
        problem is charged with.
        """
        faults = Faults()
        for name, level in {"bounds": bounds, "variances": variances}.items():
            if level is not None:
                check_level(faults, name, level)
        if variances is not None and self.given.seeds == "common":
            told = "is given, but seeds are common: then no proof uses variances"
            faults.add("variances", f"{told}; leave it out, or evaluate with independent seeds")
        faults.raise_if_any("call")
        found = self._bounded(bounds, variances) if bounds is not None else self._controlled(variances)
        charged = self.given.charged + (bounds or 0.0) + (variances or 0.0)
        shared = {"seeds": "common"} if self.common_seeds_pay and variances is None else {}
        return found.replace(charged=charged, **shared)

    def spec(self, bounds: float | None = None, variances: float | None = None) -> str:
        """The text of a spec file of `problem`, with comments that say where its numbers come from."""
        found = self.problem(bounds, variances)
        size = f"{self.seeds} seeds and {len(self.arms)} arms, at a cost of {digits(self.cost)}"
        lines = [f"From a pilot of {size}; mfbai {__version__}."]
        lines += [self.advice] if bounds is None and variances is None else []
        lines += self.assumptions(bounds, variances)
        return "".join(f"# {line}\n" for line in lines) + "\n" + dumps(found)

    def assumptions(self, bounds: float | None = None, variances: float | None = None) -> list[str]:
        """What the numbers of `problem` rest on, beside what its family says."""
        told = []
        if bounds is not None:
            text = f"Bias bounds: all hold with a probability of {1 - bounds:g}, if differences at one seed are normal"
            if self.left_out:
                text += "; for arms left out, if their biases are drawn from the same normal law as those of the others"
            told.append(f"{text}.")
        if variances is not None:
            what = "values" if bounds is not None else "pairs of values at one seed"
            text = (
                f"Variances: upper limits that all hold with a probability of {1 - variances:g}, if {what} are normal"
            )
            if self.left_out:
                text += "; arms left out are taken to vary no more than the limit of the noisiest of the others"
            told.append(f"{text}. Do not count the pilot's own values again.")
        if bounds is not None or variances is not None:
            total = self.given.charged + (bounds or 0.0) + (variances or 0.0)
            told.append(f"A verdict at a risk of delta has a risk of delta + {total:g}.")
        elif self.control is not None:
            told.append("No bias bound is needed: a controlled value has the true mean, whatever the bias.")
        return told

    def to_dict(self) -> dict[str, Any]:
        """As plain values."""
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
                for one in self.controls
            ],
            "more_seeds": self.more_seeds,
            "advice": self.advice,
        }

    def __repr__(self) -> str:
        return f"<Pilot of {len(self.arms)} arms, {self.seeds} seeds: {self.advice}>"

    def _bias_bounds(self, level: float) -> tuple[Array, Array]:
        """(K, fidelities - 1) ends of the intervals."""
        off = self.pairs.values[:, :, :-1] - self.pairs.values[:, :, -1:]
        each = level / (self.given.n_arms * off.shape[2])
        middle, room = off.mean(axis=1), off.std(axis=1, ddof=1) / np.sqrt(self.seeds)
        room = room * t_quantile(self.seeds - 1, each / 2)
        low, high = (np.empty((self.given.n_arms, off.shape[2])) for _ in range(2))
        if self.left_out:
            low[:], high[:] = _prediction(off, each)
        low[self.pairs.arms], high[self.pairs.arms] = middle - room, middle + room
        return low, high

    def _bounded(self, bounds: float, variances: float | None) -> Problem:
        self._refuse_constant_differences()
        low, high = (np.hstack([end, np.zeros((self.given.n_arms, 1))]) for end in self._bias_bounds(bounds))
        plain = self.given.only(self.pairs.fidelities).replace(biases=(low, high))
        if variances is None or not plain.family.learns:
            return plain
        noisy = int((~plain.deterministic).sum())
        factor = variance_factor(self.seeds - 1, variances / (len(self.arms) * noisy))
        return plain.replace(family=Gaussian(self._limits(factor * self.deviations**2)))

    def _controlled(self, variances: float | None) -> Problem:
        self._refuse_wrong_bounds()
        chosen = self._advise(variances is not None)
        bounded = [m for m in self.pairs.fidelities if not self.given.unbounded[m]]
        if chosen is None and variances is None:
            return self.given.only(bounded)
        by = None if chosen is None else self.given.fidelities.index(chosen.fidelity)
        plain = self.given.only(sorted({*bounded, *([] if by is None else [by])}))
        if variances is None:
            assert chosen is not None
            if not self.given.family.learns and getattr(self.given.family, "variance", None) is not None:
                told = "is needed: the family states variances, and that of a controlled fidelity comes from the pilot"
                raise InvalidInput([Fault("variances", f"{told}; give a level, such as 0.01")])
            return plain.controlled(chosen.fidelity, chosen.others, chosen.coefficient)
        return self._with_limits(plain, chosen, variances)

    def _with_limits(self, plain: Problem, chosen: ControlAdvice | None, level: float) -> Problem:
        """Which control is best was chosen by the same values: so limits hold for all of them at once."""
        factor = pair_factor(self.seeds - 1, level / (len(self.arms) * max(len(self.controls), 1)))
        if plain.family.learns:
            columns = [self.fidelities.index(name) for name in plain.fidelities]
            table = self._limits(factor * self.deviations[:, columns] ** 2)
            plain = plain.replace(family=Gaussian(table))
        if chosen is None:
            return plain
        n = self.fidelities.index(chosen.fidelity)
        beside, top = self.pairs.values[:, :, n], self.pairs.values[:, :, -1]
        spread = (top - chosen.coefficient * beside).var(axis=1, ddof=1)
        spread += chosen.coefficient**2 * beside.var(axis=1, ddof=1) / chosen.others
        limits = self._limits(factor * spread[:, None])[:, 0]
        return plain.controlled(chosen.fidelity, chosen.others, chosen.coefficient, variance=limits)

    def _advise(self, known: bool) -> ControlAdvice | None:
        """The best control; if variances are known, that for seeds of each arm's own, where fewer values can do."""
        if not known:
            return self.control
        return best_of(make_advice(self.given, self.pairs, controls.FEW_KNOWN, shared=False))

    def _limits(self, table: Array) -> Array:
        """(K, ...) of a table for the arms seen, (arms, ...): the others have the largest."""
        full = np.repeat(table.max(axis=0, keepdims=True), self.given.n_arms, axis=0)
        full[self.pairs.arms] = table
        return full

    def _refuse_wrong_bounds(self) -> None:
        """Bounds that the problem states, and the pilot contradicts, must not be kept."""
        low, high = self._bias_bounds(SHOWN_LEVEL)
        columns = self.pairs.fidelities[:-1]
        wrong = (low > self.given.bias_high[:, columns]) | (high < self.given.bias_low[:, columns])
        faults = Faults()
        for n in np.flatnonzero(wrong.any(axis=0)):
            told = f"is contradicted by the pilot, at a level of {SHOWN_LEVEL:g}: leave it out of the file"
            faults.add(f"the bias bound of {self.fidelities[n]!r}", f"{told}, or take the pilot's own with bounds=0.01")
        faults.raise_if_any("pilot")

    def _refuse_constant_differences(self) -> None:
        off = self.pairs.values[:, :, :-1] - self.pairs.values[:, :, -1:]
        faults = Faults()
        for i, n in np.argwhere(np.ptp(off, axis=1) == 0):
            cell = f"{self.arms[i]!r} at {self.fidelities[n]!r}"
            told = f"is off by the same at all {self.seeds} seeds: that is not normal, so there is no interval"
            faults.add(cell, f"{told}; use more seeds, or no bounds")
        if self.left_out and len(self.arms) < 2:
            told = "has one arm: what it tells of the others is unknown"
            faults.add("the pilot", f"{told}; evaluate more arms, or no bounds")
        faults.raise_if_any("pilot")


def read_pilot(problem: Problem, values: Values) -> Pilot:
    """What values of a pilot, evaluated before, tell: rows of arm, fidelity, seed and value, or the path of a file."""
    return make_pilot(problem, read_pairs(problem, values))


def make_pilot(problem: Problem, pairs: Pairs) -> Pilot:
    between = None
    if len(pairs.arms) > 1:
        between = estimate(lambda values: share_of_arms(covariance_of_arms(values)), pairs.values[:, :, -1]).interval()
    few = controls.FEW_LEARNT if problem.family.learns else controls.FEW_KNOWN
    shared = between is not None and (problem.seeds == "common" or between.low >= SHARE_PAYS)
    return Pilot(problem, pairs, make_advice(problem, pairs, few, shared), between)


def make_advice(problem: Problem, pairs: Pairs, few: float, shared: bool) -> tuple[ControlAdvice, ...]:
    """For each noisy fidelity below the top."""
    costs = problem.costs[pairs.arms].mean(axis=0)
    top = pairs.values[:, :, -1]
    need = controls.needed(top, problem.sign, shared)
    return tuple(
        controls.advise(
            problem.fidelities[m], pairs.values[:, :, n], top, float(costs[m] / costs[-1]), few, need, shared
        )
        for n, m in enumerate(pairs.fidelities[:-1])
        if not problem.deterministic[m]
    )


def best_of(advice: tuple[ControlAdvice, ...]) -> ControlAdvice | None:
    """That which brings most, of those that pay."""
    return max((one for one in advice if one.pays), key=lambda one: one.gain.estimate, default=None)


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


def check_level(faults: Faults, name: str, level: Any) -> None:
    given = real(level)
    if given is None or not 0 < given < 1:
        faults.add(name, f"is {level!r:.60}: give a probability between 0 and 1, such as 0.01")
