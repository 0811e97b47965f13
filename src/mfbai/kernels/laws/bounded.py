"""Values between two bounds: a histogram of them for the bets, and the variance learnt so far for decisions."""

from mfbai.kernels.jit import kernel
from mfbai.kernels.laws.gaussian import gaussian_divergence, gaussian_slopes, gaussian_variance
from mfbai.kernels.laws.interface import divergence, learn, sample, slopes, variance
from mfbai.kernels.laws.symmetric import symmetric_learn
from mfbai.model.families import LEVELS, BoundedLaw


@kernel
def bounded_learn(law, model, stats, arm, fidelity, x):
    symmetric_learn(law, model, stats, arm, fidelity, x)
    low, high = law.low[fidelity], law.high[fidelity]
    place = (x - low) / (high - low) * (LEVELS - 1)
    below = min(max(int(place), 0), LEVELS - 2)
    law.levels[arm, fidelity, below] += below + 1.0 - place
    law.levels[arm, fidelity, below + 1] += place - below


@kernel
def bounded_sample(law, rng, arm, fidelity, mean):
    """From a Beta law; if there is none of that mean and deviation, from the two bounds."""
    low, high = law.low[fidelity], law.high[fidelity]
    p, spread = (mean - low) / (high - low), law.deviation[arm, fidelity] / (high - low)
    if spread == 0.0:
        return mean
    size = p * (1.0 - p) / (spread * spread) - 1.0
    if size <= 1e-3:
        return high if rng.random() < p else low
    a = rng.standard_gamma(p * size)
    b = rng.standard_gamma((1.0 - p) * size)
    return low + (high - low) * a / (a + b) if a + b > 0.0 else (high if rng.random() < p else low)


divergence.register(BoundedLaw, gaussian_divergence)
slopes.register(BoundedLaw, gaussian_slopes)
variance.register(BoundedLaw, gaussian_variance)
learn.register(BoundedLaw, bounded_learn)
sample.register(BoundedLaw, bounded_sample)
