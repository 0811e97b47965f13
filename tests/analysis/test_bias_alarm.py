"""A bias twice its bound leads to wrong answers, and the alarm tells before they are given, if data can tell."""

from dataclasses import replace

import numpy as np

from mfbai import Gaussian, Instance, bias_alarms
from mfbai.model.means import instance_of
from mfbai.simulation.experiment import Run, prepare

STATED = Instance(
    [[0.5, 0.5, 0.5], [0.55, 0.55, 0.55], [0.4, 0.4, 0.4]], [0.1, 0.3, 1.0], [0.1, 0.05, 0.0], Gaussian(0.01)
)
# The first arm's cheap mean is 0.2 above its top mean, where 0.1 is stated: it seems to be 0.6 at least, above 0.55.
VIOLATED = np.array([[0.7, 0.5, 0.5], [0.55, 0.55, 0.55], [0.4, 0.4, 0.4]])
# All that the bounds allow, against the best arm.
EDGE = np.array([[0.6, 0.55, 0.5], [0.45, 0.5, 0.55], [0.5, 0.45, 0.4]])


def watch(truth, delta, level, runs, most):
    """For each run: whether a wrong answer was certified, and whether an alarm was given by then."""
    [setup] = prepare(STATED, "uniform", "e-process", [delta], {}, {})
    run = Run(replace(setup, instance=instance_of(STATED.problem, truth)))
    wrong, warned = np.zeros(runs, dtype=bool), np.zeros(runs, dtype=bool)
    for number in range(runs):
        run.restart(3, number)
        until = 9
        while not run.decided and run.stats.steps[0] < most:
            run.advance(until)
            until = int(1.05 * until) + 1
            if not warned[number]:
                warned[number] = bool(bias_alarms(STATED, run.stats.count, run.stats.mean, level))
        wrong[number] = run.decided and run.outcome.answer[0] != np.argmax(truth[:, -1])
    return wrong, warned


def test_the_alarm_comes_before_the_damage():
    """Half of the answers are wrong at a stated risk of 5 %; without an exception the alarm came first."""
    wrong, warned = watch(VIOLATED, delta=0.05, level=0.01, runs=100, most=20_000)
    assert wrong.mean() > 0.3
    assert warned[wrong].all()


def test_the_alarm_is_silent_while_the_bounds_hold():
    """At a level of 10 %, more than 20 alarms in 100 runs would have a probability below 0.2 %."""
    wrong, warned = watch(EDGE, delta=0.05, level=0.1, runs=100, most=2000)
    assert warned.sum() <= 20
    assert wrong.mean() <= 0.15
