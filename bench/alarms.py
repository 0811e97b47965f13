"""How soon the variance alarm is given, and how seldom without a cause: a part of `make bench-guarantee`.

Writes its tables into docs/theory/guarantee.md. Runs are looked at whenever they have grown by 5 %.
"""

import argparse
import sys
from dataclasses import replace
from math import inf, log
from pathlib import Path

import numpy as np
from scipy.stats import beta

import mfbai
from mfbai.analysis.variance import find_variance_alarms, log_evidence
from mfbai.simulation.experiment import Run, prepare

DELTA = 0.1  # of alarms without a cause, which are few at smaller levels
LEVEL = 0.05  # of those with one
EVALUATIONS = 300
NEVER = 1e-300  # a risk at which no run stops
PAGE = Path(__file__).parents[1] / "docs" / "theory" / "guarantee.md"
BEGIN, END = "<!-- table: bench/alarms.py -->", "<!-- end of alarms -->"
PAPER = ("paper-4x5", "paper-5x2", "paper-mu2", "paper-mu3")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000, help="without a cause; a twentieth of them with one")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="leave docs/theory/guarantee.md as it is")
    given = parser.parse_args()
    text = [*power(given.runs // 20, given.seed), "", *damage(given.runs // 20, given.seed), ""]
    text += silence(given.runs, given.seed)
    print("\n".join(text))
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text("\n".join([f"{before}{BEGIN}", "", *text, "", f"{END}{rest.split(END)[1]}"]))


def instances():
    for name in PAPER:
        for variance in (0.01, 0.1):
            yield f"`{name}`, variance {variance:g}", mfbai.load(name).with_variance(variance)
    for arms in (2, 8, 50):
        means = np.linspace(0.0, 0.3, arms)[:, None]
        yield f"one fidelity, {arms} arms", mfbai.Instance(means, [1.0], [0.0], mfbai.Gaussian(0.1))


def power(runs, seed):
    """A variance that is stated too small."""
    yield f"Variances stated 4 times too small: the default strategy, alarms at {100 * LEVEL:g} %, {runs} runs each."
    yield ""
    yield f"| instance | alarm within {EVALUATIONS} evaluations | half of the alarms within |"
    yield "|---|---|---|"
    for name, instance in instances():
        print(name, file=sys.stderr, flush=True)
        first = first_alarms(make_run(instance, factor=4.0), runs, seed, LEVEL)
        yield f"| {name} | {100 * np.mean(first <= EVALUATIONS):.1f} % | {np.median(first):.0f} evaluations |"


def damage(runs, seed):
    """What the alarm warns of: wrong verdicts."""
    yield f"What the alarm warns of: verdicts of `race` at delta = {LEVEL:g}, {runs} runs each."
    yield ""
    yield "| instance | variance stated | wrong verdicts | of these, with an alarm | right ones with an alarm |"
    yield "|---|---|---|---|---|"
    for name in PAPER[:2]:
        for factor in (1.0, 4.0, 10.0):
            run = make_run(mfbai.load(name), factor, delta=LEVEL)
            wrong, alarmed = np.zeros((2, runs), dtype=bool)
            for number in range(runs):
                run.restart(seed, number)
                run.advance(100_000)
                wrong[number] = run.outcome.answer[0] != run.setup.instance.best
                alarmed[number] = bool(find_variance_alarms(run.model, run.stats, LEVEL))
            stated = "right" if factor == 1 else f"{factor:g} times too small"
            of_these = f"{100 * alarmed[wrong].mean():.0f} %" if wrong.any() else ""
            shares = f"{100 * wrong.mean():.1f} % | {of_these} | {100 * alarmed[~wrong].mean():.1f} %"
            yield f"| `{name}` | {stated} | {shares} |"


def silence(runs, seed):
    """A variance that is stated right."""
    steps = 1000
    yield (
        f"The variance is stated right: false alarms at a level of {100 * DELTA:g} % in {runs:,} runs of {steps:,} "
        "evaluations, with the upper limit of their rate at a confidence of 99 %:"
    )
    yield ""
    for strategy, name in (
        ("race", "paper-4x5"),
        ("frugal", "paper-4x5"),
        ("uniform", "paper-4x5"),
        ("race", "paper-5x2"),
    ):
        print(strategy, name, file=sys.stderr, flush=True)
        first = first_alarms(make_run(mfbai.load(name), strategy=strategy), runs, seed, DELTA, steps)
        yield f"- `{strategy}`, `{name}`: {_rate(np.isfinite(first))}"
    chased = _rate(chase(runs, seed, steps))
    yield f"- always the cell, of four, that seems to vary the most; a look after every evaluation: {chased}"


def _rate(alarms):
    limit = float(beta.ppf(0.99, alarms.sum() + 1, len(alarms) - alarms.sum()))
    return f"{100 * alarms.mean():.2f} % ({100 * limit:.2f} % at most)"


def make_run(instance, factor=1.0, strategy=None, delta=NEVER):
    """The true variance is `factor` times the one stated."""
    [setup] = prepare(instance, strategy, None, [delta], {}, {})
    law = setup.model.law
    noisy = law._replace(deviation=np.sqrt(factor) * law.deviation)
    return Run(replace(setup, model=setup.model._replace(law=noisy)))


def first_alarms(run, runs, seed, level, steps=EVALUATIONS):
    """(runs,) the number of evaluations at the first look with an alarm; infinite if there is none."""
    first = np.full(runs, inf)
    for number in range(runs):
        run.restart(seed, number)
        until = 2
        while run.stats.steps[0] < steps and first[number] == inf:
            run.advance(min(until, steps))
            if find_variance_alarms(run.model, run.stats, level):
                first[number] = run.stats.steps[0]
            until = int(1.05 * until) + 1
    return first


def chase(runs, seed, steps, cells=4):
    """(runs,) whether there is ever an alarm if the next evaluation is always one of the cell with the largest sample
    variance, or of one with fewer than two values. All runs are made side by side."""
    rng, each = np.random.default_rng(seed), np.arange(runs)
    count, mean, squares = np.zeros((3, runs, cells))
    alarmed = np.zeros(runs, dtype=bool)
    for _ in range(steps):
        varies = np.where(count < 2, inf, squares / np.maximum(count - 1, 1))
        place = each, varies.argmax(axis=1)
        x = rng.standard_normal(runs)
        off = x - mean[place]
        count[place] += 1
        mean[place] += off / count[place]
        squares[place] += off * (x - mean[place])
        alarmed |= log_evidence(squares.sum(axis=1), count.sum(axis=1)) >= log(2 / DELTA)
        alarmed |= (log_evidence(squares, count) >= log(2 * cells / DELTA)).any(axis=1)
    return alarmed


if __name__ == "__main__":
    main()
