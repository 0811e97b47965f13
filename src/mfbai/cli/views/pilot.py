"""A pilot as people read it: what to do first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai.analysis.controls import states_variances
from mfbai.analysis.pilot import SHOWN_LEVEL
from mfbai.cli.output import console
from mfbai.text import digits

if TYPE_CHECKING:
    from rich.table import Table

    from mfbai.analysis.onward import Onward
    from mfbai.analysis.paired_noise import Interval
    from mfbai.analysis.pilot import Pilot

SHOWN = 20  # arms
ANSWERS = {True: "yes", False: "no", None: "too few seeds to tell"}


def print_pilot(onward: Onward) -> None:
    from rich.markup import escape

    pilot, out = onward.pilot, console()
    out.print(f"[bold]{escape(onward.advice)}[/bold]", soft_wrap=True)
    arms = "1 arm" if len(pilot.arms) == 1 else f"{len(pilot.arms)} arms"
    out.print(f"{arms}, {pilot.seeds} seeds, at a cost of {digits(pilot.cost)}.")
    for line in onward.assumptions:
        out.print(escape(line), soft_wrap=True)
    what = ", of differences between arms" if onward.shares_seeds else ""
    out.print(f"\n[bold]Control of {escape(repr(pilot.fidelities[-1]))}[/bold] (in brackets, 80 % intervals{what})")
    out.print(controls(onward))
    if onward.variances is None and states_variances(pilot.given):
        out.print("If the variance of controlled values is stated, too; --variances 0.01 takes it from the pilot.")
    level = onward.bounds or SHOWN_LEVEL
    hold = f"all intervals hold at once with {100 * (1 - level):g} %, if differences are normal{unseen(pilot)}"
    out.print(f"\n[bold]Bias[/bold] ({hold})", soft_wrap=True)
    out.print(biases(pilot, level))
    if pilot.between_arms is not None:
        answer = ANSWERS[pilot.common_seeds_pay]
        if pilot.common_seeds_pay and not onward.shares_seeds:
            answer += ", but then no proof uses variances"
        told = f"{answer}; correlation of two arms at one seed {interval(pilot.between_arms)}"
        out.print(f"\n[bold]Do common seeds pay?[/bold] {told}", soft_wrap=True)


def controls(onward: Onward) -> Table:
    """A line for each fidelity below the top."""
    table = _table("by", "correlation", "other seeds", "coefficient", "cost", "deviation", "times cheaper", "")
    pilot = onward.pilot
    alone = float(pilot.given.costs[pilot.pairs.arms, -1].mean())
    for one in onward.controls:
        cells = [interval(one.correlation), f"{one.others}", digits(one.coefficient), digits(alone * one.cost)]
        table.add_row(one.fidelity, *cells, digits(one.deviation), interval(one.gain), one.verdict)
    noise = (pilot.deviations[:, -1] ** 2).mean() ** 0.5
    table.add_row(f"{pilot.fidelities[-1]} alone", "", "", "", digits(alone), digits(noise), "1", "")
    return table


def biases(pilot: Pilot, level: float) -> Table:
    """Arms by fidelities."""
    lower = pilot.fidelities[:-1]
    table = _table("arm", *lower)
    found = {(one.arm, one.fidelity): one for one in pilot.biases(level)}
    for arm in pilot.given.arms[:SHOWN]:
        cells = []
        for name in lower:
            one = found[arm, name]
            known = "" if one.estimate is None else f"{digits(one.estimate)} "
            cells.append(f"{known}({digits(one.low)} to {digits(one.high)})")
        table.add_row(arm, *cells)
    if pilot.given.n_arms > SHOWN:
        table.add_row(f"and {pilot.given.n_arms - SHOWN} more arms")
    return table


def unseen(pilot: Pilot) -> str:
    if not pilot.left_out:
        return ""
    return "; for arms left out, if their biases are drawn from the same normal law"


def interval(known: Interval) -> str:
    estimate, low, high = (digits(one, 2) for one in known)
    return f"{estimate} ({low} to {high})" if known.low < known.high else estimate


def _table(first: str, *others: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(Text(first))
    for heading in others:
        table.add_column(Text(heading), justify="right" if heading else "left")
    return table
