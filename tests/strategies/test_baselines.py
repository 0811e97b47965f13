"""The compiled baselines against the plain ones of naive_baselines.py, decision by decision, and what they cost."""

from functools import cache
from math import log

import numpy as np
import pytest

import mfbai
from mfbai import Bernoulli, Exponential, Gaussian, Instance, InvalidInput, Poisson, SubGaussian, random_instance
from mfbai.kernels.stats import make_stats, record
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES, ask, tell
from support import naive_baselines as plain

OWN_RULE = {
    "iise": plain.Iise,
    "lucb": plain.Lucb,
    "lucb-explore-a": plain.LucbExploreA,
    "lucb-explore-b": plain.LucbExploreB,
}
EXPLORES = ["lucb-explore-a", "lucb-explore-b"]
PAPER = ["paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3"]
MEANS_4X3 = [[0.52, 0.46, 0.5], [0.25, 0.33, 0.3], [0.61, 0.68, 0.65], [0.45, 0.4, 0.42]]
MEANS_3X2 = [[0.2, 0.1], [0.85, 0.9], [0.35, 0.3]]
INSTANCES = {
    **{name: lambda name=name: mfbai.load(name) for name in PAPER},
    "lucb-trap": lambda: mfbai.load("lucb-trap"),
    "lucb-trap, little noise": lambda: mfbai.load("lucb-trap", variance=0.01),
    "nonsparse-3x2, little noise": lambda: mfbai.load("nonsparse-3x2", variance=0.01),
    "2x1": lambda: random_instance(2, 1, seed=13, costs=[[1.0], [2.0]]),
    "3x3, costs per arm": lambda: random_instance(
        3, 3, seed=11, costs=np.random.default_rng(1).uniform(0.1, 5, size=(3, 3)), variance=0.02
    ),
    "6x2, biases on one side": lambda: random_instance(6, 2, seed=12, biases=([0.05, 0.0], [0.2, 0.0])),
    "8x4, variances per cell": lambda: random_instance(
        8, 4, seed=14, variance=np.random.default_rng(2).uniform(0.005, 0.02, size=(8, 4))
    ),
    "5x3, biases per arm": lambda: random_instance(5, 3, seed=15, biases=biases_per_arm(5, 3)),
    "4x3, minimise": lambda: Instance(
        MEANS_4X3, [0.1, 0.5, 2.0], ([-0.1, -0.07, 0.0], [0.06, 0.05, 0.0]), Gaussian(0.01), direction="minimise"
    ),
    "4x3, sub-Gaussian": lambda: Instance(MEANS_4X3, [0.1, 0.5, 2.0], [0.1, 0.06, 0.0], SubGaussian(0.02)),
    "3x3, a fidelity of no use": lambda: random_instance(3, 3, seed=16, costs=[1.0, 0.5, 3.0]),
    "3x4, one in the middle of no use": lambda: random_instance(3, 4, seed=19, gap=0.03, costs=[0.1, 1.0, 0.5, 3.0]),
    "3x3, coarse ones of no use": lambda: random_instance(3, 3, seed=17, costs=[2.0, 1.0, 1.0]),
}
# Told values between 0 and 1 rather than 0 and 1 themselves: two arms with equal means would be left to rounding.
BOUNDED = {
    "3x2, Bernoulli": lambda: Instance(MEANS_3X2, [0.2, 1.0], [0.12, 0.0], Bernoulli()),
    "3x2, Bernoulli, minimise": lambda: Instance(MEANS_3X2, [0.2, 1.0], [0.12, 0.0], Bernoulli(), direction="minimise"),
    "3x2, bounds, minimise": lambda: Instance(
        MEANS_3X2, [0.2, 1.0], [0.12, 0.0], SubGaussian(bounds=(0, 1)), direction="minimise"
    ),
}


def biases_per_arm(arms, fidelities):
    rng = np.random.default_rng(3)
    low, high = rng.uniform(-0.1, 0.0, (arms, fidelities)), rng.uniform(0.0, 0.1, (arms, fidelities))
    low[:, -1] = high[:, -1] = 0.0
    return low, high


