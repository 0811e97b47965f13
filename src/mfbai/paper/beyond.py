"""Beyond the paper: every strategy on its instances, from the numbers of `mfbai.paper.costs`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from mfbai.paper import costs
from mfbai.paper.experiment import DELTAS, Results, Scale, Setting, Sheet, Table
from mfbai.paper.intervals import mean

GROUP = "beyond"


def sheets(setting: Setting) -> Iterator[Sheet]:
    for delta in DELTAS:
        name = setting.name(f"all-strategies-{delta:g}")
        used = tuple(costs.name(instance, setting) for instance in costs.INSTANCES)
        yield Sheet(name, GROUP, used, partial(compare, name, delta, setting))


def compare(name: str, delta: float, setting: Setting, results: Results, scale: Scale) -> Table:
    """Mean costs: a row for each strategy, a column for each instance."""
    tables = {instance: results[costs.name(instance, setting)] for instance in costs.INSTANCES}
    found = {s: [mean(costs.costs_of(table, s, delta)) for table in tables.values()] for s in costs.ALL}
    floor = [cost.estimate for cost in found["oracle"]]
    cheapest = [min(costs.REAL, key=lambda s, n=n: found[s][n].estimate) for n in range(len(tables))]  # type: ignore[misc]
    factors = [found[s][n].estimate / floor[n] for n, s in enumerate(cheapest)]
    told = ", ".join(f"{s} on {i} ({f:.1f}x)" for s, i, f in zip(cheapest, tables, factors, strict=True))
    return Table(
        name,
        f"Mean cost of every strategy, delta {delta:g}, variance {setting.variance:g}",
        "The oracle tracks the optimal shares of the true means, which no real strategy knows: it is the floor. "
        f"The cheapest real strategy is {told} times its cost. With 95 % intervals.",
        ("strategy", *tables),
        tuple((s, *(costs.amount(cost) for cost in row)) for s, row in found.items()),
    )
