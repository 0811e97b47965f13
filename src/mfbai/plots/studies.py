"""A study in pictures: the evidence against each rival, the arms' intervals, what was spent, and the course of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai.plots import style
from mfbai.plots.shares import beside, draw_pieces, height_of, in_lines, name_rows, not_shown, shortened
from mfbai.text import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mfbai.study.history import Point
    from mfbai.study.status import Status

WIDTH = 6.4  # inches of a panel
ROOM = 0.3  # of the width, for the name of a leader
EMPTY = "no results yet"


def picture_of_study(
    status: Status, shown: Sequence[int], kinds: Sequence[str], points: Sequence[Point] = ()
) -> Figure:
    """A panel for each kind, with rows for the arms that are shown."""
    rows = 2 if len(kinds) > 3 else 1
    columns = -(-len(kinds) // rows)
    height = max(height_of(len(shown)), 3.6) + 0.4
    with style.drawing((WIDTH * columns + (2.0 if len(kinds) == 1 else 0.0), height * rows)) as figure:
        panels = figure.subplots(rows, columns, squeeze=False).ravel()
        told = [_draw(axes, kind, status, list(shown), points) for axes, kind in zip(panels, kinds, strict=True)]
        if len(kinds) > 1:
            figure.suptitle(shortened(status.name), x=0.01, ha="left", fontweight="bold").set_parse_math(False)
    figure.alt = f"Study {status.name!r}. {' '.join(told)}"
    return figure


def _draw(axes: Axes, kind: str, status: Status, shown: list[int], points: Sequence[Point]) -> str:
    """Draws a panel, and returns what it shows in words."""
    if kind == "history":
        return draw_history(axes, status, points)
    draw: Callable[[Axes, Status, list[int]], str] = {
        "evidence": draw_evidence,
        "intervals": draw_intervals,
        "spend": draw_spend,
    }[kind]
    return draw(axes, status, shown)


def draw_evidence(axes: Axes, status: Status, shown: list[int]) -> str:
    """A bar for each rival; one that reaches the line is ruled out."""
    rivals = [a for a in shown if a != status.leader_index]
    names, needed = [status.problem.arms[a] for a in rivals], status.needed
    _title(axes, "Evidence against each rival")
    axes.set_xlabel("proof, ln E" + not_shown(status.problem.n_arms, len(shown)))
    if status.leader is None:
        return _nothing(axes, "Evidence")
    values = np.maximum(status.evidence[rivals], 0.0)
    finite = values[np.isfinite(values)]
    end = 1.1 * max(float(finite.max(initial=0.0)), needed)
    drawn = np.minimum(values, end)
    done = values >= needed
    bars: Any = axes.barh(range(len(rivals)), drawn, height=0.7, color=np.where(done, style.GREEN, style.SKY).tolist())
    for row, (bar, value, ready) in enumerate(zip(bars, values, done, strict=True)):
        bar.set_hatch("" if ready else "////")
        bar.set_edgecolor("white")
        beside(axes, min(value, end), row, f"{_proof(value)}{' ✓' * bool(ready)}")
    axes.axvline(needed, color=style.BLACK, linewidth=1.6, linestyle=(0, (4, 2)))
    above = axes.get_xaxis_transform()
    axes.annotate(f"needed: {_proof(needed)}", (needed, 1.0), (0, 4), above, "offset points", ha="center", fontsize=10)
    axes.set_xlim(0, 1.2 * end)
    name_rows(axes, names)
    told = ", ".join(f"{name!r} {_proof(value)}" for name, value in zip(names, values, strict=True))
    return f"Evidence against each rival of {status.leader!r}, of {_proof(needed)} needed: {told}."


def draw_intervals(axes: Axes, status: Status, shown: list[int]) -> str:
    """A line for each arm; with common seeds, of which only differences are known, one for each rival's difference."""
    common = status.problem.seeds == "common"
    arms = [a for a in shown if not (common and a == status.leader_index)]
    what = f"{100 * (1 - status.delta):g} % intervals"
    _title(axes, f"{'Leader minus rival' if common else 'True means'}, {what}")
    axes.set_xlabel("difference" if common else "true mean")
    table = status.differences if common else status.intervals
    told = []
    for row, a in enumerate(arms):
        low, high = table[a].tolist()
        leads = a == status.leader_index
        colour = style.BLACK if leads else style.BLUE
        if np.isfinite(high - low) and low <= high:
            axes.plot(
                [low, high], [row, row], color=colour, linewidth=3.5, marker="|", markersize=11, markeredgewidth=2
            )
            told.append(f"{status.problem.arms[a]!r} {digits(low)} to {digits(high)}")
        if not common and status.counts[a, -1]:
            axes.plot(status.means[a, -1], row, "D", color=colour, markeredgecolor="white", markersize=8)
    name_rows(axes, [status.problem.arms[a] for a in arms], status.leader)
    if not told:
        return _nothing(axes, "Intervals", "none is known yet")
    if not common:
        axes.annotate(f"◆ mean at “{shortened(status.problem.fidelities[-1])}”", (0, 1), (0, 4), "axes fraction",
                      "offset points", fontsize=10, parse_math=False)  # fmt: skip
    return f"{'Differences' if common else 'True means'}, {what}: {', '.join(told)}."