class Compiled:
    """A compiled strategy, with the interface of the plain ones."""

    def __init__(self, name, instance, delta=0.01, **options):
        self.model, self.stats = instance.problem.model(), make_stats(instance.shape)
        self.state = STRATEGIES[name].make(instance, delta, options)
        self.none_pending = np.zeros(instance.shape, dtype=np.int64)

    def ask(self, pending=None):
        return ask(self.model, self.stats, self.state, self.none_pending if pending is None else pending)

    def tell(self, arm, fidelity, x):
        record(self.model, self.stats, arm, fidelity, x)
        tell(self.model, self.stats, self.state, arm, fidelity, x)

    @property
    def answer(self):
        return int(self.state.answer[0])


def noise(instance, seed, run):
    """Draws what `simulate` draws in the run of that number: cell -> value, for normal noise."""
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))
    truth, deviation = instance.problem.sign * instance.means, np.sqrt(plain.Told(instance).v)
    return lambda cell: truth[cell] + deviation[cell] * rng.standard_normal()


def beta_noise(instance, seed):
    """Draws values inside (0, 1) with the right means."""
    rng, sign = np.random.default_rng(seed), instance.problem.sign
    return lambda cell: sign * rng.beta(4 * instance.means[cell], 4 * (1 - instance.means[cell]))


def play(learner, draw, max_steps):
    """The learner's cells, until it answers or max_steps are made."""
    cells = []
    while learner.answer < 0 and len(cells) < max_steps:
        cell = learner.ask()
        learner.tell(*cell, draw(cell))
        cells.append((int(cell[0]), int(cell[1])))
    return cells


def assert_same_decisions(compiled, naive, draw, max_steps):
    """Asks both for each cell, and tells both what it returned; returns how many steps were made."""
    for step in range(max_steps):
        cell = naive.ask()
        assert tuple(compiled.ask()) == cell, f"step {step}"
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)
        assert compiled.answer == naive.answer, f"step {step}"
        if naive.answer >= 0:
            return step + 1
    return max_steps


@cache
def runs_of(instance, strategy, delta=0.01, runs=300, seed=1):
    return mfbai.simulate(instance, strategy, delta=delta, runs=runs, seed=seed)


# Rules of their own: every decision


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", INSTANCES)
def test_decisions_are_those_of_the_plain_algorithm(name, strategy):
    """Every cell asked for, the stopping time and the answer."""
    instance = INSTANCES[name]()
    for delta, run in ((0.1, 0), (1e-4, 1)):
        compiled, naive = Compiled(strategy, instance, delta), OWN_RULE[strategy](instance, delta)
        assert_same_decisions(compiled, naive, noise(instance, 5, run), 700)


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", BOUNDED)
def test_decisions_are_the_same_for_bounded_rewards(name, strategy):
    """Variance proxies are those of the family: 1/4 for values in [0, 1]."""
    instance = BOUNDED[name]()
    compiled, naive = Compiled(strategy, instance, 0.1), OWN_RULE[strategy](instance, 0.1)
    assert_same_decisions(compiled, naive, beta_noise(instance, 6), 2500)


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize("name", [name for name in INSTANCES if name != "lucb-trap"])
def test_whole_runs_are_those_of_the_plain_algorithm(name, strategy):
    """`simulate` stops each run at the same step with the same answer, after the same evaluations of every cell."""
    instance, cap = INSTANCES[name](), 4000
    for delta in (0.1, 1e-6):
        found = mfbai.simulate(instance, strategy, delta=delta, runs=3, seed=7, max_steps=cap)
        for run in range(3):
            naive = OWN_RULE[strategy](instance, delta)
            steps = len(play(naive, noise(instance, 7, run), cap))
            assert found.steps[run] == steps
            assert found.answers[run] == naive.answer
            assert found.stopped[run] == (naive.answer >= 0)
            np.testing.assert_array_equal(found.pulls[run], naive.told.count)
            assert found.costs[run] == pytest.approx((naive.told.count * naive.told.cost).sum())


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_decisions_are_the_same_on_random_instances(strategy):
    """Many small instances, each with its own size, costs and asymmetric bounds."""
    for seed in range(25):
        rng = np.random.default_rng(seed)
        K, M = rng.integers(2, 6), rng.integers(1, 4)
        low, high = rng.uniform(-0.15, 0.0, (K, M)), rng.uniform(0.0, 0.15, (K, M))
        low[:, -1] = high[:, -1] = 0.0
        costs = np.sort(rng.uniform(0.1, 3.0, (K, M)), axis=1)
        instance = random_instance(int(K), int(M), seed=seed, biases=(low, high), costs=costs, variance=0.005)
        delta = 10.0 ** -rng.uniform(0.5, 8)
        compiled, naive = Compiled(strategy, instance, delta), OWN_RULE[strategy](instance, delta)
        assert_same_decisions(compiled, naive, noise(instance, seed, 0), 150)


