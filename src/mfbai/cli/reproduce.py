"""mfbai reproduce."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import JSON
from mfbai.cli.output import console, print_json

if TYPE_CHECKING:
    from mfbai.paper.experiment import Scale, Setting
    from mfbai.paper.reproduce import Outcome


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(help="Names or groups (costs, constant, shares, beyond, trap, tables); all by default."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of the cost figures (1000); shares take a tenth, the trap a hundredth.")
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Less of all: a tenth of the runs, one variance, no `beyond`, a short trap.")
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where everything goes; by default reproduction, with -quick or -N-runs."),
    ] = None,
    variance: Annotated[
        float | None, typer.Option(help="Of the paper's instances; by default both that it may mean.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Rebuild the paper's figures, tables and claims.

    Numbers are kept as CSV in DIR/data, pictures (PNG, SVG) are in DIR/figures, and DIR/report.html and report.md show
    all that was asked for, with a verdict on every claim of the paper. Simulations that DIR has already are not run
    again: after a break, give the same command.

    Example: mfbai reproduce --quick --out quick
    """
    from mfbai.cli.views.reproduce import watching
    from mfbai.errors import Fault, InvalidInput
    from mfbai.paper import reproduce as paper

    out = out or Path(f"reproduction{'-quick' * quick}{f'-{runs}-runs' if runs else ''}")
    scale, settings = check(figure or [], runs, quick, out, variance)
    begun = time.perf_counter()
    try:
        with watching(as_json) as watch:
            everything = [group for group in paper.HEADINGS if not (quick and group == "beyond")]
            outcome = paper.reproduce(out, figure or everything, scale, settings, watch)
    except OSError as error:
        raise InvalidInput(
            [Fault(str(error.filename2 or error.filename or out), f"cannot be written: {error.strerror}")]
        ) from None
    except KeyboardInterrupt:
        typer.echo("interrupted: what is done is kept; the same command goes on from there", err=True)
        sys.exit(130)
    if as_json:
        print_json(summary(outcome, out))
    else:
        print_claims(outcome, out, time.perf_counter() - begun)


def check(
    figures: list[str], runs: int | None, quick: bool, out: Path, variance: float | None
) -> tuple[Scale, tuple[Setting, ...]]:
    """All that can be wrong with the call, told before anything runs."""
    from mfbai.errors import Faults
    from mfbai.paper import reproduce as paper
    from mfbai.paper.experiment import QUICK, Scale, Setting
    from mfbai.plots.style import check_file

    faults = Faults()
    with faults.absorb():
        paper.chosen(figures)
    if runs is not None and runs < 2:
        faults.add("--runs", f"is {runs}: give 2 or more, as one run has no interval")
    settings: tuple[Setting, ...] = paper.BOTH[:1] if quick else paper.BOTH
    if variance is not None:
        settings = (Setting(variance),)
        with faults.absorb():
            settings[0].load("paper-4x5")
    existing = next((path for path in (out, *out.parents) if path.exists()), out)
    if not existing.is_dir():
        faults.add("--out", f"{str(out)!r} cannot be used: {str(existing)!r} is no folder")
    faults.raise_if_any("call")
    try:
        paper.make_folders(out)
        check_file(faults, "--out", out / "figures" / "costs.png")
    except OSError as error:
        faults.add("--out", f"{str(out)!r} cannot be used: {error.strerror}")
    faults.raise_if_any("call")
    scale = QUICK if quick else Scale()
    return (scale if runs is None else replace(scale, runs=runs)), settings


def print_claims(outcome: Outcome, out: Path, seconds: float) -> None:
    """A line for each claim, with the verdict at each variance; what was measured is in the report."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    for settings, found in outcome.by_claim():
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("claim of the paper")
        for setting in settings:
            table.add_column(f"variance {setting.variance:g}" if setting else "verdict", no_wrap=True)
        for text, claims in found.items():
            table.add_row(Text(text), *(claim.verdict for claim in claims))
        screen.print(table)
        screen.print()
    screen.print(f"{len(outcome.files)} files in {seconds:.0f} s. Claims {outcome.tally}.", soft_wrap=True)
    typer.echo(f"The report is {out / 'report.html'}")


def summary(outcome: Outcome, out: Path) -> dict[str, Any]:
    return {
        "report": str(out / "report.html"),
        "files": [str(file) for file in outcome.files],
        "seconds": round(outcome.seconds, 1),
        "claims": [
            {"variance": setting.variance if setting else None, **asdict(claim)}
            for setting, claims in outcome.claims.items()
            for claim in claims
        ],
    }


def add_to(app: typer.Typer) -> None:
    app.command()(reproduce)
