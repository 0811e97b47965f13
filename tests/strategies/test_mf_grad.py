"""The compiled MF-GRAD and its stopping against the plain version of naive.py, decision by decision."""

import numpy as np
import pytest

from mfbai import simulate
from mfbai.kernels.stats import make_stats
from mfbai.model import spec
from mfbai.model.instances import random_instance
from mfbai.run.loop import make_outcome, step
from mfbai.stopping import RULES
from mfbai.strategies import STRATEGIES, ask
from support import naive

DELTAS = np.array([0.1, 0.01, 1e-4])
RATES = {"mf-grad": 0.0, "mf-grad-const": 0.25, "mf-grad-row": 0.25}
ROW = "mf-grad-row"
INSTANCES = {
    "paper-4x5": lambda: spec.load("paper-4x5"),
    "paper-4x5, noisy": lambda: spec.load("paper-4x5").with_variance(0.1),
    "paper-5x2": lambda: spec.load("paper-5x2"),
    "3x3, costs per arm": lambda: random_instance(
        3, 3, seed=11, costs=np.random.default_rng(1).uniform(0.1, 5, size=(3, 3)), variance=0.05
    ),
    "6x2, biases on one side": lambda: random_instance(6, 2, seed=12, biases=([0.05, 0.0], [0.2, 0.0])),
    # Of two arms of one cost each is as good a pull as the other: rounding would decide.
    "2x1, costs per arm": lambda: random_instance(2, 1, seed=13, gap=0.05, costs=[[1.0], [2.0]]),
    "8x4, variances per cell": lambda: random_instance(
        8, 4, seed=14, variance=np.random.default_rng(2).uniform(0.005, 0.05, size=(8, 4))
    ),
}


def rewards_of(instance, seed, steps):
    """(K, M, steps) what each cell's evaluations return, in order: the same for both versions."""
    noise = np.random.default_rng(seed).standard_normal((*instance.shape, steps))
    deviation = np.sqrt(naive.variance_of(instance.problem))
    return instance.means[:, :, None] + deviation[:, :, None] * noise


def compiled_run(problem, rewards, strategy, deltas, max_steps, **options):
    """What `simulate` does, one step at a time."""
    model = problem.model()
    stats, pending = make_stats(problem.shape), np.zeros(problem.shape, dtype=np.int64)
    state = STRATEGIES[strategy].init(model, **{**STRATEGIES[strategy].options, **options})
    rule = RULES["stylised"].init(model, deltas, problem.n_fidelities)
    outcome = make_outcome(len(deltas))
    pulls = []
    while stats.steps[0] < max_steps and outcome.levels[0] < len(deltas):
        arm, fidelity = ask(model, stats, state, pending)
        pulls.append((arm, fidelity))
        x = rewards[arm, fidelity, int(stats.count[arm, fidelity])]
        step(model, stats, state, rule, outcome, arm, fidelity, x)
    decided = int(outcome.levels[0])
    return naive.Run(pulls, outcome.answer[:decided].tolist(), outcome.steps[:decided].tolist())


def assert_same(compiled, plain):
    for n, (ours, theirs) in enumerate(zip(compiled.pulls, plain.pulls, strict=False)):
        assert ours == theirs, f"pull {n} of {len(plain.pulls)}"
    assert compiled == plain


@pytest.mark.parametrize("seed", [1, 2])
@pytest.mark.parametrize("strategy", RATES)
@pytest.mark.parametrize("name", INSTANCES)
def test_decisions_are_those_of_the_plain_algorithm(name, strategy, seed):
    """Every pull, stopping time and answer is that of MF-GRAD written out line by line."""
    instance = INSTANCES[name]()
    max_steps = 500
    rewards = rewards_of(instance, seed, max_steps)
    plain = naive.mf_grad_run(instance.problem, rewards, RATES[strategy], 100.0, DELTAS, max_steps, strategy == ROW)
    assert_same(compiled_run(instance.problem, rewards, strategy, DELTAS, max_steps), plain)


def test_clipped_gradients_are_those_of_the_plain_algorithm():
    """A clip that bites from the first step on changes the pulls, and in the same way."""
    instance = spec.load("paper-4x5")
    rewards = rewards_of(instance, 3, 600)
    plain = naive.mf_grad_run(instance.problem, rewards, 0.0, 0.01, DELTAS, 600)
    assert plain.pulls != naive.mf_grad_run(instance.problem, rewards, 0.0, 100.0, DELTAS, 600).pulls
    assert_same(compiled_run(instance.problem, rewards, "mf-grad", DELTAS, 600, clip=0.01), plain)


def test_long_runs_do_not_drift():
    """Warm starts, bounds and a moving zero of the gains leave the decisions alone over thousands of steps."""
    instance = spec.load("paper-5x2").with_variance(0.05)
    rewards = rewards_of(instance, 4, 3000)
    plain = naive.mf_grad_run(instance.problem, rewards, 0.25, 100.0, DELTAS[2:] ** 3, 3000)
    assert len(plain.pulls) > 1000
    assert_same(compiled_run(instance.problem, rewards, "mf-grad-const", DELTAS[2:] ** 3, 3000), plain)


@pytest.mark.parametrize("rate", [0.0, 0.25])
def test_the_row_variant_is_another_algorithm_at_any_rate(rate):
    """Its decisions are those of its own plain version, over a long run, and not those of MF-GRAD."""
    instance = spec.load("paper-5x2").with_variance(0.05)
    rewards = rewards_of(instance, 5, 2000)
    plain = naive.mf_grad_run(instance.problem, rewards, rate, 100.0, DELTAS[2:] ** 3, 2000, row_only=True)
    assert len(plain.pulls) == 2000
    assert plain.pulls != naive.mf_grad_run(instance.problem, rewards, rate, 100.0, DELTAS[2:] ** 3, 2000).pulls
    assert_same(compiled_run(instance.problem, rewards, ROW, DELTAS[2:] ** 3, 2000, rate=rate), plain)


def test_the_row_variant_is_cheaper_where_data_contradict_the_bounds():
    """Chasing arms whose data fit badly is what makes rare runs of mf-grad-const long."""
    row, const = (simulate("paper-5x2", name, runs=300) for name in (ROW, "mf-grad-const"))
    assert row.stopped.all()
    assert row.costs.mean() < const.costs.mean()
    assert row.costs.max() < const.costs.max()


def test_the_two_plain_versions_of_gaussian_evidence_agree():
    """Sorted breakpoints find what the grid search finds."""
    rng = np.random.default_rng(6)
    problems = [random_instance(4, 3, seed=seed).problem for seed in range(60)]
    draws = [(10.0 ** rng.uniform(0, 3, size=(4, 3)), rng.normal(0.5, 0.2, size=(4, 3))) for _ in problems]
    cases = [naive.Case(problem, counts, means, 0.0) for problem, (counts, means) in zip(problems, draws, strict=True)]
    for case, solution in zip(cases, naive.solve(cases), strict=True):
        value, *pair, x, y = solution.evidence()
        plain = naive.gaussian_evidence(case.problem, case.counts, case.means)
        assert plain[1:3] == tuple(pair)
        np.testing.assert_allclose(plain[0], value, rtol=1e-11)
        np.testing.assert_allclose(plain[3:], (x, y), rtol=1e-7)
