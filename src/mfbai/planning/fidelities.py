"""From a plan to a study in one step: the plan of a problem as a study would have it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mfbai.model.guess import Guess
from mfbai.model.instance import Instance
from mfbai.model.spec import load_with_guess
from mfbai.planning.plans import plan
from mfbai.planning.results import Plan


def plan_fidelities(
    spec: Any, guess: Guess | None, delta: float, tolerance: float, direction: str | None, seeds: str | None
) -> Plan:
    """The plan, whose `advised` problem has the fidelities worth having; `direction` and `seeds` replace the problem's
    own, unless they are None."""
    loaded, stated = load_with_guess(spec) if isinstance(spec, str | Path) else (spec, None)
    guess = stated if guess is None else guess
    changes = {name: value for name, value in {"direction": direction, "seeds": seeds}.items() if value is not None}
    if guess is None and isinstance(loaded, Instance):
        guess = Guess(loaded.means, deviation=loaded.deviation, correlation=loaded.correlation)
    problem = loaded.problem if isinstance(loaded, Instance) else loaded
    return plan(problem.replace(**changes) if changes else problem, guess, delta, tolerance)
