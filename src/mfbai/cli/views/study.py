"""A study as people look at it, once or live."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from mfbai.study import Status


def picture(status: Status, *more: Any) -> Group:
    """Where the study stands, how far the proof is, and what is known of each arm."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from mfbai.study import sentences
    from mfbai.study.status import proven

    bar = ProgressBar(total=1.0, completed=proven(status), width=72)
    head = Text(sentences.state_of(status), style="bold" if status.result else "")
    warnings = [f"Bias alarm: {sentences.alarm(alarm, status.problem)}" for alarm in status.alarms]
    alarms = [Text(warning, style="bold red") for warning in warnings]
    return Group(head, Text(sentences.progress(status)), bar, "", arms(status), *alarms, *more)


def arms(status: Status) -> Table:
    from rich.markup import escape
    from rich.table import Table

    problem = status.problem
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm")
    for fidelity in problem.fidelities:
        table.add_column(escape(fidelity), justify="right")
    table.add_column(f"true mean ({100 * (1 - status.delta):g} %)", justify="right")
    table.add_column(f"proof (of {status.needed:.2f})", justify="right")
    for a, arm in enumerate(problem.arms):
        cells = [
            f"{mean:.4g} ({count:.0f})" if count else ""
            for mean, count in zip(status.means[a], status.counts[a], strict=True)
        ]
        low, high = status.intervals[a].tolist()
        known = f"{low:.4g} to {high:.4g}" if isfinite(high - low) else ""
        known = known if low <= high else "none fits"
        leads = a == status.leader_index
        proof = "leads" if leads else f"{max(status.evidence[a], 0.0):.2f}"
        table.add_row(escape(arm), *cells, known, proof, style="green" if leads else "")
    return table
