"""Values that do not depend on the seed, though they are said to have noise: then no verdict is worth anything."""

from __future__ import annotations

import numpy as np

from mfbai.model.problem import Problem
from mfbai.study.status import Part, Trial

ENOUGH = 3  # values of an arm, for two arms
TOLD = (
    "returns the same value at all seeds, for every arm so far: if it has no noise, say that it is deterministic; else "
    "the seed is not used, and the verdict will be worth nothing"
)


class Sameness:
    """Watches the fidelities of a problem. Values at an end of the range say nothing: a good arm may never fail."""

    def __init__(self, problem: Problem) -> None:
        self._ends = np.transpose(problem.family.ranges(problem.n_fidelities)).tolist()
        self._watched = set(np.flatnonzero(~problem.deterministic).tolist())
        self._seen: dict[tuple[int, int], tuple[float, int]] = {}  # the value of a cell, and how often

    def notices(self, what: Trial | Part, value: float) -> bool:
        """Whether this value tells that its fidelity is such; once for each fidelity."""
        m = what.fidelity_index
        if m not in self._watched:
            return False
        first, times = self._seen.get((what.arm_index, m), (value, 0))
        self._seen[what.arm_index, m] = first, times + 1
        varies = value != first or value in self._ends[m]
        enough = times + 1 == ENOUGH and self._arms_with_enough(m) >= 2
        if varies or enough:
            self._watched.discard(m)
        return enough and not varies

    def _arms_with_enough(self, fidelity: int) -> int:
        return sum(times >= ENOUGH for (_, m), (_, times) in self._seen.items() if m == fidelity)
