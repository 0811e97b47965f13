"""mfbai reproduce."""

from __future__ import annotations

import sys
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mfbai.cli.options import DASK, JSON, PROCESSES, RAY, NamesInHelp, read_executor
from mfbai.cli.output import console, print_json

if TYPE_CHECKING:
    from mfbai.errors import Faults
    from mfbai.paper.pieces import Noise, Scale
    from mfbai.paper.report import Reproduction


def reproduce(
    figure: Annotated[
        list[str] | None, typer.Argument(help="Names of figures or tables, or of groups ({parts}); all by default.")
    ] = None,
    runs: Annotated[
        int | None, typer.Option(help="Runs of the cost figures (1000); shares take a tenth, the trap a hundredth.")
    ] = None,
    quick: Annotated[
        bool,
        typer.Option(
            "--quick", help="Less of everything: a tenth of the runs, one variance, no `beyond`, a short trap."
        ),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where to write; by default reproduction, with -quick or -N-runs added."),
    ] = None,
    variance: Annotated[
        float | None, typer.Option(help="Variance of the paper's instances; by default both that the paper may mean.")
    ] = None,
    processes: Annotated[int | None, PROCESSES] = None,
    dask: Annotated[str | None, DASK] = None,
    ray: Annotated[bool, RAY] = False,
    as_json: bool = JSON,
) -> None:
    """Rebuild the paper's figures, tables and claims.

    Numbers are kept as CSV in DIR/data, pictures (PNG, SVG) are in DIR/figures, and DIR/report.html and report.md show
    all that was asked for, with a verdict on every claim of the paper. After Ctrl-C, run the same command to resume:
    simulations that are in DIR are not run again.

    Example: mfbai reproduce --quick --out quick
    """
    out = out or Path(f"reproduction{'-quick' * quick}{f'-{runs}-runs' if runs else ''}")
    from mfbai.errors import Faults

    faults = Faults()
    executor = read_executor(faults, dask, ray, processes)
    call = check(faults, figure or [], runs, quick, out, variance)._replace(executor=executor)
    begun = time.perf_counter()
    found = make(call, out, as_json)
    if as_json:
        print_json(summary(found, out))
    else:
        print_claims(found, out, time.perf_counter() - begun)


class Call(NamedTuple):
    """What is to be made, checked."""

    figures: list[str]
    scale: Scale
    noises: tuple[Noise, ...]
    executor: tuple[str | None, int | None] = (None, None)  # and how many workers


def make(call: Call, out: Path, quiet: bool) -> Reproduction:
    from mfbai.cli.views.reproduce import watching
    from mfbai.errors import Fault, InvalidInput
    from mfbai.paper import reproduce as paper

    try:
        with watching(quiet) as watch:
            on, workers = call.executor
            given = (call.figures, call.scale, call.noises, watch)
            return paper.reproduce(out, *given, executor=on, workers=workers)
    except OSError as error:
        raise InvalidInput(
            [Fault(str(error.filename2 or error.filename or out), f"cannot be written: {error.strerror}")]
        ) from None
    except KeyboardInterrupt:
        typer.echo("interrupted: what is done is kept; run the same command to resume", err=True)
        sys.exit(130)


def check(faults: Faults, figures: list[str], runs: int | None, quick: bool, out: Path, variance: float | None) -> Call:
    """The call. Everything that can be wrong with it is reported before anything runs."""
    from mfbai.paper.parts import PARTS, chosen
    from mfbai.paper.pieces import QUICK, Noise, Scale
    from mfbai.paper.reproduce import BOTH

    with faults.absorb():
        chosen(figures)
    if runs is not None and runs < 2:
        faults.add("--runs", f"is {runs}: give 2 or more, as one run has no interval")
    noises = BOTH[:1] if quick else BOTH
    if variance is not None:
        noises = (Noise(variance),)
        with faults.absorb():
            noises[0].load("paper-4x5")
    check_folder(faults, out)
    scale = QUICK if quick else Scale()
    everything = [part.group for part in PARTS if part.is_quick or not quick]
    return Call(figures or everything, scale if runs is None else replace(scale, runs=runs), noises)


def check_folder(faults: Faults, out: Path) -> None:
    """Make the folder, unless the call is refused."""
    from mfbai.paper.reproduce import make_folders
    from mfbai.plots.style import check_file

    existing = next((path for path in (out, *out.parents) if path.exists()), out)
    if not existing.is_dir():
        faults.add("--out", f"{str(out)!r} cannot be used: {str(existing)!r} is no folder")
    faults.raise_if_any("call")
    try:
        make_folders(out)
        check_file(faults, "--out", out / "figures" / "costs.png")
    except OSError as error:
        faults.add("--out", f"{str(out)!r} cannot be used: {error.strerror}")
    faults.raise_if_any("call")


def print_claims(found: Reproduction, out: Path, seconds: float) -> None:
    """A line for each claim, with the verdict at each variance; what was measured is in the report."""
    from rich.table import Table
    from rich.text import Text

    screen = console()
    for scopes, by_text in found.by_claim():
        table = Table(box=None, header_style="bold", pad_edge=False)
        table.add_column("claim of the paper")
        for scope in scopes:
            table.add_column(f"variance {scope.variance:g}" if scope else "verdict", no_wrap=True)
        for text, claims in by_text.items():
            table.add_row(Text(text), *(claim.verdict for claim in claims))
        screen.print(table)
        screen.print()
    screen.print(f"{len(found.files)} files in {seconds:.0f} s. Claims {found.tally}.", soft_wrap=True)
    typer.echo(f"The report is {out / 'report.html'}")


def summary(found: Reproduction, out: Path) -> dict[str, Any]:
    return {
        "report": str(out / "report.html"),
        "files": [str(file) for file in found.files],
        "seconds": round(found.seconds, 1),
        "claims": [
            {"variance": scope.variance if scope else None, **asdict(claim)}
            for scope, claims in found.claims.items()
            for claim in claims
        ],
    }


def add_to(app: typer.Typer) -> None:
    app.command(cls=NamesInHelp)(reproduce)
