"""What a simulated evaluation returns, where seeds are independent and where arms share them."""

from __future__ import annotations

from math import nan, sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from mfbai.kernels.jit import generic, kernel
from mfbai.kernels.laws import sample
from mfbai.kernels.stats import SEEDS
from mfbai.model.correlation import Correlation
from mfbai.model.families import Bounded, BoundedLaw
from mfbai.model.instance import Instance, high_chances


class Independent(NamedTuple):
    """Every value is drawn on its own."""

    means: np.ndarray  # (K, M) as kernels see them
    exact: np.ndarray  # (K, D) the values of the deterministic fidelities


class Paired(NamedTuple):
    """What controls the top, for the C controlled fidelities: see `mfbai.model.control`."""

    column: np.ndarray  # (fidelities,) the number of a controlled fidelity among the C; -1 for all others
    others: np.ndarray  # (C,)
    coefficient: np.ndarray  # (C,)
    share: np.ndarray  # (K, C) the correlation with the top at the same seed
    mean: np.ndarray  # (K, C) as kernels see it
    deviation: np.ndarray  # (K, C)
    high: np.ndarray  # (K, C) the chance of the higher of two values, that stand for bounded ones
    by: np.ndarray  # (C,) its number among all fidelities
    top: np.ndarray  # (3, K) mean, deviation and this chance at the top


class Controlled(NamedTuple):
    """Every value is drawn on its own; those of controlled fidelities part by part."""

    means: np.ndarray  # (K, M) as kernels see them
    exact: np.ndarray  # (K, D) the values of the deterministic fidelities
    paired: Paired


class Correlated(NamedTuple):
    """Values with the same seed are mean + deviation * (root of a share * factor, summed over what they have part in).

    There is a factor for each seed, a further one for each seed and fidelity (or arm), and noise of each value's own;
    all have unit variance, and the shares sum to 1. Simulated rounds follow one another, so that the factors of one
    round are all there is to remember.
    """

    means: np.ndarray  # (K, M) as kernels see them
    exact: np.ndarray  # (K, D) the values of the deterministic fidelities
    seed: np.ndarray  # (SEEDS,) the numbers of those whose factors are held; -1 for none
    factor: np.ndarray  # (SEEDS,)
    further: np.ndarray  # (SEEDS, all fidelities) or (SEEDS, K), NaN until drawn
    per_fidelity: bool  # whether the further factors are
    heavy: bool  # whether factors are Student's t with three degrees of freedom; else normal
    common_root: float
    further_root: float
    own_root: float
    number: np.ndarray  # (fidelities,) of those that kernels see, the number among all
    paired: Paired
    alone: np.ndarray  # (SEEDS, C) the mean factor of the other seeds
    further_alone: np.ndarray  # (SEEDS, C) or (SEEDS, C * K), the mean further factor of these; NaN until drawn


Truth: TypeAlias = Independent | Controlled | Correlated


def truth_of(instance: Instance) -> Truth:
    """What evaluations of an instance return. Independent seeds have nothing in common but within an evaluation."""
    problem = instance.problem
    means = problem.sign * instance.means
    noisy, exact = (np.array(means[:, kept], order="C") for kept in (problem.noisy, problem.exact))
    normal = not isinstance(problem.family, Bounded)
    correlation = instance.correlation if problem.seeds == "common" and normal else None
    return make_truth(noisy, correlation, exact, _paired(instance), np.array(problem.noisy))


