"""A study as people look at it, once or live."""

from __future__ import annotations

from shlex import quote
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from rich.console import Group
    from rich.table import Table

    from mfbai.client import RemoteStudy
    from mfbai.study import Status, Study

REST = 9.0  # times as long as computing a status took, until it is computed again
SHOWN = 20  # arms, unless asked for others


class Choice(NamedTuple):
    """Which arms to show."""

    top: int | None = SHOWN  # so many at most; None: all
    search: str | None = None  # only arms whose names contain this text, in capitals or not

    def of(self, status: Status) -> list[int]:
        """All arms in their order, if that is not too many; else the leader and its closest rivals."""
        names, count = status.problem.arms, status.problem.n_arms
        if self.search is None and (self.top is None or count <= self.top):
            return list(range(count))
        from mfbai.study.status import by_relevance

        order = by_relevance(status)
        if self.search is not None:
            wanted = self.search.casefold()
            order = [a for a in order if wanted in names[a].casefold()]
        return order if self.top is None else order[: self.top]


FIRST = Choice()


def picture(
    status: Status, *more: Any, choice: Choice = FIRST, remaining: float | None = None, where: str = ""
) -> Group:
    """Where the study stands, how far the proof is, and what is known of the arms of a choice."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from mfbai.study import sentences
    from mfbai.study.status import proven

    shown = choice.of(status)
    bar = ProgressBar(total=1.0, completed=proven(status), width=72)
    head = Text(sentences.state_of(status), style="bold" if status.result else "")
    told = Text(sentences.progress(status, remaining))
    rest = [Text(hint, style="dim") for hint in hidden(status, choice, shown, where)]
    alarms = [Text(warning, style="bold red") for warning in sentences.warnings(status)]
    return Group(head, told, bar, "", arms(status, shown), *rest, *alarms, *more)


def hidden(status: Status, choice: Choice, shown: list[int], where: str) -> list[str]:
    """What is not shown: how many arms, how many of them are ruled out, and how to see them."""
    from mfbai.study.cells import others

    count, command = status.problem.n_arms, f"mfbai study status {quote(status.name)}{where}"
    if choice.search is not None:
        found = len(Choice(None, choice.search).of(status))
        told = f"{found:,} of {count:,} arms contain {choice.search!r}"
        return [f"{told}; {found - len(shown):,} more with --all" if found > len(shown) else told]
    told = others(status, shown)
    return [f"{told} ({command} --all, or --search TEXT)"] if told else []


def arms(status: Status, shown: list[int]) -> Table:
    from rich.markup import escape
    from rich.table import Table

    from mfbai.study.cells import cells, headings

    problem = status.problem
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm")
    for heading in headings(status):
        table.add_column(escape(heading.replace("difference to the", "difference to\nthe")), justify="right")
    for a in shown:
        leads = a == status.leader_index
        table.add_row(escape(problem.arms[a]), *cells(status, a), style="green" if leads else "")
    return table


class Glance:
    """The status of a study for a live picture, at most one that is recent: where there are many arms, computing it
    takes a second, which the study needs more."""

    def __init__(self, study: Study | RemoteStudy) -> None:
        self._study, self._status, self._not_before = study, study.status(), 0.0

    def status(self) -> Status:
        now = monotonic()
        if now >= self._not_before or self._study.state != self._status.state:
            self._status = self._study.status()
            self._not_before = now + (1 + REST) * (monotonic() - now)
        return self._status