@pytest.mark.parametrize("direction", ["maximise", "minimise"])
@pytest.mark.parametrize("strategy", EXPLORES)
def test_explores_use_the_given_means(strategy, direction):
    """mu1 and mu2 are in the user's units, and change the cells that are asked for."""
    sign = {"maximise": 1, "minimise": -1}[direction]
    means = 0.5 + sign * (np.array(MEANS_4X3) - 0.5)
    instance = Instance(means, [0.1, 0.5, 2.0], [0.1, 0.06, 0.0], Gaussian(0.01), direction=direction)
    cells = {}
    for far in (0.0, 0.2):
        told = {"mu1": 0.5 + sign * (0.15 + far), "mu2": 0.5 + sign * (0.0 - far)}
        naive = OWN_RULE[strategy](instance, 0.01, **told)
        assert_same_decisions(Compiled(strategy, instance, 0.01, **told), naive, noise(instance, 8, 0), 1000)
        cells[far] = naive.told.count
    naive = OWN_RULE[strategy](instance, 0.01)
    play(naive, noise(instance, 8, 0), 1000)
    np.testing.assert_array_equal(naive.told.count, cells[0.0])  # the default is the truth
    assert not np.array_equal(cells[0.0], cells[0.2])


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_first_of_equals_is_taken(strategy):
    """Arms that are exactly alike are taken in order."""
    instance = Instance([[0.5, 0.5]] * 3, [0.25, 1.0], [0.25, 0.0], Gaussian(1.0), ties=True)
    options = {"mu1": 0.75, "mu2": 0.25} if strategy in EXPLORES else {}
    compiled, naive = Compiled(strategy, instance, **options), OWN_RULE[strategy](instance, 0.01, **options)
    assert_same_decisions(compiled, naive, lambda cell: 0.5, 300)


# Rules of their own: properties


@pytest.mark.parametrize("name", [*PAPER, "3x3, costs per arm", "6x2, biases on one side", "4x3, minimise"])
def test_iise_eliminates_in_phases(name):
    """Fidelities only go up, survivors of a phase are evaluated equally often, and who is dropped stays so."""
    instance = INSTANCES[name]()
    compiled = Compiled("iise", instance, 0.01)
    cells = play(compiled, noise(instance, 9, 0), 5000)
    phases = [fidelity for _, fidelity in cells]
    assert phases == sorted(phases)
    last = {arm: step for step, (arm, _) in enumerate(cells)}
    for phase in set(phases):
        count = np.zeros(instance.shape[0], dtype=int)
        for step, (arm, fidelity) in enumerate(cells):
            if fidelity == phase:
                count[arm] += 1
                left = [a for a in last if last[a] > step]
                assert not left or np.ptp(count[left]) <= 1
    assert compiled.answer == max(last, key=last.get) or compiled.answer in [arm for arm, _ in cells[-2:]]


