"""mfbai study list."""

from __future__ import annotations

import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE, NamesInHelp
from mfbai.cli.output import console, print_json
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.errors import Faults

UNITS = ((86400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def list_all(
    state: Annotated[str | None, typer.Option(help="Only those in this state: {states}.")] = None,
    tag: Annotated[str | None, typer.Option(help="Only those with this tag.")] = None,
    search: Annotated[
        str, typer.Option(metavar="TEXT", help="Only those with this text in name, tags, note or leader.")
    ] = "",
    sort: Annotated[str, typer.Option(help="Sort by {sorts}.")] = "created",
    descending: Annotated[bool, typer.Option("--descending", help="The other way round.")] = False,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """List the studies of a storage.

    Example: mfbai study list --state running --sort active --descending
    """
    from mfbai.errors import Faults
    from mfbai.study import catalogue
    from mfbai.study.storage import Storage

    faults = Faults()
    check_name(faults, "--state", state, catalogue.STATES)
    check_name(faults, "--sort", sort, catalogue.SORTS)
    faults.raise_if_any("call")
    opened = Storage(storage)
    with waiting("reading the studies ..."):
        lines = list(known(opened))
    found = catalogue.ordered(catalogue.matching(lines, state, tag, search), sort, descending)
    rows = [line.to_dict() for line in found]
    if as_json:
        print_json(rows)
    elif rows:
        console().print(table_of(rows))
    else:
        typer.echo("No study matches." if lines else "There are no studies.", err=True)


def known(storage: Any) -> Any:
    """All studies, with where they stand; not those that somebody deletes meanwhile."""
    from mfbai.errors import StudyGone
    from mfbai.study.catalogue import list_lines, summarised

    for line in list_lines(storage):
        with suppress(StudyGone):
            yield summarised(storage, line)


def check_name(faults: Faults, option: str, given: str | None, known: Any) -> None:
    from mfbai.errors import suggestion

    if given is not None and given not in known:
        faults.add(option, f"is {given!r}: {suggestion(given, known)}")


def table_of(studies: list[dict[str, Any]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("study", "state", "leader"):
        table.add_column(column)
    for column in ("risk", "goal", "cost", "evaluations", "under way", "last activity"):
        table.add_column(column, justify="right")
    tagged = any(row["tags"] for row in studies)
    if tagged:
        table.add_column("tags")
    now = time.time()
    for row in studies:
        tags = [escape(", ".join(row["tags"]))] * tagged
        words = (escape(row["name"]), row["state"], escape(row.get("leader") or ""))
        table.add_row(*words, *_numbers(row), ago(now - row["active"]), *tags)
    return table


def _numbers(row: dict[str, Any]) -> tuple[str, ...]:
    if "risk" not in row:  # it cannot be read
        return ("",) * 5
    risk = f"{row['risk']:.2g}" if row["risk"] < 1 else ""
    return risk, f"{row['delta']:g}", f"{row['cost']:g}", str(row["told"]), str(row["pending"])


def ago(seconds: float) -> str:
    """
    >>> ago(4.2), ago(200), ago(90_000)
    ('4 s ago', '3 min ago', '1 d ago')
    """
    size, unit = next(((size, unit) for size, unit in UNITS if seconds >= size), (1.0, "s"))
    return f"{max(seconds, 0.0) // size:.0f} {unit} ago"


def add_to(app: typer.Typer) -> None:
    app.command("list", cls=NamesInHelp)(list_all)
