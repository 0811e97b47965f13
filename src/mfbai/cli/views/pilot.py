"""A pilot as people read it: what to do first, then what it rests on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai.analysis import sentences
from mfbai.analysis.controls import states_variances
from mfbai.analysis.pilot import SHOWN_LEVEL
from mfbai.analysis.rows import CONTROLS, bias_rows, control_rows
from mfbai.cli.output import console

if TYPE_CHECKING:
    from rich.table import Table

    from mfbai.analysis.onward import Onward
    from mfbai.analysis.pilot import Pilot

SHOWN = 20  # arms


def print_pilot(onward: Onward) -> None:
    from rich.markup import escape

    pilot, out = onward.pilot, console()
    out.print(f"[bold]{escape(onward.advice)}[/bold]", soft_wrap=True)
    out.print(sentences.size(pilot))
    for line in onward.assumptions:
        out.print(escape(line), soft_wrap=True)
    out.print(f"\n[bold]Control of {escape(repr(pilot.fidelities[-1]))}[/bold] ({sentences.brackets(onward)})")
    out.print(controls(onward))
    if onward.variances is None and states_variances(pilot.given):
        out.print("If the variance of controlled values is stated, too; --variances 0.01 takes it from the pilot.")
    level = onward.bounds or SHOWN_LEVEL
    out.print(f"\n[bold]Bias[/bold] ({sentences.hold(pilot, level)})", soft_wrap=True)
    out.print(biases(pilot, level))
    if pilot.between_arms is not None:
        out.print(f"\n[bold]Do common seeds pay?[/bold] {sentences.common_seeds(onward)}", soft_wrap=True)


def controls(onward: Onward) -> Table:
    """A line for each fidelity below the top."""
    table = _table(*CONTROLS)
    for row in control_rows(onward):
        table.add_row(*row)
    return table


def biases(pilot: Pilot, level: float) -> Table:
    """Arms by fidelities."""
    table = _table("arm", *pilot.fidelities[:-1])
    for row in bias_rows(pilot, level, SHOWN):
        table.add_row(*row)
    if pilot.given.n_arms > SHOWN:
        table.add_row(f"and {pilot.given.n_arms - SHOWN} more arms")
    return table


def _table(first: str, *others: str) -> Table:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column(Text(first))
    for heading in others:
        table.add_column(Text(heading), justify="right" if heading else "left")
    return table
