"""A study as people look at it, once or live."""

from __future__ import annotations

from math import isfinite
from shlex import quote
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from mfbai.study import Status

SHOWN = 20  # arms, unless asked for others


def picture(status: Status, *more: Any, top: int = SHOWN, remaining: float | None = None) -> Group:
    """Where the study stands, how far the proof is, and what is known of the first `top` arms."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from mfbai.study import sentences
    from mfbai.study.status import proven

    problem = status.problem
    bar = ProgressBar(total=1.0, completed=proven(status), width=72)
    head = Text(sentences.state_of(status), style="bold" if status.result else "")
    told = Text(sentences.progress(status, remaining))
    count = problem.n_arms
    hint = f"and {count - top} more arms (mfbai study status {quote(status.name)} --top {count})"
    rest = [Text(hint, style="dim")] if count > top else []
    warnings = [f"Bias alarm: {sentences.alarm(alarm, problem)}" for alarm in status.alarms]
    warnings += [f"Variance alarm: {sentences.variance_alarm(alarm, problem)}" for alarm in status.variance_alarms]
    warnings += [f"What to do: {sentences.INSTEAD}."] * bool(status.variance_alarms)
    alarms = [Text(warning, style="bold red") for warning in warnings]
    return Group(head, told, bar, "", arms(status, top), *rest, *alarms, *more)


def first_arms(status: Status, top: int) -> list[int]:
    """All arms in their order, if that is not too many; else the leader and its closest rivals."""
    if status.problem.n_arms <= top:
        return list(range(status.problem.n_arms))
    rivals = [a for a in status.evidence.argsort(kind="stable").tolist() if a != status.leader_index]
    leader = [] if status.leader_index is None else [status.leader_index]
    return [*leader, *rivals][:top]


def arms(status: Status, top: int) -> Table:
    from rich.markup import escape
    from rich.table import Table

    problem = status.problem
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm")
    for fidelity in problem.fidelities:
        table.add_column(escape(fidelity), justify="right")
    sure = f"({100 * (1 - status.delta):g} %)"
    if problem.seeds != "common":
        table.add_column(f"true mean {sure}", justify="right")
    table.add_column(f"difference to\nthe leader {sure}", justify="right")
    table.add_column(f"proof (of {status.needed:.2f})", justify="right")
    for a in first_arms(status, top):
        leads = a == status.leader_index
        table.add_row(escape(problem.arms[a]), *cells(status, a), style="green" if leads else "")
    return table


def cells(status: Status, a: int) -> list[str]:
    """Of an arm: its means, its interval and that of the difference to the leader, and the proof against it."""
    means = [
        f"{mean:.4g} ({count:.0f})" if count else ""
        for mean, count in zip(status.means[a], status.counts[a], strict=True)
    ]
    leads = a == status.leader_index
    known = [] if status.problem.seeds == "common" else [interval(*status.intervals[a])]
    difference = "" if leads else interval(*status.differences[a])
    return [*means, *known, difference, "leads" if leads else f"{max(status.evidence[a], 0.0):.2f}"]


def interval(low: float, high: float) -> str:
    if low > high:
        return "none fits"
    return f"{low:.4g} to {high:.4g}" if isfinite(high - low) else ""
