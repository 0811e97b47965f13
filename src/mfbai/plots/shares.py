"""Bars made of one piece for each fidelity: the optimal shares of an oracle, or what a study spent."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.oracle import Oracle
from mfbai.analysis.rows import largest
from mfbai.pictures import draw
from mfbai.plots import style
from mfbai.text import digits

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
SHOWN = 20  # arms
LONGEST, LINE = 40, 18  # characters of a name, and of each of its lines where that is possible
ENDING = 16  # of these, after a cut
HATCHES = ("", "////", "....", "xxxx", "\\\\\\\\", "++++", "oooo")  # colours repeat after six: these are seven
ROW = 0.34  # inches


@draw.register(Oracle)
def picture_of_oracle(found: Oracle) -> Figure:
    """The optimal share of the cost of each arm, by fidelity."""
    problem, weights = found.problem, found.weights
    arms = largest(weights.sum(axis=1), SHOWN)
    with style.drawing((8.0, height_of(len(arms)))) as figure:
        axes = figure.subplots()
        draw_pieces(axes, [problem.arms[arm] for arm in arms], weights[arms], problem.fidelities, percent)
        axes.set_title(f"Where to spend, at best: C* = {digits(found.cost_complexity, 4)}", pad=10)
        axes.set_xlabel(f"share of the cost{not_shown(problem.n_arms, len(arms))}")
        axes.xaxis.set_major_formatter(lambda share, _: percent(share))
    told = ", ".join(f"{problem.arms[arm]!r} {percent(weights[arm].sum())}" for arm in arms)
    figure.alt = f"The optimal share of the cost of each arm: {told}."
    return figure


def height_of(rows: int) -> float:
    return 1.6 + ROW * max(rows, 4)


def percent(share: float) -> str:
    return f"{digits(100 * share, 3)} %"


def not_shown(count: int, shown: int) -> str:
    return f"; {count - shown:,} more arms are not shown" if count > shown else ""


def draw_pieces(
    axes: Axes, arms: Sequence[str], table: Array, fidelities: Sequence[str], write: Callable[[float], str]
) -> None:
    """A bar for each arm, the sum of its row, which is written at its end; the pieces are the fidelities."""
    looks = zip(cycle(style.COLOURS), cycle(HATCHES), strict=False)
    before, rows = np.zeros(len(arms)), np.arange(len(arms))
    drawn: list[tuple[str, Artist]] = []
    for m, (colour, hatch) in zip(range(len(fidelities)), looks, strict=False):
        pieces: Any = axes.barh(
            rows, table[:, m], left=before, height=0.7, color=colour, hatch=hatch, edgecolor="white"
        )
        before += table[:, m]
        drawn.append((in_lines(fidelities[m]), pieces))
    for row, total in enumerate(before):
        beside(axes, total, row, write(total))
    axes.set_xlim(0, 1.15 * float(before.max(initial=0.0)) or 1.0)
    name_rows(axes, arms)
    style.legend(axes, drawn[:12], loc="upper left", bbox_to_anchor=(1.0, 1.0), fontsize=10)


def beside(axes: Axes, at: float, row: int, told: str) -> None:
    """Words at the right of the end of a bar."""
    axes.annotate(told, (at, row), (5, 0), textcoords="offset points", va="center", fontsize=10, parse_math=False)


def name_rows(axes: Axes, names: Sequence[str], leader: str | None = None) -> None:
    """The first row is at the top; that of a leader says so."""
    told = [f"{in_lines(name)}{' (leads)' * (name == leader)}" for name in names]
    size: Any = "small" if any("\n" in name for name in told) else None
    axes.set_yticks(range(len(names)), told, parse_math=False, fontsize=size)
    axes.set_ylim(max(len(names), 4) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")


def shortened(name: str) -> str:
    """Cut in the middle: the names of a family often differ in their beginning or in their end.

    >>> shortened("gradient boosting with many trees of depth 8")
    'gradient boosting with …trees of depth 8'
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - ENDING - 1]}…{name[-ENDING:]}"


def in_lines(name: str) -> str:
    r"""Two lines at most, as short as can be, for a name that would take the room of what is drawn.

    >>> in_lines("logistic regression (L2 penalty)")
    'logistic regression\n(L2 penalty)'
    """
    cut = shortened(name)
    if len(cut) <= LINE:
        return cut
    broken = (textwrap.wrap(cut, width) for width in range(LINE, LONGEST + 1))
    return "\n".join(next(lines for lines in broken if len(lines) <= 2))
