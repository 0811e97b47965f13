"""How far each cell of an arm may reach: the top mean that it may still rule out, if its mean is as good as it can be.

Strategies that compare the arm of the largest psi, the leader, with its rivals look up for the leader, and down, and so
with the other sign, for a rival. A cell with few evaluations is taken sqrt(2 noise log / count) better than it looks,
where log falls as the evidence grows. A cell without data, or with few, is taken to be half-way, at most, between what
the arm's data say of its top mean and the most that they allow.
"""

from math import inf, sqrt

from mfbai.kernels.jit import kernel


@kernel
def reach_of(model, stats, noise, work, log, leads, caution, arm, reach):
    """Write each cell's reach into `reach[arm]`; that of a cell without data is less by `caution` times the width of
    its bias interval. `noise` holds the variances, `work` the arm's fit."""
    low, high = work.psi_low[arm], work.psi_high[arm]
    end = high if leads else -low
    most = inf
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] > 0.0:
            mean = stats.mean[arm, m]
            if low == high:
                mean = min(max(mean, low + model.bias_low[arm, m]), low + model.bias_high[arm, m])
            radius = sqrt(2.0 * noise[arm, m] * log / stats.count[arm, m])
            hope = mean + radius if leads else radius - mean
            most = min(most, hope + (-model.bias_low[arm, m] if leads else model.bias_high[arm, m]))
            reach[arm, m] = hope + (-model.bias_high[arm, m] if leads else model.bias_low[arm, m])
    top = 0.5 * (max(end, most) + end)
    for m in range(stats.count.shape[1]):
        if stats.count[arm, m] == 0.0:
            reach[arm, m] = top - caution * (model.bias_high[arm, m] - model.bias_low[arm, m])
        else:
            reach[arm, m] = min(top, reach[arm, m])
