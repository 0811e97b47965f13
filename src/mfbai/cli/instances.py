"""mfbai instances."""

from __future__ import annotations

import typer

from mfbai.cli.options import JSON
from mfbai.cli.output import console, print_json


def instances(as_json: bool = JSON) -> None:
    """List the named instances.

    Example: mfbai instances
    """
    from mfbai.model.instances import describe
    from mfbai.model.spec import check_instance

    texts = describe()
    found = {name: check_instance(name) for name in texts}
    if as_json:
        print_json(
            [
                {
                    "name": name,
                    "arms": instance.shape[0],
                    "fidelities": instance.shape[1],
                    "family": instance.problem.family.name,
                    "best_arm": instance.arms[instance.best],
                    "gap": instance.gap,
                    "description": texts[name],
                }
                for name, instance in found.items()
            ]
        )
        return
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("name", "arms x fidelities", "family", "description"):
        table.add_column(column)
    for name, instance in found.items():
        size = f"{instance.shape[0]} x {instance.shape[1]}"
        table.add_row(name, size, instance.problem.family.name, texts[name])
    console().print(table)


def add_to(app: typer.Typer) -> None:
    app.command()(instances)