def draw_spend(axes: Axes, status: Status, shown: list[int]) -> str:
    """What the results of each arm cost, by fidelity."""
    problem = status.problem
    _title(axes, f"Spent: {digits(status.cost)}")
    axes.set_xlabel("cost" + not_shown(problem.n_arms, len(shown)))
    if not status.spent.any():
        return _nothing(axes, "Spent")
    draw_pieces(axes, [problem.arms[a] for a in shown], status.spent[shown], problem.fidelities, digits)
    told = ", ".join(f"{problem.arms[a]!r} {digits(float(status.spent[a].sum()))}" for a in shown)
    return f"Spent on each arm: {told}."


def draw_history(axes: Axes, status: Status, points: Sequence[Point]) -> str:
    """The least evidence over the cost, and who led."""
    from matplotlib.patheffects import withStroke

    _title(axes, "The course of the proof")
    axes.set_xlabel("cost")
    axes.set_ylabel("least evidence, ln E")
    led = [point for point in points if point.leader is not None]
    if not led:
        return _nothing(axes, "History")
    costs = [point.cost for point in led]
    finite = [point.evidence for point in led if np.isfinite(point.evidence)]
    end = 1.1 * max([*finite, status.needed])
    evidence = [min(max(point.evidence, 0.0), end) for point in led]
    axes.plot(costs, evidence, color=style.BLUE)
    axes.axhline(status.needed, color=style.BLACK, linewidth=1.6, linestyle=(0, (4, 2)))
    beside = axes.get_yaxis_transform()
    told = f"needed: {_proof(status.needed)}"
    axes.annotate(told, (0.01, status.needed), (0, 4), beside, "offset points", fontsize=10)
    halo = withStroke(linewidth=3, foreground="white")  # the curve may pass behind a name
    for n in changes_of(led):
        leader = led[n].leader
        assert leader is not None
        axes.plot(costs[n], evidence[n], "o", color=style.RED, markersize=7, markeredgecolor="white", clip_on=False)
        name = f"{in_lines(status.problem.arms[leader])} leads"
        label = axes.annotate(name, (costs[n], evidence[n]), (3, 7), textcoords="offset points", parse_math=False)
        label.set(fontsize=10, path_effects=[halo])
    axes.set_ylim(0, 1.08 * end)
    axes.set_xlim(left=0)
    return f"The least evidence is {_proof(evidence[-1])} of {_proof(status.needed)} at a cost of {digits(costs[-1])}."


def changes_of(led: Sequence[Point]) -> list[int]:
    """Where the leader changed, the last time first; not where there is no room for a name."""
    found: list[int] = []
    for n in range(len(led) - 1, -1, -1):
        changed = n == 0 or led[n].leader != led[n - 1].leader
        if changed and not (found and led[found[-1]].cost - led[n].cost < ROOM * led[-1].cost):
            found.append(n)
    return found


def _proof(evidence: float) -> str:
    """As in the tables of a status."""
    return f"{evidence:.2f}" if np.isfinite(evidence) else "certain"


def _title(axes: Axes, told: str) -> None:
    axes.set_title(told, pad=20, fontsize=12.5).set_parse_math(False)


def _nothing(axes: Axes, what: str, why: str = EMPTY) -> str:
    axes.text(0.5, 0.5, why, transform=axes.transAxes, ha="center", va="center", color=style.FAINT)
    axes.set_xticks([])
    axes.set_yticks([])
    return f"{what}: {why}."
