"""The state of a study: the simulator's algorithm, and results counted in the order they were asked for."""

from collections import defaultdict

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbai import Gaussian, Problem, StudyOver, create_study
from mfbai.kernels.laws import sample
from mfbai.kernels.stats import make_stats
from mfbai.model.spec import check_instance
from mfbai.run import loop
from mfbai.run.assemble import assemble
from mfbai.simulation.experiment import Run, prepare
from mfbai.strategies import STRATEGIES, ask
from mfbai.study import ledger
from mfbai.study.study import Study
from support.folds import SMALL, TRUTH, records_of, replayed, same_bits, same_fold

LIVE = [name for name in STRATEGIES if name != "oracle"]  # which knows the truth
OPTIONS = {"lucb-explore-a": {"mu1": 1.0, "mu2": 0.9}, "lucb-explore-b": {"mu1": 1.0, "mu2": 0.9}}


# --- the same algorithm as in simulations


def plain_loop(strategy, stopping, delta, steps, seed=3):
    """A simulated run, one evaluation at a time: cells, values, and the outcome after each."""
    instance = check_instance("paper-4x5")
    parts = assemble(instance.problem, strategy, stopping, np.array([delta]), OPTIONS.get(strategy, {}))
    state = parts.make_state()
    records = (make_stats(instance.shape), state, parts.make_rule(state), loop.make_outcome(1))
    truth = instance.problem.sign * instance.means
    nothing, rng, told = np.zeros(instance.shape, dtype=np.int64), np.random.default_rng(seed), []
    while len(told) < steps and not records[3].levels[0]:
        arm, fidelity = ask(parts.model, records[0], state, nothing)
        x = sample(parts.model.law, rng, arm, fidelity, truth[arm, fidelity])
        loop.step(parts.model, *records, arm, fidelity, x)
        told.append((int(arm), int(fidelity), float(x)))
    return instance, records, told


@pytest.mark.parametrize(
    ("strategy", "stopping"),
    [
        *((name, "stylised") for name in LIVE if name != "race"),
        *(("frugal", "e-process"), ("mf-grad", "e-process"), ("race", "contrasts")),
    ],
)
def test_a_study_asks_and_answers_as_the_simulator_does_step_for_step(strategy, stopping):
    delta, steps = 0.4, 400
    instance, (stats, state, rule, outcome), told = plain_loop(strategy, stopping, delta, steps)
    study = create_study(
        instance.problem,
        delta,
        storage="sqlite://",
        strategy=strategy,
        stopping=stopping,
        options=OPTIONS.get(strategy),
    )
    for arm, fidelity, x in told:
        assert study.result is None
        trial = study.ask()
        assert (trial.arm_index, trial.fidelity_index) == (arm, fidelity)
        assert trial.arm == instance.problem.arms[arm]
        assert trial.fidelity == instance.problem.fidelities[fidelity]
        assert trial.cost == instance.problem.costs[arm, fidelity]
        study.tell(trial, instance.problem.sign * x)
    assert same_bits(records_of(study._fold)[:4], (stats, state, rule, outcome))
    verdict = study.result
    if outcome.levels[0]:
        assert verdict.state == "decided"
        assert verdict.arm_index == outcome.answer[0]
        assert verdict.cost == outcome.cost[0] == study.status().cost
        assert verdict.told == outcome.steps[0] == len(told)
        with pytest.raises(StudyOver, match="is over"):
            study.ask()
    else:
        assert verdict is None


@pytest.mark.parametrize(("strategy", "stopping"), [("frugal", "e-process"), ("race", "contrasts")])
def test_whole_simulated_runs_and_studies_have_the_same_verdict(strategy, stopping):
    """Against the compiled loop that `simulate` runs, to the end."""
    (setup,) = prepare("paper-4x5", strategy, stopping, 0.1, {}, {})
    run = Run(setup)
    for number in range(3):
        run.restart(7, number)
        run.advance(100_000)
        assert run.decided
        rng = np.random.default_rng(np.random.SeedSequence(7, spawn_key=(number,)))
        study = create_study(setup.instance.problem, 0.1, storage="sqlite://", strategy=strategy)
        while study.result is None:
            trial = study.ask()
            cell = trial.arm_index, trial.fidelity_index
            x = sample(setup.model.law, rng, *cell, setup.instance.means[cell])
            study.tell(trial, x)
        assert study.result.arm_index == run.outcome.answer[0]
        assert study.result.cost == run.outcome.cost[0]
        assert study.result.told == run.outcome.steps[0]
        assert study.result.risk == 0.1


