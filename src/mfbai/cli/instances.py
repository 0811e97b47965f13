"""mfbai instances."""

from __future__ import annotations

import typer

from mfbai.cli.output import JSON_OPTION, console, print_json


def instances(as_json: bool = JSON_OPTION) -> None:
    """List the named instances.

    Example: mfbai instances
    """
    from mfbai.instances import describe
    from mfbai.spec import load

    rows = []
    for name, text in describe().items():
        instance = load(name)
        K, M = instance.shape
        rows.append(
            {"name": name, "arms": K, "fidelities": M, "family": instance.problem.family.name, "description": text}
            if hasattr(instance, "problem")
            else {}
        )
    if as_json:
        print_json(rows)
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "arms x fidelities", "family", "description"):
        table.add_column(column)
    for row in rows:
        table.add_row(row["name"], f"{row['arms']} x {row['fidelities']}", row["family"], row["description"])
    console().print(table)


def add_to(app: typer.Typer) -> None:
    app.command()(instances)
