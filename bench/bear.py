"""What verdicts can bear, recomputed from their journals by slow, obvious replays: part of `make bench-guarantee`.

Prints a table: the breakdown factors of finished studies, and the largest relative difference to the factor at which a
replay with the same tilts and wider bias bounds no longer rules out all rivals (tests/support/naive_bearing.py).
"""

import argparse
import sys
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
from support.naive_bearing import KINDS, breakdown, random_study, untrusted


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--studies", type=int, default=40, help="of each kind (40)")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    print("| proof | studies | rest on no bound | factor: 10 %, median, 90 % | furthest off | risk without bounds |")
    print("|---|---|---|---|---|---|", flush=True)
    for kind in KINDS:
        line(kind, given)


def line(kind, given):
    found, off, without = [], 0.0, 0.0
    for n in range(given.studies):
        study = random_study(kind, 1_000_000 * given.seed + n)
        verdict = study.result
        found.append(verdict.breakdown)
        slow = breakdown(study, kind)
        off = max(off, abs(verdict.breakdown / slow - 1) if np.isfinite(slow) else float(verdict.breakdown != slow))
        without = max(without, abs(np.log(verdict.untrusted / untrusted(study, kind))))
    finite = np.array([factor for factor in found if np.isfinite(factor)])
    parts = ", ".join(f"{part:.3f}" for part in np.quantile(finite, [0.1, 0.5, 0.9]))
    row = [kind, given.studies, len(found) - len(finite), parts, f"{100 * off:.3f} %", f"{100 * without:.2g} % off"]
    print(f"| {' | '.join(map(str, row))} |", flush=True)


if __name__ == "__main__":
    main()
