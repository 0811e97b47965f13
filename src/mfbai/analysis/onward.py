"""How to go on after a pilot: with a controlled fidelity, or with bounds and variances that the pilot found."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai._version import __version__
from mfbai.analysis import controls
from mfbai.analysis.controls import (
    ControlAdvice,
    Terms,
    best_of,
    make_advice,
    more_seeds,
    stated_over_seen,
    states_variances,
)
from mfbai.analysis.effort import FEW_KNOWN, race_of
from mfbai.analysis.paired_noise import pair_factor, variance_factor
from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.families import Gaussian
from mfbai.model.problem import Array, Problem
from mfbai.model.spec import dumps
from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.analysis.pilot import Pilot

CONTRADICTED = 0.05  # the level at which a pilot contradicts a bound that is stated
FEWEST = 3  # seeds for limits of variances


@dataclass(frozen=True, eq=False)
class Onward:
    """What to do after a pilot, if bounds or variances are to come from it at these levels: see `Pilot.problem`."""

    pilot: Pilot
    bounds: float | None = None
    variances: float | None = None

    def __post_init__(self) -> None:
        faults = Faults()
        for name, level in {"bounds": self.bounds, "variances": self.variances}.items():
            if level is not None:
                check_level(faults, name, level)
        if self.variances is not None:
            check_limits(faults, self.pilot.given, self.pilot.seeds)
        faults.raise_if_any("call")

    @cached_property
    def controls(self) -> tuple[ControlAdvice, ...]:
        """What controls bring. With limits of variances, seeds are each arm's own, and fewer values can do; but where
        the family states the variance of the top, that of a controlled value has the handicap of a limit."""
        if self.variances is None:
            return self.pilot.controls
        given, pairs = self.pilot.given, self.pilot.pairs
        stated = stated_over_seen(given, pairs) if states_variances(given) else None

        def handicap(seeds: int) -> float:
            return 1.0 if stated is None else self._pair_factor(seeds) / stated

        factor = self._pair_factor(self.pilot.seeds) if stated is None else stated
        race = race_of(given, pairs, shared=False)._replace(few=FEW_KNOWN, width=None)
        terms = Terms(cache(lambda seeds: race.efforts(seeds).times(factor)), shared=False, handicap=handicap)
        return make_advice(given, pairs, terms)

    @property
    def control(self) -> ControlAdvice | None:
        return best_of(self.controls) if self.bounds is None else None

    @property
    def shares_seeds(self) -> bool:
        """Whether arms are to have the same seeds."""
        return self.pilot.shares_seeds and self.variances is None

    @property
    def charged(self) -> float:
        """The probability that what the problem rests on is wrong."""
        limits = self.pilot.given.family.learns or self.control is not None
        limited = self.variances if self.variances is not None and limits else 0.0
        return self.pilot.given.charged + (self.bounds or 0.0) + limited

    @property
    def advice(self) -> str:
        """What to do, in one sentence."""
        told = self._what_to_do()
        told = f"use common seeds, and {told}" if self.shares_seeds and self.pilot.given.seeds != "common" else told
        return f"{told[0].upper()}{told[1:]}."

    def _what_to_do(self) -> str:
        top, chosen = self.pilot.fidelities[-1], self.control
        if self.bounds is not None:
            return "go on with the bias intervals of the pilot"
        if chosen is not None:
            told = f"control {top!r} by {chosen.fidelity!r} with {chosen.others} other seeds{self._family()}"
            low, estimate, high = (digits(one, 2) for one in sorted(chosen.gain))
            return f"{told}: {estimate} times cheaper than {top!r} alone" + f" ({low} to {high})" * (low != high)
        unsure = [one for one in self.controls if one.verdict == controls.OPEN]
        if not unsure:
            return f"evaluate {top!r} alone: control by another fidelity would not pay"
        best, seeds = max(unsure, key=lambda one: one.gain.estimate), more_seeds(self.controls)
        if seeds is None:
            return f"evaluate {top!r} alone: to tell whether control by {best.fidelity!r} pays takes too many seeds"
        more = f"evaluate {seeds} more seed{'s' * (seeds > 1)}"
        if self.variances is not None:
            return f"{more} for limits of variances with which control by {best.fidelity!r} pays, or {top!r} alone"
        gain = f"{digits(best.gain.low, 2)} to {digits(best.gain.high, 2)} times cheaper"
        return f"{more} to tell whether control by {best.fidelity!r} pays ({gain})"

    def _family(self) -> str:
        """What must be changed first."""
        family = self.pilot.given.family
        return "" if family.sums else f", under a family that describes sums, unlike {family.name}"

    @cached_property
    def problem(self) -> Problem:
        found = self._bounded() if self.bounds is not None else self._controlled()
        return found.replace(charged=self.charged, seeds="common" if self.shares_seeds else found.seeds)

    @property
    def spec(self) -> str:
        """The text of a spec file of the problem, with comments that say where its numbers come from."""
        pilot = self.pilot
        size = f"{pilot.seeds} seeds and {len(pilot.arms)} arms, at a cost of {digits(pilot.cost)}"
        lines = [f"From a pilot of {size}; mfbai {__version__}.", self.advice, *self.assumptions]
        return "".join(f"# {line}\n" for line in lines) + "\n" + dumps(self.problem)

    @property
    def assumptions(self) -> list[str]:
        """What the numbers of the problem rest on, beside what its family says."""
        told = []
        left_out = self.pilot.left_out
        if self.bounds is not None:
            hold = f"all hold with a probability of {1 - self.bounds:g}"
            text = f"Bias bounds: {hold}, if differences at one seed are normal"
            if left_out:
                text += "; for arms left out, if their biases are drawn from the same normal law as those of the others"
            told.append(f"{text}.")
        if self.charged > self.pilot.given.charged + (self.bounds or 0.0):
            what = "values" if self.bounds is not None else "pairs of values at one seed"
            hold = f"upper limits that all hold with a probability of {1 - (self.variances or 0.0):g}"
            text = f"Variances: {hold}, if {what} are normal"
            if left_out:
                text += "; arms left out are taken to vary no more than the limit of the noisiest of the others"
            told.append(f"{text}. Do not count the pilot's own values again.")
        if told:
            told.append(f"A verdict at a risk of delta has a risk of delta + {self.charged:g}.")
        elif self.control is not None:
            told.append("No bias bound is needed: a controlled value has the true mean, whatever the bias.")
        return told

    def _bounded(self) -> Problem:
        pilot, given = self.pilot, self.pilot.given
        assert self.bounds is not None
        _refuse_constant_differences(pilot)
        low, high = (np.hstack([end, np.zeros((given.n_arms, 1))]) for end in pilot._bias_bounds(self.bounds))
        plain = given.only(pilot.pairs.fidelities).replace(biases=(low, high))
        if self.variances is None or not plain.family.learns:
            return plain
        noisy = int((~plain.deterministic).sum())
        factor = variance_factor(pilot.seeds - 1, self.variances / (len(pilot.arms) * noisy))
        return plain.replace(family=Gaussian(self._limits(factor * pilot.deviations**2)))

    def _controlled(self) -> Problem:
        pilot, given, chosen = self.pilot, self.pilot.given, self.control
        _refuse_wrong_bounds(pilot)
        kept = {m for m in pilot.pairs.fidelities if not given.unbounded[m]}
        if chosen is not None:
            kept.add(given.fidelities.index(chosen.fidelity))
        plain = given.only(sorted(kept))
        if self.variances is not None and plain.family.learns:
            columns = [pilot.fidelities.index(name) for name in plain.fidelities]
            seen = pilot.deviations[:, columns] ** 2
            plain = plain.replace(family=Gaussian(self._limits(self._pair_factor(pilot.seeds) * seen)))
        if chosen is None:
            return plain
        return plain.controlled(
            chosen.fidelity, chosen.others, chosen.coefficient, variance=self._variance_of(chosen, plain)
        )

    def _variance_of(self, chosen: ControlAdvice, plain: Problem) -> Array | None:
        """(K,) limits for the controlled fidelity; None if the family has no variances.

        Which control is best was chosen by the same values: so limits hold for all of them at once.
        """
        pilot = self.pilot
        if not states_variances(plain):
            return None
        if self.variances is None:
            told = "is needed: the family states variances, and that of a controlled fidelity comes from the pilot"
            raise InvalidInput([Fault("variances", f"{told}; give a level, such as 0.01")])
        n = pilot.fidelities.index(chosen.fidelity)
        beside, top = pilot.pairs.values[:, :, n], pilot.pairs.values[:, :, -1]
        spread = (top - chosen.coefficient * beside).var(axis=1, ddof=1)
        spread += chosen.coefficient**2 * beside.var(axis=1, ddof=1) / chosen.others
        return self._limits(self._pair_factor(pilot.seeds) * spread[:, None])[:, 0]

    def _pair_factor(self, seeds: int) -> float:
        """Variances seen with so many seeds, times this, are limits: all of them hold at once."""
        assert self.variances is not None
        return pair_factor(seeds - 1, self.variances / (len(self.pilot.arms) * max(len(self.pilot.controls), 1)))

    def _limits(self, table: Array) -> Array:
        """(K, ...) of a table for the arms seen, (arms, ...): the others have the largest."""
        constant = np.argwhere((table <= 0) & (table > 0).any(axis=0))  # what is 0 for all arms is deterministic
        if len(constant):
            told = (
                f"is given, but {self.pilot.arms[constant[0, 0]]!r} returns the same value at all seeds of a fidelity"
            )
            raise InvalidInput([Fault("variances", f"{told}: evaluate more seeds, or leave it out")])
        full = np.repeat(table.max(axis=0, keepdims=True), self.pilot.given.n_arms, axis=0)
        full[self.pilot.pairs.arms] = table
        return full


def check_level(faults: Faults, name: str, level: Any) -> None:
    given = real(level)
    if given is None or not 0 < given < 1:
        faults.add(name, f"is {level!r:.60}: give a probability between 0 and 1, such as 0.01")


def check_limits(faults: Faults, problem: Problem, seeds: int | None, name: str = "variances") -> None:
    """Whether there can be limits of variances, after a pilot of so many seeds if that is known."""
    if problem.seeds == "common":
        told = "is given, but seeds are common: then no proof uses variances"
        faults.add(name, f"{told}; leave it out, or evaluate with independent seeds")
    if seeds is not None and seeds < FEWEST:
        told = f"is given, but a pilot of {seeds} seeds says too little of noise"
        faults.add(name, f"{told}: evaluate {FEWEST} or more, better 8")


def _refuse_wrong_bounds(pilot: Pilot) -> None:
    """Bounds that the problem states, and the pilot contradicts, must not be kept."""
    low, high = pilot._bias_bounds(CONTRADICTED)
    columns = pilot.pairs.fidelities[:-1]
    wrong = (low > pilot.given.bias_high[:, columns]) | (high < pilot.given.bias_low[:, columns])
    faults = Faults()
    for n in np.flatnonzero(wrong.any(axis=0)):
        told = f"is contradicted by the pilot, at a level of {CONTRADICTED:g}: leave it out of the file"
        faults.add(f"the bias bound of {pilot.fidelities[n]!r}", f"{told}, or take the pilot's own with bounds=0.01")
    faults.raise_if_any("pilot")


def _refuse_constant_differences(pilot: Pilot) -> None:
    off = pilot.pairs.values[:, :, :-1] - pilot.pairs.values[:, :, -1:]
    faults = Faults()
    for i, n in np.argwhere(np.ptp(off, axis=1) == 0):
        cell = f"{pilot.arms[i]!r} at {pilot.fidelities[n]!r}"
        told = f"is off by the same at all {pilot.seeds} seeds: that is not normal, so there is no interval"
        faults.add(cell, f"{told}; use more seeds, or no bounds")
    if pilot.left_out and len(pilot.arms) < 2:
        told = "has one arm: what it tells of the others is unknown"
        faults.add("the pilot", f"{told}; evaluate more arms, or no bounds")
    faults.raise_if_any("pilot")
