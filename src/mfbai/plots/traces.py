"""How a strategy spreads its cost over the cells over time, against the optimal shares."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mfbai.checks import Cells
from mfbai.errors import Fault, Faults, InvalidInput
from mfbai.plots import style
from mfbai.simulation import Trace

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
MARKERS = "osX^DvP*<>phd"  # of the fidelities
MARKS = 8  # on a line
SMALL = 0.01  # a share too small to matter
NONE = 1e-6  # an optimal share that is 0, but for rounding


def plot_shares(
    trace: Trace, weights: ArrayLike, path: str | Path | Sequence[str | Path], title: str | None = None
) -> None:
    """Save a picture of the mean cost shares over time, beside the optimal ones.

    trace    a `Trace`
    weights  (K, M) the optimal shares: those of `mfbai.oracle`
    path     of the file, whose ending says what it is (.png, .svg, .pdf); or several
    title    above the picture; by default what was run

    >>> from mfbai import oracle, trace
    >>> from mfbai.plots import plot_shares
    >>> plot_shares(trace("paper-5x2", steps=1000, runs=10), oracle("paper-5x2").weights, "shares.png")
    """
    if not isinstance(trace, Trace):
        raise InvalidInput([Fault("trace", f"is {trace!r}: give what mfbai.trace returns")])
    faults, instance = Faults(), trace.instance
    optimal = Cells(faults, instance.arms, instance.fidelities).read("weights", weights, full=True)
    faults.raise_if_any("call")
    assert optimal is not None
    with style.picture(path, (9.5, 5.5)) as axes:
        draw_shares(axes, trace.steps, trace.mean, trace.ci95, optimal, instance.arms, instance.fidelities)
        runs = len(trace.shares)
        told = title or f"{trace.strategy} on {instance.name or 'instance'}"
        axes.set_title(f"{told}: where the cost goes", pad=12).set_parse_math(False)
        axes.set_ylabel(f"share of the cost, mean of {runs:,} runs" if runs > 1 else "share of the cost, one run")


def draw_shares(
    axes: Axes,
    steps: NDArray[np.int64],
    mean: Array,
    half: Array,
    weights: Array,
    arms: Sequence[str],
    fidelities: Sequence[str],
) -> None:
    """Lines with bands, mean ± half, (points, K, M), over the evaluations made; dashed the optimal weights (K, M).

    Colours are arms, markers are fidelities. Cells that end with next to nothing, as they should, are faint.
    """
    cells = list(product(range(len(arms)), range(len(fidelities))))
    important = np.maximum(mean[-1], weights) >= SMALL
    for number, (k, m) in enumerate(cells):
        look: dict[str, Any] = {"color": colour_of(k), "marker": marker_of(m), "markeredgecolor": "white"}
        look |= {"markeredgewidth": 0.6, "markevery": marks(steps, number / len(cells))}
        look |= {"zorder": 3} if important[k, m] else {"alpha": 0.3, "linewidth": 1.0, "markersize": 4.5}
        axes.plot(steps, mean[:, k, m], **({"markersize": 7.5} | look))
        band = mean[:, k, m] - half[:, k, m], mean[:, k, m] + half[:, k, m]
        axes.fill_between(steps, *band, color=colour_of(k), alpha=0.2 if important[k, m] else 0.06, linewidth=0)
    axes.set_xscale("log")
    axes.set_xlim(steps[0], max(steps[-1], steps[0] + 1))
    style.spaced_log_ticks(axes.xaxis, *axes.get_xlim())
    axes.set_ylim(0.0, 1.04 * min(1.0, max(float((mean + half).max()), float(weights.max()))))
    axes.yaxis.set_major_formatter(lambda share, _: f"{100 * share:g} %")
    axes.set_xlabel("evaluations")
    beside = (mark_optima(axes, weights) + 0.015, 1.02)
    key = explained(arms, fidelities, banded=bool((half > 0).any()))
    small = {"fontsize": 11 if len(key) < 16 else 9, "ncols": 1 + (len(key) - 1) // 24}
    style.legend(axes, key, loc="upper left", bbox_to_anchor=beside, **small)


def colour_of(arm: int) -> str:
    """Where there are more arms than colours, these come again, darker."""
    from matplotlib.colors import to_hex, to_rgb

    again, number = divmod(arm, len(style.COLOURS))
    red, green, blue = to_rgb(style.COLOURS[number])
    return to_hex((red * 0.5**again, green * 0.5**again, blue * 0.5**again))


def marker_of(fidelity: int) -> str:
    return MARKERS[fidelity % len(MARKERS)]


def marks(steps: NDArray[np.int64], shift: float) -> list[int]:
    """Indices of points about equally far apart on a logarithmic axis, shifted by a part of their distance."""
    logs = np.log(steps)
    wanted = logs[0] + (logs[-1] - logs[0]) * 0.97 * (np.arange(MARKS) + shift) / MARKS
    return sorted({int(np.abs(logs - at).argmin()) for at in wanted})


def mark_optima(axes: Axes, weights: Array) -> float:
    """Dashed lines, with the fidelities' markers at their ends; returns up to where these reach, in parts of the axes.

    Where lines fall together, the dashes of one are in the gaps of the others, and the markers side by side.
    """
    furthest = 1.0
    same = 0.006 * axes.get_ylim()[1]
    for k, m in np.argwhere(weights > NONE):
        together = np.argwhere((np.abs(weights - weights[k, m]) < same) & (weights > NONE)).tolist()
        place, count = together.index([k, m]), len(together)
        dashes = (8 * (count - place), (5, 8 * count - 5))
        axes.axhline(weights[k, m], color=colour_of(k), linewidth=1.4, linestyle=dashes, zorder=2)
        at, beside = 1.0 + min(0.02, 0.15 / count) * place, axes.get_yaxis_transform()
        open_mark: dict[str, Any] = {
            "marker": marker_of(m),
            "markersize": 7.5,
            "markerfacecolor": "white",
            "clip_on": False,
        }
        axes.plot(at, weights[k, m], color=colour_of(k), transform=beside, zorder=4, **open_mark)
        furthest = max(furthest, at)
    return furthest


def explained(arms: Sequence[str], fidelities: Sequence[str], banded: bool) -> list[tuple[str, Artist]]:
    """What colours, markers, dashes and bands are, for the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    grey = "#666666"
    key: list[tuple[str, Artist]] = [(name, Line2D([], [], color=colour_of(k), lw=4)) for k, name in enumerate(arms)]
    for m, name in enumerate(fidelities):
        key.append((name, Line2D([], [], color=grey, marker=marker_of(m), markersize=7.5, linestyle="none")))
    key.append(("optimal share", Line2D([], [], color=grey, linewidth=1.4, linestyle=(0, (5, 3)))))
    if banded:
        key.append(("95 % interval", Patch(color=grey, alpha=0.25, linewidth=0)))
    return [(fill(name, 22), artist) for name, artist in key]
