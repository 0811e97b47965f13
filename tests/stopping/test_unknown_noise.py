"""Runs where the noise is learnt: which rules and strategies serve, and how often they err at exact ties."""

from itertools import product

import numpy as np
import pytest

from mfbai import Bounded, Instance, InvalidInput, Symmetric, simulate
from mfbai.kernels import e_values
from mfbai.simulation.experiment import Run, prepare
from mfbai.stopping.e_process import ruled_out
from support import odd_noise
from support.odd_noise import NOISES

FAMILIES = {"symmetric": Symmetric(0.0, 2.0), "bounded": Bounded(0.0, [2.5, 2.0, 2.0])}
REFUSING = ("iise", "lucb", "lucb-explore-a", "lucb-explore-b")


def instance_of(name, direction="maximise"):
    """Three fidelities: as many as a law's memory has totals."""
    means = np.array([[0.75, 0.8, 0.8], [1.5, 1.35, 1.4], [0.85, 0.9, 0.9]])
    means = means if direction == "maximise" else 2.0 - means
    return Instance(
        means, [0.1, 0.3, 1.0], [0.15, 0.1, 0.0], FAMILIES[name], deviation=[0.1, 0.2, 0.2], direction=direction
    )


@pytest.mark.parametrize(
    ("name", "strategy"),
    [
        *product(["symmetric"], ["frugal", "uniform", "mf-grad", "grad-const", "track-and-stop", "oracle"]),
        *product(["bounded"], ["frugal", "track-and-stop"]),
    ],
)
def test_strategies_find_the_best_arm_without_a_variance(name, strategy):
    direction = "minimise" if strategy == "frugal" else "maximise"
    found = simulate(instance_of(name, direction), strategy, 0.05, 10, stopping="e-process", max_steps=20_000)
    assert found.stopped.all()
    assert (found.answers == 1).all()


def test_the_heuristic_rule_serves_too():
    found = simulate(instance_of("symmetric"), "frugal", 0.05, 10, stopping="stylised", max_steps=20_000)
    assert (found.answers == 1).all()


@pytest.mark.parametrize("strategy", REFUSING)
def test_strategies_that_need_a_variance_refuse(strategy):
    with pytest.raises(InvalidInput, match=r"needs a stated variance, which the symmetric family does not have: take"):
        simulate(instance_of("symmetric"), strategy, runs=1)


def test_a_rule_that_needs_a_variance_refuses():
    with pytest.raises(InvalidInput, match=r"whose proof needs a stated variance, .*: take e-process"):
        simulate(instance_of("bounded"), "uniform", runs=1, stopping="kaufmann-koolen")


def test_the_rule_is_not_held_up_by_an_arm_whose_noise_is_far_below_that_of_the_others():
    """Its estimate is drawn towards theirs, so that f falls short by far; the rule rules it out nearly at once."""
    deviation = [[0.002], [0.002], [0.6]]
    instance = Instance([[0.50], [0.52], [0.1]], 1.0, 0.0, Symmetric(0.0, 1.0), deviation=deviation)
    run = Run(prepare(instance, "uniform", "e-process", [0.01], {}, {})[0])
    claim, first, held = e_values.make_work(), 0, 0
    for number in range(5):
        run.restart(0, number)
        while not ruled_out(run.rule, 1, 0, 0):
            run.advance(int(run.stats.steps[0]) + 1)
            target = run.rule.target[0]
            seen = run.stats.count.min() > 0
            if seen and e_values.against(run.model.law, run.model, run.stats, 1, 0, 0.5, target, claim)[0] >= target:
                first += 1
                held += not ruled_out(run.rule, 1, 0, 0)
    assert first >= 5
    assert held <= 2 * 5


@pytest.mark.parametrize("fidelities", [1, 2, 5])
@pytest.mark.parametrize("sampler", odd_noise.SAMPLERS)
def test_the_best_arm_is_rarely_ruled_out_at_an_exact_tie(sampler, fidelities):
    """At most 10 % are allowed. Of 150 runs of each kind of noise, 30 or more would be seen with a probability of
    0.0002 at most, if 10 % were the truth: for all noises, fidelities and samplers together 1.7 %."""
    for name, noise in NOISES.items():
        errors = odd_noise.count_false(noise, fidelities, sampler, 0.1, 150, 300, 1)
        assert errors < 30, name


def test_skewed_noise_breaks_the_promise_of_symmetric():
    """As docs/theory/guarantee.md says: of 200 runs most are wrong, where 10 % are allowed."""
    noise = odd_noise.SKEWED["a rare failure (2 %), and hardly any other noise: -6.9"]
    assert odd_noise.count_false(noise, 1, "uniform", 0.1, 200, 300, 1) > 60
