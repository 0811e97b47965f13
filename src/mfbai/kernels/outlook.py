"""Whether evaluations under way will decide, if their values are like those before them."""

from math import isfinite

from mfbai.kernels.jit import kernel
from mfbai.kernels.stats import has_data
from mfbai.kernels.transport import fit, pair


@kernel(inline=False)
def would_decide(model, stats, pending, times, out, needed, work, weights, means):
    """Whether f of the arm of the largest psi reaches `needed` against every other arm that is not `out`, with weights
    count + times * pending, and all means as they are. A cell without data is taken to have its arm's top mean.

    weights, means   (K, M) scratch
    O(M) for each arm that is not out. False while one of these has no data.
    """
    K, M = pending.shape
    leader, most = -1, 0.0
    for a in range(K):
        if out[a]:
            continue
        if not has_data(stats, a):
            return False
        fit(model, stats.count, stats.mean, a, work)
        middle = 0.5 * (work.psi_low[a] + work.psi_high[a])
        if leader < 0 or middle > most:
            leader, most = a, middle
        for m in range(M):
            weights[a, m], means[a, m] = stats.count[a, m], stats.mean[a, m]
            if stats.count[a, m] == 0.0 and isfinite(middle):
                means[a, m] = middle
            if stats.count[a, m] > 0.0 or isfinite(middle):
                weights[a, m] += times * pending[a, m]
        fit(model, weights, means, a, work)
    if leader < 0:
        return False
    for j in range(K):
        if j == leader or out[j]:
            continue
        f, x, _ = pair(model, weights, means, leader, j, work.eta[j], work)
        if f < needed:
            return False
        work.eta[j] = x
    return True
