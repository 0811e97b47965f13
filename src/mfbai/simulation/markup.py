"""Runs as notebooks show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mfbai import html
from mfbai.simulation.rows import HEADINGS, row_of

if TYPE_CHECKING:
    from mfbai.simulation.runs import Runs


def runs_as_html(runs: Runs) -> str:
    name = html.named(runs.instance.name or "instance")
    best = html.named(runs.instance.arms[runs.instance.best])
    counted = f"{len(runs):,} run{'s' * (len(runs) != 1)}"
    told = f"{counted} of {runs.strategy} on {name}, best arm {best!r}"
    if not len(runs):
        return html.whole(html.heading(f"Runs: {told}."))
    table = html.table("Cost", HEADINGS, map(row_of, runs.records()))
    return html.whole(html.heading(f"Runs: {told}; {runs.stopping}, seed {runs.seed}."), table)
