"""A problem whose arms share seeds, and values that depend on the seed alone."""

import random

from mfbai import Gaussian, Problem
from mfbai.strategies.interface import SEEDS

SHARED = Problem(["plain", "wide", "deep"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.04), seeds="common")
MEANS = {"plain": 0.3, "wide": 0.9, "deep": 0.4}


def evaluate(arm, fidelity, seed):
    """Luck that all arms have in common, and a little of their own."""
    return MEANS[arm] + random.Random(seed).gauss(0.0, 0.2) + random.Random(f"{seed} {arm}").gauss(0.0, 0.05)


def value_of(trial):
    return evaluate(trial.arm, trial.fidelity, trial.seed)


def finish(study):
    while study.result is None:
        trial = study.ask()
        study.tell(trial, value_of(trial))
    return study.result


def asks(study):
    return [event.body for event in study.journal() if event.body["kind"] == "ask"]


def rounds_of(study):
    """The `ask` events of each round, in order."""
    found = {}
    for body in asks(study):
        found.setdefault(body["seed_number"] // SEEDS, []).append(body)
    return list(found.values())
