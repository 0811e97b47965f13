"""The pilot's picture: what a cheap fidelity returns against what the true one does, at the same seed."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from mfbai.analysis.paired_noise import share
from mfbai.analysis.pilot import Pilot
from mfbai.errors import Fault, InvalidInput
from mfbai.pictures import draw
from mfbai.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # colours repeat after six: these are seven
MOST_NAMED = 12  # arms of which the legend has room for names
WIDTH, HEIGHT = 4.2, 4.8


def plot_pilot(pilot: Pilot, path: str | Path) -> None:
    """Save a picture: a panel for each fidelity below the top, a point for each arm and seed, a colour for each arm.

    pilot  a `Pilot`
    path   of the file, whose ending says what it is (.png, .svg, .pdf)

    >>> from mfbai import Problem, Symmetric, pilot
    >>> from mfbai.plots import plot_pilot
    >>> problem = Problem(["old", "new"], [1, 50], None, Symmetric(0, 10), fidelities=["draft", "full"])
    >>> full = {"old": [4.3, 2.9, 4.8, 4.1, 3.4, 5.2, 3.8, 4.5], "new": [5.4, 5.1, 4.2, 6.3, 5.8, 4.6, 5.5, 4.9]}
    >>> rows = [(arm, "full", seed, x) for arm in full for seed, x in enumerate(full[arm])]
    >>> rows += [(arm, "draft", seed, round(x)) for arm, _, seed, x in rows]
    >>> plot_pilot(pilot(rows, problem), "pilot.png")
    """
    if not hasattr(pilot, "pairs"):
        raise InvalidInput([Fault("pilot", f"is {pilot!r:.60}: give what mfbai.pilot returns")])
    with style.figure(path, size_of(pilot)) as figure:
        draw_panels(figure, pilot)


@draw.register(Pilot)
def picture_of_pilot(pilot: Pilot) -> Figure:
    """The same picture, to be shown."""
    with style.drawing(size_of(pilot)) as figure:
        draw_panels(figure, pilot)
    lower, top = " and ".join(map(repr, pilot.fidelities[:-1])), pilot.fidelities[-1]
    figure.alt = f"Values at {top!r} against those at {lower}, at the same seeds."
    return figure


def size_of(pilot: Pilot) -> tuple[float, float]:
    return max(WIDTH * (len(pilot.fidelities) - 1), 6.0) + 1.5, HEIGHT


def draw_panels(figure: Figure, pilot: Pilot) -> None:
    panels = figure.subplots(1, len(pilot.fidelities) - 1, squeeze=False)[0]
    for n, axes in enumerate(panels):
        points = draw_points(axes, pilot, n)
    style.legend(panels[-1], points[:MOST_NAMED], loc="upper left", bbox_to_anchor=(1.0, 1.0))
    panels[0].set_ylabel(pilot.fidelities[-1], parse_math=False)


def draw_points(axes: Axes, pilot: Pilot, n: int) -> list[tuple[str, Artist]]:
    """One panel; returns each arm with its points, for the legend."""
    name, values = pilot.fidelities[n], pilot.pairs.values
    drawn: list[tuple[str, Artist]] = []
    for arm, own, colour, marker in zip(pilot.arms, values, cycle(style.COLOURS), cycle(MARKERS), strict=False):
        drawn.append((arm, axes.scatter(own[:, n], own[:, -1], color=colour, marker=marker, s=28, alpha=0.85)))
    axes.set_xlabel(name, parse_math=False)
    axes.set_title(f"correlation {share(values[:, :, n], values[:, :, -1]):.2g}", pad=8)
    return drawn