@pytest.mark.parametrize(
    ("costs", "skipped"),
    [([1.0, 0.5, 3.0], [0]), ([2.0, 1.0, 1.0], [0, 1]), ([0.1, 1.0, 0.5, 3.0], [1]), ([1.0, 2.0, 3.0], [])],
)
def test_iise_skips_fidelities_that_a_better_one_undercuts(costs, skipped):
    """Not one evaluation is made where a later fidelity is no dearer and no more biased."""
    instance = random_instance(3, len(costs), seed=19, gap=0.03, costs=costs)
    found = mfbai.simulate(instance, "iise", runs=20, seed=1)
    useful = [m for m in range(len(costs)) if m not in skipped]
    assert found.stopped.all()
    assert not found.pulls[:, :, skipped].any()
    assert (found.pulls[:, :, useful[0]] > 0).all()
    assert found.pulls[:, :, useful].any(axis=(0, 1)).all()


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_answer_is_given_once_and_stays(strategy):
    """After its answer a strategy can be told more, by a study that goes on, and keeps to it."""
    instance = mfbai.load("paper-mu2")
    compiled = Compiled(strategy, instance, 0.1)
    draw = noise(instance, 10, 0)
    play(compiled, draw, 20_000)
    answer = compiled.answer
    assert answer == instance.best
    for _ in range(50):
        cell = compiled.ask()
        compiled.tell(*cell, draw(cell))
        assert compiled.answer == answer


@pytest.mark.parametrize("name", ["paper-4x5", "4x3, minimise"])
def test_lucb_stays_at_the_top_fidelity(name):
    """The others might as well not exist: another cost or bias there changes nothing."""
    instance = INSTANCES[name]()
    found = mfbai.simulate(instance, "lucb", runs=5, seed=2, max_steps=3000)
    assert not found.pulls[:, :, :-1].any()
    top = Instance(
        instance.means[:, -1:],
        instance.problem.costs[:, -1:],
        [0.0],
        instance.problem.family,
        direction=instance.problem.direction,
    )
    alone = mfbai.simulate(top, "lucb", runs=5, seed=2, max_steps=3000)
    np.testing.assert_array_equal(found.steps, alone.steps)
    np.testing.assert_array_equal(found.pulls[:, :, -1], alone.pulls[:, :, 0])


@pytest.mark.parametrize("strategy", EXPLORES)
def test_explores_begin_with_every_cell(strategy):
    """Once, arm by arm, the cheapest fidelity first."""
    instance = mfbai.load("paper-4x5")
    K, M = instance.shape
    cells = play(Compiled(strategy, instance), noise(instance, 11, 0), K * M)
    assert cells == [(a, m) for a in range(K) for m in range(M)]


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_errors_are_rarer_than_delta(strategy):
    """400 runs at delta .1. These bounds are loose: were the risk .1, a sound version would fail one time in 10^4."""
    found = mfbai.simulate("paper-mu2", strategy, delta=0.1, runs=400, seed=3)
    assert found.stopped.all()
    assert found.error_rate <= 0.16


# Track-and-Stop and the oracle: every decision, up to rounding


def assert_preferred(naive, cell, scores):
    """The cell scores as high as any, but for what rounding does to shares of t evaluations."""
    slack = 1e-9 + 1e-7 * naive.told.t
    assert scores[cell] >= scores.max() - slack, f"{cell} after {naive.told.t:.0f} evaluations"


def stylised_stop(naive, delta):
    """The answer at the top fidelity, or -1."""
    t = naive.told.t
    if not naive.told.count[:, -1].all():
        return -1
    value, best = naive.evidence()
    return best if value >= log(naive.told.K / delta) + log(log(t) + 1) else -1


