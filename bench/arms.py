"""Many arms: `make bench-arms`. What a run takes in memory and time, for 1000 to 100,000 arms at three fidelities.

Each run has a process of its own, and is simulated at delta 0.05 under the e-process; times are the processor's.
"first" are the first evaluations, "at the end" the steps after 99 % of the arms are ruled out. mf-grad evaluates every
cell once, and is then followed for some steps only ("at the end"): it rules no arms out, and would take very long.
"""

import argparse
import multiprocessing
import resource
import time
from typing import NamedTuple

import numpy as np

import mfbai
from mfbai.simulation.experiment import Run, prepare

DELTA, COSTS, BIASES = 0.05, [0.05, 0.3, 1.0], [0.1, 0.03, 0.0]
CASES = ("spread", "close rivals", "unknown noise", "successes")
GRADIENT = ("mf-grad", "mf-grad-const", "mf-grad-row")
FOLLOWED = 300  # steps of mf-grad with gradients
ENOUGH = 0.99  # of the arms, ruled out


class Found(NamedTuple):
    right: bool
    steps: int
    cost: float
    memory: float  # MB, at the most
    first: float  # us a step while arms are evaluated for the first time
    whole: float  # us a step
    end: float  # us a step at the end


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--arms", type=int, nargs="+", default=[1000, 10_000, 100_000], help="how many (1000 10000 100000)"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the instances and the runs (1)")
    given = parser.parse_args()
    titles = f"{'strategy':14} {'instance':14} {'K':>7} {'steps':>9} {'MB':>6}"
    print(f"{titles} {'us first':>9} {'us a step':>10} {'at the end':>11}")
    for arms in given.arms:
        for strategy, case in [*(("frugal", case) for case in CASES), *((name, CASES[0]) for name in GRADIENT)]:
            with multiprocessing.get_context("spawn").Pool(1) as pool:
                found = pool.apply(measure, (strategy, case, arms, given.seed))
            wrong = "" if found.right or strategy in GRADIENT else "  wrong answer"
            line = f"{strategy:14} {case:14} {arms:7} {found.steps:9} {found.memory:6.0f}"
            print(f"{line} {found.first:9.2f} {found.whole:10.2f} {found.end:11.2f}{wrong}", flush=True)


def instance_of(case: str, arms: int, seed: int) -> mfbai.Instance:
    rng = np.random.default_rng(seed)
    top = rng.uniform(0.1, 0.7, arms)
    first, *close = rng.choice(arms, 4, replace=False)
    if case == "close rivals":
        top[close] = 0.86
    top[first] = 0.9
    means = top[:, None] + BIASES * rng.uniform(-0.9, 0.9, (arms, 3))
    spread = {"deviation": 0.1} if case == "unknown noise" else {}
    families = {"unknown noise": mfbai.Symmetric(-2.0, 3.0), "successes": mfbai.Bernoulli()}
    return mfbai.Instance(np.clip(means, 0.01, 0.99), COSTS, BIASES, families.get(case, mfbai.Gaussian(0.01)), **spread)


def measure(strategy: str, case: str, arms: int, seed: int) -> Found:
    instance = instance_of(case, arms, seed)
    [setup] = prepare(instance, strategy, "e-process", [DELTA], {}, {})
    run = Run(setup)
    run.restart(seed, 0)
    run.advance(1)  # compiles nothing from here on
    rounds = arms if strategy == "frugal" else 3 * arms
    times = {"first": 0.0, "middle": 0.0, "end": 0.0}
    steps = dict.fromkeys(times, 0)
    while not run.decided and (strategy == "frugal" or run.stats.steps[0] < rounds + FOLLOWED):
        before, part = int(run.stats.steps[0]), part_of(run, rounds)
        until = rounds if part == "first" else before + (max(arms // 100, 100) if strategy == "frugal" else FOLLOWED)
        begun = time.process_time()
        run.advance(until)
        times[part] += time.process_time() - begun
        steps[part] += int(run.stats.steps[0]) - before
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
    each = {part: 1e6 * times[part] / steps[part] if steps[part] else np.nan for part in times}
    whole = 1e6 * sum(times.values()) / sum(steps.values())
    end = each["end"] if strategy == "frugal" else each["middle"]
    right = bool(run.outcome.answer[0] == instance.best)
    return Found(right, int(run.stats.steps[0]), float(run.stats.spent[0]), memory, each["first"], whole, end)


def part_of(run: Run, rounds: int) -> str:
    if run.stats.steps[0] < rounds:
        return "first"
    rule = run.rule
    out = (rule.proven[rule.leader[1]] >= rule.target[0]).sum() if rule.leader[0] >= 0 else 0
    return "end" if out >= ENOUGH * rule.start.size else "middle"


if __name__ == "__main__":
    main()
