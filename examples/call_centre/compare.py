"""The best plan by mfbai, and by the procedure of Kim and Nelson, on common seeds: python compare.py

Takes a few seconds, and a minute more if mfbai has to compile.
"""

import sys
from pathlib import Path

from evaluate import evaluate

import mfbai

sys.path.insert(0, str(Path(__file__).parents[1]))

from baselines import kim_nelson

SPEC = Path(__file__).with_name("plans.toml")
DELTA = 0.05
ZONE = 10.0  # a smaller difference between two plans is not worth the trouble


def main():
    problem = mfbai.load(SPEC)
    verdict = mfbai.identify(evaluate, problem, DELTA, tolerance=ZONE)
    print(f"mfbai: {verdict.arm}, after {verdict.told} simulated days")
    choice = kim_nelson(lambda arm, seed: -evaluate(problem.arms[arm], "day", seed), problem.n_arms, ZONE, DELTA)
    print(f"Kim-Nelson: {problem.arms[choice.arm]}, after {choice.evaluations}")


if __name__ == "__main__":
    main()
