"""What analyses found, as notebooks show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai import html
from mfbai.analysis import sentences
from mfbai.analysis.pilot import SHOWN_LEVEL
from mfbai.analysis.rows import CONTROLS, bias_rows, control_rows, largest, share_row
from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.analysis.oracle import Oracle
    from mfbai.analysis.pilot import Pilot

EXAMPLE = 0.01  # a risk for which the bound is said


def oracle_as_html(found: Oracle) -> str:
    problem = found.problem
    if found.cost_complexity == 0:
        told = "Oracle: nothing needs to be evaluated. No arm can be better than another by the tolerance."
        return html.whole(html.heading(told))
    cost = f"C* = {found.cost_complexity:.7g}, {sentences.certified(found)}."
    bound = digits(found.lower_bound(EXAMPLE))
    parts = [
        html.heading(f"Oracle: the answer is {html.named(problem.arms[found.best])!r}. {cost}"),
        html.sentence(sentences.NORMAL if found.assumes_normal else ""),
        html.sentence(f"At delta = {EXAMPLE:g}, C* ln(1 / (2.4 delta)) is {bound}."),
    ]
    return html.whole(*parts, _shares(found))


def _shares(found: Oracle) -> html.Html:
    weights, problem = found.weights, found.problem
    arms = largest(weights.sum(axis=1), html.SHOWN)
    columns = largest(weights.sum(axis=0), html.SHOWN_COLUMNS)
    rows = []
    for arm in arms:
        name = html.named(problem.arms[arm])
        label = html.strong(f"{name} (the answer)") if arm == found.best else name
        rows.append([label, *share_row(found, arm, columns)])
    headings = ["arm", *(html.named(problem.fidelities[m]) for m in columns), "use"]
    missing = [html.more(len(weights), len(arms), "arms"), html.more(weights.shape[1], len(columns), "fidelities")]
    told = "; ".join(filter(None, missing))
    return html.table("The optimal share of the cost, in %", headings, rows, f"{told} of smaller share" if told else "")


def pilot_as_html(pilot: Pilot) -> str:
    onward = pilot.onward()
    lower = [html.named(name) for name in pilot.fidelities[:-1]]
    caption = f"Control of {html.named(pilot.fidelities[-1])!r} ({sentences.brackets(onward)})"
    biases = bias_rows(pilot, SHOWN_LEVEL, html.SHOWN)
    hidden = html.more(pilot.given.n_arms, len(biases), "arms")
    pays = sentences.common_seeds(onward)
    return html.whole(
        html.heading(f"Pilot: {onward.advice}"),
        html.sentence(sentences.size(pilot)),
        html.notes(onward.assumptions),
        html.table(caption, CONTROLS, control_rows(onward)),
        html.table(f"Bias ({sentences.hold(pilot, SHOWN_LEVEL)})", ["arm", *lower], biases, hidden),
        html.sentence(f"Do common seeds pay? {pays}." if pays else ""),
    )
