"""mfbai study list."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import console, print_json
from mfbai.terminal import waiting

ENTRIES = ("name", "state", "leader", "risk", "delta", "cost", "told", "pending")


def list_all(storage: Annotated[str, STORAGE] = DEFAULT_STORAGE, as_json: bool = JSON) -> None:
    """List the studies of a storage.

    Example: mfbai study list
    """
    from mfbai.study import list_studies, load_study

    found = []
    with waiting("reading the studies ..."):
        for name in list_studies(storage=storage):
            status = load_study(name, storage=storage).status()
            found.append({entry: getattr(status, entry) for entry in ENTRIES})
    if as_json:
        print_json(found)
    else:
        console().print(table_of(found))


def table_of(studies: list[dict[str, Any]]) -> Any:
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("study", "state", "leader"):
        table.add_column(column)
    for column in ("risk", "goal", "cost", "evaluations", "under way"):
        table.add_column(column, justify="right")
    for row in studies:
        risk = f"{row['risk']:.2g}" if row["risk"] < 1 else ""
        numbers = (risk, f"{row['delta']:g}", f"{row['cost']:g}", str(row["told"]), str(row["pending"]))
        table.add_row(escape(row["name"]), row["state"], escape(row["leader"] or ""), *numbers)
    return table


def add_to(app: typer.Typer) -> None:
    app.command("list")(list_all)
