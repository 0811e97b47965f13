"""What strategies cost on an instance: the runs, their middle, their mean, and the least that any can cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, floor, log10
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mfbai.analysis.oracle import oracle
from mfbai.errors import Faults
from mfbai.pictures import draw
from mfbai.plots import style
from mfbai.plots.looks import Look, looks
from mfbai.simulation import Runs
from mfbai.simulation.confidence import half_width
from mfbai.text import digits

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Array = NDArray[np.float64]
ACROSS = 3  # panels in a row
FAR = 30.0  # times: a lower bound that is less than the least cost by more would take all the room
WIDE = 8.0  # times: costs that differ by more are drawn on a logarithmic axis
DOTS = 400  # at most, and as many open marks; of more runs, these are spread evenly from the least to the most costly
FEW_DOTS = 50  # runs up to which they can be large
FEW = 8  # fewer runs have no shape to speak of
BINS = 400
GOLDEN = (5**0.5 - 1) / 2  # its multiples modulo 1 fill an interval evenly: jitter, the same every time
# Heights in a row, of which there is one for each strategy, downwards: the shape stands on the box, dots are below.
SHAPE, FOOT, BOX, DOTS_FROM, DOTS_TO = -0.46, -0.1, 0.055, 0.14, 0.38


class Sample(NamedTuple):
    """What runs of a strategy cost."""

    strategy: str
    costs: Array  # (runs,) if a run did not stop, what it had spent
    stopped: NDArray[np.bool_]  # (runs,)
    note: str = ""  # to go under the name

    @property
    def mean(self) -> float:
        return float(self.costs.mean())

    @property
    def ci95(self) -> float:
        """Half the width of the mean's 95 % confidence interval; 0 for one run."""
        return float(np.nan_to_num(half_width(self.costs)))

    @property
    def given_up(self) -> int:
        return int((~self.stopped).sum())


class Panel(NamedTuple):
    heading: str
    samples: Sequence[Sample]
    bound: float | None  # on the cost


def plot_costs(runs: Sequence[Runs], path: str | Path | Sequence[str | Path]) -> None:
    """Save a picture of how costs are distributed, for strategies on one instance; a panel for each delta.

    runs  `Runs` of each strategy
    path  of the file, whose ending says what it is (.png, .svg, .pdf); or several

    >>> from mfbai import simulate
    >>> from mfbai.plots import plot_costs
    >>> plot_costs([simulate("paper-5x2", name, delta=0.1, runs=20) for name in ("race", "uniform")], "costs.png")
    """
    check(runs)
    plot_panels(name_of(runs[0]), panels_of(runs), path)


@draw.register(Runs)
def draw_runs_alone(runs: Runs) -> Figure:
    """The same picture of one strategy, to be shown."""
    check([runs])
    panels = panels_of([runs])
    with style.drawing(size_of(panels)) as figure:
        draw_panels(figure, name_of(runs), panels)
    means = ", ".join(f"{panel.heading}: mean {digits(panel.samples[0].mean)}" for panel in panels)
    figure.alt = f"What runs of {runs.strategy} on {name_of(runs)} cost. {means}."
    return figure


def name_of(runs: Runs) -> str:
    return runs.instance.name or "instance"


def panels_of(runs: Sequence[Runs]) -> list[Panel]:
    """One for each delta."""
    found = oracle(runs[0].instance)
    return [
        Panel(heading(delta, *common(runs)), samples_of(runs, level), found.lower_bound(delta))
        for level, delta in enumerate(np.atleast_1d(runs[0].delta).tolist())
    ]


def plot_panels(name: str, panels: Sequence[Panel], path: str | Path | Sequence[str | Path]) -> None:
    """The same from samples: panels of the same strategies, with one axis."""
    with style.figure(path, size_of(panels)) as figure:
        draw_panels(figure, name, panels)


def layout_of(panels: Sequence[Panel]) -> tuple[int, int]:
    """Rows and columns."""
    columns = min(len(panels), ACROSS)
    return ceil(len(panels) / columns), columns


def size_of(panels: Sequence[Panel]) -> tuple[float, float]:
    rows, columns = layout_of(panels)
    return 2.0 + 5.6 * columns, 1.2 + rows * (1.2 + 0.75 * len(panels[0].samples))


