"""A study as people look at it, once or live."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any

from mfbai.text import digits

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from mfbai.study import Status


def picture(status: Status, *more: Any) -> Group:
    """Where the study stands, how far the proof is, and what is known of each arm."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from mfbai.study.status import proven

    bar = ProgressBar(total=1.0, completed=proven(status), width=72)
    head = Text(headline(status), style="bold" if status.result else "")
    alarms = [Text(told, style="bold red") for told in alarms_of(status)]
    return Group(head, Text(progress(status)), bar, "", arms(status), *alarms, *more)


def headline(status: Status) -> str:
    if status.result is not None:
        return str(status.result)
    if status.leader is None:
        return f"{status.name}: running, no results yet."
    sure = f"answering it now has a risk of {status.risk:.2g} at most" if status.risk < 1 else "nothing is certain yet"
    return f"{status.name}: running, {status.leader!r} leads; {sure}, the goal is {status.delta:g}."


def progress(status: Status) -> str:
    spent = digits(status.cost) if status.max_cost is None else f"{digits(status.cost)} of {digits(status.max_cost)}"
    counts = {
        "evaluations": status.told,
        "under way": status.pending,
        "waiting for earlier ones": status.waiting,
        "failed": status.failed,
        "imported": status.imported,
        "after the verdict": status.late,
    }
    told = [f"{count} {what}" for what, count in counts.items() if count or what == "evaluations"]
    if status.told == 1:
        told[0] = "1 evaluation"
    return f"cost {spent}; {', '.join(told)}"


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


def alarms_of(status: Status) -> list[str]:
    from mfbai.study.status import describe

    found = [describe(alarm, status.problem) for alarm in status.alarms]
    return [
        f"Bias alarm: {alarm['arm']!r}: "
        + (f"the bias bound of {alarm['fidelity']!r} is wrong" if alarm["certain"] else "a bias bound is wrong")
        + f" (level {alarm['level']:.2g}): the verdict rests on it."
        for alarm in found
    ]
