"""mfbai study export and verify: certificates."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import print_json, quoted
from mfbai.cli.study.common import NAME, load, or_input
from mfbai.terminal import waiting

UNCHECKED = 3  # exit code: the journal is confirmed, and the page around it was not checked


def export(
    name: Annotated[str, NAME],
    out: Annotated[Path, typer.Option(help="The file to write.", show_default=False)],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Write a certificate: the problem, every event, the verdict.

    Example: mfbai study export designs --out designs.json
    """
    from mfbai.text import printable

    made = load(name, storage).export(out)
    if as_json:
        print_json({"out": str(out), "events": made["events"], "head": made["head"]})
    else:
        told = f"{out}: {made['events']} events. Anyone can check it: mfbai study verify {quoted(str(out))}"
        typer.echo(printable(told))


def verify(
    file: Annotated[
        Path,
        typer.Argument(
            allow_dash=True,
            help="A certificate or report, as `export` or `report` writes it; - is standard input.",
            show_default=False,
        ),
    ],
    storage: Annotated[str | None, typer.Option(help="Not used: a certificate has all it needs.", hidden=True)] = None,
    as_json: bool = JSON,
) -> None:
    """Replay a certificate to check that its verdict follows.

    The certificate is confirmed, or the first event that differs is named and the exit code is 1. It is 3 for a report
    by another version of mfbai, of which only the journal can be confirmed.

    Example: mfbai study verify designs.json
    """
    from dataclasses import asdict

    from mfbai.study import verify as replay
    from mfbai.study.status import IN_WORDS

    with waiting("replaying every event ..."):
        found = replay(or_input(file))
    if as_json:
        body = asdict(found)
        if found.verdict is not None:
            body["verdict"] = {name: told for name, told in body["verdict"].items() if name not in IN_WORDS}
        print_json(body)
    else:
        outcome = "Confirmed" if found else "PAGE NOT CHECKED" if found.unchecked else "REJECTED"
        typer.echo(f"{outcome}: {found.reason}.")
        if found.verdict is not None:
            typer.echo(f"Study {found.study!r}: {found.verdict}")
        elif found or found.unchecked:
            typer.echo(f"Study {found.study!r} has no verdict yet.")
    if not found:
        raise typer.Exit(UNCHECKED if found.unchecked else 1)


def add_to(app: typer.Typer) -> None:
    app.command()(export)
    app.command()(verify)
