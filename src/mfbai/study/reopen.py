"""Reopening a study: the same question with other bias bounds, and all values of the old study.

An e-process with the true biases is a supermartingale. Bounds that hold can only lower it, the wider the more. So the
proof is one for all bounds that hold, at once, and they may be chosen after a look at the values. What `race` bets
depends on the bounds before each value: that is a proof for those which it had alone. So a study of race goes on with
`frugal` and the e-process, which count all values.
"""

from __future__ import annotations

import dataclasses
import secrets
from collections.abc import Iterator, Mapping
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput, suggestion
from mfbai.model.problem import Problem
from mfbai.stopping import DEFAULT
from mfbai.study.fold import Cell
from mfbai.study.settings import HASH, Settings, check_name, check_new_name, check_settings

if TYPE_CHECKING:
    from mfbai.study.study import Study

COMMON = (
    "cannot be reopened: its arms share seeds, and values of another study have none of the new one's; create a study "
    "with the new bounds"
)


def reopened(study: Study, name: Any, bias: Any, max_cost: Any) -> tuple[Settings, list[tuple[Cell, list[float]]]]:
    """The settings of the new study, and the values that it begins with, by cell."""
    before = study.settings
    if before.shares_seeds:
        raise InvalidInput([Fault(f"study {before.name!r}", COMMON)])
    faults = Faults()
    problem = _with_bounds(faults, before.problem, bias)
    check_name(faults, name)
    check_new_name(faults, name)
    faults.raise_if_any("call")
    events = list(study.journal())
    bodies = [event.body for event in events]
    values = _values(before, bodies)
    entries = {entry.name: getattr(before, entry.name) for entry in dataclasses.fields(Settings)}
    entries |= {"name": name, "key": secrets.token_hex(4), "problem": problem, "seeds": HASH}
    entries |= {"max_cost": _budget(before, bodies) if max_cost is None else max_cost}
    if before.bets_on_contrasts or before.in_rounds:
        entries |= {"strategy": "frugal", "stopping": DEFAULT, "options": {}}
    taken = sum(len(some) for _, some in values)
    entries["reopens"] = {"study": before.name, "head": events[-1].hash, "values": taken}
    return check_settings(Faults(), entries), values


def _with_bounds(faults: Faults, problem: Problem, bias: Any) -> Problem:
    """The problem with the bounds that are given; the others stay."""
    if not isinstance(bias, Mapping) or not bias:
        faults.add("bias", f"is {bias!r:.60}: give the bounds that change, such as {{{problem.fidelities[0]!r}: 0.2}}")
        return problem
    low, high = np.array(problem.bias_low), np.array(problem.bias_high)
    for fidelity, bound in bias.items():
        ends = _ends(bound)
        if fidelity not in problem.fidelities[:-1]:
            told = "it is the true one, without bias" if fidelity == problem.fidelities[-1] else None
            faults.add("bias", f"has {fidelity!r}: {told or suggestion(str(fidelity), problem.fidelities[:-1])}")
        elif problem.controls[problem.fidelities.index(fidelity)] is not None:
            faults.add("bias", f"has {fidelity!r}: a controlled fidelity has none")
        elif ends is None:
            told = "give a number of 0 or more, or two, the lower one first"
            faults.add("bias", f"of {fidelity!r} is {bound!r:.60}: {told}")
        else:
            m = problem.fidelities.index(fidelity)
            low[:, m], high[:, m] = ends
    if faults:
        return problem
    found = problem
    with faults.absorb():
        found = problem.replace(biases=(low, high))
    if not faults and found == problem:
        faults.add("bias", "is as before: give wider bounds")
    return found


def _ends(bound: Any) -> tuple[float, float] | None:
    """The interval that a bound says; None if it is none."""
    radius = real(bound)
    given = list(bound) if isinstance(bound, list | tuple) else [] if radius is None else [-radius, radius]
    ends = [end for end in map(real, given) if end is not None]
    if len(given) != 2 or len(ends) != 2 or not -np.inf < ends[0] <= ends[1] < np.inf:
        return None
    return ends[0], ends[1]


def _values(settings: Settings, bodies: list[dict[str, Any]]) -> list[tuple[Cell, list[float]]]:
    """All values that may count: of each cell those before the first that is still under way, as in the old study.

    Later ones may have come back sooner because of what they are.
    """
    closed = {body["trial"]: body.get("value") for body in bodies if body["kind"] in ("tell", "fail")}
    found: dict[Cell, list[float]] = {}
    asked = [body for body in bodies if body["kind"] == "ask"]
    for body in bodies:
        if body["kind"] == "add":
            found.setdefault((body["arm"], body["fidelity"]), []).extend(body["values"])
    for queue in _queues(settings, asked):
        for body in takewhile(lambda body: body["trial"] in closed, queue):
            value = closed[body["trial"]]
            if value is not None:
                found.setdefault((body["arm"], body["fidelity"]), []).append(value)
    return sorted(found.items())


def _queues(settings: Settings, asked: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """What was asked for, in the order in which it counts: all in one line, or each cell on its own. The value of a
    deterministic fidelity waits for no other."""
    exact = settings.problem.deterministic
    yield from ([body] for body in asked if exact[body["fidelity"]])
    noisy = [body for body in asked if not exact[body["fidelity"]]]
    if settings.ordered:
        yield noisy
        return
    for cell in {(body["arm"], body["fidelity"]) for body in noisy}:
        yield [body for body in noisy if (body["arm"], body["fidelity"]) == cell]


def _budget(settings: Settings, bodies: list[dict[str, Any]]) -> float | None:
    """What is left of it."""
    if settings.max_cost is None:
        return None
    cells = {body["trial"]: (body["arm"], body["fidelity"]) for body in bodies if body["kind"] == "ask"}
    told = [cells[body["trial"]] for body in bodies if body["kind"] == "tell"]
    return float(settings.max_cost - sum(settings.problem.costs[cell] for cell in told))
