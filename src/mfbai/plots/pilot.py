"""The pilot's picture: what a cheap fidelity returns against what the true one does, at the same seed."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from mfbai.analysis.paired_noise import share
from mfbai.errors import Fault, InvalidInput
from mfbai.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from mfbai.analysis.pilot import Pilot

MARKERS = ("o", "s", "^", "D", "v", "P", "X")  # colours repeat after six: these are seven
MOST_NAMED = 12  # arms of which the legend has room for names
WIDTH, HEIGHT = 4.2, 4.8


def plot_pilot(pilot: Pilot, path: str | Path) -> None:
    """Save a picture: a panel for each fidelity below the top, a point for each arm and seed, a colour for each arm."""
    if not hasattr(pilot, "pairs"):
        raise InvalidInput([Fault("pilot", f"is {pilot!r:.60}: give what mfbai.pilot returns")])
    lower = pilot.fidelities[:-1]
    with style.figure(path, (max(WIDTH * len(lower), 6.0) + 1.5, HEIGHT)) as drawn:
        panels = drawn.subplots(1, len(lower), squeeze=False)[0]
        for n, axes in enumerate(panels):
            points = draw(axes, pilot, n)
        style.legend(panels[-1], points[:MOST_NAMED], loc="upper left", bbox_to_anchor=(1.0, 1.0))
        panels[0].set_ylabel(pilot.fidelities[-1], parse_math=False)


def draw(axes: Axes, pilot: Pilot, n: int) -> list[tuple[str, Artist]]:
    """One panel; returns each arm with its points, for the legend."""
    name, values = pilot.fidelities[n], pilot.pairs.values
    drawn: list[tuple[str, Artist]] = []
    for arm, own, colour, marker in zip(pilot.arms, values, cycle(style.COLOURS), cycle(MARKERS), strict=False):
        drawn.append((arm, axes.scatter(own[:, n], own[:, -1], color=colour, marker=marker, s=28, alpha=0.85)))
    axes.set_xlabel(name, parse_math=False)
    axes.set_title(f"correlation {share(values[:, :, n], values[:, :, -1]):.2g}", pad=8)
    return drawn