def test_a_study_that_minimises_is_the_reflected_one():
    """The same values with the other sign, and the other direction: the same asks, and the same answer."""
    low = Problem(3, [0.1, 1.0], ([-0.05, 0.0], [0.2, 0.0]), Gaussian(0.04), direction="minimise")
    high = Problem(3, [0.1, 1.0], ([-0.2, 0.0], [0.05, 0.0]), Gaussian(0.04))
    one = create_study(low, 0.1, storage="sqlite://")
    other = create_study(high, 0.1, storage="sqlite://")
    rng = np.random.default_rng(1)
    while one.result is None:
        first, second = one.ask(), other.ask()
        assert (first.arm_index, first.fidelity_index) == (second.arm_index, second.fidelity_index)
        x = rng.normal([0.5, 0.9, 1.0][first.arm_index], 0.2)
        one.tell(first, x)
        other.tell(second, -x)
    assert one.result.arm_index == other.result.arm_index == 0
    assert one.result.cost == other.result.cost
    here, there = one.status(), other.status()
    np.testing.assert_array_equal(here.means, -there.means)
    np.testing.assert_array_equal(here.intervals, -there.intervals[:, ::-1])


# --- counting in order


class Naive:
    """The rule of counting, in plain Python: of each cell, or of them all if `ordered`, the longest beginning of what
    was asked that is closed. Values from elsewhere are closed at once; in one order they have their place there."""

    def __init__(self, problem, ordered):
        self.problem, self.ordered = problem, ordered
        self.queues = defaultdict(list)  # of trials, and of names of values from elsewhere, that are not counted
        self.cells = {}  # of both
        self.closed = {}  # values of both; none of a trial that failed
        self.counted = []  # (arm, fidelity, value) as a test sees them
        self.cost = 0.0

    def _queue(self, cell):
        return self.queues[None if self.ordered else cell]

    def _advance(self, queue):
        while queue and queue[0] in self.closed:
            first = queue.pop(0)
            self.counted += [(*self.cells[first], value) for value in self.closed[first]]

    def ask(self, trial, cell):
        self.cells[trial] = cell
        self._queue(cell).append(trial)

    def close(self, trial, value):
        cell = self.cells[trial]
        self.closed[trial] = [] if value is None else [value]
        if value is not None:
            self.cost += self.problem.costs[cell]
        self._advance(self._queue(cell))

    def add(self, cell, values):
        name = f"values {len(self.cells)}"
        self.cells[name], self.closed[name] = cell, values
        queue = self._queue(cell) if self.ordered else []
        queue.append(name)
        self._advance(queue)

    @property
    def open(self):
        return [trial for trial in self.cells if trial not in self.closed]

    def _uncounted(self):
        return [entry for queue in self.queues.values() for entry in queue]

    def pending(self):
        table = np.zeros(self.problem.shape, dtype=np.int64)
        for entry in self._uncounted():
            table[self.cells[entry]] += isinstance(entry, int)
        return table

    def waiting(self):
        return sum(len(self.closed.get(entry, [])) for entry in self._uncounted())


class Clock:
    """Replaces the module `time` in the storage."""

    def __init__(self):
        self.now = 1e9

    def time(self):
        return self.now

    def monotonic(self):
        return self.now


def check_against_naive(study, naive, told, failed):
    """All that a status says, and all that kernels saw, by the plain rule."""
    parts = study.settings.parts
    state = parts.make_state()
    records = (make_stats(study.problem.shape), state, parts.make_rule(state), loop.make_outcome(1))
    for arm, fidelity, x in naive.counted:
        loop.step(parts.model, *records, arm, fidelity, x)
    assert same_bits(records_of(study._fold), (*records, (naive.pending(),)))
    status = study.status()
    table = defaultdict(list)
    for arm, fidelity, x in naive.counted:
        table[arm, fidelity].append(x)
    for cell in np.ndindex(study.problem.shape):
        assert status.counts[cell] == len(table[cell])
        mean = np.mean(table[cell]) if table[cell] else np.nan
        np.testing.assert_allclose(status.means[cell], mean, rtol=1e-12)
    assert status.pending == len(naive.open)
    assert status.waiting == naive.waiting()
    assert (status.told, status.failed) == (told, failed)
    assert status.cost == pytest.approx(naive.cost, rel=1e-12)
    return ask(parts.model, records[0], records[1], naive.pending())


actions = st.lists(
    st.tuples(
        st.sampled_from(
            ["ask", "ask", "ask_many", "tell", "tell", "tell", "fail", "add", "expire", "release", "reopen"]
        ),
        st.integers(0, 10**6),
    ),
    max_size=40,
)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(
    actions=actions,
    snapshots=st.sampled_from([1, 3, 10_000]),
    seed=st.integers(0, 1000),
    strategy=st.sampled_from(["frugal", "race"]),
)
def test_results_are_counted_in_the_order_they_were_asked_whatever_happens(actions, snapshots, seed, strategy):
    with pytest.MonkeyPatch.context() as patch:
        clock = Clock()
        patch.setattr("mfbai.study.storage.sqlite.time", clock)
        patch.setattr(ledger, "SNAPSHOT_EVERY", snapshots)
        play(actions, clock, np.random.default_rng(seed), strategy)


