"""What controlled fidelities are worth, and that they are right without any bias bound: `make bench-control`.

The cheap fidelity is off by ten times the gap or more, against the best arm: it looks the worst there, and the worst
the best. Nothing of that is stated. The first table is of arms that are nearly tied, where errors are likeliest.
Top and control have a correlation of rho at the same seed, and the cheap one costs a hundredth of the top; its
coefficient and its number of other seeds are the best for rho.
"""

import argparse
from collections.abc import Iterator, Sequence
from math import sqrt

import numpy as np
from scipy.stats import beta

import mfbai

DELTA = 0.1
DEVIATION, PRICE = 0.3, 0.01
CORRELATIONS = (0.0, 0.5, 0.9, 0.95, 0.99, 0.999)
SIZES = (2, 5, 20)
FAMILIES = ("gaussian", "symmetric", "bounded")
TIED, STEPS = 0.05, 1000  # the gap over the deviation, and evaluations after which runs with such a gap are given up
LONGEST = 1_000_000  # the same for other runs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=20_000, help="of each case of the first table (20000)")
    parser.add_argument("--few", type=int, default=400, help="of each case of the second (400)")
    parser.add_argument("--family", choices=FAMILIES, help="this one alone, as all take hours")
    parser.add_argument("--seed", type=int, default=5)
    given = parser.parse_args()
    families = FAMILIES if given.family is None else (given.family,)
    about = f"{STEPS:,} evaluations at most, at delta = {DELTA:g}, seed {given.seed}"
    print(f"Wrong answers in {given.runs:,} runs of {about}:\n")
    print("| family | strategy | K | rho | wrong | upper 99 % limit |")
    print("|---|---|---|---|---|---|", flush=True)
    worst = max(line(case, given.runs, given.seed) for case in cases(families))
    print(f"\nThe largest of the upper limits is {100 * worst:.2f} %; {100 * DELTA:g} % are allowed.\n")
    print(f"Cost over that of the top alone, {given.few} runs, delta = 0.05, gaps of a third of the deviation:\n")
    print("| family | K | rho | other seeds | cost over the top alone |")
    print("|---|---|---|---|---|", flush=True)
    for family in families:
        for K in SIZES:
            for rho in CORRELATIONS:
                worth(family, K, rho, given.few, given.seed)


def cases(families: Sequence[str]) -> Iterator[tuple[str, str, int, float]]:
    for family in families:
        for strategy in ("race", "frugal"):
            for K in SIZES:
                for rho in CORRELATIONS:
                    yield family, strategy, K, rho


def best_control(rho: float, price: float = PRICE) -> tuple[int, float, float]:
    """Other seeds, coefficient and what cost times variance become, all over those of the top alone."""
    found = []
    for others in (1, 2, 3, 5, 8, 12, 20, 30, 50, 80, 120, 200, 300):
        part = others / (others + 1)
        found.append(((1 + (1 + others) * price) * (1 - rho**2 * part), others, max(rho * part, 0.01)))
    least, others, coefficient = min(found)
    return others, coefficient, least


def instance(family: str, K: int, rho: float, gap: float, off: float, control: bool = True) -> mfbai.Instance:
    """The best arm is ahead by one gap of the second, and by up to two of the others."""
    tops = 0.5 - gap * np.linspace(1, 2, K)
    tops[0] = 0.5
    cheap = tops + off * np.where(np.arange(K) == 0, -1, 1)
    spread = DEVIATION if family != "bounded" else 0.25
    others, coefficient, _ = best_control(rho)
    low, high = (cheap.min() - 1, cheap.max() + 1)
    families = {
        "gaussian": mfbai.Gaussian([spread**2, spread**2]),
        "symmetric": mfbai.Symmetric(0.0, 1.0),
        "bounded": mfbai.Bounded([low, 0.0], [high, 1.0]),
    }
    noise = {} if family == "gaussian" else {"deviation": spread}
    if not control:
        alone = mfbai.Gaussian(spread**2) if family == "gaussian" else families[family].at([1])
        return mfbai.Instance(tops[:, None], costs=1.0, biases=0.0, family=alone, **noise)
    biases = [float("inf"), 0.0]
    problem = mfbai.Problem(K, costs=[PRICE, 1.0], biases=biases, family=families[family], fidelities=["cheap", "top"])
    variance = spread**2 * (1 + coefficient**2 * (1 + 1 / others) - 2 * coefficient * rho)
    problem = problem.controlled(
        "cheap", others, coefficient, name="both", **({"variance": variance} if family == "gaussian" else {})
    )
    means = np.stack([cheap, tops, tops], axis=1)
    return problem.instance(means, correlation={"fidelities": rho}, **noise)


def line(case: tuple[str, str, int, float], runs: int, seed: int) -> float:
    family, strategy, K, rho = case
    spread = DEVIATION if family != "bounded" else 0.25
    _, _, least = best_control(rho)
    gap = TIED * spread * sqrt(least)  # as hard, whatever the control is worth
    truth = instance(family, K, rho, gap, off=spread)
    found = mfbai.simulate(truth, strategy, DELTA, runs, seed=seed, max_steps=STEPS)
    wrong = int((found.answers > 0).sum())
    limit = float(beta.ppf(0.99, wrong + 1, runs - wrong))
    print(f"| {family} | {strategy} | {K} | {rho:g} | {100 * wrong / runs:.2f} % | {100 * limit:.2f} % |", flush=True)
    return limit


def worth(family: str, K: int, rho: float, runs: int, seed: int) -> None:
    both, alone = (
        mfbai.simulate(instance(family, K, rho, 0.1, 1.0, control), None, 0.05, runs, seed=seed, max_steps=LONGEST)
        for control in (True, False)
    )
    ratio = float(both.mean_cost / alone.mean_cost)
    width = ratio * float(np.hypot(both.cost_ci95 / both.mean_cost, alone.cost_ci95 / alone.mean_cost))
    print(f"| {family} | {K} | {rho:g} | {best_control(rho)[0]} | {ratio:.3g} ± {width:.2g} |", flush=True)


if __name__ == "__main__":
    main()