def _paired(instance: Instance) -> Paired:
    problem = instance.problem
    means = problem.sign * instance.means
    controls = [control for m in problem.noisy if (control := problem.controls[m]) is not None]
    controlled = [problem.controls[m] is not None for m in problem.noisy]
    by = [control.by for control in controls]
    spread = instance.deviations() if controls else np.zeros(problem.shape)
    high = np.zeros(problem.shape)
    if isinstance(problem.family, Bounded):
        high = high_chances(problem.family, instance.means)
        high = high if problem.sign > 0 else 1.0 - high
    shares = [instance.in_common(control) for control in controls]
    return Paired(
        column=np.where(controlled, np.cumsum(controlled) - 1, -1),
        others=np.array([control.others for control in controls], dtype=np.int64),
        coefficient=np.array([control.coefficient for control in controls], dtype=np.float64),
        share=np.stack(shares, axis=1) if shares else np.zeros((problem.n_arms, 0)),
        mean=np.array(means[:, by], order="C"),
        deviation=np.array(spread[:, by], order="C"),
        high=np.array(high[:, by], order="C"),
        by=np.array(by, dtype=np.int64),
        top=np.stack([means[:, -1], spread[:, -1], high[:, -1]]),
    )


def make_truth(
    means: NDArray[np.float64],
    correlation: Correlation | None,
    exact: NDArray[np.float64] | None = None,
    paired: Paired | None = None,
    number: NDArray[np.int64] | None = None,
) -> Truth:
    """For these means, (K, M), values of the deterministic fidelities, (K, D), and what controls the top, if there are
    any; the correlation is that of values with the same seed. `number` is that of each fidelity among all."""
    K, M = means.shape
    number = np.arange(M) if number is None else number
    exact = np.zeros((K, 0)) if exact is None else exact
    if paired is None:
        whole, none = np.zeros(0, dtype=np.int64), np.zeros((K, 0))
        tables = none, none.copy(), none.copy(), none.copy()
        paired = Paired(np.full(M, -1), whole, np.zeros(0), *tables, whole.copy(), np.zeros((3, K)))
    C = len(paired.others)
    if correlation is None:
        return Controlled(means, exact, paired) if C else Independent(means, exact)
    common, most = sorted(correlation[:2])
    per_fidelity = correlation.arms > common
    further = max([*number, *paired.by]) + 2 if per_fidelity else K  # the last is that of the top as a part
    return Correlated(
        means,
        exact,
        np.full(SEEDS, -1),
        np.zeros(SEEDS),
        np.full((SEEDS, further), nan),
        per_fidelity,
        correlation.factor == "heavy",
        sqrt(common),
        sqrt(most - common),
        sqrt(1.0 - most),
        number,
        paired,
        np.full((SEEDS, C), nan),
        np.full((SEEDS, C if per_fidelity else C * K), nan),
    )


@generic(0)
def draw(truth, model, stats, rng, arm, fidelity):
    """One evaluation of the given cell, with the seed in `stats`."""


@kernel
def draw_alone(truth, model, stats, rng, arm, fidelity):
    return sample(model.law, rng, arm, fidelity, truth.means[arm, fidelity])


@kernel
def draw_controlled(truth, model, stats, rng, arm, fidelity):
    c = truth.paired.column[fidelity]
    if c < 0:
        return draw_alone(truth, model, stats, rng, arm, fidelity)
    at_top, beside, alone = draw_parts(model.law, truth.paired, rng, arm, c)
    swing, by = truth.paired.coefficient[c], truth.paired.mean[arm, c]
    return truth.paired.top[0, arm] + at_top - swing * (by + beside) + swing * (by + alone)


@generic(0, choose=lambda law: draw_normal_parts)
def draw_parts(law, paired, rng, arm, c):
    """The noise of the top and of what controls it, at one seed, and the mean noise of the latter at the others."""


@kernel
def draw_normal_parts(law, paired, rng, arm, c):
    share = paired.share[arm, c]
    at_top = rng.standard_normal()
    beside = share * at_top + sqrt(1.0 - share * share) * rng.standard_normal()
    alone = rng.standard_normal() / sqrt(paired.others[c])
    return paired.top[1, arm] * at_top, paired.deviation[arm, c] * beside, paired.deviation[arm, c] * alone


