"""mfbai study report: a certificate as a page that anyone can open."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import print_json, quoted
from mfbai.cli.study.common import NAME, load
from mfbai.terminal import waiting


def report(
    name: Annotated[str, NAME],
    out: Annotated[Path, typer.Option(help="The file to write, such as report.html.", show_default=False)],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Write a certificate as a web page that anyone can open.

    One file has the verdict, what it rests on, pictures, all trials and the journal. It needs no server and no network.
    It names the workers, and has the study's note and tags.

    Example: mfbai study report designs --out report.html
    """
    from mfbai.text import printable

    study = load(name, storage)
    with waiting("replaying every event ..."):
        written = len(study.report(out).encode())
    if as_json:
        print_json({"out": str(out), "bytes": written})
    else:
        told = f"{out}: {written / 1e6:.1f} MB. Open it in a browser; anyone can check it: "
        typer.echo(printable(f"{told}mfbai study verify {quoted(str(out))}"))


def add_to(app: typer.Typer) -> None:
    app.command()(report)
