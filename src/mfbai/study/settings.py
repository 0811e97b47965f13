"""What a study is asked to find out, as its first event states it."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from mfbai.analysis.evidence import read_problem
from mfbai.checks import check_choice, check_delta, real
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.model.problem import DIRECTIONS, Problem
from mfbai.model.spec import from_dict, load
from mfbai.run.assemble import Parts, assemble
from mfbai.stopping import RULES
from mfbai.stopping.own import OWN
from mfbai.strategies import STRATEGIES
from mfbai.study.limits import KEY, LARGEST, LONGEST_NAME, SMALLEST_RISK

STRIDE = 0x9E3779B1  # odd, so that no two trials of a study have the same seed


@dataclass(frozen=True, eq=False)
class Settings:
    """Everything that a study's course depends on, beside the values told."""

    name: str
    key: str  # a few random digits that tell its trials from those of other studies
    problem: Problem
    delta: float
    strategy: str
    stopping: str
    tolerance: float = 0.0
    max_cost: float | None = None
    options: Mapping[str, float] = field(default_factory=dict)

    @cached_property
    def parts(self) -> Parts:
        deltas = np.array([self.delta])
        return assemble(self.problem, self.strategy, self.stopping, deltas, self.options, self.tolerance)

    @property
    def rule(self) -> str:
        """What decides: the stopping rule, unless the strategy has one of its own."""
        return OWN if STRATEGIES[self.strategy].own_rule else self.stopping

    def seed(self, trial: int) -> int:
        """Of a trial: 31 bits, which any generator of random numbers takes."""
        return (int(self.key, 16) + trial * STRIDE) % 2**31

    def check_value(self, value: Any) -> float:
        """The value as a number, if an evaluation of this problem can return it."""
        x = real(value)
        if x is None:
            raise InvalidInput([Fault("value", f"is {value!r:.60}: give a number")])
        if not abs(x) < LARGEST:
            told = "give a finite number" if not math.isfinite(x) else f"give a number below {LARGEST:g}"
            raise InvalidInput([Fault("value", f"is {x!r}: {told}, or report the trial with fail")])
        if not self.problem.family.admits(x):
            told = f"a {self.problem.family.name} evaluation cannot return that"
            raise InvalidInput([Fault("value", f"is {x!r}: {told}; check the [family] of the problem")])
        return x

    def to_dict(self) -> dict[str, Any]:
        entries = {entry.name: getattr(self, entry.name) for entry in dataclasses.fields(self)}
        return {
            **entries,
            "problem": self.problem.to_dict(),
            "options": {name: float(value) for name, value in self.options.items()},
        }

    def differences(self, other: Settings) -> list[str]:
        """The names of the settings in which another study differs, if it has the same name."""
        return [
            entry.name
            for entry in dataclasses.fields(self)
            if entry.name != "key" and getattr(self, entry.name) != getattr(other, entry.name)
        ]


def read_settings(body: Mapping[str, Any]) -> Settings:
    """The settings that a `create` event states."""
    entries = {entry.name: body.get(entry.name) for entry in dataclasses.fields(Settings)}
    problem = entries.pop("problem")
    found = from_dict(problem if isinstance(problem, Mapping) else {})
    return check_settings(problem=found, direction=None, **entries)


def check_settings(
    name: Any,
    key: Any,
    problem: Any,
    delta: Any,
    strategy: Any,
    stopping: Any,
    tolerance: Any,
    max_cost: Any,
    direction: Any,
    options: Any,
) -> Settings:
    """Settings as given, with every fault told at once."""
    faults = Faults()
    check_name(faults, name)
    if not isinstance(key, str) or not re.fullmatch(KEY, key):
        faults.add("key", f"is {key!r:.80}: it must be 8 hexadecimal digits")
    found: Problem | None = None
    with faults.absorb():
        found = read_problem(load(problem, ties=True) if isinstance(problem, str | Path) else problem)
    if direction is not None:
        check_choice(faults, "direction", direction, DIRECTIONS)
        if found is not None and isinstance(direction, str) and direction in DIRECTIONS:
            found = found.towards(direction)
    before = len(faults)
    check_delta(faults, delta)
    if np.ndim(delta):
        faults.add("delta", f"is {delta!r}: a study has one risk")
    elif len(faults) == before and delta < SMALLEST_RISK:
        faults.add("delta", f"is {delta!r}: a risk below {SMALLEST_RISK:g} cannot be computed with")
    check_choice(faults, "strategy", strategy, STRATEGIES)
    check_choice(faults, "stopping", stopping, RULES)
    if found is not None:
        with faults.absorb():
            found.model(tolerance)
        if found.costs.max() >= LARGEST:
            faults.add("costs", f"has {found.costs.max():g}: a cost of {LARGEST:g} or more cannot be computed with")
        _check_budget(faults, max_cost, found)
    settings = None
    if found is not None and len(faults) == before:
        budget = None if max_cost is None else float(max_cost)
        given = {} if options is None else options
        settings = Settings(
            str(name), str(key), found, float(delta), strategy, stopping, float(tolerance), budget, given
        )
        with faults.absorb():
            assert settings.parts
    faults.raise_if_any("study")
    assert settings is not None
    return settings


def check_name(faults: Faults, name: Any) -> None:
    told = f"give printable text of {LONGEST_NAME} characters at most that is not blank and does not begin with '-'"
    good = isinstance(name, str) and name.strip() and name.isprintable() and not name.startswith("-")
    if not good or len(name) > LONGEST_NAME:
        faults.add("name", f"is {name!r:.80}: {told}")


def _check_budget(faults: Faults, max_cost: Any, problem: Problem) -> None:
    budget = real(max_cost)
    if max_cost is None:
        return
    if budget is None or not 0 < budget < math.inf:
        faults.add("max_cost", f"is {max_cost!r:.60}: give a positive number, or leave it out")
    elif budget < problem.costs.min():
        faults.add("max_cost", f"is {max_cost!r}: the cheapest evaluation costs {problem.costs.min():g}")
