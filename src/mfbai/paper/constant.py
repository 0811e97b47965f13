"""MF-GRAD at a constant rate against the theory's (appendix D.4), from the numbers of `mfbai.paper.costs`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mfbai.paper import costs
from mfbai.paper.claims import Claim, below, together
from mfbai.paper.experiment import DELTAS, Figure, Results, Setting
from mfbai.paper.intervals import median_ratio, ratio

GROUP = "constant"
INSTANCES = ("paper-4x5", "paper-5x2")
COMPARED = ("mf-grad", "mf-grad-const")


def figures(setting: Setting) -> Iterator[Figure]:
    for instance in INSTANCES:
        caption = f"MF-GRAD at the theory's rate and at a constant one on {instance} (the paper's App. D.4)."
        draw = partial(costs.draw, instance, COMPARED, DELTAS[0], setting)
        yield Figure(setting.name(f"constant-{instance}"), GROUP, (costs.name(instance, setting),), caption, draw)


def claims(results: Results, setting: Setting) -> Iterator[Claim]:
    for instance in INSTANCES:
        if costs.name(instance, setting) in results:
            table = results[costs.name(instance, setting)]
            theory, constant = (costs.costs_of(table, strategy, DELTAS[0]) for strategy in COMPARED)
            by_mean, by_median = ratio(constant, theory), median_ratio(constant, theory)
            yield Claim(
                f"MF-GRAD-CONST outperforms MF-GRAD on {instance}",
                "App. D.4",
                f"mean cost {costs.times(by_mean)}, median {costs.times(by_median)} of MF-GRAD's",
                together([below(by_mean, 1.0), below(by_median, 1.0)]),  # rare runs are very long
            )
