"""mfbai study trials and add: results as tables, out and in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, print_json
from mfbai.cli.study.common import NAME, load, or_input
from mfbai.terminal import waiting


def trials(
    name: Annotated[str, NAME],
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="Write a CSV file.", show_default=False)] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Print the trials as CSV, a row for each.

    Columns: trial, arm, fidelity, seed, value, cost, asked and told (when), worker, state.

    Example: mfbai study trials designs --out trials.csv
    """
    from mfbai.study.table import csv_lines, to_dicts
    from mfbai.textfiles import write_text

    rows = load(name, storage).rows()
    if out is not None:
        write_text(csv_lines(rows), out)
        if as_json:
            print_json({"out": str(out), "trials": len(rows)})
        else:
            typer.echo(f"{out}: {len(rows)} trial{'s' * (len(rows) != 1)}.")
    elif as_json:
        print_json(to_dicts(rows))
    else:
        for lines in csv_lines(rows):
            typer.echo(lines.replace("\r\n", "\n"), nl=False)


def add(
    name: Annotated[str, NAME],
    csv: Annotated[
        Path, typer.Option("--csv", metavar="FILE", help="A CSV file: arm,fidelity,value.", show_default=False)
    ],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Count values that were measured elsewhere.

    They cost this study nothing. Add all values that you have of each arm and fidelity, not a selection. All lines are
    looked at before the first is counted; a file that was added before is refused.

    Example: mfbai study add designs --csv earlier.csv
    """
    study = load(name, storage)
    with waiting(LOADING):
        counted = study.add_table(or_input(csv))
        status = study.status()
    if as_json:
        print_json({"added": counted, "state": status.state})
        return
    source = "standard input" if str(csv) == "-" else str(csv)
    verb = "value of {} counts" if counted == 1 else "values of {} count"
    typer.echo(f"{counted} {verb.format(source)}." if counted else f"There are no values in {source}.")
    if status.result is not None:
        typer.echo(str(status.result))


def add_to(app: typer.Typer) -> None:
    app.command()(trials)
    app.command()(add)
