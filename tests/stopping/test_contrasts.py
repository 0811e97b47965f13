"""The rule `contrasts` against plain versions of it, value by value, and what a round may and may not depend on."""

import numpy as np
import pytest

from mfbai import Gaussian, Problem
from mfbai.kernels.stats import ROOM, SEEDS, make_stats, record
from mfbai.model.families import Bounded, Symmetric
from mfbai.stopping import RULES
from mfbai.stopping.contrasts import standing
from mfbai.stopping.interface import decide, observe
from mfbai.strategies import STRATEGIES, ask, tell
from support.naive_contrasts import NaiveBooks, NaiveRounds

DELTAS = np.array([0.3, 0.1, 1e-3])
WIDE = 4.0  # than which no value is larger


def random_family(rng, name, M):
    if name == "symmetric":
        return Symmetric(-WIDE, WIDE)
    return Bounded(-rng.uniform(WIDE, 2 * WIDE, M), rng.uniform(WIDE, 2 * WIDE, M))


def random_problem(rng, seeds="independent", family="gaussian"):
    K, M = int(rng.integers(2, 7)), int(rng.integers(1, 4))
    low, high = -0.2 * rng.random((K, M)), 0.2 * rng.random((K, M))
    low[:, -1], high[:, -1] = 0.0, 0.0
    costs, variance = rng.uniform(0.1, 2.0, (K, M)), rng.uniform(0.05, 0.5, (K, M))
    direction = rng.choice(["maximise", "minimise"])
    noise = Gaussian(variance) if family == "gaussian" else random_family(rng, family, M)
    return Problem(K, costs, (low, high), noise, direction=direction, seeds=seeds)


def random_tops(rng, K):
    """One arm is far better than most, so that some are ruled out."""
    tops = rng.normal(size=K)
    tops[rng.integers(K)] += 1.0
    return tops