@pytest.mark.parametrize("name", INSTANCES)
def test_track_and_stop_is_the_plain_algorithm(name):
    """Every cell asked for is the plain version's choice, and `simulate` stops where its evidence suffices."""
    instance, delta, cap = INSTANCES[name](), 0.01, 600
    found = mfbai.simulate(instance, "track-and-stop", delta, 2, seed=12, stopping="stylised", max_steps=cap)
    for run in range(2):
        compiled, naive = Compiled("track-and-stop", instance, delta), plain.TrackAndStop(instance)
        draw, answer, steps = noise(instance, 12, run), -1, 0
        while answer < 0 and steps < cap:
            cell = tuple(compiled.ask())
            assert_preferred(naive, cell, naive.preferences())
            x = draw(cell)
            compiled.tell(*cell, x)
            naive.tell(*cell, x)
            answer, steps = stylised_stop(naive, delta), steps + 1
        assert (found.steps[run], found.answers[run]) == (steps, answer)


@pytest.mark.parametrize("name", BOUNDED)
def test_track_and_stop_is_the_plain_algorithm_for_bounded_rewards(name):
    """The optimal shares are those of the family's divergence."""
    instance = BOUNDED[name]()
    compiled, naive, draw = Compiled("track-and-stop", instance), plain.TrackAndStop(instance), beta_noise(instance, 13)
    for _ in range(150):
        cell = tuple(compiled.ask())
        assert_preferred(naive, cell, naive.preferences())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)


def test_track_and_stop_counts_evaluations_under_way():
    """Asked again with its own choices pending, it spreads as the plain version does."""
    instance = mfbai.load("paper-mu3")
    compiled, naive, draw = Compiled("track-and-stop", instance), plain.TrackAndStop(instance), noise(instance, 14, 0)
    for _ in range(30):
        cell = tuple(compiled.ask())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)
    pending = np.zeros(instance.shape, dtype=np.int64)
    for _ in range(60):
        cell = tuple(compiled.ask(pending))
        assert_preferred(naive, cell, naive.preferences(pending))
        pending[cell] += 1
    assert (pending[:, -1] > 0).all()


def test_track_and_stop_ignores_other_fidelities():
    """What a live study was told at a coarse fidelity changes no choice."""
    instance = mfbai.load("paper-5x2")
    deaf, hearing = (Compiled("track-and-stop", instance) for _ in range(2))
    draw = noise(instance, 15, 0)
    for step in range(200):
        cell = tuple(deaf.ask())
        assert tuple(hearing.ask()) == cell
        x = draw(cell)
        deaf.tell(*cell, x)
        hearing.tell(*cell, x)
        hearing.tell(step % 5, 0, 0.9)


def test_track_and_stop_takes_turns_while_the_best_are_tied():
    """With equal empirical means no allocation is optimal: the fewest evaluations decide."""
    instance = Instance([[0.5, 0.5]] * 4, [0.25, 1.0], [0.25, 0.0], Gaussian(1.0), ties=True)
    compiled = Compiled("track-and-stop", instance)
    cells = []
    for _ in range(20):
        cells.append(tuple(map(int, compiled.ask())))
        compiled.tell(*cells[-1], 0.5)
    assert cells == [(step % 4, 1) for step in range(20)]


def test_track_and_stop_neglects_no_arm():
    """Each arm has about sqrt(t) - K/2 evaluations at least, a hopeless one too."""
    instance = Instance([[0.0], [0.9], [1.0]], [1.0], [0.0], Gaussian(1e-4))
    compiled, draw = Compiled("track-and-stop", instance), noise(instance, 16, 0)
    for step in range(1, 1500):
        cell = compiled.ask()
        compiled.tell(*cell, draw(cell))
        assert compiled.stats.count.min() >= np.sqrt(step) - 1.5 - 1


@pytest.mark.parametrize("name", INSTANCES)
def test_oracle_tracks_the_optimal_allocation(name):
    """Every cell asked for is the plain version's choice: counts stay within K M of t pi, and off its support at 0."""
    instance = INSTANCES[name]()
    compiled, naive, draw = Compiled("oracle", instance), plain.OracleTracker(instance), noise(instance, 17, 0)
    for _ in range(400):
        cell = tuple(compiled.ask())
        assert_preferred(naive, cell, naive.preferences())
        x = draw(cell)
        compiled.tell(*cell, x)
        naive.tell(*cell, x)
    weights = mfbai.oracle(instance).weights
    assert not compiled.stats.count[weights <= 1e-9].any()
    pi = weights / instance.problem.costs / (weights / instance.problem.costs).sum()
    assert abs(compiled.stats.count - 400 * pi).max() <= instance.means.size


