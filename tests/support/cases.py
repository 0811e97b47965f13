"""Random problems with data, of every family: what kernels are tested on."""

import numpy as np

from mfbai.errors import InvalidInput
from mfbai.model.families import FAMILIES, Gaussian, SubGaussian
from mfbai.model.problem import Problem
from support.naive import Case

NAMES = ["gaussian", "subgaussian", "bernoulli", "poisson", "exponential"]
SCALE = {"gaussian": 1.0, "subgaussian": 0.7, "bernoulli": 0.3, "poisson": 3.0}


def random_case(rng, name, M, K=None):
    """A case of everything that may happen: few of them are data that a run would ever see."""
    K = int(K or rng.choice([2, 2, 3, 3, 4, 5, 8]))
    scale = SCALE.get(name, 10.0 ** rng.choice([0, rng.uniform(-4, 4)]))
    arms = rng.choice([1, K])  # the same bounds and variances for every arm, or one for each
    low, high = np.sort(scale * rng.uniform(-1, 1, size=(2, arms, M)) * rng.choice([0.1, 1.0]), axis=0)
    if rng.random() < 0.5:
        low, high = -abs(high), abs(high)
    low[:, -1] = high[:, -1] = 0.0
    low, high = np.broadcast_to(low, (K, M)), np.broadcast_to(high, (K, M))
    means = random_means(rng, name, scale, low, high)
    counts = np.ceil(10.0 ** rng.uniform(0, rng.choice([1, 2, 6]), size=(K, M)))
    counts[rng.random((K, M)) < rng.choice([0.0, 0.2])] = 0.0
    counts[rng.random(K) < rng.choice([0.0, 0.2])] = 0.0
    if arms == 1 and rng.random() < 0.3:
        twin, other = rng.integers(K, size=2)
        means[twin], counts[twin] = means[other], counts[other]
    family = random_family(rng, name, (arms, M), (K, M))
    tolerance = float(rng.choice([0.0, 0.0, scale * rng.uniform(0, 0.5)]))
    direction = str(rng.choice(["maximise", "minimise"]))
    try:
        problem = Problem(K, rng.uniform(0.1, 5.0, size=(K, M)), (low, high), family, direction=direction)
    except InvalidInput:  # biases that leave no possible mean
        return random_case(rng, name, M, K)
    return Case(problem, counts, means, tolerance)


def random_family(rng, name, drawn, shape):
    if name == "gaussian":
        return Gaussian(np.broadcast_to(rng.choice([0.1, 1.0, 4.0], size=drawn), shape))
    return SubGaussian(bounds=(-0.5, 1.5)) if name == "subgaussian" else FAMILIES[name]()


def random_means(rng, name, scale, low, high):
    """Either close to what the biases allow, or drawn without a look at them."""
    K, M = low.shape
    tops = rng.normal(size=(K, 1)) if name == "gaussian" else scale * rng.uniform(0.2, 2.5, size=(K, 1))
    fitting = tops + rng.uniform(low, high) + 0.01 * scale * rng.normal(size=(K, M))
    wild = tops[rng.permutation(K)] * rng.choice([1.0, 3.0]) * rng.uniform(0.1, 1.5, size=(K, M))
    means = [fitting, wild][rng.integers(2)]
    extreme = rng.random((K, M)) < rng.choice([0.0, 0.3])
    match name:
        case "gaussian":
            return means
        case "subgaussian":
            return np.clip(np.where(extreme, 1.5, means), -0.5, 1.5)
        case "bernoulli":
            return np.clip(np.where(extreme, np.round(means), means), 0.0, 1.0)
        case "poisson":
            return np.clip(np.where(extreme, 0.0, means), 0.0, None)
    return np.where(extreme, scale * 10.0 ** rng.uniform(-3, 3, size=(K, M)), np.maximum(means, 0.01 * scale))


def kernel_inputs(case):
    return case.problem.model(case.tolerance), case.counts, case.problem.sign * case.means
