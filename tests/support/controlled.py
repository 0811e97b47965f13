"""A problem with a controlled fidelity: a coarse model of unknown bias, which shares its luck with the fine one."""

import random

from mfbai import Gaussian, Problem

INF = float("inf")
OTHERS, COEFFICIENT = 4, 0.8
QUALITY = {"plain": 0.4, "wide": 0.6, "deep": 0.45}
BIAS = {"plain": 0.1, "wide": -0.05, "deep": 0.06}
VARIANCES = Gaussian([0.03, 0.03])


def controlled(family=VARIANCES, seeds="independent", others=OTHERS, bias=INF):
    """With a bound of the bias, the coarse model is evaluated by itself, too."""
    about = {"costs": [0.01, 1.0], "biases": [bias, 0.0], "fidelities": ["coarse", "fine"], "seeds": seeds}
    variance = {} if getattr(family, "variance", None) is None else {"variance": 0.008}
    return Problem(list(QUALITY), family=family, **about).controlled(
        "coarse", others, COEFFICIENT, name="paired", **variance
    )


def evaluate(arm, fidelity, seed):
    luck = random.Random(f"{arm} {seed}").uniform(-0.3, 0.3)
    own = random.Random(f"{arm} {fidelity} {seed}").uniform(-0.02, 0.02)
    return QUALITY[arm] + luck + own + (BIAS[arm] if fidelity == "coarse" else 0.0)


def values_of(trial):
    """What to tell of a trial."""
    values = [evaluate(what.arm, what.fidelity, what.seed) for what in trial.parts or (trial,)]
    return values if trial.parts else values[0]


def finish(study, most=1000):
    while study.result is None and study.status().told < most:
        for trial in study.ask_many(4):
            study.tell(trial, values_of(trial))
    return study


def ask_for(study, fidelity):
    """A trial at that fidelity; those asked for before are told."""
    while (trial := study.ask()).fidelity != fidelity:
        study.tell(trial, values_of(trial))
    return trial


def by_hand(trial):
    """The value of a trial with parts, as math has it."""
    top, beside, *alone = values_of(trial)
    return top - COEFFICIENT * beside + COEFFICIENT * sum(alone) / len(alone)
