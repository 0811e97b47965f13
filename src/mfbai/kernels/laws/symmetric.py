"""Symmetric noise of unknown size: what is learnt of it on the way, for decisions; and the bets, which do not use that.

A cell's variance is drawn towards that of its fidelity, which is drawn towards that of all fidelities, which starts
from that of all values as if they were of one cell. An evaluation changes the estimate of its own cell only, so that
what others keep of other cells stays right; all are estimated anew whenever the number of values has doubled, and
`model.epoch` says so.
"""

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.gaussian import gaussian_divergence, gaussian_slopes, gaussian_variance
from mfbai.kernels.laws.interface import divergence, learn, sample, slopes, variance
from mfbai.model.families import SymmetricLaw

POOL = 8.0  # values that a fidelity's pooled variance stands for in that of a cell, and all fidelities' in that


@kernel
def symmetric_learn(law, model, stats, arm, fidelity, x):
    memory, count = law.memory, stats.count[arm, fidelity]
    if count > 1.0:
        off = x - stats.mean[arm, fidelity]
        memory.pooled[0, fidelity] += off * off * count / (count - 1.0)
        memory.pooled[1, fidelity] += 1.0
    total = memory.total
    off = x - total[1]
    total[0] += 1.0
    total[1] += off / total[0]
    total[2] += off * (x - total[1])
    if total[0] >= memory.due[0]:
        memory.due[0] = 2.0 * total[0]
        model.epoch[0] += 1
        for m in range(law.precision.shape[1]):
            here = pooled_variance(law, m)
            for a in range(law.precision.shape[0]):
                law.precision[a, m] = 1.0 / cell_variance(stats, a, m, here)
    else:
        law.precision[arm, fidelity] = 1.0 / cell_variance(stats, arm, fidelity, pooled_variance(law, fidelity))


@kernel
def pooled_variance(law, fidelity):
    memory = law.memory
    if memory.total[0] < 2.0:
        return 1.0 / law.precision[0, fidelity]
    squares, degrees = memory.total[2] / (memory.total[0] - 1.0), 1.0
    squares += 1e-24 * (1.0 + memory.total[1] * memory.total[1])  # never zero
    for m in range(memory.pooled.shape[1]):
        squares += memory.pooled[0, m]
        degrees += memory.pooled[1, m]
    return (memory.pooled[0, fidelity] + POOL * squares / degrees) / (memory.pooled[1, fidelity] + POOL)


@kernel
def cell_variance(stats, arm, fidelity, pooled):
    spare = max(stats.count[arm, fidelity] - 1.0, 0.0)
    return (stats.squares[arm, fidelity] + POOL * pooled) / (spare + POOL)


@kernel
def symmetric_sample(law, rng, arm, fidelity, mean):
    return mean + law.deviation[arm, fidelity] * rng.standard_normal()


divergence.register(SymmetricLaw, gaussian_divergence)
slopes.register(SymmetricLaw, gaussian_slopes)
variance.register(SymmetricLaw, gaussian_variance)
learn.register(SymmetricLaw, symmetric_learn)
sample.register(SymmetricLaw, symmetric_sample)