def test_the_two_plain_versions_of_the_optimal_shares_agree():
    """The closed form for Gaussian arms finds what the general oracle finds."""
    rng = np.random.default_rng(18)
    for _ in range(100):
        K = int(rng.integers(2, 8))
        mean, v, cost = rng.normal(size=K), rng.uniform(0.01, 2, K), rng.uniform(0.1, 5, K)
        problem = mfbai.Problem(K, cost[:, None], [0.0], Gaussian(v[:, None]))
        np.testing.assert_allclose(plain.gaussian_shares(mean, v, cost), plain.oracle_shares(problem, mean), atol=1e-7)


# What they cost. Tolerances of 5 standard errors or more fail by luck once in 10^6, unless another number is given.


def test_iise_costs_what_the_paper_reports():
    """Near 220 on the first instance and 2290 on the second; single runs vary by some 45 and 490."""
    for name, cost, tolerance in (("paper-4x5", 219, 9), ("paper-5x2", 2295, 95)):
        found = runs_of(name, "iise", runs=1000)
        assert found.stopped.all()
        assert found.mean_cost == pytest.approx(cost, abs=tolerance)
        assert found.error_rate <= 0.03  # a risk of .01 exceeds it once in 10^7


@pytest.mark.parametrize("name", PAPER)
def test_nothing_is_cheaper_than_the_oracle(name):
    """Whoever knows the optimal allocation pays least, by 15 % and more; its mean is known to within 4 %."""
    floor = runs_of(name, "oracle")
    assert floor.stopped.all()
    for other in ("mf-grad", "mf-grad-const", "grad", "iise", "track-and-stop", "uniform"):
        assert floor.mean_cost < runs_of(name, other).mean_cost, other


def test_lucb_escapes_the_trap():
    """About 81,000 evaluations at 5 each; single runs vary by 12,000."""
    found = mfbai.simulate("lucb-trap", "lucb", runs=20, seed=4)
    assert found.stopped.all()
    assert (found.answers == 0).all()
    assert found.mean_steps == pytest.approx(81_400, abs=14_000)
    np.testing.assert_allclose(found.costs, 5 * found.steps)


def test_explore_a_is_caught_in_the_trap():
    """It keeps to the coarse fidelity, whose bias hides the gap, and never stops."""
    found = mfbai.simulate("lucb-trap", "lucb-explore-a", runs=2, seed=5, max_steps=10**6)
    assert not found.stopped.any()
    assert (found.pulls[:, :, 1] < 2000).all()


def test_explore_b_is_often_caught_in_the_trap():
    """About 32 % of the runs stop, before both arms are fixed; the paper has 30 %. Luck leaves [3, 28] once in 10^4."""
    found = mfbai.simulate("lucb-trap", "lucb-explore-b", runs=40, seed=6, max_steps=400_000)
    assert 3 <= found.stopped.sum() <= 28
    assert (found.answers[found.stopped] == 0).all()


# How they fit in


@pytest.mark.parametrize("strategy", OWN_RULE)
def test_several_deltas_are_as_good_as_separate_calls(strategy):
    """Sampling depends on delta here; each column is still what the delta would give alone."""
    deltas = [1e-4, 0.1, 0.01]
    several = mfbai.simulate("paper-mu2", strategy, delta=deltas, runs=10, seed=7)
    assert several.costs.shape == (10, 3)
    for column, delta in enumerate(deltas):
        alone = mfbai.simulate("paper-mu2", strategy, delta=delta, runs=10, seed=7)
        for field in ("costs", "steps", "answers", "stopped"):
            np.testing.assert_array_equal(getattr(several, field)[:, column], getattr(alone, field))


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_results_do_not_depend_on_workers(strategy):
    """Neither the number of workers nor the number of runs changes a run."""
    one = mfbai.simulate("paper-mu2", strategy, runs=10, seed=8, workers=1)
    two = mfbai.simulate("paper-mu2", strategy, runs=15, seed=8, workers=2)
    np.testing.assert_array_equal(one.costs, two.costs[:10])
    np.testing.assert_array_equal(one.pulls, two.pulls[:10])


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_trace_goes_on_after_the_answer(strategy):
    """A trace has no end but its steps, and its shares are shares."""
    found = mfbai.trace("paper-5x2", strategy, steps=5000, runs=3)
    assert found.steps[-1] == 5000
    np.testing.assert_allclose(found.shares.sum(axis=(2, 3)), 1.0)
    assert (found.shares >= 0).all()