def draw_panels(figure: Figure, name: str, panels: Sequence[Panel]) -> None:
    together = [sample for panel in panels for sample in panel.samples]
    bounds = [panel.bound or None for panel in panels]  # 0 bounds nothing
    span = span_of(together, bounds)
    every = figure.subplots(*layout_of(panels), sharey=True, squeeze=False).ravel()
    for axes in every[len(panels) :]:
        axes.remove()
    for axes, panel, bound in zip(every, panels, bounds, strict=False):
        draw_costs(axes, panel.samples, bound, span)
        axes.set_title(panel.heading, fontsize=12, fontweight="normal")
    name_everything(figure, name, together)


def check(runs: Any) -> None:
    faults = Faults()
    if not isinstance(runs, Sequence) or not runs:
        faults.add("runs", f"is {runs!r}: give a list of what mfbai.simulate returns")
        runs = []
    first = next((each for each in runs if isinstance(each, Runs)), None)
    for k, each in enumerate(runs):
        if not isinstance(each, Runs):
            faults.add(f"runs[{k}]", f"is {each!r}: give what mfbai.simulate returns")
            continue
        assert first is not None
        if len(each) == 0:
            faults.add(f"runs[{k}]", "has no run: there is nothing to draw")
        if each.instance != first.instance:
            faults.add(f"runs[{k}]", "is of another instance than those before: draw one instance at a time")
        if each.delta != first.delta:
            faults.add(f"runs[{k}]", f"has delta {each.delta}, and others have {first.delta}: draw the same ones")
    faults.raise_if_any("call")


def samples_of(runs: Sequence[Runs], level: int) -> list[Sample]:
    """Those of one delta."""
    rule, count = common(runs)
    samples = []
    for each in runs:
        notes = [f"{each.stopping} rule"] * (each.stopping != rule) + [counted(len(each))] * (len(each) != count)
        shape = (len(each), -1)  # (runs,) if there is one delta
        costs, stopped = each.costs.reshape(shape)[:, level], each.stopped.reshape(shape)[:, level]
        samples.append(Sample(each.strategy, costs, stopped, ", ".join(notes)))
    return samples


def common(runs: Sequence[Runs]) -> tuple[str | None, int | None]:
    """The stopping rule and the number of runs, if all have the same; a rule of a strategy's own is noted there."""
    rules, counts = {each.stopping for each in runs} - {"own"} or {"own"}, {len(each) for each in runs}
    return rules.pop() if len(rules) == 1 else None, counts.pop() if len(counts) == 1 else None


def heading(delta: float, rule: str | None, count: int | None) -> str:
    told = [f"delta = {delta:g}", counted(count) if count else "", f"{rule} rule" if rule else ""]
    return ", ".join(filter(None, told))


def counted(runs: int) -> str:
    return f"{runs:,} run{'s' * (runs > 1)}"


def draw_costs(
    axes: Axes,
    samples: Sequence[Sample],
    bound: float | None,
    span: tuple[float, float] | None = None,
    label: str = "cost",
) -> None:
    """A row for each sample, and the lower bound, if there is one; the mean costs are printed at the right.

    The axis is from the least to the greatest cost, or those of the `span`, if other axes are to have the same.
    """
    log = cost_axis(axes, *(span or span_of(samples, [bound])))
    for row, (sample, look) in enumerate(zip(samples, looks(each.strategy for each in samples), strict=True)):
        draw_runs(axes, sample, row, look)
        if not sample.given_up:  # else the distribution of costs is not known
            draw_shape(axes, sample.costs, row, look, log)
            draw_box(axes, sample.costs, row, look)
        draw_mean(axes, sample, row)
    if bound is not None:
        mark_bound(axes, bound)
    names = [fill(sample.strategy, 20) + f"\n({sample.note})" * bool(sample.note) for sample in samples]
    axes.set_yticks(range(len(samples)), names, parse_math=False)
    axes.set_ylim(len(samples) - 0.5, -0.55)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.set_xlabel(label)
    above = axes.transAxes
    axes.annotate("mean ± 95 %", (1.0, 1.0), (8, 5), above, "offset points", color=style.FAINT, fontsize=11)


