"""A study and its workers on a clock of their own: how long it takes, what it costs, how idle they are.

The study is a `Fold` without a database: workers ask as soon as they are free, evaluations take a random time, and
their results come back in the order in which they end. The values of a cell are the same, one after the other, for
every number of workers, so that runs with the same number can be compared.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import dataclass, field
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr

import mfbai
from mfbai.study.fold import Fold
from mfbai.study.settings import CONTINUE, HASH, Settings, new_settings

AT_ONCE = 64  # values that are drawn of each cell at once
SPREAD = 0.5  # of the logarithm of a duration


class Unlimited(Fold):
    """A study that hands out evaluations without end."""

    def surplus(self, cell: tuple[int, int]) -> str | None:
        return None


class End(NamedTuple):
    """How a run ended."""

    time: float  # at the verdict
    cost: float  # of all evaluations that were begun: those under way at the verdict are paid for, too
    told: int  # results by then
    idle: float  # share of the workers' time
    answer: int


@dataclass
class Values:
    """What the evaluations of one run return: the n-th of a cell, or the one at the n-th seed."""

    instance: mfbai.Instance
    number: int  # of the run
    blocks: list[np.ndarray] = field(default_factory=list)
    asked: dict[Any, int] = field(default_factory=dict)

    def draw(self, wanted: dict[str, int]) -> float:
        cell = wanted["arm"], wanted["fidelity"]
        nth = self.asked[cell] = self.asked.get(cell, -1) + 1
        noise = self._normal(nth, *cell)
        correlation = self.instance.correlation
        if self.instance.problem.seeds == "common" and correlation is not None:
            shared = float(np.random.default_rng((self.number, wanted["seed_number"])).standard_normal())
            rho = correlation.arms
            noise = sqrt(rho) * shared + sqrt(1.0 - rho) * noise
        mean = float(self.instance.means[cell])
        family = self.instance.problem.family
        if isinstance(family, mfbai.Bounded | mfbai.Bernoulli):  # all or nothing, the noisiest that there is
            return float(ndtr(noise) < mean)
        return mean + self.deviation * noise

    @property
    def deviation(self) -> float:
        return sqrt(float(np.asarray(getattr(self.instance.problem.family, "variance", 0.01)).flat[0]))

    def _normal(self, nth: int, arm: int, fidelity: int) -> float:
        block, place = divmod(nth, AT_ONCE)
        while len(self.blocks) <= block:
            rng = np.random.default_rng((self.number, len(self.blocks), 7))
            self.blocks.append(rng.standard_normal((*self.instance.shape, AT_ONCE)))
        return float(self.blocks[block][arm, fidelity, place])


def settings_of(instance: mfbai.Instance, delta: float, strategy: str | None = None, **more: Any) -> Settings:
    given = {"name": "pool", "key": "0" * 8, "problem": instance.problem, "delta": delta, "strategy": strategy}
    given |= {"stopping": None, "tolerance": 0.0, "max_cost": None, "options": None, "seeds": HASH, "audit": 0.0}
    return new_settings({**given, "on_alarm": CONTINUE, "reopens": None, **more}, None, None)


Durations = Callable[[np.random.Generator, float], float]  # of an evaluation, given its cost


def constant(rng: np.random.Generator, cost: float) -> float:
    return 1.0


def random(rng: np.random.Generator, cost: float) -> float:
    """Lognormal, with a mean of 1."""
    return float(np.exp(SPREAD * rng.standard_normal() - 0.5 * SPREAD**2))


def by_cost(rng: np.random.Generator, cost: float) -> float:
    return cost * random(rng, cost)


def run(
    settings: Settings,
    instance: mfbai.Instance,
    workers: int,
    number: int,
    durations: Durations = random,
    made: Callable[[Settings], Fold] = Fold,
    longest: int = 1_000_000,
) -> End:
    """One study, to its verdict."""
    fold, values, rng = made(settings), Values(instance, number), np.random.default_rng((number, workers))
    fold.history.stride = longest  # nobody looks
    fold.apply({"kind": "create"}, "")
    under_way: list[tuple[float, int, float]] = []  # the end of each, its trial and its value
    now = begun = busy = 0.0
    costs = settings.problem.costs
    while True:
        while len(under_way) < workers:
            wanted = fold.next_trial()
            cell = wanted["arm"], wanted["fidelity"]
            if fold.obstacle(cell) is not None:
                break
            fold.apply({"kind": "ask", **wanted}, "")
            begun += float(costs[cell])
            takes = durations(rng, float(costs[cell]))
            busy += takes
            heapq.heappush(under_way, (now + takes, fold.asked, values.draw(wanted)))
        assert under_way, "with nothing under way, there must be something to ask"
        now, trial, value = heapq.heappop(under_way)
        fold.apply({"kind": "tell", "trial": trial, "value": value}, "")
        fold.flush()
        if fold.outcome.levels[0] or fold.told >= longest:
            busy -= sum(end - now for end, _, _ in under_way)
            return End(now, begun, fold.told, 1.0 - busy / (workers * now), int(fold.outcome.answer[0]))