def test_only_rules_of_their_own_are_marked():
    """`own_rule` says who decides."""
    assert {name for name, strategy in STRATEGIES.items() if strategy.own_rule} == set(OWN_RULE)


@pytest.mark.parametrize("stopping", sorted(RULES))
def test_track_and_stop_counts_one_fidelity_under_any_rule(stopping):
    """It stops by any rule, as on the problem that has its top fidelity alone."""
    instance = mfbai.load("paper-mu2")
    top = Instance(instance.means[:, -1:], instance.problem.costs[:, -1:], [0.0], instance.problem.family)
    settings = {"runs": 3, "seed": 9, "stopping": stopping}
    if "constant" in RULES[stopping].options:
        settings["options"] = {"constant": 1.0}
    found = mfbai.simulate(instance, "track-and-stop", **settings)
    alone = mfbai.simulate(top, "track-and-stop", **settings)
    assert found.stopped.all()
    np.testing.assert_array_equal(found.steps, alone.steps)
    np.testing.assert_array_equal(found.pulls[:, :, -1], alone.pulls[:, :, 0])


@pytest.mark.parametrize("strategy", OWN_RULE)
@pytest.mark.parametrize(
    "instance",
    [
        Instance([[3.0, 4.0], [5.0, 6.0]], [0.2, 1.0], [1.5, 0.0], Poisson()),
        Instance([[0.8, 1.0], [2.0, 2.5]], [0.2, 1.0], [0.6, 0.0], Exponential()),
    ],
    ids=["poisson", "exponential"],
)
def test_families_without_a_variance_proxy_are_refused(strategy, instance):
    """The bounds are those of sub-Gaussian rewards; the message names the family."""
    with pytest.raises(InvalidInput, match=instance.problem.family.name):
        mfbai.simulate(instance, strategy, runs=1)


@pytest.mark.parametrize("strategy", EXPLORES)
@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"mu1": np.nan}, "mu1"),
        ({"mu1": np.inf}, "mu1"),
        ({"mu2": -np.inf}, "mu2"),
        ({"mu1": 0.5, "mu2": 0.5}, "mu1"),
        ({"mu1": 0.4, "mu2": 0.5}, "mu1"),
    ],
)
def test_means_that_make_no_sense_are_refused(strategy, options, named):
    """mu1 and mu2 must be finite, and mu1 the better one."""
    with pytest.raises(InvalidInput, match=named):
        mfbai.simulate("paper-5x2", strategy, runs=1, options=options)


@pytest.mark.parametrize("strategy", EXPLORES)
def test_mu1_of_a_minimising_problem_is_the_smaller_one(strategy):
    """In the user's units the best mean is the least."""
    instance = INSTANCES["4x3, minimise"]()
    mfbai.simulate(instance, strategy, runs=1, max_steps=20, options={"mu1": 0.3, "mu2": 0.4})
    with pytest.raises(InvalidInput, match="mu1"):
        mfbai.simulate(instance, strategy, runs=1, options={"mu1": 0.4, "mu2": 0.3})


@pytest.mark.parametrize("strategy", [*OWN_RULE, "track-and-stop", "oracle"])
def test_unknown_options_are_refused(strategy):
    """The message names the option."""
    with pytest.raises(InvalidInput, match="mu3"):
        mfbai.simulate("paper-5x2", strategy, runs=1, options={"mu3": 0.5})
