"""The best classifier by mfbai, and by paired t-tests with Bonferroni's correction, on shared splits: python compare.py

Takes ten seconds, and a minute more if mfbai has to compile.
"""

import sys
from pathlib import Path

from evaluate import evaluate

import mfbai

EXAMPLE = Path(__file__).parent
sys.path.insert(0, str(EXAMPLE.parent))

from baselines import paired_t

DELTA = 0.05


def main():
    problem = mfbai.load(EXAMPLE / "classifiers.toml")
    verdict = mfbai.identify(evaluate, problem, DELTA)
    print(f"mfbai: {verdict.arm}, after {verdict.told} fits")
    choice = paired_t(lambda arm, seed: evaluate(problem.arms[arm], "split", seed), problem.n_arms, DELTA)
    print(f"paired t-tests: {problem.arms[choice.arm]}, after {choice.evaluations}")


if __name__ == "__main__":
    main()
