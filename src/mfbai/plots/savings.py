"""The plan's picture: what each fidelity saves, by how far the best arm is ahead."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from mfbai.errors import Fault, InvalidInput
from mfbai.plots import style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from mfbai.planning.results import Plan, Savings


def plot_plan(plan: Plan, path: str | Path) -> None:
    """Save a picture of `plan.savings()`: how many times cheaper the other fidelities make it, against the gap.

    plan  a `Plan`
    path  of the file, whose ending says what it is (.png, .svg, .pdf)

    >>> from mfbai import Gaussian, Guess, Problem, plan
    >>> from mfbai.plots import plot_plan
    >>> problem = Problem(3, costs=[0.05, 5], biases=[0.03, 0], family=Gaussian(0.01), fidelities=["coarse", "fine"])
    >>> plot_plan(plan(problem, Guess(gap=0.13)), "savings.png")
    """
    if not hasattr(plan, "savings"):
        raise InvalidInput([Fault("plan", f"is {plan!r}: give what mfbai.plan returns")])
    check(plan)
    with style.picture(path) as axes:
        draw_all(axes, plan)


def picture_of_plan(plan: Plan) -> Figure:
    """The same picture, to be shown."""
    check(plan)
    with style.drawing() as figure:
        draw_all(figure.subplots(), plan)
    top = plan.problem.fidelities[-1]
    figure.alt = f"How many times cheaper other fidelities make it than {top!r} alone, by how far the best is ahead."
    return figure


def check(plan: Plan) -> None:
    if plan.problem.n_fidelities == 1:
        raise InvalidInput([Fault("plan", "has one fidelity: there is no saving to draw")])


def draw_all(axes: Axes, plan: Plan) -> None:
    drawn = draw_lines(axes, plan.savings())
    mark_guess(axes, plan)
    name_everything(axes, plan, drawn)


def draw_lines(axes: Axes, savings: Savings) -> list[tuple[str, Artist]]:
    """Draws them, and returns each with what the legend is to say of it."""
    *lower, everything = savings.factors
    gaps, together = savings.gaps, savings.factors[everything]
    drawn: list[tuple[str, Artist]] = []
    looks = zip(cycle(style.COLOURS), cycle(style.DASHES), strict=False)
    for name, (colour, dashes) in zip(lower if len(lower) > 1 else [], looks, strict=False):
        (line,) = axes.plot(gaps, savings.factors[name][:, 0], color=colour, linestyle=dashes)
        drawn.append((name, line))
    label = "all together" if len(lower) > 1 else lower[0]
    (line,) = axes.plot(gaps, together[:, 0], color=style.BLACK, linewidth=3)
    drawn.append((label, line))
    if (together[:, 2] > together[:, 1]).any():
        band = axes.fill_between(gaps, together[:, 1], together[:, 2], color=style.BLACK, alpha=0.12, linewidth=0)
        drawn.append(("middle 80 % of possible truths", band))
    axes.set_xscale("log")
    axes.set_xlim(gaps[0], gaps[-1])
    style.plain_log_ticks(axes.xaxis)
    style.times_axis(axes, highest=float(together[:, 2].max()))
    return drawn


def mark_guess(axes: Axes, plan: Plan) -> None:
    """Above the axes: the gap that was guessed, and its range. There is none if arms tie."""
    if plan.gap.median == 0:
        return
    above, gap = axes.get_xaxis_transform(), plan.gap
    axes.axvline(gap.median, color=style.FAINT, linewidth=1.5, linestyle=":", zorder=1)
    least, greatest = axes.get_xlim()
    ends = [max(gap.low, least), min(gap.high, greatest)]
    axes.plot(ends, [1.0, 1.0], transform=above, color=style.FAINT, linewidth=4, solid_capstyle="butt", clip_on=False)
    text = "your guess" if plan.source == "guess" else "this instance"
    axes.annotate(text, (gap.median, 1.0), (0, 5), above, "offset points", ha="center", color=style.FAINT)


def name_everything(axes: Axes, plan: Plan, drawn: list[tuple[str, Artist]]) -> None:
    top = plan.problem.fidelities[-1]
    title = axes.set_title(f"How much cheaper than “{top}” alone?")
    axes.set_xlabel("gap: how far the best arm is ahead of the second")
    axes.set_ylabel("times cheaper, at best")
    style.legend(axes, drawn, loc="upper left", title=f"“{top}” together with", alignment="left")
    title.set_parse_math(False)  # a "$" in a name is no formula
