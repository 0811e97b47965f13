"""Race: a fold of what it was told, with many evaluations under way, in both directions, and at the extremes."""

from collections import deque
from typing import NamedTuple

import numpy as np
import pytest

import mfbai
from mfbai import Gaussian, Instance, simulate
from mfbai.kernels.stats import ROOM, SEEDS, Stats, make_stats
from mfbai.model.compiled import Model
from mfbai.run import loop
from mfbai.run.assemble import assemble
from mfbai.run.state import arrays_of, changing
from mfbai.run.truth import draw, make_truth
from mfbai.strategies import STRATEGIES, ask
from mfbai.strategies.interface import seed
from support.wilds import noise_of, race, tied_field, wild

KINDS = ("independent", "common", "symmetric", "bounded")  # the first has books, the others rounds
MEANS = [[0.3, 0.35], [0.55, 0.5], [0.8, 0.75]]
COSTS, BIASES = [[0.2, 1.0], [0.1, 2.0], [0.3, 1.0]], ([-0.06, 0.0], [0.08, 0.0])


def instance_of(kind, direction="maximise", variance=0.04):
    sign = 1.0 if direction == "maximise" else -1.0
    low, high = (np.array(bias) for bias in BIASES)
    biases = (low, high) if sign > 0 else (-high, -low)
    shared = {"seeds": "common", "correlation": 0.6} if kind == "common" else {}
    means = sign * np.array(MEANS)
    return Instance(means, COSTS, biases, direction=direction, **noise_of(kind, means, variance), **shared)


class Run(NamedTuple):
    """A race whose evaluations are told one by one."""

    model: Model
    stats: Stats
    state: object
    outcome: loop.Outcome

    @property
    def records(self):
        return changing(self.model), self.stats, self.state, self.outcome

    @property
    def ended(self):
        return self.outcome.levels[0] > 0

    def tell(self, arm, m, x, numbers):
        row = np.array([arm]), np.array([m]), np.array([x]), np.array([numbers])
        loop.replay(self.model, self.stats, self.state, self.state.rule, self.outcome, *row)


def start(instance, delta=0.01, tolerance=0.0):
    parts = assemble(instance, "race", "contrasts", np.array([delta]), {}, tolerance)
    return Run(parts.model, make_stats(instance.shape), parts.make_state(), loop.make_outcome(1))


def evaluations(instance, run, rng, steps):
    """Ask and tell one at a time, and note what was told."""
    truth = make_truth(instance.problem.sign * instance.means, instance.correlation)
    pending, journal = np.zeros(instance.shape, dtype=np.int64), []
    while len(journal) < steps and not run.ended:
        arm, m = ask(run.model, run.stats, run.state, pending)
        numbers = seed(run.model, run.stats, run.state, pending)
        run.stats.seed[:] = numbers
        journal.append((arm, m, draw(truth, run.model, run.stats, rng, arm, m), numbers))
        run.tell(*journal[-1])
    return journal


