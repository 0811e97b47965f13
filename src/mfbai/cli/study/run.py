"""mfbai study run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import COMMAND, DEFAULT_STORAGE, JSON, RETRIES, SHELL, STORAGE, TIMEOUT, WORKERS, check_program
from mfbai.cli.output import LOADING, console, print_json
from mfbai.cli.study.common import NAME, load
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study import Study
    from mfbai.study.workers import Crew

SAY_EVERY = 30.0  # seconds between two lines about a run, where there is no terminal


def run(
    name: Annotated[str, NAME],
    command: Annotated[str, typer.Option(help=COMMAND, show_default=False)],
    workers: Annotated[int, WORKERS] = 1,
    timeout: Annotated[float, TIMEOUT] = 3600.0,
    retries: Annotated[int, RETRIES] = 2,
    shell: Annotated[bool, SHELL] = False,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Run a program for each evaluation, until there is a verdict.

    The last line that the program prints is the value. {arm_index}, {fidelity_index}, {cost} and {id} are filled in
    too. A program that fails is started again after a pause, longer each time; then its trial is reported as failed.
    Three failed trials in a row of one cell end the run with exit code 1. Ctrl-C ends the programs under way and gives
    their trials back; a second Ctrl-C ends at once. In all cases, run the same command to resume. If an alarm has
    stopped the study, the exit code is 1, too.

    Example: mfbai study run designs --command "python evaluate.py {arm} {fidelity} {seed}" --workers 3
    """
    from mfbai.study.program import Command
    from mfbai.study.workers import Crew

    check_program(workers, timeout, retries)
    study = load(name, storage)
    program = Command(command, study, shell=shell, timeout=timeout, retries=retries)
    with waiting(LOADING):
        study.warm_up()
    crew = Crew(study, program, workers)
    try:
        watch(study, crew, program.cancel, quiet=as_json)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: study {name!r} is kept; run the same command to resume", err=True)
        sys.exit(130)
    conclude(study, crew, as_json)


def watch(study: Study, crew: Crew, cancel: Callable[[], None], quiet: bool) -> None:
    """Let the crew work, with a live picture if there is a terminal."""
    out = console()
    if quiet or not out.is_terminal:
        crew.work(lines(study), cancel)
        return
    from rich.live import Live

    from mfbai.cli.views.study import picture

    with Live(console=out, refresh_per_second=8, transient=True) as live:
        crew.work(lambda: live.update(picture(study.status(), under_way(crew))), cancel)


def lines(study: Study) -> Callable[[], None]:
    """Reports progress on standard error now and then."""
    from mfbai.study import sentences

    last = time.monotonic()

    def show() -> None:
        nonlocal last
        if time.monotonic() - last > SAY_EVERY:
            last = time.monotonic()
            status = study.status()
            typer.echo(f"{sentences.state_of(status)} {sentences.progress(status)}", err=True)

    return show


def under_way(crew: Crew) -> Any:
    """What is being evaluated, for how long, and what went wrong."""
    from rich.text import Text

    now = time.time()
    lines = [f"{trial.arm} at {trial.fidelity}, {now - since:.0f} s" for trial, since in list(crew.busy.values())]
    failed = [f"failed: {trial.arm} at {trial.fidelity}: {reason}" for trial, reason in crew.failures[-3:]]
    return Text("\n" + "\n".join(lines + failed), style="dim")


def conclude(study: Study, crew: Crew, as_json: bool) -> None:
    from mfbai.cli.views.study import picture

    for trial, reason in crew.failures:
        typer.echo(f"failed: trial {trial.id}, {trial.arm!r} at {trial.fidelity!r}: {reason}", err=True)
    found = study.status()
    if as_json:
        print_json(found.to_dict())
    else:
        console().print(picture(found))
    if found.result is None:
        stopped = "stopped: three trials of one cell failed in a row"
        typer.echo(f"{stopped}; study {study.name!r} is kept; run the same command to resume", err=True)
        raise typer.Exit(1)
    if found.result.state == "alarm":
        typer.echo("stopped by an alarm, without an answer", err=True)
        raise typer.Exit(1)


def add_to(app: typer.Typer) -> None:
    app.command()(run)
