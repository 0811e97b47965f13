"""The whole empirical part of the paper: compute, draw, judge, report."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from mfbai.checks import check_workers
from mfbai.engines import using
from mfbai.paper import parts, report
from mfbai.paper.pieces import PRINTED, PUBLISHED, Columns, Computation, Figure, Item, Made, Noise, Scale, Sheet, Table
from mfbai.paper.report import Reproduction
from mfbai.paper.store import Store, csv_text, replace
from mfbai.simulation.engine import warm_up
from mfbai.simulation.experiment import STAND_IN, prepare
from mfbai.strategies import STRATEGIES
from mfbai.terminal import told_to

BOTH = (Noise(PUBLISHED), Noise(PRINTED))
ENDINGS = ("png", "svg")
DRAWING = 0.5  # seconds that a figure takes, about


class Watch:
    """Is called as the work proceeds. This one does nothing."""

    def begin(self, seconds: float) -> None:
        """So many seconds of work are expected in all."""

    def now(self, name: str) -> None:
        """Work on this begins."""

    def advance(self, seconds: float) -> None:
        """So many of the expected seconds are over."""

    def done(self, name: str, seconds: float | None) -> None:
        """It is done and took so long; None if its numbers were there already."""


def reproduce(
    out: str | Path,
    figures: Sequence[str] = (),
    scale: Scale | None = None,
    noises: Sequence[Noise] = BOTH,
    watch: Watch | None = None,
    *,
    executor: Any = None,
    workers: int | None = None,
) -> Reproduction:
    """Compute what the figures need, unless it is in `out` already, draw them, and write the report.

    `figures` are names or groups, all by default. Simulations run on the `executor`, as for `simulate`.
    """
    check_workers(workers)
    folder, scale, watch = Path(out), scale or Scale(), watch or Watch()
    shown = parts.select(figures, noises)
    items = [item for found in shown.values() for item in found]
    needed = {name for item in items for name in item.computations}
    computations = [computation for computation in parts.computations(shown) if computation.name in needed]
    make_folders(folder)
    with using(executor, workers):
        results, seconds = _compute(computations, Store(folder / "data", scale), watch, sum(map(_effort, items)))
    files = [folder / "data" / f"{computation.name}.csv" for computation in computations]
    tables: dict[str, Table] = {}
    for item in items:
        files += _make(item, results, tables, folder, scale, watch)
    claims = parts.claims(shown, Made(results, tables))
    found = Reproduction(claims, [*files, folder / "report.md", folder / "report.html"], seconds)
    report.write(folder, found, shown, tables, scale)
    return found


def _compute(
    computations: list[Computation], store: Store, watch: Watch, effort: float
) -> tuple[dict[str, Columns], float]:
    """The numbers, kept or computed, and the seconds they took; `effort` is what else will take time."""
    kept = {computation.name: store.load(computation) for computation in computations}
    missing = [computation for computation in computations if kept[computation.name] is None]
    watch.begin(sum(computation.seconds for computation in missing) + effort)
    if missing:
        watch.now("loading (compiled the first time)")
        _compile({strategy for computation in missing for strategy in computation.strategies})
    results, total = {}, 0.0
    for computation in computations:
        found = kept[computation.name] or _computed(computation, store, watch)
        watch.done(f"{computation.name}.csv", None if kept[computation.name] else found[1])
        results[computation.name] = found[0]
        total += found[1]
    return results, total


def _compile(strategies: set[str]) -> None:
    """See that what these strategies need is compiled: all of them at once."""
    warm_up(*(prepare(STAND_IN, strategy, "stylised", 0.1, {}, {})[0] for strategy in sorted(strategies)))


def _computed(computation: Computation, store: Store, watch: Watch) -> tuple[Columns, float]:
    """The numbers, computed and saved, and the seconds that took."""
    watch.now(f"{computation.name}.csv")
    begun = time.perf_counter()
    with told_to(partial(_advance, watch, computation.seconds / _calls(computation))):
        table = computation.compute(store.scale)
    found = table, time.perf_counter() - begun
    store.save(computation, *found)
    return found


def _advance(watch: Watch, seconds: float, part: float) -> None:
    watch.advance(part * seconds)


def _calls(computation: Computation) -> int:
    """How many progress bars there will be: one for each strategy, and for each delta if its sampling depends on it."""
    deltas = len(computation.about.get("deltas", (0,)))
    return sum(deltas if "delta" in STRATEGIES[name].needs else 1 for name in computation.strategies) or 1


def _make(
    item: Item, results: Mapping[str, Columns], tables: dict[str, Table], folder: Path, scale: Scale, watch: Watch
) -> list[Path]:
    """Draw a figure, or build a table into `tables`; the files it is in."""
    made = f"{item.name}.{'png' if isinstance(item, Figure) else 'csv'}"
    watch.now(made)
    begun = time.perf_counter()
    if isinstance(item, Figure):
        files = [folder / "figures" / f"{item.name}.{ending}" for ending in ENDINGS]
        item.draw(results, files)
    else:
        files = [folder / "data" / made]
        table = tables[item.name] = item.build(results, scale)
        replace(files[0], csv_text(table.columns, table.rows))
    watch.advance(_effort(item))
    watch.done(made, time.perf_counter() - begun)
    return files


def _effort(item: Item) -> float:
    return item.seconds if isinstance(item, Sheet) else DRAWING


def make_folders(out: Path) -> None:
    for part in ("data", "figures"):
        (out / part).mkdir(parents=True, exist_ok=True)
