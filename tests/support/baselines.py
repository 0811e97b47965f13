"""Instances for the baselines, and the compiled strategies played against the plain ones."""

from functools import cache

import numpy as np

import mfbai
from mfbai import Bernoulli, Gaussian, Instance, SubGaussian, random_instance
from mfbai.kernels.stats import make_stats, record
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