@kernel
def draw_bounded_parts(law, paired, rng, arm, c):
    """Two values each, which can have every mean and deviation that the bounds allow; they come from the same random
    number as often as the correlation says."""
    high, top_high, deviation = paired.high[arm, c], paired.top[2, arm], paired.deviation[arm, c]
    less, more = min(high, top_high), max(high, top_high)
    most = sqrt(less * (1.0 - more) / (more * (1.0 - less))) if less > 0.0 and more < 1.0 else 1.0
    luck = rng.random()
    at_top = two_point(luck, top_high, paired.top[1, arm])
    if rng.random() * most >= paired.share[arm, c]:
        luck = rng.random()
    beside = two_point(luck, high, deviation)
    alone = 0.0
    for _ in range(paired.others[c]):
        alone += two_point(rng.random(), high, deviation)
    return at_top, beside, alone / paired.others[c]


@kernel
def two_point(luck, high, deviation):
    """Of mean 0 and that deviation, the higher one with the chance `high`."""
    if deviation == 0.0:
        return 0.0
    return deviation * sqrt((1.0 - high) / high) if luck < high else -deviation * sqrt(high / (1.0 - high))


@kernel
def draw_with_others(truth, model, stats, rng, arm, fidelity):
    number = stats.seed[0]
    if number < 0:  # shared with no other evaluation
        return draw_controlled(truth, model, stats, rng, arm, fidelity)
    slot = number % SEEDS
    if truth.seed[slot] != number:
        truth.seed[slot] = number
        truth.factor[slot] = draw_factor(truth, rng)
        truth.further[slot] = nan
        truth.alone[slot] = nan
        truth.further_alone[slot] = nan
    paired, c = truth.paired, truth.paired.column[fidelity]
    if c < 0:
        noise = draw_noise(truth, rng, slot, arm, truth.number[fidelity])
        return truth.means[arm, fidelity] + model.law.deviation[arm, fidelity] * noise
    swing, by, deviation = paired.coefficient[c], paired.mean[arm, c], paired.deviation[arm, c]
    top = truth.further.shape[1] - 1
    at_top = paired.top[0, arm] + paired.top[1, arm] * draw_noise(truth, rng, slot, arm, top)
    beside = by + deviation * draw_noise(truth, rng, slot, arm, paired.by[c])
    alone = by + deviation * draw_mean_noise(truth, rng, slot, arm, c)
    return at_top - swing * beside + swing * alone


@kernel
def draw_noise(truth, rng, slot, arm, column):
    """Of unit variance, with what others of this seed have a part in."""
    noise = truth.common_root * truth.factor[slot] + truth.own_root * rng.standard_normal()
    if truth.further_root > 0.0:
        n = column if truth.per_fidelity else arm
        if truth.further[slot, n] != truth.further[slot, n]:
            truth.further[slot, n] = draw_factor(truth, rng)
        noise += truth.further_root * truth.further[slot, n]
    return noise


@kernel
def draw_mean_noise(truth, rng, slot, arm, c):
    """The mean of such noise at the other seeds, which arms share too."""
    r = truth.paired.others[c]
    n = c if truth.per_fidelity else c * truth.means.shape[0] + arm
    if truth.alone[slot, c] != truth.alone[slot, c]:
        truth.alone[slot, c] = draw_mean_factor(truth, rng, r)
    if truth.further_alone[slot, n] != truth.further_alone[slot, n]:
        truth.further_alone[slot, n] = draw_mean_factor(truth, rng, r)
    own = truth.own_root * rng.standard_normal() / sqrt(r)
    return truth.common_root * truth.alone[slot, c] + truth.further_root * truth.further_alone[slot, n] + own


@kernel
def draw_mean_factor(truth, rng, r):
    if not truth.heavy:
        return rng.standard_normal() / sqrt(r)
    total = 0.0
    for _ in range(r):
        total += draw_factor(truth, rng)
    return total / r


@kernel
def draw_factor(truth, rng):
    """Of unit variance."""
    x = rng.standard_normal()
    if truth.heavy:
        x /= sqrt(rng.standard_normal() ** 2 + rng.standard_normal() ** 2 + rng.standard_normal() ** 2)
    return x


draw_parts.register(BoundedLaw, draw_bounded_parts)
draw.register(Independent, draw_alone)
draw.register(Controlled, draw_controlled)
draw.register(Correlated, draw_with_others)