def span_of(samples: Sequence[Sample], bounds: Sequence[float | None]) -> tuple[float, float]:
    """The least and the greatest that there is to draw."""
    lows = [float(sample.costs.min()) for sample in samples]
    highs = [float(sample.costs.max()) for sample in samples]
    ends = [*lows, *highs, *(bound for bound in bounds if bound is not None and bound > min(lows) / FAR)]
    return min(ends), max(ends)


def cost_axis(axes: Axes, low: float, high: float) -> bool:
    """Sets it, and returns whether it is logarithmic."""
    log = low > 0 and high / low > WIDE
    axes.set_xscale("log" if log else "linear")
    if log:
        margin = (high / low) ** 0.04
        axes.set_xlim(low / margin, high * margin)
        style.spaced_log_ticks(axes.xaxis, low, high)
    else:
        margin = 0.05 * (high - low) or 0.5 * abs(high) or 1.0
        axes.set_xlim(low - margin, high + margin)
        axes.xaxis.set_major_formatter(lambda value, _: style.plain(value))
    return log


def draw_shape(axes: Axes, costs: Array, row: int, look: Look, log: bool) -> None:
    """The smoothed distribution, if there is enough to smooth; every one is as high as the others."""
    values = np.log(costs) if log else costs
    quarter, three = np.quantile(values, [0.25, 0.75])
    spread = min(float(values.std()), (three - quarter) / 1.34 or np.inf)
    if len(costs) < FEW or spread <= 1e-9 * np.abs(values).max():
        return
    counts, edges = np.histogram(values, BINS)
    width = edges[1] - edges[0]
    bandwidth = max(0.9 * spread * len(costs) ** -0.2, width)  # Silverman's
    kernel = np.exp(-0.5 * (np.arange(-BINS, BINS + 1) * width / bandwidth) ** 2)
    height = np.convolve(counts, kernel)[BINS:-BINS]
    top = row + FOOT + (SHAPE - FOOT) * height / height.max()
    at = edges[:-1] + width / 2
    at = np.exp(at) if log else at
    filled = axes.fill_between(at, row + FOOT, top, facecolor=look.colour, alpha=0.35, linewidth=0)
    if look.hatch:
        filled.set(hatch=look.hatch, edgecolor=look.colour)
    outline = [[at[0], *at, at[-1]], [row + FOOT, *top, row + FOOT]]
    axes.plot(*outline, color=look.colour, linewidth=1.2)


def draw_runs(axes: Axes, sample: Sample, row: int, look: Look) -> None:
    """A dot for each run, or an open mark that points on if it did not stop."""
    size, alpha = (7, 0.35) if len(sample.costs) > FEW_DOTS else (24, 0.8)
    dots: dict[str, Any] = {"s": size, "color": look.colour, "alpha": alpha, "linewidths": 0}
    marks: dict[str, Any] = {"marker": ">", "s": 22, "facecolors": "none", "edgecolors": look.colour, "linewidths": 0.8}
    for which, drawn in ((sample.stopped, dots), (~sample.stopped, marks)):
        numbers = np.flatnonzero(which)
        order = numbers[np.argsort(sample.costs[numbers], kind="stable")]
        chosen = order[np.linspace(0, len(order) - 1, min(len(order), DOTS)).round().astype(int)]
        heights = row + DOTS_FROM + (DOTS_TO - DOTS_FROM) * (chosen * GOLDEN % 1)
        axes.scatter(sample.costs[chosen], heights, **drawn)


def draw_box(axes: Axes, costs: Array, row: int, look: Look) -> None:
    """The middle half, with the median, on a line for the middle 90 %."""
    least, quarter, median, three, most = np.quantile(costs, [0.05, 0.25, 0.5, 0.75, 0.95])
    axes.plot([least, most], [row, row], color=look.colour, linewidth=1.4)
    box: dict[str, Any] = {"facecolor": "white", "edgecolor": look.colour, "linewidth": 1.6, "zorder": 2.5}
    axes.barh(row, three - quarter, 2 * BOX, quarter, **box)
    ends = [row - 1.8 * BOX, row + 1.8 * BOX]  # longer than the box is high, to be seen behind the mean
    axes.plot([median, median], ends, color=look.colour, linewidth=3, solid_capstyle="butt", zorder=2.6)


