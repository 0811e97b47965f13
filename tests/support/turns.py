"""A strategy that evaluates every cell with the same seeds, and keeps what it is told."""

from typing import NamedTuple

import numpy as np

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import SEEDS
from mfbai.simulation.experiment import Run, Setup
from mfbai.stopping import glr
from mfbai.strategies.interface import ask, seed, tell


class Rounds(NamedTuple):
    values: np.ndarray  # (seeds, K, M)


@kernel
def place(stats, state):
    """The round, its seed, and the cell to evaluate: the next seed comes before the next cell."""
    K, M = state.values.shape[1:]
    number, rest = divmod(stats.steps[0], SEEDS * K * M)
    return number, rest % SEEDS, rest // SEEDS // M, rest // SEEDS % M


@kernel
def ask_in_turn(model, stats, state, pending):
    _, _, arm, fidelity = place(stats, state)
    return arm, fidelity


@kernel
def seed_in_turn(model, stats, state, pending):
    number, replicate, arm, fidelity = place(stats, state)
    first = replicate == 0 and arm == 0 and fidelity == 0
    return number * SEEDS + replicate, -state.values[0].size * SEEDS if first else SEEDS


@kernel
def keep(model, stats, state, arm, fidelity, x):
    state.values[stats.seed[0], arm, fidelity] = x


ask.register(Rounds, ask_in_turn)
seed.register(Rounds, seed_in_turn)
tell.register(Rounds, keep)


def run_of(instance, rounds):
    """A run of that many rounds, to be started."""
    model = instance.model()
    shape = (rounds * SEEDS, *model.cost.shape)
    never = glr.never(model)
    return Run(Setup(instance, "rounds", None, model, 1, lambda: Rounds(np.zeros(shape)), lambda state: never))


def values_of(run, seed, number):
    """(seeds, K, M) what the run of that number is told."""
    run.restart(seed, number)
    run.advance(run.state.values.size)
    return run.state.values.copy()