class Kernel:
    """The rule as the package has it, fed with values in the user's coordinates."""

    def __init__(self, problem, tolerance, deltas=DELTAS):
        self.problem, self.model = problem, problem.model(tolerance)
        self.stats = make_stats(problem.shape)
        self.rule = RULES["contrasts"].init(self.model, deltas, problem.n_fidelities)

    def tell(self, arm, m, value, seed=(-1, 0)):
        x = self.problem.sign * value
        self.stats.seed[:] = seed
        record(self.model, self.stats, arm, m, x)
        observe(self.model, self.stats, self.rule, arm, m, x)

    def round(self, number, entries):
        for own, arm, m, part, value in entries:
            if value is not None:
                self.tell(arm, m, value, (number * SEEDS + own, part))

    def assert_agrees(self, naive):
        rule = self.rule
        np.testing.assert_allclose(rule.proven, naive.proven, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(rule.target, naive.targets, rtol=1e-14)
        for level in range(len(rule.target)):
            answer = decide(self.model, self.stats, rule, level)
            assert answer == naive.answer(int(rule.leader[0]), level)
            for row in range(len(rule.proven)):
                ruled_out = (naive.proven[row] >= naive.targets[level]).sum()
                assert rule.left[row, level] == naive.K - ruled_out - (naive.rows > 1)


@pytest.mark.parametrize("tolerance", [0.0, 0.3])
def test_books_are_what_every_value_and_its_tilts_say(tolerance):
    ruled_out = 0
    for number in range(40):
        rng = np.random.default_rng([number, 1])
        problem = random_problem(rng)
        K, M = problem.shape
        tops, kernel, naive = random_tops(rng, K), Kernel(problem, tolerance), NaiveBooks(problem, DELTAS, tolerance)
        share, tilt, leader = np.zeros(K), np.zeros((K, M)), -1
        for step in range(60):
            if rng.random() < 0.2:
                leader = int(rng.integers(-1, K)) if rng.random() < 0.3 else int(np.argmax(problem.sign * tops))
            share[:] = rng.uniform(0.3, 2.0, K) * (rng.random(K) < 0.8)
            tilt[:] = rng.uniform(0.0, 1.5, (K, M))
            rule = kernel.rule
            rule.leader[0], rule.share[:], rule.tilt[:] = leader, share, tilt
            arm = step if step < K and number % 4 else int(rng.integers(K))
            m = int(rng.integers(M))
            value = tops[arm] + rng.normal(0, 0.5)
            naive.observe(arm, m, value, leader, share, tilt)
            kernel.tell(arm, m, value)
            kernel.assert_agrees(naive)
        ruled_out += (naive.proven >= naive.targets[0]).sum()
    assert ruled_out > 20


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize("tolerance", [0.0, 0.1])
def test_under_race_books_are_what_every_value_and_its_tilts_say(tolerance, direction):
    rng = np.random.default_rng(5)
    tops = np.array([0.0, 0.4, 0.7, 1.2])
    problem = Problem(4, [0.2, 1.0], [0.1, 0.0], Gaussian(0.1), direction=direction)
    kernel, naive = Kernel(problem, tolerance, DELTAS[1:2]), NaiveBooks(problem, DELTAS[1:2], tolerance)
    state = STRATEGIES["race"].make(problem, DELTAS[1], tolerance=tolerance)
    pending = np.zeros(problem.shape, dtype=np.int64)
    for _ in range(150):
        arm, m = ask(kernel.model, kernel.stats, state, pending)
        value = problem.sign * tops[arm] + rng.normal(0, np.sqrt(0.1))
        books = state.rule
        naive.observe(arm, m, value, int(books.leader[0]), books.share.copy(), books.tilt.copy())
        for name in ("leader", "share", "tilt"):
            getattr(kernel.rule, name)[...] = getattr(books, name)
        kernel.tell(arm, m, value)
        tell(kernel.model, kernel.stats, state, arm, m, problem.sign * value)
        kernel.rule.leader[:] = books.leader
        kernel.assert_agrees(naive)
        np.testing.assert_array_equal(books.proven, kernel.rule.proven)
    assert naive.answer(3, 0) == 3


def random_round(rng, K, M, first, leads=1):
    """(seed within the round, arm, fidelity, part) of each evaluation, the leader's first."""
    s, m = int(rng.integers(K)), int(rng.integers(M))
    rivals = [j for j in range(K) if j != s and (first or rng.random() < 0.8)]
    entries = []
    for j in rivals:
        seeds, m = int(rng.integers(1, 4)), int(rng.integers(M))
        entries += [(own, j, m, seeds) for own in range(seeds)]
    entries = [entries[n] for n in rng.permutation(len(entries))]
    part = -(leads - 1) * ROOM - (len(entries) + leads)
    return [*((own, s, m, part) for own in range(leads)), *entries]


def with_values(rng, tops, entries, missing=0.0):
    luck = rng.normal(0, 0.4, SEEDS)
    values = [np.clip(tops[arm] + luck[own] + rng.normal(0, 0.3), -WIDE, WIDE) for own, arm, _, _ in entries]
    return [(*entry, None if rng.random() < missing else x) for entry, x in zip(entries, values, strict=True)]


@pytest.mark.parametrize(
    ("family", "seeds"),
    [
        ("gaussian", "common"),
        ("symmetric", "common"),
        ("symmetric", "independent"),
        ("bounded", "common"),
        ("bounded", "independent"),
    ],
)
@pytest.mark.parametrize("tolerance", [0.0, 0.3])
@pytest.mark.parametrize("missing", [0.0, 0.15])
def test_rounds_are_what_all_blocks_say(tolerance, missing, family, seeds):
    ruled_out = 0
    for number in range(25):
        rng = np.random.default_rng([number, 2])
        problem = random_problem(rng, seeds, family)
        K, M = problem.shape
        tops, kernel, naive = random_tops(rng, K), Kernel(problem, tolerance), NaiveRounds(problem, DELTAS, tolerance)
        for count in range(25):
            leads = 1 if seeds == "common" else int(rng.integers(1, 5))
            entries = with_values(rng, tops, random_round(rng, K, M, count == 0, leads), missing)
            naive.round(entries)
            kernel.round(count, entries)
            kernel.assert_agrees(naive)
        ruled_out += (naive.proven >= naive.targets[0]).sum()
    assert ruled_out > (2 if family == "bounded" else 20)


@pytest.fixture
def warm():
    """A rule that has seen some rounds of 4 arms, and the next of its rounds with values."""

    def make():
        rng = np.random.default_rng(3)
        problem = Problem(4, [0.2, 1.0], [0.1, 0.0], Gaussian(0.1), seeds="common")
        kernel, tops = Kernel(problem, 0.0), np.array([0.0, 0.2, 0.3, 0.6])
        rounds = [[(0, 3, 1, -7), *((own, j, 1, 2) for j in range(3) for own in range(2))]] * 6
        for number, entries in enumerate(rounds):
            kernel.round(number, with_values(rng, tops, entries))
        return kernel, with_values(rng, tops, rounds[0])

    return make


def without(entries, *lost):
    return [(*entry[:4], None) if n in lost else entry for n, entry in enumerate(entries)]


def test_a_failed_trial_drops_its_own_block_only(warm):
    kernel, entries = warm()
    before = kernel.rule.capital.copy()
    kernel.round(6, without(entries, 4))  # one of two of arm 1
    moved = (kernel.rule.capital != before).any(axis=(0, 2))
    assert moved.tolist() == [True, False, True, False]
    whole, entries = warm()
    whole.round(6, entries)
    for j in (0, 2):
        np.testing.assert_array_equal(whole.rule.capital[:, j], kernel.rule.capital[:, j])


def test_without_the_leader_a_round_is_not_bet_on_but_is_learnt_from(warm):
    kernel, entries = warm()
    before, learnt = kernel.rule.capital.copy(), kernel.rule.count.sum()
    kernel.round(6, without(entries, 0))
    np.testing.assert_array_equal(kernel.rule.capital, before)
    kernel.round(7, entries[:1])
    np.testing.assert_array_equal(kernel.rule.capital, before)
    assert kernel.rule.count.sum() == learnt + 6


@pytest.mark.parametrize("changed", [1, 3, 5])
def test_a_value_does_not_change_the_bets_on_other_rivals_of_its_round(warm, changed):
    one, entries = warm()
    other, _ = warm()
    arm = entries[changed][1]
    one.round(6, entries)
    other.round(6, [(*e[:4], e[4] + 10.0 * (n == changed)) for n, e in enumerate(entries)])
    same = (one.rule.capital == other.rule.capital).all(axis=(0, 2))
    assert same.tolist() == [j != arm for j in range(4)]
    assert not np.array_equal(one.rule.mean, other.rule.mean)  # it is learnt, for the next round


def test_standing_says_what_is_proven(warm):
    kernel, entries = warm()
    kernel = Kernel(kernel.problem, 0.0, DELTAS[1:2])
    assert standing(kernel.rule).leader == -1
    assert standing(kernel.rule).level == 1.0
    for number in range(8):
        kernel.round(number, entries)
    best = int(np.argmax(kernel.rule.mean[:, 1]))  # by what was learnt, and not the leader of the rounds
    for answer, leader in ((None, best), (3, 3)):
        found = standing(kernel.rule, answer)
        assert found.leader == leader
        assert found.evidence[leader] == np.inf
        others = np.arange(4) != leader
        np.testing.assert_array_equal(found.evidence[others], kernel.rule.proven[0, others])
        assert found.needed == pytest.approx(np.log(10))
        assert found.level == pytest.approx(min(np.exp(-found.evidence.min()), 1.0))
