"""Simulated studies, for a first look at the page: random numbers stand in for evaluations."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Mapping
from math import sqrt
from typing import NamedTuple

from mfbai.errors import MfbaiError
from mfbai.model.families import Gaussian
from mfbai.model.problem import Problem
from mfbai.study import Status, Study, Trial, create_study
from mfbai.study.status import proven
from mfbai.study.storage import Storage

WORKERS = 4  # evaluations under way, in each study
PREPARED = 4  # results told at once, until there is something to see
BREATH = 0.03  # seconds in which the server's threads can run
MOST_BEFORE = 600  # results of a study before it is first shown


class Show(NamedTuple):
    """A study to show: what is known about it, and what only the simulation knows."""

    name: str
    problem: Problem
    means: Mapping[str, tuple[float, ...]]  # of each arm, by fidelity
    variance: float
    delta: float
    strategy: str | None  # None: as studies have by default
    begun: float  # the part of the proof that there is at the start
    pause: float  # seconds between two results
    alarming: bool = False  # a bias bound is wrong, and the results show it from the start

    def value(self, trial: Trial) -> float:
        return random.Random(trial.seed).gauss(self.means[trial.arm][trial.fidelity_index], sqrt(self.variance))

    def is_ready(self, status: Status) -> bool:
        """Whether there is enough to look at."""
        return proven(status) >= self.begun and (bool(status.alarms) or not self.alarming)


PROMPTS = {
    "plain question": (0.61, 0.64, 0.66),
    "step by step": (0.71, 0.73, 0.75),
    "with examples": (0.83, 0.86, 0.88),
    "as an expert": (0.62, 0.66, 0.67),
    "short and strict": (0.50, 0.53, 0.55),
}
MIXES = {
    "usual mix": (0.67, 0.655),
    "more sand": (0.60, 0.585),
    "fly ash": (0.80, 0.560),  # the quick model is off by .24 here, and .05 is stated
    "fine gravel": (0.63, 0.625),
}
WINGS = {
    f"wing {letter}": (drag + 0.05, drag - 0.02, drag + 0.005, drag)
    for letter, drag in zip("ABCDEFGH", (0.37, 0.33, 0.43, 0.35, 0.27, 0.40, 0.325, 0.34), strict=True)
}


def make_shows() -> list[Show]:
    """One that is far from its verdict, one with a wrong bias bound, one that is nearly decided."""
    prompts = Problem(
        list(PROMPTS),
        costs=[0.05, 0.25, 2.0],
        biases=[0.06, 0.03, 0.0],
        family=Gaussian(0.01),
        fidelities=["small model", "large model", "human panel"],
    )
    mixes = Problem(
        list(MIXES),
        costs=[1.0, 12.0],
        biases=[0.05, 0.0],
        family=Gaussian(0.01),
        fidelities=["quick model", "test cube"],
    )
    wings = Problem(
        list(WINGS),
        costs=[1.0, 3.0, 10.0, 30.0],
        biases=[0.08, 0.04, 0.015, 0.0],
        family=Gaussian(0.001),
        fidelities=["panel method", "coarse grid", "fine grid", "wind tunnel"],
        direction="minimise",
    )
    return [
        Show("The wing of least drag", wings, WINGS, 0.001, 0.01, None, begun=0.1, pause=0.7),
        Show("The strongest concrete", mixes, MIXES, 0.01, 0.01, "uniform", begun=0.0, pause=1.2, alarming=True),
        Show("The best prompt", prompts, PROMPTS, 0.01, 0.05, None, begun=0.5, pause=1.5),
    ]


def start(storage: Storage) -> None:
    """Create the studies, and continue them in threads that end with the process."""
    for show in make_shows():
        study = create_study(show.problem, show.delta, name=show.name, strategy=show.strategy, storage=storage)
        threading.Thread(target=run, args=(study, show), daemon=True).start()


def prepare(study: Study, show: Show) -> None:
    """Tell results until there is something to see."""
    while (status := study.status()).result is None and status.told < MOST_BEFORE and not show.is_ready(status):
        with study.together():
            for trial in study.ask_many(PREPARED):
                study.tell(trial, show.value(trial))
        time.sleep(BREATH)


def run(study: Study, show: Show) -> None:
    """Prepare the study, then tell one result after another, in random order, until the verdict."""
    under_way: list[Trial] = []
    clock = threading.Event()
    try:
        prepare(study, show)
        while study.result is None:
            while len(under_way) < WORKERS:
                under_way.append(study.ask())
            clock.wait(show.pause)
            trial = under_way.pop(random.randrange(len(under_way)))
            study.tell(trial, show.value(trial))
    except MfbaiError:  # the study is over, or its storage is gone with the server
        return
