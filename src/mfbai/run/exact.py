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
TOP = 1.0  # the wish for the value of a deterministic top
MOST = 1e290  # the wish for a value that others depend on


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
    """The deterministic cell (arm, d) to ask for now; -1, -1 if there is none. Reads only.

    None of an arm that has one under way, whose value may make it needless.
    """
    exact, arm, fidelity, most = model.exact, -1, -1, 0.0
    if exact.value.shape[1] == 0:
        return -1, -1
    spent = exact.spent[0]
    for a in range(exact.value.shape[0]):
        for d in range(exact.value.shape[1]):
            spent += exact.pending[a, d] * exact.cost[a, d]
    for a in range(exact.value.shape[0]):
        if model.beaten[a] or exact.pending[a].sum() > 0:
            continue
        for d in range(exact.value.shape[1]):
            allowed = exact.sure[a, d] or spent + exact.cost[a, d] <= SHARE * stats.spent[0]
            wish = exact.wish[a, d]
            hopes = wish == TOP == most and exact.top and model.top_high[a] > model.top_high[arm]
            if (wish > most or hopes) and allowed and isnan(exact.value[a, d]):
                arm, fidelity, most = a, d, wish
    return arm, fidelity


@kernel(inline=False)
def plan_exact(model, stats):
    """Say how much each value is worth having, by what is known now."""
    exact = model.exact
    exact.due[0] = LOOK * stats.spent[0]
    for a in range(exact.wish.shape[0]):
        for d in range(exact.wish.shape[1]):
            if exact.wish[a, d] < inf:  # those are as good as free
                exact.wish[a, d], exact.sure[a, d] = 0.0, False
    if exact.top:
        plan_tops(model)
    else:
        plan_rivals(model, stats)


@kernel
def plan_tops(model):
    """Cheap values first; then the tops of the arms that may be the best: of those, `wanted_exact` takes the one of the
    highest hopes."""
    exact, top = model.exact, model.exact.value.shape[1] - 1
    for a in range(exact.wish.shape[0]):
        exact.wish[a, top], exact.sure[a, top] = TOP, True
        for d in range(top):
            if exact.cost[a, d] <= CHEAP * exact.cost[a, top]:
                exact.wish[a, d], exact.sure[a, d] = 2.0 + 1.0 / (1.0 + exact.cost[a, d]), True


@kernel
def plan_rivals(model, stats):
    """Compare what it costs to beat rivals by a value with what it would cost to rule them out by noisy evaluations.

    With x the arms' estimated top means, w the widths of bias intervals and U uniform, a value of rival j will put its
    top mean at x_j + U w_j or below, one of the leader s its own at x_s - U' w_s or above.
    """
    s, floor = -1, -inf  # the greatest top mean that some arm has at least
    for a in range(model.beaten.size):
        floor = max(floor, model.top_low[a])
        if not model.beaten[a]:
            x, error = estimate(model, stats, a)
            if error == inf:
                return  # it was not looked at yet
            if s < 0 or x > estimate(model, stats, s)[0]:
                s = a
    exact = model.exact
    as_it_is, _ = worth(model, stats, s, floor, -1)
    for d in range(exact.value.shape[1]):
        if isnan(exact.value[s, d]) and exact.wish[s, d] < inf:
            gain, surely = worth(model, stats, s, floor, d)
            if gain > max(as_it_is, 0.0):
                exact.wish[s, d], exact.sure[s, d] = MOST, surely > 0.0


@kernel
def worth(model, stats, s, floor, d):
    """What values of the rivals are expected to save, after that of the leader at d, and what all must save even if the
    biases are the least favourable; less what they cost. With d < 0 without the leader's; then also note their wishes.
    """
    exact, K, D = model.exact, model.exact.value.shape[0], model.exact.value.shape[1]
    xs, es = estimate(model, stats, s)
    width = exact.bias_high[s, d] - exact.bias_low[s, d] if d >= 0 else 0.0
    cost = WORTH * exact.cost[s, d] if d >= 0 else 0.0
    gains, surely = -cost, -cost
    for j in range(K):
        if j == s or model.beaten[j]:
            continue
        x, error = estimate(model, stats, j)
        doubt, saving = DOUBT * sqrt(error * error + es * es), remaining(model, stats, j, xs - x)
        most, most_surely = 0.0, 0.0
        for k in range(D):
            if not isnan(exact.value[j, k]) or exact.wish[j, k] == inf:
                continue
            w, price = exact.bias_high[j, k] - exact.bias_low[j, k], WORTH * exact.cost[j, k]
            chance, reach = min(max((floor - x) / max(w, 1e-300), 0.0), 1.0), floor
            if d >= 0:
                chance, reach = max(chance, below(xs - x, width, w)), max(reach, xs - width)
            sure = x + w + doubt < reach
            gain = chance * saving - price
            if d < 0 and gain > 0.0:
                exact.wish[j, k] = min(chance * saving / max(exact.cost[j, k], 1e-300), 0.1 * MOST)
                exact.sure[j, k] = sure
            most = max(most, gain)
            most_surely = max(most_surely, saving - price) if sure else most_surely
        gains += most
        surely += most_surely
    return gains, surely


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
def remaining(model, stats, j, gap):
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
        exact.wish[:, d], exact.sure[:, d] = inf, True
    if exact.top:
        plan_tops(model)
