"""What a formula beside a noisy top saves, and what it costs where it is no help: `make bench-noise`.

8 arms; the formula has no noise and a bias of at most 0.1, the top fidelity costs 1 and has noise. Ratios of the mean
cost to that with the top alone, on the same seeds. The formula helps on random instances, its bias uniform within the
bounds. It does not help where its bounds are too wide, and hardly where the top means are close to each other.
"""

import argparse
import sys

import numpy as np

import mfbai

COSTS = (0.0, 0.01, 0.1, 0.5, 1.0)  # of the formula
VARIANCES = (0.01, 0.1)
DELTA = 0.05
ARMS = 8
MOST = 1.02  # the ratio that is allowed where a formula is no help


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000, help="on each instance (1000)")
    parser.add_argument("--instances", type=int, default=10, help="of each kind (10)")
    parser.add_argument("--strategies", nargs="+", default=["race", "frugal"])
    given = parser.parse_args()
    print("| strategy | instances | variance | " + " | ".join(f"cost {cost:g}" for cost in COSTS) + " |")
    print("|---|---|---|" + "---|" * len(COSTS))
    good = True
    for strategy in given.strategies:
        for kind, (tops_of, bias, helps) in KINDS.items():
            for variance in VARIANCES:
                found = np.array(
                    [ratios(strategy, tops_of(n), n, bias, variance, given) for n in range(given.instances)]
                )
                means = np.exp(np.log(found).mean(axis=0))
                cells = [f"{mean:.3f} ({most:.3f})" for mean, most in zip(means, found.max(axis=0), strict=True)]
                print(f"| `{strategy}` | {kind} | {variance:g} | " + " | ".join(cells) + " |", flush=True)
                good &= bool((means < (1.0 + 1e-3 if helps else MOST)).all())
    print("\nGeometric means over the instances, and in brackets the largest, which is in part luck.")
    if not good:
        sys.exit("a formula costs more than it may")


def ratios(strategy: str, tops: np.ndarray, number: int, bias: float, variance: float, given) -> list[float]:
    """Of the mean costs, for each cost of the formula."""
    values = tops + np.random.default_rng(number).uniform(-bias, bias, ARMS)
    about = {"delta": DELTA, "runs": given.runs, "seed": number}
    noise = mfbai.Gaussian(variance)
    alone = mfbai.simulate(mfbai.Instance(tops[:, None], 1.0, 0.0, noise), strategy, **about).mean_cost
    found = []
    for cost in COSTS:
        instance = mfbai.Instance(np.column_stack([values, tops]), [cost, 1.0], [bias, 0.0], noise, deterministic=0)
        runs = mfbai.simulate(instance, strategy, **about)
        if runs.pulls[:, :, 0].max() > 1:
            sys.exit("a formula was evaluated twice")
        found.append(max(float(runs.mean_cost), 1e-3) / float(alone))
    return found


def random_tops(number: int) -> np.ndarray:
    means: np.ndarray = mfbai.random_instance(ARMS, 1, seed=number, costs=1.0, biases=0.0).means
    return means[:, 0]


def close_tops(number: int) -> np.ndarray:
    """All within 0.15, the best ahead by 0.05."""
    return np.append(0.5, 0.5 - np.random.default_rng(number).uniform(0.05, 0.15, ARMS - 1))


KINDS = {
    "random": (random_tops, 0.1, True),
    "close tops": (close_tops, 0.1, False),
    "bounds too wide": (random_tops, 1.0, False),
}


if __name__ == "__main__":
    main()
