"""Guess: rough knowledge of the means, as a range, a gap, or means of one's own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mfbai.checks import Cells, numbers, refuse_where
from mfbai.errors import Faults
from mfbai.model.correlation import Correlation, CorrelationLike, read_correlation
from mfbai.model.given import check_deviation
from mfbai.model.problem import Array, Problem

FORMS = (("means",), ("low", "high"), ("gap", "best"))  # the entries of each; `best` can sometimes be left out


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Guess:
    """Rough knowledge of the arms' top means, in one of three forms.

    means        the top mean of each arm, (K,), or all means, (K, M)
    low, high    the range of the top means: a number for all arms, or one per arm
    gap          the best arm is ahead of all others, which tie, by this much: the hardest case
    best         with a gap, the top mean of the best arm; it can be left out where any mean is possible and only
                 differences matter (gaussian, subgaussian)
    deviation    where the family does not state the size of the noise, the standard deviation of the values: one
                 number, one per fidelity or (K, M)
    correlation  of values with the same seed, on which it depends what controlled fidelities and common seeds save: one
                 number, or a table with that of `arms` and of `fidelities`

    >>> from mfbai import Guess
    >>> Guess(low=0.2, high=[0.5, 0.6, 0.9])
    <Guess: low 0.2, high [0.5, 0.6, 0.9]>
    """

    means: Array | None
    low: Array | None
    high: Array | None
    gap: float | None
    best: float | None
    deviation: Array | None
    correlation: Correlation | None

    def __init__(
        self,
        means: ArrayLike | None = None,
        *,
        low: ArrayLike | None = None,
        high: ArrayLike | None = None,
        gap: float | None = None,
        best: float | None = None,
        deviation: ArrayLike | None = None,
        correlation: CorrelationLike = None,
    ) -> None:
        faults = Faults()
        given = {"means": means, "low": low, "high": high, "gap": gap, "best": best}
        _check_form(faults, [name for name, value in given.items() if value is not None])
        given["deviation"] = deviation
        read = {name: None if value is None else _read(faults, name, value) for name, value in given.items()}
        _check_order(faults, read["low"], read["high"])
        if read["gap"] is not None:
            refuse_where(faults, "gap", read["gap"], read["gap"] <= 0, "a gap must be positive")
        if read["deviation"] is not None:
            negative = read["deviation"] < 0
            refuse_where(faults, "deviation", read["deviation"], negative, "a deviation cannot be negative")
        shared = read_correlation(faults, correlation, None)
        faults.raise_if_any("guess")
        plain = {name: None if read[name] is None else np.asarray(read[name]).item() for name in ("gap", "best")}
        vars(self).update({**read, **plain, "correlation": shared})

    def check(self, problem: Problem) -> None:
        """Raise InvalidInput, with every reason, if no truth of this problem fits the guess."""
        faults = Faults()
        missing = self.deviation is None and problem.family.learns  # only a plan needs it, and asks for it
        deviation = 0.0 if missing else self.deviation
        if self.means is not None and self.means.shape == problem.shape:
            _check_table(faults, problem, self.means, deviation)
        elif self.means is not None:
            _check_per_arm(faults, problem, "means", self.means)
        elif self.gap is not None:
            _check_gap(faults, problem, self.gap, self.best)
        else:
            _check_per_arm(faults, problem, "low", self.low)
            _check_per_arm(faults, problem, "high", self.high)
        if self.means is None or self.means.shape != problem.shape:
            check_deviation(Cells(faults, problem.arms, problem.fidelities), problem.family, deviation)
        faults.raise_if_any("guess")

    def noise(self, problem: Problem) -> Array | None:
        """(K, M) the guessed deviation; None where the family states it."""
        return None if self.deviation is None else np.array(np.broadcast_to(self.deviation, problem.shape))

    def to_dict(self) -> dict[str, Any]:
        """The [guess] table of a spec file."""
        told = {name: value for name, value in vars(self).items() if value is not None and name != "correlation"}
        shared = {} if self.correlation is None else {"correlation": self.correlation.to_spec()}
        return {**{name: np.asarray(value).tolist() for name, value in told.items()}, **shared}

    def __repr__(self) -> str:
        return f"<Guess: {', '.join(f'{name} {value}' for name, value in self.to_dict().items())}>"


def read_guess(given: Mapping[str, Any], problem: Problem) -> Guess:
    """The guess with these entries, for this problem; raises InvalidInput with everything that is wrong."""
    faults = Faults()
    with faults.absorb():
        guess = Guess(**given)
        guess.check(problem)
    for name in ("means", "low", "high"):  # where it is no guess at all, lengths are still to be checked
        array = _read(Faults(), name, given[name]) if name in given and len(faults) else None
        if array is not None and array.shape != problem.shape:
            _check_length(faults, problem, name, array)
    faults.raise_if_any("guess")
    return guess


def possible_tops(problem: Problem) -> tuple[Array, Array]:
    """(K,) the least and the greatest top mean for which every cell has a possible mean."""
    model = problem.model()
    ends = (model.top_low, model.top_high)
    return ends if problem.sign > 0 else (0.0 - ends[1], 0.0 - ends[0])


def _check_form(faults: Faults, given: list[str]) -> None:
    forms = [form for form in FORMS if set(form) & set(given)]
    if len(forms) != 1:
        told = " and ".join(given) or "nothing"
        faults.add("guess", f"gives {told}: give one of: means; low and high; gap (with best)")
        return
    for name in forms[0]:
        if name not in given and name != "best":
            why = "best is only told with a gap" if name == "gap" else f"{' and '.join(forms[0])} are given together"
            faults.add("guess", f"has no {name!r}: {why}")


def _read(faults: Faults, name: str, value: Any) -> Array | None:
    if _has_boolean(value):  # among numbers, numpy would take it for 0 or 1
        faults.add(name, f"is {value!r}: give numbers")
        return None
    array = numbers(faults, name, value)
    if array is None:
        return None
    dimensions, wanted = {
        "means": ((1, 2), "one per arm, or arms x fidelities"),
        "low": ((0, 1), "one number, or one per arm"),
        "high": ((0, 1), "one number, or one per arm"),
        "deviation": ((0, 1, 2), "one number, one per fidelity, or arms x fidelities"),
    }.get(name, ((0,), "one number"))
    if array.ndim not in dimensions:
        faults.add(name, f"has shape {array.shape}: give {wanted}")
        return None
    refuse_where(faults, name, array, ~np.isfinite(array), "give a finite number")
    return array


def _has_boolean(value: Any) -> bool:
    return any(map(_has_boolean, value)) if isinstance(value, list | tuple) else isinstance(value, bool | np.bool_)


def _check_order(faults: Faults, low: Array | None, high: Array | None) -> None:
    if low is None or high is None:
        return
    if low.ndim and high.ndim and low.shape != high.shape:
        faults.add("low", f"has {low.size} entries and high has {high.size}: give one per arm in both")
        return
    lows, highs = np.broadcast_arrays(low, high)
    refuse_where(faults, "low", lows, lows > highs, lambda index: f"it is above its high, {float(highs[index])!r}")


def _check_per_arm(faults: Faults, problem: Problem, name: str, given: Array | None) -> None:
    assert given is not None
    if not _check_length(faults, problem, name, given):
        return
    least, greatest = possible_tops(problem)
    if not given.ndim:
        least, greatest = least.max(), greatest.min()

    def why(index: tuple[int, ...]) -> str:
        place = f"; check arm {problem.arms[index[0]]!r}" if index else ""
        return f"{_possible(problem, least[index], greatest[index])}{place}"

    refuse_where(faults, name, given, ~_inside(problem, given, least, greatest), why)


def _check_length(faults: Faults, problem: Problem, name: str, given: Array) -> bool:
    K, M = problem.shape
    if not given.ndim or given.shape == (K,):
        return True
    table = f", or {K} rows of {M}: arms x fidelities" if name == "means" else ", or one for all"
    faults.add(name, f"has shape {given.shape}: give {K}, one per arm{table}")
    return False


def _check_gap(faults: Faults, problem: Problem, gap: float, best: float | None) -> None:
    lows, highs = possible_tops(problem)
    least, greatest = float(lows.max()), float(highs.min())  # any arm may be the best one
    possible = _possible(problem, least, greatest)
    if best is None:
        if np.isfinite(least) or np.isfinite(greatest):
            faults.add("guess", f"has no 'best', the top mean of the best arm, on which costs depend here; {possible}")
        return
    if not _inside(problem, best, least, greatest):
        faults.add("best", f"is {best!r}: {possible}")
    elif not _inside(problem, best - problem.sign * gap, least, greatest):
        told = f"is {gap!r}: with the best arm at {best!r} the others would be at {best - problem.sign * gap:g}"
        faults.add("gap", f"{told}; {possible}")


def _inside(problem: Problem, top: Any, least: Any, greatest: Any) -> Any:
    if problem.family.open_range:
        return (top > least) & (top < greatest)
    return (top >= least) & (top <= greatest)


def _possible(problem: Problem, least: float, greatest: float) -> str:
    strictly = f"strictly between {least:g} and {greatest:g}"
    where = strictly if problem.family.open_range else f"in [{least:g}, {greatest:g}]"
    return f"a top mean of this {problem.family.name} problem, with its bias bounds, must be {where}"


def _check_table(faults: Faults, problem: Problem, means: Array, deviation: ArrayLike | None) -> None:
    """All means are given: they must be those of an instance, but that arms may tie, which a tolerance allows."""
    with faults.absorb():
        problem.instance(means, ties=True, deviation=deviation)
