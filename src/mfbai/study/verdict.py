"""The end of a study."""

from __future__ import annotations

from dataclasses import dataclass

from mfbai.analysis.guarantee import BiasAlarm
from mfbai.stopping import DEFAULT
from mfbai.text import digits


@dataclass(frozen=True)
class Verdict:
    """The end of a study: it never changes."""

    state: str  # "decided"; or "undecided", if the budget is spent
    arm: str | None  # the answer; of an undecided study the arm that leads, if any has data
    arm_index: int | None
    risk: float  # of being wrong: delta by proof if decided by the e-process; else what the e-process proves by now
    delta: float
    stopping: str  # the rule that decided
    cost: float  # of all results told until then
    told: int
    alarms: tuple[BiasAlarm, ...]  # data that contradict the bias bounds, on which everything rests
    tolerance: float = 0.0  # an answer this close to the best is right

    def __str__(self) -> str:
        close = f", or within {self.tolerance:g} of it" if self.tolerance else ""
        if self.state == "decided" and self.stopping != DEFAULT:
            proof = f"the e-process has proven {self.risk:.2g}" if self.risk < 1 else "the e-process has proven nothing"
            text = (
                f"The best is {self.arm!r}{close}, by the rule {self.stopping!r}; {proof}; it cost {digits(self.cost)}."
            )
        elif self.state == "decided":
            sure = f"the risk is {self.risk:.2g} at most, if the bias bounds hold"
            text = f"The best is {self.arm!r}{close}: {sure}; it cost {digits(self.cost)}."
        elif self.arm is None:
            text = f"Undecided: nothing is known; it cost {digits(self.cost)}."
        else:
            sure = f"at a current risk of {self.risk:.2g}" if self.risk < 1 else "and nothing is proven yet"
            text = f"Undecided within the budget: {self.arm!r} leads, {sure}; it cost {digits(self.cost)}."
        return text if not self.alarms else f"{text} BIAS ALARM: the data contradict a bias bound."
