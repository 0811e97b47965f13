"""Deterministic fidelities: what their values say for certain.

The value v of a cell puts the top mean of its arm into [v - bias_high, v - bias_low]. An arm is *beaten* if another one
is as good for certain.
"""

from math import inf

from mfbai.kernels.jit import kernel

ROUNDING = 1e-9  # relative: ends of two intervals that are this close are the same


@kernel
def take_exact(model, arm, d, x):
    """Learn the value of a cell. One that contradicts what is known of its arm says that a bias bound is wrong, and
    nothing else; but the top fidelity is the truth."""
    if narrow(model, arm, d, x):
        set_beaten(model)


@kernel
def narrow(model, arm, d, x):
    """Put the top mean of the arm into the interval that a value leaves; returns whether it leaves one."""
    exact = model.exact
    exact.value[arm, d] = x
    low = max(x - exact.bias_high[arm, d], model.top_low[arm])
    high = min(x - exact.bias_low[arm, d], model.top_high[arm])
    if low > high and low - high <= ROUNDING * (abs(low) + abs(high)):
        low = high = 0.5 * (low + high)
    exact.contradicts[arm, d] = low > high
    if exact.top and d == exact.value.shape[1] - 1:
        low = high = x
    if low > high:
        return False
    model.top_low[arm], model.top_high[arm] = low, high
    model.epoch[0] += 1
    return True


@kernel
def take_all_exact(model, values):
    """The same of all values, (K, D), that are not NaN."""
    narrowed = False
    for arm in range(values.shape[0]):
        for d in range(values.shape[1]):
            if values[arm, d] == values[arm, d] and narrow(model, arm, d, values[arm, d]):
                narrowed = True
    if narrowed:
        set_beaten(model)


@kernel
def safest(model):
    """The arm of the greatest top_low."""
    best = 0
    for a in range(model.beaten.size):
        if model.top_low[a] > model.top_low[best]:
            best = a
    return best


@kernel
def set_beaten(model):
    best = safest(model)
    for a in range(model.beaten.size):
        model.beaten[a] = a != best and model.top_high[a] <= model.top_low[best]


@kernel
def certain(model):
    """The arm that is the best for certain, or within the tolerance of it; -1 if there is none."""
    best, most = safest(model), -inf
    for a in range(model.beaten.size):
        if a != best:
            most = max(most, model.top_high[a])
    return best if most < inf and most <= model.top_low[best] + model.tolerance else -1
