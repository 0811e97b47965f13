"""The compiled loops: Monte-Carlo runs, and the replay of a journal. Each serves every strategy and rule."""

from math import isnan
from typing import NamedTuple

import numpy as np

from mfbai.kernels.exact import certain
from mfbai.kernels.jit import kernel
from mfbai.kernels.random import reseed
from mfbai.kernels.stats import record
from mfbai.run.audit import note_audit, wanted_audit
from mfbai.run.exact import learn_exact, plan_exact, wanted_exact
from mfbai.run.truth import draw
from mfbai.stopping.interface import watch
from mfbai.strategies.interface import ask, seed, tell

CHUNK = 1 << 16  # steps between two checks whether to continue: some 20 ms


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
    level = outcome.levels[0] if outcome.levels[0] < outcome.answer.size else -1
    answer = watch(model, stats, rule, arm, fidelity, x, level)
    while answer >= 0:
        outcome.answer[level], outcome.steps[level], outcome.cost[level] = answer, stats.steps[0], stats.spent[0]
        outcome.levels[0] += 1
        level = outcome.levels[0] if outcome.levels[0] < outcome.answer.size else -1
        answer = watch(model, stats, rule, -1, 0, 0.0, level)
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
def replay(model, stats, state, rule, outcome, arms, fidelities, values, seeds):
    """Tell a journal's evaluations in order; seeds are (evaluations, 2)."""
    for n in range(arms.size):
        stats.seed[0], stats.seed[1] = seeds[n, 0], seeds[n, 1]
        step(model, stats, state, rule, outcome, arms[n], fidelities[n], values[n])


class Job(NamedTuple):
    """Runs to make one after the other in the same memory, and how each of them went."""

    span: np.ndarray  # (2,) the first run, and the one after the last
    again: np.ndarray  # (1,) whether each begins at the beginning; else one goes on
    until: np.ndarray  # (points,) the evaluations at which counts are noted: at the last a run is given up
    cancelled: np.ndarray  # (1,) whether to stop as soon as possible
    live: np.ndarray  # (words,) all that a run changes
    fresh: np.ndarray  # (words,) the same, at the beginning
    seeds: np.ndarray  # (runs, WORDS) the first words of their random numbers
    cost: np.ndarray  # (runs, levels) when each level was decided; at the end of the run, if it never was
    steps: np.ndarray  # (runs, levels)
    answer: np.ndarray  # (runs, levels) -1 if it was not decided
    count: np.ndarray  # type: ignore[assignment]  # (runs, points, K, M) evaluations of each cell
    known: np.ndarray  # (runs, points, K, D) whether each deterministic one was asked for
    finished: np.ndarray  # (runs,) not if it was cancelled


def make_job(model, levels, seeds, until) -> Job:
    """A job that begins with these seeds, (runs, WORDS), and has no memory yet: see `run.state.gather`."""
    runs, points, (K, M) = len(seeds), len(until), model.cost.shape
    whole = np.int64
    return Job(
        span=np.array([0, 1]),
        again=np.zeros(1, dtype=np.bool_),
        until=np.array(until, dtype=whole),
        cancelled=np.zeros(1, dtype=whole),
        live=np.zeros(0, dtype=whole),
        fresh=np.zeros(0, dtype=whole),
        seeds=seeds,
        cost=np.zeros((runs, levels)),
        steps=np.zeros((runs, levels), dtype=whole),
        answer=np.full((runs, levels), -1, dtype=whole),
        count=np.zeros((runs, points, K, M), dtype=whole),
        known=np.zeros((runs, points, K, model.exact.value.shape[1]), dtype=np.bool_),
        finished=np.zeros(runs, dtype=np.bool_),
    )


@kernel
def run_many(model, truth, stats, state, rule, outcome, pending, rng, job):
    for n in range(job.span[0], job.span[1]):
        if job.again[0]:
            for word in range(job.live.size):
                job.live[word] = job.fresh[word]
            reseed(rng, job.seeds[n])
        for point in range(job.until.size):
            until = job.until[point]
            while stats.steps[0] < until and outcome.levels[0] < outcome.answer.size:
                if job.cancelled[0]:
                    return
                soon = min(until, stats.steps[0] + CHUNK)
                advance(model, truth, stats, state, rule, outcome, pending, rng, soon)
            note_counts(model, stats, job, n, point)
        note_end(stats, outcome, job, n)


@kernel
def note_counts(model, stats, job, n, point):
    for a in range(stats.count.shape[0]):
        for m in range(stats.count.shape[1]):
            job.count[n, point, a, m] = int(stats.count[a, m])
        for d in range(model.exact.value.shape[1]):
            job.known[n, point, a, d] = not isnan(model.exact.value[a, d])


@kernel
def note_end(stats, outcome, job, n):
    for level in range(outcome.answer.size):
        decided = level < outcome.levels[0]
        job.answer[n, level] = outcome.answer[level]
        job.cost[n, level] = outcome.cost[level] if decided else stats.spent[0]
        job.steps[n, level] = outcome.steps[level] if decided else stats.steps[0]
    job.finished[n] = True