def play(actions, clock, rng, strategy):
    # So small a risk that there is no verdict.
    study = create_study(SMALL, 1e-12, storage="sqlite://", strategy=strategy)
    assert study.settings.ordered == (strategy == "race")
    naive, leases, told, failed = Naive(SMALL, study.settings.ordered), {}, 0, 0
    known = {}

    def take(trials):
        for trial in trials:
            number = int(trial.id.split("-")[0])
            cell = trial.arm_index, trial.fidelity_index
            assert trial.lease_until.timestamp() == pytest.approx(clock.now + 10)
            if number in known:  # a trial whose lease was over: as it was
                assert leases[number] <= clock.now
                assert number in naive.open
                assert (known[number].seed, known[number].id) == (trial.seed, trial.id)
                assert (known[number].arm, known[number].fidelity) == (trial.arm, trial.fidelity)
            else:  # a new one only if no lease is over, and the very one that the strategy wants
                assert not [n for n in naive.open if leases[n] <= clock.now]
                assert number == len(known) + 1
                assert cell == check_against_naive_next(study, naive)
                naive.ask(number, cell)
            known[number], leases[number] = trial, clock.now + 10

    for kind, pick in actions:
        if kind == "ask":
            take([study.ask(lease=10)])
        elif kind == "ask_many":
            trials = study.ask_many(pick % 7 + 1, lease=10)
            assert len(trials) == pick % 7 + 1
            take(trials)
        elif kind in ("tell", "fail", "release") and naive.open:
            number = naive.open[pick % len(naive.open)]
            cell = known[number].arm_index, known[number].fidelity_index
            if kind == "tell":
                value = float(rng.normal(TRUTH[cell[0]][cell[1]], 0.2))
                study.tell(known[number].id, value)
                study.tell(known[number], value)
                naive.close(number, value)
                told += 1
            elif kind == "fail":
                study.fail(known[number], "lost")
                study.fail(known[number], "lost again")
                naive.close(number, None)
                failed += 1
            else:
                study.release(known[number])
                leases[number] = 0.0
        elif kind == "add":
            cell = pick % 3, pick // 3 % 3
            values = rng.normal(TRUTH[cell[0]][cell[1]], 0.2, size=pick % 4).tolist()
            study.add(*cell, values)
            naive.add(cell, values)
        elif kind == "expire":
            clock.now += pick % 25
        elif kind == "reopen":
            study = Study(study._storage, study._study)
            assert same_fold(study._fold if study.status() else None, replayed(study))
    cell = check_against_naive(study, naive, told, failed)
    assert study._fold.next_cell() == tuple(map(int, cell))
    assert same_fold(study._fold, replayed(study))
    reopened = Study(study._storage, study._study)
    reopened.status()
    assert same_fold(study._fold, reopened._fold)


def check_against_naive_next(study, naive):
    """What the strategy asks for, given the plain rule's counts and what is under way."""
    parts = study.settings.parts
    state = parts.make_state()
    records = (make_stats(study.problem.shape), state, parts.make_rule(state), loop.make_outcome(1))
    for arm, fidelity, x in naive.counted:
        loop.step(parts.model, *records, arm, fidelity, x)
    return tuple(map(int, ask(parts.model, records[0], state, naive.pending())))


def test_fast_results_do_not_count_before_slow_ones_of_their_cell_asked_earlier():
    study = create_study(SMALL, 0.05, storage="sqlite://", strategy="frugal")
    trials, cells = study.ask_many(30), defaultdict(list)
    for trial in trials:
        cells[trial.arm_index, trial.fidelity_index].append(trial)
    cell, (slow, *fast) = max(cells.items(), key=lambda item: len(item[1]))
    assert len(fast) >= 2
    for trial in fast:
        study.tell(trial, 5.0)
    assert study.status().counts.sum() == 0
    assert study.status().waiting == len(fast)
    assert study.status().told == len(fast)
    study.tell(slow, 1.0)
    assert study.status().counts[cell] == len(fast) + 1
    assert study.status().waiting == 0


def test_by_contrasts_fast_results_do_not_count_before_slow_ones_of_any_cell():
    study = create_study(SMALL, 0.05, storage="sqlite://")
    slow, *fast = study.ask_many(12)
    study.add("b", 0, [0.5, 0.6])
    for trial in fast:
        study.tell(trial, 5.0)
    status = study.status()
    assert (status.counts.sum(), status.waiting, status.told) == (0, 13, 11)
    study.fail(slow, "lost")
    assert (study.status().counts.sum(), study.status().waiting) == (13, 0)


def test_the_counted_values_of_a_cell_do_not_depend_on_the_order_they_come_back_in():
    """However results come back, with all told the records are those of the order asked, cell by cell."""
    rng = np.random.default_rng(0)
    means = set()
    for order in (np.arange(24), np.arange(24)[::-1], rng.permutation(24)):
        study = create_study(SMALL, 1e-9, storage="sqlite://", on_alarm="continue")
        trials = study.ask_many(24)
        for k in order:
            study.tell(trials[k], float(np.sin(k)))
        means.add(study.status().means.tobytes())
    assert len(means) == 1
