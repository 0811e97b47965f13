"""When to ask for the value of a deterministic fidelity. What it says for certain, `kernels.exact` knows.

Values are asked for

- at the very beginning, if those of all arms cost next to nothing;
- later, where they are expected to beat an arm whose noisy evaluations would cost more; but what is spent so is a small
  part of the whole, unless the data so far say that the arm will be beaten even if the biases are the least favourable.

If the top fidelity itself is deterministic there is nothing else to ask for: cheap ones first, then the top of the arms
that may still be the best, the most promising first.
"""

from math import inf, isnan, sqrt

from mfbai.kernels.exact import take_exact
from mfbai.kernels.jit import kernel
from mfbai.kernels.laws import variance

SHARE = 0.015  # of the cost that may be spent on values that need not pay
WORTH = 1.5  # expected saving over cost
CHEAP = 0.25  # of the cost of a deterministic top, that another fidelity has at most to be asked before it
LOOK = 1.05  # growth of the cost at which to look again
DOUBT = 2.0  # standard errors that estimates are taken to be off, where a value must be sure to pay
MARGIN = 3.0  # nats: about what a proof needs beyond its target
FIRST = 1e9  # the wish for values that are as good as free


@kernel
def learn_exact(model, stats, arm, d, x):
    """Take in the value of a deterministic cell; a second one says nothing new."""
    if not isnan(model.exact.value[arm, d]):
        return
    cost = model.exact.cost[arm, d]
    model.exact.spent[0] += cost
    stats.spent[0] += cost
    stats.steps[0] += 1
    take_exact(model, arm, d, x)
    plan_exact(model, stats)


@kernel
def wanted_exact(model, stats):
    """The deterministic cell (arm, d) to ask for now; -1, -1 if there is none. Reads only."""
    exact, arm, fidelity, most = model.exact, -1, -1, 0.0
    spent = exact.spent[0]
    for a in range(exact.value.shape[0]):
        for d in range(exact.value.shape[1]):
            spent += exact.pending[a, d] * exact.cost[a, d]
    for a in range(exact.value.shape[0]):
        if model.beaten[a]:
            continue
        for d in range(exact.value.shape[1]):
            allowed = exact.sure[a, d] or spent + exact.cost[a, d] <= SHARE * stats.spent[0]
            if exact.wish[a, d] > most and allowed and exact.pending[a, d] == 0 and isnan(exact.value[a, d]):
                arm, fidelity, most = a, d, exact.wish[a, d]
    return arm, fidelity


@kernel(inline=False)
def plan_exact(model, stats):
    """Say how much each value is worth having, by what is known now."""
    exact = model.exact
    exact.due[0] = LOOK * stats.spent[0]
    for a in range(exact.wish.shape[0]):
        for d in range(exact.wish.shape[1]):
            if exact.wish[a, d] < FIRST:
                exact.wish[a, d], exact.sure[a, d] = 0.0, False
    if exact.top:
        plan_tops(model)
    else:
        plan_rivals(model, stats)


@kernel
def plan_tops(model):
    """Cheap values first; then the tops of the arms that may be the best, those of the highest hopes first."""
    exact, top = model.exact, model.exact.value.shape[1] - 1
    for a in range(exact.wish.shape[0]):
        rank = 0
        for other in range(exact.wish.shape[0]):
            more = model.top_high[other] - model.top_high[a] if model.top_high[other] != model.top_high[a] else 0.0
            rank += more > 0.0 or (more == 0.0 and other < a)
        exact.wish[a, top], exact.sure[a, top] = 1.0 / (1.0 + rank), True
        for d in range(top):
            if exact.cost[a, d] <= CHEAP * exact.cost[a, top]:
                exact.wish[a, d], exact.sure[a, d] = 2.0 + 1.0 / (1.0 + exact.cost[a, d]), True


