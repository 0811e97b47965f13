"""What is known of the arms of a study, as a table of texts: for the command line and for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mfbai.study.status import Status


def headings(status: Status) -> list[str]:
    """Those of `cells`."""
    sure = f"({100 * (1 - status.delta):g} %)"
    known = [f"true mean {sure}"] * (status.problem.seeds != "common")
    return [*status.problem.fidelities, *known, f"difference to the leader {sure}", f"proof (of {status.needed:.2f})"]


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


def others(status: Status, shown: Sequence[int]) -> str:
    """How many arms are not shown, and how many of them are ruled out; nothing if all are shown."""
    count = status.problem.n_arms
    if len(shown) == count:
        return ""
    picked = list(shown)
    out = int((status.evidence >= status.needed).sum() - (status.evidence[picked] >= status.needed).sum())
    return f"and {count - len(shown):,} more arms, {out:,} of them ruled out"
