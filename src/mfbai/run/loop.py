"""The compiled loops: one Monte-Carlo run, and the replay of a journal. Each serves every strategy and rule."""

from typing import NamedTuple

import numpy as np

from mfbai.kernels.exact import certain
from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import record
from mfbai.run.audit import note_audit, wanted_audit
from mfbai.run.exact import learn_exact, plan_exact, wanted_exact
from mfbai.run.truth import draw
from mfbai.stopping.interface import decide, observe
from mfbai.strategies.interface import ask, seed, tell


class Outcome(NamedTuple):
    """When each level of a run was decided; levels[0] says how many are."""

    levels: np.ndarray  # (1,)
    answer: np.ndarray  # (levels,) -1 while undecided
    steps: np.ndarray  # (levels,)
    cost: np.ndarray  # (levels,)


def make_outcome(levels) -> Outcome:
    return Outcome(
        np.zeros(1, dtype=np.int64),
        np.full(levels, -1, dtype=np.int64),
        np.zeros(levels, dtype=np.int64),
        np.zeros(levels),
    )


@kernel
def step(model, stats, state, rule, outcome, arm, fidelity, x):
    """Take in one evaluation: statistics, strategy, stopping rule. A deterministic fidelity d is -1 - d."""
    if fidelity < 0:
        step_exact(model, stats, outcome, arm, -1 - fidelity, x)
        return
    if model.audit.share[0] > 0.0:
        note_audit(model, stats, state, arm, fidelity)
    record(model, stats, arm, fidelity, x)
    tell(model, stats, state, arm, fidelity, x)
    observe(model, stats, rule, arm, fidelity, x)
    while outcome.levels[0] < outcome.answer.size:
        level = outcome.levels[0]
        answer = decide(model, stats, rule, level)
        if answer < 0:
            break
        outcome.answer[level], outcome.steps[level], outcome.cost[level] = answer, stats.steps[0], stats.spent[0]
        outcome.levels[0] += 1
    if model.exact.value.size > 0 and stats.spent[0] >= model.exact.due[0]:
        plan_exact(model, stats)


@kernel
def step_exact(model, stats, outcome, arm, d, x):
    """Take in the value of a deterministic cell. Strategy and rule see what follows from it at the next evaluation."""
    learn_exact(model, stats, arm, d, x)
    answer = certain(model)
    if answer >= 0:
        for level in range(outcome.levels[0], outcome.answer.size):
            outcome.answer[level], outcome.steps[level], outcome.cost[level] = answer, stats.steps[0], stats.spent[0]
        outcome.levels[0] = outcome.answer.size


@kernel
def advance(model, truth, stats, state, rule, outcome, pending, rng, until):
    """Ask, sample and tell until every level is decided or `until` evaluations are made."""
    while stats.steps[0] < until and outcome.levels[0] < outcome.answer.size:
        arm, d = wanted_exact(model, stats)
        if arm >= 0:
            step_exact(model, stats, outcome, arm, d, truth.exact[arm, d])
            continue
        arm, fidelity = -1, -1
        if model.audit.share[0] > 0.0:
            arm, fidelity = wanted_audit(model, stats, state, pending)
        if arm < 0:
            arm, fidelity = ask(model, stats, state, pending)
        stats.seed[0], stats.seed[1] = seed(model, stats, state, pending)
        x = draw(truth, model, stats, rng, arm, fidelity)
        step(model, stats, state, rule, outcome, arm, fidelity, x)


@kernel
def replay(model, stats, state, rule, outcome, arms, fidelities, values):
    """Tell a journal's evaluations in order."""
    for n in range(arms.size):
        step(model, stats, state, rule, outcome, arms[n], fidelities[n], values[n])


@kernel
def replay_rounds(model, stats, state, rule, outcome, arms, fidelities, values, seeds):
    """The same where arms share seeds: (evaluations, 2)."""
    for n in range(arms.size):
        stats.seed[0], stats.seed[1] = seeds[n, 0], seeds[n, 1]
        step(model, stats, state, rule, outcome, arms[n], fidelities[n], values[n])
