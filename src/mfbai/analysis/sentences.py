"""What analyses found, in the same words on the command line and in notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai.analysis.rows import interval
from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.analysis.onward import Onward
    from mfbai.analysis.oracle import Oracle
    from mfbai.analysis.pilot import Pilot

ROUNDING = 1e-12  # smaller gaps are shown as this one: they vary from machine to machine
ANSWERS = {True: "yes", False: "no", None: "too few seeds to tell"}
NORMAL = "It is that of normal noise whose deviation is known; this family knows neither. What that costs, a simulation"
NORMAL += " shows."


def certified(found: Oracle) -> str:
    """How surely C* is what it is said to be."""
    gap = f"of {found.gap:.0e}" if found.gap > ROUNDING else f"below {ROUNDING:.0e}"
    return f"certified to a relative gap {gap}"


def size(pilot: Pilot) -> str:
    arms = "1 arm" if len(pilot.arms) == 1 else f"{len(pilot.arms)} arms"
    return f"{arms}, {pilot.seeds} seeds, at a cost of {digits(pilot.cost)}."


def brackets(onward: Onward) -> str:
    """What the brackets in the table of controls hold."""
    what = "; of differences between arms, but for deviations" if onward.shares_seeds else ""
    return f"in brackets, 80 % intervals{what}"


def hold(pilot: Pilot, level: float) -> str:
    """How surely the intervals of biases are right."""
    unseen = "; for arms left out, if their biases are drawn from the same normal law" if pilot.left_out else ""
    return f"all intervals hold at once with {100 * (1 - level):g} %, if differences are normal{unseen}"


def common_seeds(onward: Onward) -> str:
    """Whether they pay; nothing if there is one arm."""
    pilot = onward.pilot
    if pilot.between_arms is None:
        return ""
    answer = ANSWERS[pilot.common_seeds_pay]
    if pilot.common_seeds_pay and not onward.shares_seeds:
        answer += ", but then no proof uses variances"
    return f"{answer}; correlation of two arms at one seed {interval(pilot.between_arms)}"
