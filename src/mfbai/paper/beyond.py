"""Beyond the paper: the other strategies on its instances, and the floor to measure them against."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from mfbai.paper import costs
from mfbai.paper.claims import Claim, above
from mfbai.paper.intervals import Interval, mean, ratio
from mfbai.paper.pieces import DELTAS, Computation, Made, Noise, Part, Results, Scale, Sheet, Table

GROUP = "beyond"
STRATEGIES = ("grad-const", "track-and-stop", "lucb", "uniform", "oracle")
FLOOR = "oracle"


def computations(noise: Noise) -> Iterator[Computation]:
    for instance in costs.INSTANCES:
        yield costs.computation(name(instance, noise), instance, STRATEGIES, 100.0, noise)


def name(instance: str, noise: Noise) -> str:
    return noise.name(f"others-{instance}")


def sheets(noise: Noise) -> Iterator[Sheet]:
    used = tuple(of(instance, noise) for of in (costs.name, name) for instance in costs.INSTANCES)
    for delta in DELTAS:
        sheet = noise.name(f"all-strategies-{delta:g}")
        yield Sheet(sheet, GROUP, used, partial(compare, sheet, delta, noise))


def claims(made: Made, noise: Noise) -> Iterator[Claim]:
    """Ours, not the paper's."""
    for delta in DELTAS:
        ratios: dict[str, Interval] = {}
        for instance in costs.INSTANCES:
            samples = dict(_costs_of_all(made.results, instance, noise, delta))
            floor = samples.pop(FLOOR)
            ratios |= {f"{strategy} on {instance}": ratio(sample, floor) for strategy, sample in samples.items()}
        closest = min(ratios, key=lambda key: ratios[key].low)
        text = f"(Ours.) The oracle is cheaper than all others of the table on all instances at delta = {delta:g}"
        measured = f"the closest is {closest}, {costs.times(ratios[closest])} its mean cost"
        yield Claim(text, "", measured, above(ratios[closest], 1.0))


def _costs_of_all(
    results: Results, instance: str, noise: Noise, delta: float
) -> Iterator[tuple[str, NDArray[np.float64]]]:
    """The strategies, each with what its runs cost."""
    for table, strategies in (
        (results[costs.name(instance, noise)], costs.STRATEGIES),
        (results[name(instance, noise)], STRATEGIES),
    ):
        for strategy in strategies:
            yield strategy, costs.costs_of(table, strategy, delta)


def compare(sheet: str, delta: float, noise: Noise, results: Results, scale: Scale) -> Table:
    """Mean costs: a row for each strategy, a column for each instance."""
    found: dict[str, list[Interval]] = {}
    for instance in costs.INSTANCES:
        for strategy, sample in _costs_of_all(results, instance, noise, delta):
            found.setdefault(strategy, []).append(mean(sample))
    told = []
    for n, instance in enumerate(costs.INSTANCES):
        prices = {strategy: row[n].estimate for strategy, row in found.items() if strategy != FLOOR}
        cheapest = min(prices, key=prices.__getitem__)
        told.append(f"on {instance} {cheapest} ({prices[cheapest] / found[FLOOR][n].estimate:.1f} times the floor)")
    return Table(
        sheet,
        f"Mean cost of every strategy, delta {delta:g}, variance {noise.variance:g}",
        "The oracle tracks the optimal shares of the true means, which no real strategy knows: a floor to measure by. "
        f"The cheapest of the others is {', '.join(told)}. All with 95 % intervals.",
        ("strategy", *costs.INSTANCES),
        tuple((strategy, *(costs.amount(cost) for cost in row)) for strategy, row in found.items()),
    )


PART = Part(GROUP, "Beyond the paper: all strategies", sheets, claims, computations, is_quick=False)
