"""MF-GRAD at a constant rate against the theory's (appendix D.4), from the numbers of `mfbai.paper.costs`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mfbai.paper import costs
from mfbai.paper.claims import Claim, below, together
from mfbai.paper.intervals import median_ratio, ratio
from mfbai.paper.pieces import DELTAS, Figure, Made, Noise, Part

GROUP = "constant"
INSTANCES = ("paper-4x5", "paper-5x2")
COMPARED = ("mf-grad", "mf-grad-const")


def figures(noise: Noise) -> Iterator[Figure]:
    for instance in INSTANCES:
        caption = f"MF-GRAD at the theory's rate and at a constant one on {instance} (the paper's App. D.4)."
        draw = partial(costs.draw, instance, COMPARED, DELTAS[0], noise)
        yield Figure(noise.name(f"constant-{instance}"), GROUP, (costs.name(instance, noise),), caption, draw)


def claims(made: Made, noise: Noise) -> Iterator[Claim]:
    for instance in INSTANCES:
        if table := made.results.get(costs.name(instance, noise)):
            theory, constant = (costs.costs_of(table, strategy, DELTAS[0]) for strategy in COMPARED)
            by_mean, by_median = ratio(constant, theory), median_ratio(constant, theory)
            yield Claim(
                f"MF-GRAD-CONST outperforms MF-GRAD on {instance}",
                "App. D.4",
                f"mean cost {costs.times(by_mean)}, median {costs.times(by_median)} of MF-GRAD's",
                together([below(by_mean, 1.0), below(by_median, 1.0)]),  # rare runs are very long
            )


PART = Part(GROUP, "A constant learning rate", figures, claims)
