"""What nobody has in practice: the truth. Are the bounds in bounds.toml right, and what do the coarse grids save?

    python truth.py

draws 100,000 materials, computes the means of all cells and compares them with the spec. Then it simulates 1,000 runs
with these means: on all grids, and on the finest alone. Takes ten seconds, and a minute more if it has to compile.
"""

import sys
from pathlib import Path

import numpy as np
from evaluate import CELLS, DESIGNS, WAVES, log_field, mean_temperature

import mfbai

SPEC = Path(__file__).with_name("bounds.toml")
CHUNK = 2000  # materials at once: many for speed, few for memory


def sample(materials, seed):
    """(materials, K, M) values of all cells. All see the same materials, so that differences show the bias."""
    rng = np.random.default_rng(seed)
    return np.concatenate([sample_chunk(rng, min(CHUNK, materials - done)) for done in range(0, materials, CHUNK)])


def sample_chunk(rng, materials):
    coefficients = rng.uniform(-1, 1, (len(WAVES), 2, materials))
    values = np.empty((materials, len(DESIGNS), len(CELLS)))
    for m, cells in enumerate(CELLS.values()):
        middles = [(i + 0.5) / cells for i in range(cells)]
        factors = [np.exp(log_field(x, coefficients)) for x in middles]
        for k, design in enumerate(DESIGNS.values()):
            conductivities = [design(x) * factor for x, factor in zip(middles, factors, strict=True)]
            values[:, k, m] = np.log(mean_temperature(conductivities))
    return values


def least_proxy(values):
    """The least variance proxy that fits these values, for each cell: 2 ln E exp(l (X - mean)) / l^2 at its greatest.

    For |l| up to 40, which is where the bound in the spec allows e^10. To see more would take far more values.
    """
    centred = values - values.mean(axis=0)
    sizes = np.geomspace(0.5, 40, 12)
    both_signs = np.concatenate([-sizes, sizes])
    return np.max([2 * np.log(np.exp(size * centred).mean(axis=0)) / size**2 for size in both_signs], axis=0)


def show_bounds(problem, values):
    means = values.mean(axis=0)
    biases = means - means[:, -1:]
    coarse = problem.fidelities[:-1]
    print("arm       true mean  degrees" + "".join(f"  {'bias on ' + name:>11}   low end" for name in coarse))
    for k, arm in enumerate(problem.arms):
        row = f"{arm:8}  {means[k, -1]:9.4f}  {np.exp(means[k, -1]):7.1f}"
        for m in range(len(coarse)):
            row += f"  {biases[k, m]:11.5f}  {problem.bias_low[k, m]:8.5f}"
        print(row)
    inside = ((problem.bias_low <= biases) & (biases <= problem.bias_high))[:, :-1]
    print(f"{inside.sum()} of {inside.size} biases are inside their bounds.")
    variances = values.var(axis=0)
    print(f"Variances are {variances.min():.4f} to {variances.max():.4f};", end=" ")
    print(f"proxies of {least_proxy(values).max():.4f} would do; the spec has {problem.family.variance}.\n")


def instances(problem, means):
    """The problem with these means: on all grids, and on the finest alone."""
    same = {"family": problem.family, "direction": problem.direction, "arms": problem.arms}
    biases = (problem.bias_low, problem.bias_high)
    whole = mfbai.Instance(means, problem.costs, biases, name="all grids", fidelities=problem.fidelities, **same)
    finest = mfbai.Instance(means[:, -1:], problem.costs[:, -1:], [0.0], name="finest grid", **same)
    return whole, finest


def main(materials=100_000, runs=1000):
    problem = mfbai.load(SPEC)
    values = sample(materials, seed=0)
    show_bounds(problem, values)
    whole, finest = instances(problem, values.mean(axis=0))
    for instance, strategy in ((whole, "race"), (finest, "race"), (finest, "track-and-stop")):
        found = mfbai.simulate(instance, strategy, delta=0.05, runs=runs, seed=0)
        low, high = np.quantile(found.steps, [0.1, 0.9])
        print(f"{instance.name}, {strategy}: cost {found.mean_cost:,.0f} ± {found.cost_ci95:,.0f}", end=", ")
        print(f"evaluations {found.mean_steps:.0f} (80 % of runs: {low:.0f} to {high:.0f})", end=", ")
        print(f"wrong in {100 * found.error_rate:g} % of runs")
        if instance is whole:
            counts = found.pulls.mean(axis=0).sum(axis=0)
            print("  on " + ", ".join(f"{name}: {count:.1f}" for name, count in zip(CELLS, counts, strict=True)))


if __name__ == "__main__":
    main(*(int(argument) for argument in sys.argv[1:]))
