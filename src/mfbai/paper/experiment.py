"""What every part of the paper is made of: experiments that compute numbers, and figures that draw them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.model.problem import Instance
from mfbai.model.spec import check_instance

PUBLISHED, PRINTED = 0.01, 0.1  # the variance that the paper's results come from, and the one that its text prints
DELTAS = (0.01, 1e-10)
SEED = 2024
RULE = "stylised"  # what the paper's experiments stopped by

Columns = dict[str, NDArray[Any]]  # a table by its columns
Results = Mapping[str, Columns]  # by the experiment's name


@dataclass(frozen=True)
class Scale:
    """How much is run. The defaults are the paper's."""

    runs: int = 1000  # of the cost figures; a tenth of it for the shares, a hundredth for the trap, but at least 10
    steps: int = 100_000  # over which shares are watched
    pulls: int = 10**8  # after which a run in the trap is given up
    instances: int = 500  # random ones, for the sparsity of each shape

    @property
    def share_runs(self) -> int:
        return max(self.runs // 10, 10)

    @property
    def trap_runs(self) -> int:
        return max(self.runs // 100, 10)


QUICK = Scale(runs=100, pulls=10**6, instances=50)


@dataclass(frozen=True)
class Setting:
    """The variance at which the paper's instances are run."""

    variance: float = PUBLISHED

    def name(self, base: str) -> str:
        """Of an experiment or figure at this variance."""
        return base if self.variance == PUBLISHED else f"{base}-variance-{self.variance}"

    def load(self, instance: str) -> Instance:
        return check_instance(instance, self.variance)


@dataclass(frozen=True)
class Experiment:
    """Something to compute, once: its numbers are kept in a file."""

    name: str
    seconds: float  # that it takes in full on two cores, about; for the time left
    strategies: tuple[str, ...]  # that are run, one after the other
    uses: tuple[str, ...]  # of the scale
    about: Mapping[str, Any]  # what else it is made of: numbers of another making are computed anew
    compute: Callable[[Scale], Columns]


class Table(NamedTuple):
    """What the paper shows, in a few sentences, and the numbers that show it."""

    name: str
    title: str
    text: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]


@dataclass(frozen=True)
class Sheet:
    """A table to make, of experiments' numbers or of none."""

    name: str
    group: str
    experiments: tuple[str, ...]
    build: Callable[[Results, Scale], Table]
    seconds: float = 0.1  # that it takes, about


@dataclass(frozen=True)
class Figure:
    """A picture of an experiment's numbers."""

    name: str
    group: str
    experiments: tuple[str, ...]  # whose numbers it shows
    caption: str
    draw: Callable[[Results, Sequence[Path]], None]


def complete(table: Columns, runs: int) -> Columns:
    """The table, if it has all runs: whoever interrupts an experiment wants it to end, not to be short."""
    if len(np.unique(table["run"])) < runs:
        raise KeyboardInterrupt
    return table


def stacked(tables: Mapping[str, Columns], key: str) -> Columns:
    """Tables one below the other, with a first column that names them."""
    names = np.concatenate([np.full(rows(table), name) for name, table in tables.items()])
    first = next(iter(tables.values()))
    return {key: names, **{name: np.concatenate([table[name] for table in tables.values()]) for name in first}}


def where(table: Columns, **values: Any) -> Columns:
    """The rows with these values."""
    mask = np.ones(rows(table), dtype=np.bool_)
    for name, value in values.items():
        mask &= table[name] == value
    return {name: column[mask] for name, column in table.items()}


def rows(table: Columns) -> int:
    return len(next(iter(table.values())))
