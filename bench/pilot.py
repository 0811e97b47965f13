"""Whether a pilot is honest, and what its advice is worth: `make bench-pilot`.

Simulates pilots of 8 seeds and 6 arms, and writes its tables into docs/guides/pilot.md. Noise is normal.
"""

import argparse
import sys
from math import sqrt
from pathlib import Path

import numpy as np
from scipy.stats import beta

import mfbai
from mfbai.analysis.pairs import Pairs
from mfbai.analysis.pilot import Pilot, make_pilot

SEEDS, ARMS, LEVEL = 8, 6, 0.01
QUICK = 50  # times as many pilots for what is quick to compute
COSTS = (0.01, 1.0)  # of the cheap fidelity and of the top
GAP = 1 / 3  # of the best arm over all others, in deviations
PAGE = Path(__file__).parents[1] / "docs" / "guides" / "pilot.md"
BEGIN, END = "<!-- table: bench/pilot.py -->", "<!-- end of table -->"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pilots", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--print", action="store_true", help="leave docs/guides/pilot.md as it is")
    given = parser.parse_args()
    text = [*coverage(given.pilots, given.seed), "", *advice(given.pilots, given.seed)]
    print("\n".join(text))
    if not given.print:
        before, rest = PAGE.read_text().split(BEGIN)
        PAGE.write_text("\n".join([f"{before}{BEGIN}", "", *text, "", f"{END}{rest.split(END)[1]}"]))


def make_problem(arms=ARMS, cheap=1):
    """Nothing is known of the biases, nor of the noise."""
    costs = [COSTS[0]] * cheap + [COSTS[1]]
    return mfbai.Problem(arms, costs, [np.inf] * cheap + [0.0], mfbai.Symmetric(-100, 100))


def draw(rng, problem, rho, shared, arms=ARMS, seeds=SEEDS):
    """Values of a pilot of the first arms, and the true biases of all. At one seed, `rho` is the correlation of any two
    fidelities of an arm, and `shared` that of any two arms at a fidelity."""
    K, M = problem.shape
    biases = np.column_stack([rng.normal(0.0, 3.0, (K, M - 1)), np.zeros(K)])
    means = np.where(np.arange(K) == 0, GAP, 0.0)[:, None] + biases
    for_all = sqrt(rho) * rng.standard_normal((1, seeds, 1)) + sqrt(1 - rho) * rng.standard_normal((1, seeds, M))
    own = sqrt(rho) * rng.standard_normal((arms, seeds, 1)) + sqrt(1 - rho) * rng.standard_normal((arms, seeds, M))
    values = means[:arms, None, :] + sqrt(shared) * for_all + sqrt(1 - shared) * own
    return Pairs(list(range(arms)), list(range(M)), list(map(str, range(seeds))), values), biases


def coverage(pilots, seed):
    """Of the bias intervals, and of the limits of variances."""
    yield (
        f"Pilots of {SEEDS} seeds and {ARMS} arms, at a level of {100 * LEVEL:g} %: how often all bias intervals of a "
        f"pilot hold the truth ({QUICK * pilots:,} pilots), and all of its limits of variances ({pilots:,})."
    )
    yield ""
    yield "| pilot | bias intervals | limits of variances |"
    yield "|---|---|---|"
    cases = {
        "one cheap fidelity, arms independent": (make_problem(), 0.9, 0.0),
        "the same, arms with a correlation of 0.8": (make_problem(), 0.9, 0.8),
        "the same, fidelities with nothing in common": (make_problem(), 0.0, 0.0),
        "three cheap fidelities": (make_problem(cheap=3), 0.9, 0.0),
        "four more arms, left out of the pilot": (make_problem(ARMS + 4), 0.9, 0.0),
        "the same with four more, and a correlation of 0.8": (make_problem(ARMS + 4), 0.9, 0.8),
    }
    for name, (problem, rho, shared) in cases.items():
        print(name, file=sys.stderr, flush=True)
        rng = np.random.default_rng(seed)
        biased = sum(covers_biases(problem, *draw(rng, problem, rho, shared)) for _ in range(QUICK * pilots))
        noise = sum(covers_variances(problem, draw(rng, problem, rho, shared)[0], rho) for _ in range(pilots))
        yield f"| {name} | {rate(biased, QUICK * pilots)} | {rate(noise, pilots)} |"


def covers_biases(problem, pairs, biases):
    found = Pilot(problem, pairs, None).biases(LEVEL)
    truth = biases[:, :-1].T.ravel()
    return all(one.low <= bias <= one.high for one, bias in zip(found, truth, strict=True))


def covers_variances(problem, pairs, rho):
    """Of the top, and of the controlled fidelity if there is one."""
    found = make_pilot(problem, pairs).problem(variances=LEVEL)
    stated = np.asarray(found.family.variance)
    truth = np.ones(found.n_fidelities)
    for m, control in enumerate(found.controls):
        if control is not None:
            truth[m] = control.deviation(np.ones(found.shape), np.full(found.n_arms, rho))[0] ** 2
    return bool((stated >= truth).all())


def rate(count, runs):
    low, high = beta.ppf([0.005, 0.995], [count, count + 1], [runs - count + 1, max(runs - count, 1e-9)])
    return f"{100 * count / runs:.1f} % ({100 * low:.1f} to {100 * high:.1f})"


def advice(pilots, seed):
    """What following a pilot's advice costs, over the top alone, in cost x variance."""
    yield (
        f"{pilots:,} pilots each, cheap evaluations at a hundredth of the cost, a gap of a third of the deviation: how "
        "often a pilot advises control, and what a decision costs then (cost x variance, the mean over all pilots, "
        "without the pilot itself) over what it costs with the top alone."
    )
    yield ""
    yield "| correlation of cheap and top | of two arms | control advised | cost over that of the top alone | at best |"
    yield "|---|---|---|---|---|"
    for rho in (0.0, 0.3, 0.6, 0.8, 0.95, 0.99, 0.999):
        for shared in (0.0, 0.8):
            print(rho, shared, file=sys.stderr, flush=True)
            rng, problem = np.random.default_rng(seed), make_problem()
            found = [make_pilot(problem, draw(rng, problem, rho, shared)[0]).control for _ in range(pilots)]
            costs = [1.0 if one is None else relative_cost(one.others, one.coefficient, rho) for one in found]
            ideal = min(1.0, *(relative_cost(r, rho * r / (r + 1), rho) for r in range(1, 1000)))
            advised = 100 * np.mean([one is not None for one in found])
            yield f"| {rho:g} | {shared:g} | {advised:.1f} % | {np.mean(costs):.3g} | {ideal:.3g} |"


def relative_cost(others, coefficient, rho):
    variance = 1 + coefficient**2 * (1 + 1 / others) - 2 * coefficient * rho
    return (1 + (1 + others) * COSTS[0]) * variance


if __name__ == "__main__":
    main()