@kernel
def plan_rivals(model, stats):
    """Compare what it costs to beat rivals by a value with what it would cost to rule them out by noisy evaluations.

    With x the arms' estimated top means, w the widths of bias intervals and U uniform, the value of rival j will put
    its top mean at x_j + U w_j or below, that of the leader its own at x_s - U' w_s or above.
    """
    exact, K, D = model.exact, model.exact.value.shape[0], model.exact.value.shape[1]
    s = -1
    for a in range(K):
        if not model.beaten[a]:
            error = estimate(model, stats, a)[1]
            if error == inf:
                return  # it was not looked at yet
            if s < 0 or estimate(model, stats, a)[0] > estimate(model, stats, s)[0]:
                s = a
    xs, es = estimate(model, stats, s)
    floor = -inf  # the greatest top mean that some arm has at least
    for a in range(K):
        floor = max(floor, model.top_low[a])
    for d in range(-1, D):  # -1: the leader's values as they are
        width, cost = 0.0, 0.0
        if d >= 0:
            if not isnan(exact.value[s, d]):
                continue
            width, cost = exact.bias_high[s, d] - exact.bias_low[s, d], exact.cost[s, d]
        net, sure = -WORTH * cost, -WORTH * cost
        for j in range(K):
            if j == s or model.beaten[j]:
                continue
            x, e = estimate(model, stats, j)
            saving = remaining(model, stats, s, j, xs - x)
            best, best_sure = 0.0, 0.0
            for k in range(D):
                if not isnan(exact.value[j, k]):
                    continue
                w = exact.bias_high[j, k] - exact.bias_low[j, k]
                price = WORTH * exact.cost[j, k]
                if d < 0:
                    chance = min(max((floor - x) / w, 0.0), 1.0) if w > 0.0 else (1.0 if floor > x else 0.0)
                    will = x + DOUBT * e + w < floor
                else:
                    chance = max(below(xs - x, width, w), min(max((floor - x) / max(w, 1e-300), 0.0), 1.0))
                    will = x + DOUBT * sqrt(e * e + es * es) + w < max(xs - width, floor)
                gain = chance * saving - price
                if d < 0 and gain > 0.0:
                    exact.wish[j, k] = chance * saving / max(exact.cost[j, k], 1e-300)
                    exact.sure[j, k] = will
                best = max(best, gain)
                if will:
                    best_sure = max(best_sure, saving - price)
            net += best
            sure += best_sure
        if d >= 0 and net > 0.0:
            exact.wish[s, d] = FIRST / 2.0 + net
            exact.sure[s, d] = sure > 0.0


@kernel
def estimate(model, stats, arm):
    """About what the top mean of an arm is, and its standard error; infinite for an arm without data."""
    total, weights = 0.0, 0.0
    for m in range(stats.count.shape[1]):
        count, mean = stats.count[arm, m], stats.mean[arm, m]
        if count > 0.0:
            half = 0.5 * (model.bias_high[arm, m] - model.bias_low[arm, m])
            error = variance(model.law, arm, m, count, mean) / count + half * half / 3.0
            total += (mean - 0.5 * (model.bias_high[arm, m] + model.bias_low[arm, m])) / error
            weights += 1.0 / error
    if weights == 0.0:
        return 0.0, inf
    x = min(max(total / weights, model.top_low[arm]), model.top_high[arm])
    return x, sqrt(1.0 / weights)


@kernel
def remaining(model, stats, s, j, gap):
    """About what noisy evaluations of rival j will cost until it is ruled out, if the leader is ahead by the gap."""
    done, rate = 0.0, 0.0
    for m in range(stats.count.shape[1]):
        beyond = gap - (model.bias_high[j, m] - model.bias_low[j, m])
        if beyond > 0.0:
            count = stats.count[j, m]
            noise = variance(model.law, j, m, max(count, 1.0), stats.mean[j, m])
            nats = 0.5 * beyond * beyond / noise
            done += 0.5 * count * nats
            rate = max(rate, nats / model.cost[j, m])
    if rate == 0.0:
        return 0.0  # it cannot be told from the leader yet, nor beaten
    return max(model.exact.nats[0] + MARGIN - done, 0.0) / rate


@kernel
def below(gap, v, w):
    """The probability that v U + w U' < gap, of two uniforms."""
    if gap <= 0.0:
        return 0.0
    if gap >= v + w:
        return 1.0
    v, w = max(v, w), min(v, w)
    if w <= 0.0:
        return gap / v
    if gap <= w:
        return gap * gap / (2.0 * v * w)
    if gap <= v:
        return (gap - 0.5 * w) / v
    rest = v + w - gap
    return 1.0 - rest * rest / (2.0 * v * w)


def first_wishes(model) -> None:
    """What to ask for before anything is known: all values of fidelities that cost next to nothing."""
    exact = model.exact
    allowed = SHARE * float(model.cost.min(axis=1).sum())
    costs = exact.cost.sum(axis=0)
    for d in costs.argsort(kind="stable"):
        if costs[d] > allowed:
            break
        allowed -= costs[d]
        exact.wish[:, d] = 2.0 * FIRST - costs[d]
        exact.sure[:, d] = True
    if exact.top:
        plan_tops(model)
