"""A plan as notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai import html
from mfbai.planning import sentences

if TYPE_CHECKING:
    from mfbai.planning.results import Plan


def plan_as_html(plan: Plan) -> str:
    told = [html.heading(text) if main else html.sentence(text) for text, main in sentences.opening(plan)]
    costs = _table(sentences.cost_heading(plan), sentences.cost_table(plan))
    parts = [*told, costs, html.notes(sentences.cost_notes(plan))]
    if plan.problem.n_fidelities > 1:
        worth = _table(sentences.WORTH_HEADING, sentences.worth_table(plan))
        parts += [worth, html.notes(sentences.worth_notes(plan))]
    return html.whole(*parts)


def _table(caption: str, table: sentences.Table) -> html.Html:
    """The row to go by is set in bold."""
    rows = [[html.strong(cell) if main else cell for cell in row] for row, main in table.rows]
    return html.table(caption, table.headings, rows)
