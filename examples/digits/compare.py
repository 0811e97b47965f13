"""The best classifier by mfbai, and by paired t-tests with Bonferroni's correction, on shared splits: python compare.py

Takes ten seconds, and a minute more if mfbai has to compile.
"""

import sys
from pathlib import Path

from evaluate import evaluate

import mfbai

sys.path.insert(0, str(Path(__file__).parents[1]))

from baselines import paired_t

SPEC = Path(__file__).with_name("classifiers.toml")
DELTA = 0.05


def main():
    problem = mfbai.load(SPEC)
    verdict = mfbai.identify(evaluate, problem, DELTA)
    print(f"mfbai: {verdict.arm}, after {verdict.told} fits")
    choice = paired_t(lambda arm, seed: evaluate(problem.arms[arm], "split", seed), problem.n_arms, DELTA)
    print(f"paired t-tests: {problem.arms[choice.arm]}, after {choice.evaluations}")


if __name__ == "__main__":
    main()
