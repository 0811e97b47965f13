"""How a study ended."""

from __future__ import annotations

from dataclasses import dataclass

from mfbai.analysis.guarantee import BiasAlarm
from mfbai.model.problem import Problem
from mfbai.study import sentences


@dataclass(frozen=True)
class Verdict:
    """How a study ended: it never changes."""

    state: str  # "decided"; or "undecided", if the budget is spent
    arm: str | None  # the answer; of an undecided study the arm that leads, if any has data
    arm_index: int | None
    risk: float  # of being wrong: delta by proof if a proven rule decided; else what is proven by now
    delta: float
    stopping: str  # the rule that decided
    cost: float  # of all results told until then
    told: int
    alarms: tuple[BiasAlarm, ...]  # data that contradict the bias bounds, on which everything rests
    tolerance: float = 0.0  # an answer this close to the best is right
    # What else it rests on, which follows from the problem and is not part of the JSON:
    rests_on_bounds: bool = True  # false with a single fidelity, which has no bias
    rests_on_symmetry: bool = False  # of differences at the same seed: true where arms share seeds

    def __str__(self) -> str:
        return sentences.verdict(self)


def assumptions_of(problem: Problem) -> dict[str, bool]:
    """What a verdict on a problem rests on, by the names of the entries of `Verdict`."""
    return {"rests_on_bounds": problem.n_fidelities > 1, "rests_on_symmetry": problem.seeds == "common"}
