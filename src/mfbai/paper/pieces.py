"""What a chapter of the paper is made of: computations, which give numbers, figures and tables, which show them, and
claims, which are judged by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.model.instance import Instance
from mfbai.model.spec import check_instance
from mfbai.paper.claims import Claim

PUBLISHED, PRINTED = 0.01, 0.1  # the variance that the paper's results come from, and the one that its text prints
DELTAS = (0.01, 1e-10)
SEED = 2024
RULE = "stylised"  # the stopping rule of the paper's experiments

Columns = dict[str, NDArray[Any]]  # a table by its columns
Results = Mapping[str, Columns]  # by the computation's name


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
class Noise:
    """The variance at which the paper's instances are run."""

    variance: float = PUBLISHED

    def name(self, base: str) -> str:
        """The name of a computation or figure at this variance."""
        return base if self.variance == PUBLISHED else f"{base}-variance-{self.variance}"

    def load(self, instance: str) -> Instance:
        return check_instance(instance, self.variance)


@dataclass(frozen=True)
class Computation:
    """Something to compute, once: its numbers are kept in a file."""

    name: str
    seconds: float  # that it takes in full on two cores, about; for the time left
    strategies: tuple[str, ...]  # that are run, one after the other
    uses: tuple[str, ...]  # of the scale
    about: Mapping[str, Any]  # what else it is made of: numbers made otherwise are computed again
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
    """A table to make, from computed numbers or from none."""

    name: str
    group: str
    computations: tuple[str, ...]
    build: Callable[[Results, Scale], Table]
    seconds: float = 0.1  # that it takes, about


@dataclass(frozen=True)
class Figure:
    """A picture of computed numbers."""

    name: str
    group: str
    computations: tuple[str, ...]  # whose numbers it shows
    caption: str
    draw: Callable[[Results, Sequence[Path]], None]


Item = Figure | Sheet


class Made(NamedTuple):
    """What claims are judged by."""

    results: Results
    tables: Mapping[str, Table]  # by the sheet's name


@dataclass(frozen=True)
class Part:
    """A chapter: what it computes, what it shows, and what it finds of the paper's claims.

    The functions of a part that runs the paper's instances take the `Noise` last, and are called for each; those of
    the others do not.
    """

    group: str  # its name for `mfbai reproduce`, and that of its figures and sheets
    heading: str
    items: Callable[..., Iterable[Item]]  # items() or items(noise)
    claims: Callable[..., Iterable[Claim]]  # claims(made) or claims(made, noise), for what was made
    computations: Callable[..., Iterable[Computation]] = lambda *noise: ()
    by_variance: bool = True
    is_quick: bool = True  # whether --quick includes it


def complete(table: Columns, runs: int) -> Columns:
    """The table, if it has all runs. A table with fewer was interrupted: Ctrl-C must end everything, not shorten it."""
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
