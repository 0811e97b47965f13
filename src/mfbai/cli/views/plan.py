"""A plan as people read it: the answer first, then the tables, and what their rows and columns mean."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import fill, indent
from typing import TYPE_CHECKING

from mfbai.cli.output import console
from mfbai.planning import sentences

if TYPE_CHECKING:
    from rich.table import Table

    from mfbai.planning import Plan

WIDTH = 100  # at most
NAME = 22  # letters of a name or heading in a line of a table
GAP = 2  # between columns


def print_plan(plan: Plan, rate: float | None) -> None:
    from rich.markup import escape

    out = console()
    width = min(out.width, WIDTH)

    def show(heading: str, table: sentences.Table, notes: list[str]) -> None:
        out.print(f"\n[bold]{escape(heading)}[/bold]", width=width)
        for part in Rows(table).parts(width):
            out.print(part, crop=False)
        for note in notes:
            out.print(indent(fill(note, width - 2, break_on_hyphens=False), "  "), style="dim", markup=False)

    for told, main in sentences.opening(plan):
        out.print(escape(told), width=width, style="bold" if main else "")
    show(sentences.cost_heading(plan), sentences.cost_table(plan), sentences.cost_notes(plan))
    if rate is not None:
        show(f"How long that takes at a cost of {rate:g} per hour", sentences.time_table(plan, rate), [])
    if plan.problem.n_fidelities > 1:
        show(sentences.WORTH_HEADING, sentences.worth_table(plan), sentences.worth_notes(plan))


class Rows:
    """A table that never cuts a figure: where there is no room, its columns are stacked."""

    def __init__(self, table: sentences.Table) -> None:
        self.headings = [fill(heading, NAME) for heading in table.headings]
        self.rows = [([fill(name, NAME), *cells], bold) for (name, *cells), bold in table.rows]

    def parts(self, width: int) -> list[Table]:
        """Tables of the columns that fit side by side; all in one, with ranges on their own lines if that helps."""
        for between in (" (", "\n("):
            rows = [([row[0], *(cell.replace(" (", between) for cell in row[1:])], bold) for row, bold in self.rows]
            widths = [widest(column) for column in zip(self.headings, *(row for row, _ in rows), strict=True)]
            groups = side_by_side(widths, width)
            if len(groups) == 1:
                break
        return [self._table(rows, widths, [0, *group]) for group in groups]

    def _table(self, rows: list[tuple[list[str], bool]], widths: list[int], chosen: list[int]) -> Table:
        from rich.table import Table
        from rich.text import Text

        table = Table(box=None, header_style="bold", pad_edge=False)
        table.width = sum(widths[n] for n in chosen) + GAP * (len(chosen) - 1)  # also if the terminal is narrower
        for n in chosen:
            heading = self.headings[n]
            table.add_column(Text(heading), justify="right" if n and heading else "left", no_wrap=True)
        for row, bold in rows:
            table.add_row(*(Text(row[n]) for n in chosen), style="bold" if bold else "")
        return table


def widest(column: Sequence[str]) -> int:
    from rich.cells import cell_len

    return max(cell_len(line) for cell in column for line in cell.split("\n"))


def side_by_side(widths: Sequence[int], room: int) -> list[list[int]]:
    """The columns after the first, in groups that fit into the room together with it.

    >>> side_by_side([10, 20, 20, 20], room=60)
    [[1, 2], [3]]
    """
    groups: list[list[int]] = []
    for n in range(1, len(widths)):
        if groups and widths[0] + sum(GAP + widths[m] for m in (*groups[-1], n)) <= room:
            groups[-1].append(n)
        else:
            groups.append([n])
    return groups
