"""Rounds of evaluations in which arms are compared: what is left of the last one, and which place each trial has; what
the arms returned in each. Where arms share seeds, their numbers say which; else every trial has a seed of its own.

A strategy plans a round as a whole, before any of its values is known: see `Strategy.round`. Several may be under way.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from math import inf
from typing import Any, NamedTuple

import numpy as np

from mfbai.analysis.paired import least_contrasts, lower_end
from mfbai.model.compiled import Model
from mfbai.stopping.rounds import values_of
from mfbai.strategies.interface import SEEDS

GROWTH = 1.02  # of the rounds of a pair, at which its difference is computed again: that takes long
OWN = (-1, 0)  # stands for the place of a trial that belongs to no round


class Planned(NamedTuple):
    """An evaluation of a round."""

    arm: int
    fidelity: int
    number: int  # of its seed, from 0 on, if arms share them: its quotient by SEEDS is the number of the round
    part: int  # what it is to the round: see `strategies.interface.seed`


class Rounds:
    """The rounds of one study. Only `hand_out`, `forget` and `count` change them."""

    def __init__(self, plan: Callable[[], list[tuple[int, int, int, int]]]) -> None:
        self._plan = plan  # the round that could begin now, by the results that count
        self.begun = 0
        self.left: deque[Planned] = deque()  # of the last one: not handed out yet
        self.seeds: dict[int, tuple[int, int]] = {}  # number and part, of the trials that are not counted yet
        self.known: dict[int, dict[int, tuple[int, float]]] = {}  # by arm and round: its fidelity and mean value
        self.held: dict[int, list[tuple[int, float]]] = {}  # by arm: values of a round whose others are still to come
        self._found: dict[tuple[int, int], tuple[int, tuple[float, float]]] = {}  # rounds and ends of differences

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

    def count(self, cell: tuple[int, int], value: float, number: int, part: int) -> None:
        """Note the value of a trial that counts. An arm is known in a round when all its values are there."""
        arm, fidelity = cell
        known, held = self.known.setdefault(arm, {}), self.held.setdefault(arm, [])
        round_ = number // SEEDS
        if round_ in known:
            return
        if held and held[0][0] != round_:
            held.clear()  # one of its values failed
        held.append((round_, value))
        if len(held) >= values_of(part):
            known[round_] = fidelity, sum(value for _, value in held) / len(held)
            held.clear()

    def differences(self, model: Model, i: int, j: int, sign: float, target: float) -> tuple[float, float]:
        """An interval of the top mean of i minus that of j, as kernels see them."""
        mine, its = self.known.get(i, {}), self.known.get(j, {})
        both = sorted(mine.keys() & its.keys())
        before, ends = self._found.get((i, j), (0, (-inf, inf)))
        if len(both) > GROWTH * before:
            m, x = map(np.array, zip(*(mine[n] for n in both), strict=True))
            k, y = map(np.array, zip(*(its[n] for n in both), strict=True))
            least = sign * (x - y) - model.bias_high[i, m] + model.bias_low[j, k]
            most = sign * (x - y) - model.bias_low[i, m] + model.bias_high[j, k]
            below, above = least_contrasts(model, i, m, j, k), least_contrasts(model, j, k, i, m)
            ends = lower_end(least, target, below), 0.0 - lower_end(-most, target, above)
            self._found[i, j] = len(both), ends
        widest = float(model.top_low[i] - model.top_high[j]), float(model.top_high[i] - model.top_low[j])
        return max(ends[0], widest[0]), min(ends[1], widest[1])

    def dump(self) -> dict[str, Any]:
        """For JSON."""
        seeds = [(trial, *seed) for trial, seed in self.seeds.items()]
        known = [(arm, n, *told) for arm, rounds in self.known.items() for n, told in rounds.items()]
        return {"begun": self.begun, "left": list(self.left), "seeds": seeds, "known": known, "held": self.held}

    def load(self, dumped: dict[str, Any]) -> None:
        """The reverse of `dump`."""
        self.begun = dumped["begun"]
        self.left = deque(Planned(*row) for row in dumped["left"])
        self.seeds = {trial: (number, part) for trial, number, part in dumped["seeds"]}
        for arm, n, fidelity, mean in dumped["known"]:
            self.known.setdefault(arm, {})[n] = fidelity, mean
        self.held = {int(arm): [(n, value) for n, value in held] for arm, held in dumped["held"].items()}