def draw_mean(axes: Axes, sample: Sample, row: int) -> None:
    """With its interval; of runs that did not all stop it is only known to be more than what they had spent."""
    mean, half = sample.mean, sample.ci95
    at, beside = (1.0, row), axes.get_yaxis_transform()
    if sample.given_up:
        told = f"≥ {digits(mean)}"
        count = f"{sample.given_up:,} of {len(sample.costs):,}\ndid not stop"
        axes.annotate(count, at, (8, -9), beside, "offset points", va="top", fontsize=9.5, color=style.RED)
    else:
        told = digits(mean, 4) if len(sample.costs) == 1 else with_error(mean, half)
        least, most = axes.get_xlim()
        ends = [max(mean - half, least), min(mean + half, most)]
        axes.plot(ends, [row, row], color=style.BLACK, linewidth=2, solid_capstyle="butt", zorder=3)
        look: dict[str, Any] = {"color": style.BLACK, "markersize": 5, "markeredgecolor": "white"}
        axes.plot(mean, row, "D", markeredgewidth=0.7, zorder=3.1, **look)
    axes.annotate(told, at, (8, 0), beside, "offset points", va="center", fontsize=12)


def with_error(value: float, half: float) -> str:
    """To the digits that are known.

    >>> with_error(104.527, 8.0), with_error(1134.2, 15.3), with_error(1234567.0, 23456.0), with_error(2.0, 0.0)
    ('104.5 ± 8.0', '1,134 ± 15', '1,235,000 ± 23,000', '2 ± 0')
    """
    if not 1e-4 * value < half < 1e9:
        return f"{digits(value, 4)} ± {digits(half, 2)}"
    places = 1 - floor(log10(half))
    return " ± ".join(f"{round(number, places):,.{max(places, 0)}f}" for number in (value, half))


def mark_bound(axes: Axes, bound: float) -> None:
    least, _ = axes.get_xlim()
    told, above = f"lower bound on the mean {digits(bound)}", axes.get_xaxis_transform()
    if bound < least:
        axes.annotate(f"← {told}", (least, 1.0), (0, 5), above, "offset points", fontsize=11)
        return
    axes.axvline(bound, color=style.BLACK, linewidth=1.6, linestyle=(0, (4, 2)), zorder=1)
    left = axes.transLimits.transform(axes.transScale.transform((bound, 0.0)))[0] < 0.5
    shift, side = ((-2, 5), "left") if left else ((2, 5), "right")  # over the axes, not over their ends
    axes.annotate(told, (bound, 1.0), shift, above, "offset points", ha=side, fontsize=11)


def name_everything(figure: Figure, name: str, samples: Sequence[Sample]) -> None:
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    grey = style.FAINT
    title = figure.suptitle(name, x=0.01, ha="left", fontsize=14, fontweight="bold")
    title.set_parse_math(False)
    key: list[tuple[str, Artist]] = [
        ("mean, 95 % interval", Line2D([], [], color=style.BLACK, marker="D", markersize=5, linewidth=2)),
        ("median", Line2D([], [], color=grey, marker="|", markersize=9, markeredgewidth=3, linestyle="none")),
        ("middle half", Patch(facecolor="white", edgecolor=grey, linewidth=1.6)),
        ("middle 90 %", Line2D([], [], color=grey, linewidth=1.4)),
        ("a run", Line2D([], [], color=grey, marker="o", markersize=3, linestyle="none")),
    ]
    if any(sample.given_up for sample in samples):
        open_mark = Line2D([], [], color=grey, marker=">", markersize=5, markerfacecolor="none", linestyle="none")
        key.append(("a run that did not stop", open_mark))
    names, artists = zip(*key, strict=True)
    columns = len(key) if len(key) < 6 or figure.get_figwidth() > 10 else 3
    figure.legend(artists, names, loc="outside lower left", ncols=columns, fontsize=10, handletextpad=0.5)
