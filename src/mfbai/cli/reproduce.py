"""mfbai reproduce."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.output import JSON_OPTION, console, print_json

if TYPE_CHECKING:
    from rich.progress import Progress

    from mfbai.paper.experiment import Scale, Setting
    from mfbai.paper.reproduce import Outcome, Watch


def reproduce(
    figure: Annotated[
        list[str] | None,
        typer.Argument(help="Names or groups (costs, constant, shares, beyond, trap, tables); all by default."),
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of the cost figures (1000); shares take a tenth, the trap a hundredth.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer runs, and 10^6 evaluations in the trap.")] = False,
    out: Annotated[Path, typer.Option(metavar="DIR", help="Where everything goes.")] = Path("reproduction"),
    variance: Annotated[
        float | None, typer.Option(help="Of the paper's instances; by default both that it may mean.")
    ] = None,
    as_json: bool = JSON_OPTION,
) -> None:
    """Rebuild the paper's figures, tables and claims.

    Numbers are kept as CSV in DIR/data, pictures (PNG, SVG) are in DIR/figures, and DIR/report.html and report.md show
    all of them with a verdict on every claim of the paper. What DIR has already is not computed again: after a break,
    give the same command.

    Example: mfbai reproduce --quick --out quick
    """
    from mfbai.paper import reproduce as paper

    scale, settings = check(figure or [], runs, quick, out, variance)
    begun = time.perf_counter()
    try:
        with watching(as_json) as watch:
            outcome = paper.reproduce(out, figure or [], scale, settings, watch)
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
    from mfbai.report.style import check_file

    faults = Faults()
    with faults.absorb():
        paper.chosen(figures)
    if runs is not None and runs < 2:
        faults.add("--runs", f"is {runs}: give 2 or more, as one run has no interval")
    settings = paper.BOTH
    if variance is not None:
        settings = (Setting(variance),)
        with faults.absorb():
            settings[0].load("paper-4x5")
    try:
        out.mkdir(parents=True, exist_ok=True)
        check_file(faults, "--out", out / "figure.png")
    except OSError as error:
        faults.add("--out", f"{str(out)!r} cannot be made: {error.strerror}")
    faults.raise_if_any("call")
    scale = QUICK if quick else Scale()
    return (scale if runs is None else replace(scale, runs=runs)), settings


class Lines:
    """A line for each part that is done."""

    def begin(self, seconds: float) -> None:
        pass

    def now(self, name: str) -> None:
        pass

    def advance(self, seconds: float) -> None:
        pass

    def done(self, name: str, seconds: float | None) -> None:
        typer.echo(line(name, seconds), err=True)


class Bar:
    """The same above a bar with the time left."""

    def __init__(self, progress: Progress) -> None:
        self.progress = progress
        self.task = progress.add_task("", total=None)

    def begin(self, seconds: float) -> None:
        self.progress.update(self.task, total=seconds)

    def now(self, name: str) -> None:
        self.progress.update(self.task, description=name)

    def advance(self, seconds: float) -> None:
        self.progress.update(self.task, advance=seconds)

    def done(self, name: str, seconds: float | None) -> None:
        self.progress.console.print(line(name, seconds), markup=False, highlight=False)


def line(name: str, seconds: float | None) -> str:
    return f"{name}: there already" if seconds is None else f"{name}: {seconds:.1f} s"


@contextmanager
def watching(quiet: bool) -> Iterator[Watch | None]:
    """A bar over all figures, if standard error is a terminal; else lines."""
    if quiet or not sys.stderr.isatty():
        yield None if quiet else Lines()
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
    with Progress(*columns, TextColumn("left"), console=Console(stderr=True), transient=True) as progress:
        yield Bar(progress)


def print_claims(outcome: Outcome, out: Path, seconds: float) -> None:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("claim of the paper", "variance", "measured", "verdict"):
        table.add_column(column)
    for setting, claims in outcome.claims.items():
        for claim in claims:
            variance = f"{setting.variance:g}" if setting else ""
            table.add_row(claim.text, variance, claim.measured, claim.verdict)
    screen = console()
    if table.rows:
        screen.print(table)
        screen.print()
    counts = ", ".join(f"{count} {verdict}" for verdict, count in outcome.verdicts.most_common())
    screen.print(f"Claims: {counts or 'none'}. {len(outcome.files)} files in {seconds:.0f} s.", markup=False)
    screen.print(f"The report is {out / 'report.html'}", markup=False, soft_wrap=True)


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