def assert_equal(one, other):
    for a, b in zip(arrays_of(one), arrays_of(other), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kind", KINDS)
def test_asking_changes_nothing(kind):
    instance = instance_of(kind)
    run = start(instance)
    evaluations(instance, run, np.random.default_rng(1), 17)
    before = [array.copy() for array in arrays_of(run.records)]
    pending = np.ones(instance.shape, dtype=np.int64)
    cells = {ask(run.model, run.stats, run.state, pending) for _ in range(3)}
    assert len(cells) == 1
    assert len({seed(run.model, run.stats, run.state, pending) for _ in range(3)}) == 1
    if kind != "independent":
        STRATEGIES["race"].round(run.state)
    assert_equal(tuple(before), run.records)


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_is_a_fold_of_its_evaluations(kind):
    """Whether they are told one by one, or all at once."""
    instance = instance_of(kind, variance=0.2)
    run, again = start(instance), start(instance)
    journal = evaluations(instance, run, np.random.default_rng(2), 300)
    arms, fidelities, values, numbers = (np.array(column) for column in zip(*journal, strict=True))
    given = arms, fidelities, values, numbers
    loop.replay(again.model, again.stats, again.state, again.state.rule, again.outcome, *given)
    assert len(journal) > 40
    assert_equal(run.records, again.records)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_the_arrays_restore_a_run_wherever_it_is(kind):
    """With rounds, in the middle of one."""
    instance = instance_of(kind, variance=0.2)
    for steps in (3, 20, 33):
        run = start(instance)
        evaluations(instance, run, np.random.default_rng(3), steps)
        other = start(instance)
        for array, kept in zip(arrays_of(other.records), arrays_of(run.records), strict=True):
            array[...] = kept
        rest = [evaluations(instance, one, np.random.default_rng(4), 200) for one in (run, other)]
        assert rest[0] == rest[1]
        assert_equal(run.records, other.records)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_both_directions_mirror_each_other(kind, tolerance):
    runs = []
    for direction in ("maximise", "minimise"):
        instance = instance_of(kind, direction)
        run = start(instance, tolerance=tolerance)
        runs.append((evaluations(instance, run, np.random.default_rng(5), 2000), run))
    assert runs[0][0] == runs[1][0]
    assert runs[0][1].ended
    assert_equal(runs[0][1].records, runs[1][1].records)


@pytest.mark.parametrize("kind", KINDS[1:])
def test_a_round_is_what_asking_in_turn_gives(kind):
    instance = instance_of(kind, variance=0.2)
    run = start(instance)
    truth = make_truth(instance.means, instance.correlation)
    pending, rng = np.zeros(instance.shape, dtype=np.int64), np.random.default_rng(6)
    for number in range(6):
        entries = STRATEGIES["race"].round(run.state)
        leads = [entry[0] for entry in entries].count(entries[0][0])
        first = -(leads - 1) * ROOM - len(entries) if number else -len(entries)
        assert entries[0][2:] == (0, first)
        assert leads == 1 or kind != "common" or number == 0
        for arm, m, own, part in entries:
            assert ask(run.model, run.stats, run.state, pending) == (arm, m)
            assert seed(run.model, run.stats, run.state, pending) == (number * SEEDS + own, part)
            assert part == first or part == sum(entry[0] == arm for entry in entries)
            run.stats.seed[:] = number * SEEDS + own, part
            run.tell(arm, m, draw(truth, run.model, run.stats, rng, arm, m), (number * SEEDS + own, part))


def race_with(instance, delta, under_way, batches, rng, longest=20_000):
    """A race with so many evaluations under way, told in order: one by one, or all before others are asked for."""
    run, queue = start(instance, delta), deque()
    pending = np.zeros(instance.shape, dtype=np.int64)
    while not run.ended and run.stats.steps[0] < longest:
        while len(queue) < under_way:
            queue.append(ask(run.model, run.stats, run.state, pending))
            pending[queue[-1]] += 1
        for _ in range(under_way if batches else 1):
            arm, m = queue.popleft()
            pending[arm, m] -= 1
            x = instance.means[arm, m] + run.model.law.deviation[arm, m] * rng.standard_normal()
            run.tell(arm, m, x, (-1, 0))
    return run


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize("name", ["paper-4x5", "paper-5x2"])
def test_with_eight_evaluations_under_way_it_ends_with_right_answers(name, batches):
    """At delta 0.01, 3 errors in 30 runs have a probability below 0.4 %."""
    instance = mfbai.load(name)
    runs = [race_with(instance, 0.01, 8, batches, np.random.default_rng([n, 7])) for n in range(30)]
    assert all(run.ended for run in runs)
    assert sum(run.outcome.answer[0] != instance.best for run in runs) < 3
    alone = simulate(instance, "race", delta=0.01, runs=100, stopping="contrasts").costs.mean()
    assert np.mean([run.stats.spent[0] for run in runs]) < 2 * alone


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("direction", ["maximise", "minimise"])
def test_it_finds_the_best_arm(kind, direction):
    """At delta 0.01 more than 3 errors in 60 runs have a probability below 0.4 %."""
    found = simulate(instance_of(kind, direction), "race", 0.01, 60, stopping="contrasts", max_steps=200_000)
    assert found.stopped.all()
    assert found.error_rate <= 3 / 60


@pytest.mark.parametrize("means", [[[0.45, 0.5], [0.55, 0.6], [0.5, 0.45]], [[0.45, 0.5], [0.5, 0.6]]])
def test_a_cell_that_is_nearly_free_and_without_noise_is_not_evaluated_for_ever(means):
    """A few values tell all that it can: after that only the other helps."""
    for tiny in (1e-2, 1e-3, 1e-4):
        family = Gaussian(np.array([tiny**2, 0.01]))
        instance = Instance(means, [tiny, 1.0], [0.1, 0.0], family)
        for n in range(20):
            run = start(instance, 0.05)
            evaluations(instance, run, np.random.default_rng([n, 8]), 5000)
            assert run.ended
            assert run.stats.count[:, 0].sum() <= 200


@pytest.mark.parametrize("kind", KINDS)
def test_a_thousand_arms(kind):
    rng = np.random.default_rng(9)
    tops = rng.uniform(0.0, 0.7, (1000, 1))
    tops[500] = 1.0
    means, seeds = tops + np.array([0.01, 0.0]), "common" if kind == "common" else "independent"
    instance = Instance(means, [0.1, 1.0], [0.02, 0.0], seeds=seeds, **noise_of(kind, means, 0.04))
    found = simulate(instance, "race", delta=0.01, runs=2, stopping="contrasts", max_steps=1_000_000)
    assert found.stopped.all()
    assert found.answers.tolist() == [500, 500]


@pytest.mark.parametrize("kind", KINDS)
def test_random_problems_end(kind):
    """At full size: bench/contrasts.py. 17 wrong answers are allowed on average; 40 have a probability below 1e-5."""
    ends = [race(wild(number, kind), number, 1_000_000) for number in range(200, 500)]
    assert all(end.answer >= 0 for end in ends)
    assert sum(not end.right for end in ends) < 40


@pytest.mark.parametrize("kind", KINDS)
def test_if_the_best_is_ruled_out_by_bad_luck_and_the_others_tie_it_still_ends(kind):
    problem = tied_field(kind)
    ends = [race(problem, run, 200_000) for run in range(200)]
    assert all(end.answer >= 0 for end in ends)
