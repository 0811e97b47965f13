"""Audit: part of the cost goes to evaluations without bias, of the arm that leads and of its closest rival.

They count as evidence like all others. If a bias bound is wrong, they contradict it, and the bias alarm shows it;
without them a strategy that trusts the bounds may never evaluate the arm that is about to win at a fidelity without
bias.

An audit is due for the one of the two arms on which less was spent in this way, while that is less than its share of
the cost, and so is what audits have cost. So an arm that the strategy itself evaluates without bias needs no audit, and
all audits are of the other one. While an arm's values without bias are hard to reconcile with one of its bounds, its
audits may take twice the share: a mistake shows sooner, and where bounds hold that is rare.
"""

from math import inf

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import variance

LEADER, RIVAL = 0, 1  # places in `model.audit.spent`
STRAINED = 2.0  # nats by which values contradict a bound, in the two cells concerned, before audits take more
MORE = 2.0  # shares that they may take then


@kernel
def is_unbiased(model, arm, fidelity):
    return model.bias_low[arm, fidelity] == 0.0 and model.bias_high[arm, fidelity] == 0.0


@kernel
def due(model, stats, pending, s, rival):
    """The arm for which an audit is due, if s leads and `pending` evaluations are under way; -1 if for neither."""
    if s < 0:
        return -1
    total, leaders, rivals = stats.spent[0], 0.0, 0.0
    for a in range(pending.shape[0]):
        for m in range(pending.shape[1]):
            if pending[a, m] > 0:
                cost = pending[a, m] * model.cost[a, m]
                total += cost
                if is_unbiased(model, a, m):
                    leaders += cost if a == s else 0.0
                    rivals += cost if a == rival else 0.0
    return short_of(model, stats, s, rival, total, leaders, rivals)


@kernel
def short_of(model, stats, s, rival, total, leaders, rivals):
    """The same if so much was spent in all, and what is under way of both arms without bias costs that much."""
    audit = model.audit
    leads = rival < 0 or audit.spent[LEADER] + leaders <= audit.spent[RIVAL] + rivals
    arm, under_way, spent = (s, leaders, audit.spent[LEADER]) if leads else (rival, rivals, audit.spent[RIVAL])
    enough = audit.share[0] * total
    if is_strained(model, stats, arm):
        enough = min(MORE * enough, max(enough, 0.5 * total))
    return arm if max(spent, audit.asked[0]) + under_way < enough else -1


@kernel
def is_strained(model, stats, arm):
    """Whether an arm's values without bias and those of another fidelity are hard to reconcile, by its bound."""
    for u in range(stats.count.shape[1]):
        if stats.count[arm, u] == 0.0 or not is_unbiased(model, arm, u):
            continue
        noise = variance(model.law, arm, u, stats.count[arm, u], stats.mean[arm, u]) / stats.count[arm, u]
        for m in range(stats.count.shape[1]):
            if stats.count[arm, m] > 0.0 and m != u:
                off = stats.mean[arm, m] - stats.mean[arm, u]
                excess = max(off - model.bias_high[arm, m], model.bias_low[arm, m] - off, 0.0)
                its = variance(model.law, arm, m, stats.count[arm, m], stats.mean[arm, m]) / stats.count[arm, m]
                if excess * excess > 2.0 * STRAINED * (noise + its):
                    return True
    return False


@kernel
def unbiased_fidelity(model, stats, arm):
    """The fidelity without bias that costs the least for its noise."""
    best, least = stats.count.shape[1] - 1, inf
    for m in range(stats.count.shape[1]):
        if is_unbiased(model, arm, m):
            noise = variance(model.law, arm, m, max(stats.count[arm, m], 1.0), stats.mean[arm, m])
            if model.cost[arm, m] * noise < least:
                best, least = m, model.cost[arm, m] * noise
    return best
