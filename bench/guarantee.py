"""How often the proven rule errs where it is hardest: `make bench-guarantee`.

Writes its tables into docs/theory/guarantee.md.

The worst case of the proof: arms whose top means all but tie, wrong ones at the upper edge of their bias bounds at
every lower fidelity and the best one at the lower edge, so that cheap evaluations favour the wrong arms by as much as
they may. A run that has not stopped after `--steps` evaluations has not erred. All strategies that can use the rule.

For the families that learn their noise, arms tie exactly, with noise of many kinds (tests/support/odd_noise.py), and it
counts as an error if the best arm is ever ruled out.
"""

import argparse
import sys
from pathlib import Path

import numpy as np
from scipy.stats import beta

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import mfbai
from mfbai.simulation.experiment import Run, prepare
from mfbai.strategies import STRATEGIES
from support import odd_noise

DELTA = 0.1
TIE = 1e-9
PAGE = Path(__file__).parents[1] / "docs" / "theory" / "guarantee.md"
KNOWN, UNKNOWN = "<!-- table: make bench-guarantee -->", "<!-- table of unknown noise: make bench-guarantee -->"
END = "<!-- end of table -->"
RADII = {1: [0.0], 2: [0.1, 0.0], 5: [0.1, 0.08, 0.05, 0.03, 0.0]}
COSTS = {1: [1.0], 2: [0.2, 1.0], 5: [0.05, 0.1, 0.2, 0.4, 5.0]}
FAMILIES = {
    "gaussian": (mfbai.Gaussian(0.01), (1, 2, 5)),
    "bernoulli": (mfbai.Bernoulli(), (1, 2)),
    "poisson": (mfbai.Poisson(), (1, 2)),
    "exponential": (mfbai.Exponential(), (2,)),
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000)
    parser.add_argument("--steps", type=int, default=1000, help="evaluations of a run at most (1000)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="leave docs/theory/guarantee.md as it is")
    given = parser.parse_args()
    columns = [(family, fidelities) for family, (_, sizes) in FAMILIES.items() for fidelities in sizes]
    text = [
        f"Errors in {given.runs:,} runs at delta = {DELTA:g}, in per cent, and in brackets the upper limit of their "
        f"rate at a confidence of 99 %; runs of {given.steps:,} evaluations at most, seed {given.seed}.",
        "",
        "| strategy | " + " | ".join(f"{family}, M = {size}" for family, size in columns) + " |",
        "|---|" + "---|" * len(columns),
    ]
    worst = 0.0
    for name, strategy in STRATEGIES.items():
        if strategy.own_rule or strategy.keeps == "contrasts":  # which bench/contrasts.py tries
            continue
        cells = []
        for family, fidelities in columns:
            print(f"{name}, {family}, M = {fidelities}", file=sys.stderr, flush=True)
            errors = count_errors(name, worst_case(FAMILIES[family][0], fidelities), given)
            limit = float(beta.ppf(0.99, errors + 1, given.runs - errors))
            worst = max(worst, limit)
            cells.append(f"{100 * errors / given.runs:.2f} ({100 * limit:.2f})")
        text.append(f"| `{name}` | " + " | ".join(cells) + " |")
    text += ["", f"The largest of the upper limits is {100 * worst:.2f} %; {100 * DELTA:g} % are allowed."]
    text += ["", *silence(given)]
    for begin, lines in ((KNOWN, text), (UNKNOWN, list(unknown_noise(given)))):
        print("\n".join(lines))
        if not given.print:
            before, rest = PAGE.read_text().split(begin)
            after = rest.split(END, 1)[1]
            PAGE.write_text("\n".join([f"{before}{begin}", "", *lines, "", f"{END}{after}"]))


def unknown_noise(given):
    """How often the best arm is ruled out at an exact tie, where the noise is learnt."""
    yield f"Best arm ruled out in {given.runs:,} runs at delta = {DELTA:g}, in per cent (upper limit at 99 %):"
    yield ""
    columns = [(sampler, fidelities) for sampler in odd_noise.SAMPLERS for fidelities in odd_noise.RADII]
    yield "| noise | " + " | ".join(f"{sampler}, M = {fidelities}" for sampler, fidelities in columns) + " |"
    yield "|---|" + "---|" * len(columns)
    worst = 0.0
    for name, noise in odd_noise.NOISES.items():
        cells = []
        for sampler, fidelities in columns:
            print(f"{name}, {sampler}, M = {fidelities}", file=sys.stderr, flush=True)
            errors = odd_noise.count_false(noise, fidelities, sampler, DELTA, given.runs, given.steps, given.seed)
            limit = float(beta.ppf(0.99, errors + 1, given.runs - errors))
            worst = max(worst, limit)
            cells.append(f"{100 * errors / given.runs:.2f} ({100 * limit:.2f})")
        yield f"| {noise.family}: {name} | " + " | ".join(cells) + " |"
    yield ""
    yield f"The largest of the upper limits is {100 * worst:.2f} %; {100 * DELTA:g} % are allowed."


def silence(given):
    """How often the bias alarm is given although all bounds hold, looking whenever the cost has grown by 5 %."""
    runs = given.runs // 2
    yield f"False bias alarms at a level of {100 * DELTA:g} %, on the same Gaussian instances, in {runs:,} runs:"
    yield ""
    for strategy, fidelities in (("uniform", 2), ("uniform", 5), ("frugal", 5)):
        run = Run(prepare(worst_case(mfbai.Gaussian(0.01), fidelities), strategy, "e-process", [1e-300], {}, {})[0])
        alarms = 0
        for number in range(runs):
            run.restart(given.seed, number)
            until, alarm = 10, False
            while until < given.steps and not alarm:
                run.advance(until)
                alarm = bool(mfbai.bias_alarms(run.setup.instance, run.stats.count, run.stats.mean, DELTA))
                until = int(1.05 * until) + 1
            alarms += alarm
        limit = float(beta.ppf(0.99, alarms + 1, runs - alarms))
        yield f"- `{strategy}`, M = {fidelities}: {100 * alarms / runs:.2f} % ({100 * limit:.2f} % at most)"


def worst_case(family, fidelities, arms=3):
    """The last arm is the best, by next to nothing, and looks the worst."""
    radii = np.array(RADII[fidelities])
    means = 0.5 + np.tile(radii, (arms, 1))
    means[-1] = 0.5 + TIE - radii
    return mfbai.Instance(means, COSTS[fidelities], radii + 2 * TIE * (radii > 0), family)


def count_errors(strategy, instance, given):
    found = mfbai.simulate(
        instance, strategy, DELTA, given.runs, seed=given.seed, stopping="e-process", max_steps=given.steps
    )
    return int((found.stopped & (found.answers != instance.best)).sum())


if __name__ == "__main__":
    main()
