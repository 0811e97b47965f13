"""Trials at controlled fidelities: their parts, and reading what is told of them.

Such a trial is several evaluations, of which the value is made: see `mfbai.model.control`. A trial at any other
fidelity has no parts and one value.
"""

from __future__ import annotations

from typing import Any

from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.control import Control
from mfbai.model.problem import Problem
from mfbai.study.limits import LARGEST
from mfbai.study.settings import Settings
from mfbai.study.status import Part

Told = float | list[float]  # a value, or those of the parts


def parts_of(settings: Settings, trial: str, cell: tuple[int, int], number: int) -> tuple[Part, ...]:
    """The parts of a trial whose own seed has that number; none at ordinary fidelities."""
    problem, (arm, fidelity) = settings.problem, cell
    control = problem.controls[fidelity]
    if control is None:
        return ()
    seed = settings.seed(number)
    seeds = [seed, seed, *settings.part_seeds(number, control)]
    return tuple(
        Part(
            id=trial,
            arm=problem.arms[arm],
            arm_index=arm,
            fidelity=problem.fidelities[m],
            fidelity_index=m,
            cost=float(problem.costs[arm, m]),
            seed=s,
        )
        for m, s in zip(control.fidelities(problem.n_fidelities - 1), seeds, strict=True)
    )


def listed(given: Any) -> list[Any] | None:
    """Several values as a list; None if one was given, or what is none."""
    one = isinstance(given, str | bytes) or not hasattr(given, "__iter__") or getattr(given, "shape", 1) == ()
    return None if one else list(given)


def read_told(settings: Settings, given: Any) -> Told:
    """A value or several, if evaluations can return them: for a trial whose fidelity is not known yet."""
    several = listed(given)
    if several is None:
        return settings.check_value(given)
    return _read_all(settings, several, [None] * len(several))


def entries_of(settings: Settings, told: Told, fidelity: int) -> dict[str, Any]:
    """What a `tell` event says of a trial at that fidelity: its value and, if it has parts, theirs."""
    problem = settings.problem
    control = problem.controls[fidelity]
    if control is None:
        if isinstance(told, list):
            why = f"a trial at {problem.fidelities[fidelity]!r} has no parts; give a number"
            raise InvalidInput([Fault("value", f"is {told!r:.60}: {why}")])
        return {"value": settings.check_value(told, fidelity)}
    if not isinstance(told, list):
        raise InvalidInput([Fault("value", f"is {told!r}: {_wanted(problem, fidelity, control)}")])
    if len(told) != control.n_parts:
        raise InvalidInput([Fault("values", f"are {len(told)}: {_wanted(problem, fidelity, control)}")])
    parts = _read_all(settings, told, control.fidelities(problem.n_fidelities - 1))
    value = problem.compose(fidelity, parts)
    if not abs(value) < LARGEST:
        why = f"give numbers that make one below {LARGEST:g}, or report the trial with fail"
        raise InvalidInput([Fault("values", f"make {value!r}: {why}")])
    return {"value": value, "parts": parts}


def _read_all(settings: Settings, given: list[Any], fidelities: Any) -> list[float]:
    faults, read = Faults(), []
    for k, (value, fidelity) in enumerate(zip(given, fidelities, strict=True)):
        with faults.absorb(lambda fault, k=k: fault._replace(field=f"values[{k}]")):  # type: ignore[misc]
            read.append(settings.check_value(value, fidelity))
    faults.raise_if_any("values")
    return read


def _wanted(problem: Problem, fidelity: int, control: Control) -> str:
    top, by = problem.fidelities[-1], problem.fidelities[control.by]
    parts = f"at {top!r}, at {by!r} with the same seed, and {control.others} at {by!r} with other seeds"
    return f"a trial at {problem.fidelities[fidelity]!r} takes {control.n_parts} values; give, in this order: {parts}"
