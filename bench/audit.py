"""What an audit shows where a bias bound is wrong, and what it costs where all hold: a part of `make bench-guarantee`.

Writes its tables into docs/theory/guarantee.md. Runs are looked at for alarms as live studies are: whenever they have
2 % more results, and at the verdict.
"""

import argparse
import sys
from pathlib import Path

import numpy as np

import mfbai
from mfbai.analysis.guarantee import find_alarms
from mfbai.simulation.experiment import Run, prepare
from mfbai.study.fold import GROWTH

DELTA = 0.05
SHARES = (0.0, 0.1, 0.2)
STRATEGIES = ("race", "frugal")
PAGE = Path(__file__).parents[1] / "docs" / "theory" / "guarantee.md"
BEGIN, END = "<!-- table: bench/audit.py -->", "<!-- end of audit -->"
# As in tests/analysis/test_bias_alarm.py: the first arm's cheap mean is 0.2 above its top mean, where 0.1 is stated.
STATED = mfbai.Instance([[0.5] * 3, [0.55] * 3, [0.4] * 3], [0.1, 0.3, 1.0], [0.1, 0.05, 0.0], mfbai.Gaussian(0.01))
VIOLATED = np.array([[0.7, 0.5, 0.5], [0.55, 0.55, 0.55], [0.4, 0.4, 0.4]])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="leave docs/theory/guarantee.md as it is")
    given = parser.parse_args()
    text = [*shown(given.runs, given.seed), "", *paid(given.runs, given.seed)]
    print("\n".join(text))
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text("\n".join([f"{before}{BEGIN}", "", *text, "", f"{END}{rest.split(END)[1]}"]))


def shown(runs, seed):
    """Where a bound is wrong."""
    yield f"A bias twice its bound, delta = {DELTA:g}, a study that stops on an alarm, {runs} runs each:"
    yield ""
    yield "| strategy | audit | wrong and silent | stopped by an alarm | right | mean cost |"
    yield "|---|---|---|---|---|---|"
    for strategy in STRATEGIES:
        for share in SHARES:
            print(strategy, share, file=sys.stderr, flush=True)
            ends = np.array(list(watch(strategy, share, runs, seed)))
            silent, alarmed, right, cost = ends.mean(axis=0)
            rates = " | ".join(f"{100 * rate:.1f} %" for rate in (silent, alarmed, right))
            yield f"| `{strategy}` | {share:g} | {rates} | {cost:.0f} |"


def watch(strategy, share, runs, seed):
    """Of each run: whether it ends with a wrong answer and no alarm, with an alarm, with the right one; its cost."""
    [setup] = prepare(STATED, strategy, None, [DELTA], {}, {}, audit=share)
    run = Run(setup)
    run.truth.means[...] = VIOLATED
    best = int(np.argmax(VIOLATED[:, -1]))
    for number in range(runs):
        run.restart(seed, number)
        alarm, until = False, 1
        while not (run.decided or alarm):
            run.advance(until)
            until += max(1, int((GROWTH - 1) * until))
            alarm = bool(find_alarms(run.model, run.stats, DELTA))
        right = run.decided and run.outcome.answer[0] == best
        yield not (alarm or right), alarm, right and not alarm, run.stats.spent[0]


def paid(runs, seed):
    """Where all bounds hold."""
    yield f"All bounds hold: the mean cost over that without an audit, delta = {DELTA:g}, {runs} runs each:"
    yield ""
    yield f"| instance | {' | '.join(f'`{name}`, audit {share:g}' for name in STRATEGIES for share in SHARES[1:])} |"
    yield f"|---|{'---|' * (len(STRATEGIES) * (len(SHARES) - 1))}"
    for name, instance in instances():
        print(name, file=sys.stderr, flush=True)
        ratios = []
        for strategy in STRATEGIES:
            plain, *others = (
                mfbai.simulate(instance, strategy, DELTA, runs, seed, audit=share).mean_cost for share in SHARES
            )
            ratios += [other / plain for other in others]
        yield f"| {name} | {' | '.join(f'{ratio:.2f}' for ratio in ratios)} |"


def instances():
    for name in ("paper-4x5", "paper-5x2"):
        for variance in (0.01, 0.1):
            yield f"`{name}`, variance {variance:g}", mfbai.load(name).with_variance(variance)
    for seed in range(3):
        yield f"random, 5 arms, 3 fidelities, seed {seed}", mfbai.random_instance(5, 3, seed=seed)


if __name__ == "__main__":
    main()
