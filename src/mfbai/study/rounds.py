"""Rounds of evaluations in which arms share seeds: what is left of the last one, and which seed each trial has.

A strategy plans a round as a whole, before any of its values is known: see `Strategy.round`. Several may be under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple

from mfbai.strategies.interface import SEEDS

OWN = (-1, 0)  # stands for the seed of a trial that shares it with no other


class Planned(NamedTuple):
    """An evaluation of a round."""

    arm: int
    fidelity: int
    number: int  # of its seed, from 0 on: its quotient by SEEDS is the number of the round
    part: int  # what it is to the round: see `strategies.interface.seed`


class Rounds:
    """The rounds of one study. Only `hand_out` and `forget` change them."""

    def __init__(self, plan: Callable[[], list[tuple[int, int, int, int]]]) -> None:
        self._plan = plan  # the round that could begin now, by the results that count
        self.begun = 0
        self.left: deque[Planned] = deque()  # of the last one: not handed out yet
        self.seeds: dict[int, tuple[int, int]] = {}  # number and part, of the trials that are not counted yet

    def coming(self) -> deque[Planned]:
        """What to hand out next: the rest of the last round or, if nothing is left of it, a new one."""
        if self.left:
            return self.left
        return deque(
            Planned(int(arm), int(fidelity), self.begun * SEEDS + int(replicate), int(part))
            for arm, fidelity, replicate, part in self._plan()
        )

    def hand_out(self, trial: int, planned: Planned) -> None:
        """Note that a trial was asked for."""
        rest = self.coming()
        if rest[0] == planned:
            rest.popleft()
        else:
            rest.clear()  # the journal is of another version of the strategy: what it says counts
        self.left = rest
        self.begun = planned.number // SEEDS + 1
        self.seeds[trial] = planned.number, planned.part

    def forget(self, trial: int) -> tuple[int, int]:
        """The seed of a trial that counts now, or failed."""
        return self.seeds.pop(trial)

    def dump(self) -> dict[str, Any]:
        """For JSON."""
        seeds = [(trial, *seed) for trial, seed in self.seeds.items()]
        return {"begun": self.begun, "left": list(self.left), "seeds": seeds}

    def load(self, dumped: dict[str, Any]) -> None:
        """The reverse of `dump`."""
        self.begun = dumped["begun"]
        self.left = deque(Planned(*row) for row in dumped["left"])
        self.seeds = {trial: (number, part) for trial, number, part in dumped["seeds"]}
