"""mfbai study run."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import (
    COMMAND,
    DASK,
    DEFAULT_STORAGE,
    JSON,
    PROCESSES,
    RAY,
    RETRIES,
    SHELL,
    STORAGE,
    TIMEOUT,
    check_program,
    read_executor,
    read_program,
)
from mfbai.cli.output import LOADING, console, print_json
from mfbai.cli.study.common import NAME, load
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.client import RemoteStudy
    from mfbai.errors import Faults
    from mfbai.study import Study
    from mfbai.study.jobs import Function
    from mfbai.study.program import Command
    from mfbai.study.workers import Crew

SAY_EVERY = 30.0  # seconds between two lines about a run, where there is no terminal


def run(
    name: Annotated[str, NAME],
    command: Annotated[str | None, typer.Option(help=COMMAND, show_default=False)] = None,
    python: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="A Python function of arm, fidelity and seed, in its place."),
    ] = None,
    workers: Annotated[
        int | None, typer.Option(help="Evaluations at a time: 1, or as many as the cluster has room for.")
    ] = None,
    processes: Annotated[int | None, PROCESSES] = None,
    dask: Annotated[str | None, DASK] = None,
    ray: Annotated[bool, RAY] = False,
    timeout: Annotated[float, TIMEOUT] = 3600.0,
    retries: Annotated[int, RETRIES] = 2,
    shell: Annotated[bool, SHELL] = False,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    server: Annotated[
        str | None, typer.Option(metavar="URL", help="The study is on this `mfbai serve`; MFBAI_TOKEN is its token.")
    ] = None,
    as_json: bool = JSON,
) -> None:
    """Run a program or function until there is a verdict.

    The last line that the program prints is the value. {arm_index}, {fidelity_index}, {cost} and {id} are filled in
    too. A program that fails is started again after a pause, longer each time; then its trial is reported as failed.
    Three failed trials in a row of one cell end the run with exit code 1. Ctrl-C ends the programs under way and gives
    their trials back; a second Ctrl-C ends at once. On a cluster, programs that run go on to their end, for nothing.
    In all cases, run the same command to resume. If an alarm has stopped the study, the exit code is 1, too.

    Only this command touches the storage, wherever the evaluations run. If a worker of a cluster dies, another one
    makes its evaluation again.

    Example: mfbai study run designs --command "python evaluate.py {arm} {fidelity} {seed}" --workers 3
    """
    from mfbai.engines import open_engine
    from mfbai.errors import Faults
    from mfbai.study.workers import Crew

    faults = Faults()
    executor, most = read_executor(faults, dask, ray, processes, workers)
    if command is not None and executor == "processes":
        executor = None  # programs are processes already
    check(faults, command, python, storage, server)
    check_program(faults, most, timeout, retries)
    study = load(name, storage) if server is None else remote(name, server)
    evaluate: Command | Function
    if command is not None:
        evaluate = read_program(command, study, shell, timeout, retries)
        cancel = evaluate.cancel
    else:
        evaluate, cancel = function(str(python)), lambda: None
    with waiting(LOADING):
        study.warm_up()
    try:
        with open_engine(executor, 1 if executor is None and most is None else most) as (engine, at_once):
            crew = Crew(study, evaluate, at_once, engine=engine)
            watch(study, crew, cancel, quiet=as_json)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: study {name!r} is kept; run the same command to resume", err=True)
        sys.exit(130)
    conclude(study, crew, as_json)


def check(faults: Faults, command: str | None, python: str | None, storage: str, server: str | None) -> None:
    if (command is None) == (python is None):
        faults.add("--command", "or --python: give one of them" if command is None else "and --python: give one")
    if python is not None and not all(python.partition(":")):
        faults.add("--python", f"is {python!r}: give MODULE:FUNCTION, such as evaluate:evaluate for evaluate.py")
    if server is not None and storage != DEFAULT_STORAGE:
        faults.add("--server", "and --storage: give one of them, as the server has a storage of its own")


def remote(name: str, server: str) -> RemoteStudy:
    from mfbai.client.client import connect

    return connect(server).load_study(name)


def function(name: str) -> Function:
    """The function of MODULE:FUNCTION, where MODULE may be a file, too; what is in or below the folder of that, or else
    the current one, is sent to workers that do not have it."""
    from importlib import import_module

    import cloudpickle

    from mfbai.errors import Fault, InvalidInput
    from mfbai.study.jobs import Function

    given, _, wanted = name.rpartition(":")
    path = Path(given)
    is_file = path.suffix == ".py" or path.name != given
    folder, module = (path.parent.resolve(), path.stem) if is_file else (Path.cwd(), given)
    sys.path.insert(0, str(folder))
    try:
        found = import_module(module)
    except (Exception, SystemExit) as error:  # whatever the module does
        told = f"{error}" if isinstance(error, ImportError) else f"the module raises {type(error).__name__}: {error}"
        raise InvalidInput([Fault("--python", f"is {name!r}: {told}")]) from None
    evaluate = getattr(found, wanted, None)
    if not callable(evaluate):
        raise InvalidInput([Fault("--python", f"is {name!r}: module {module!r} has no function {wanted!r}")])
    file = getattr(found, "__file__", None)
    if file is not None and Path(file).resolve().is_relative_to(folder):
        cloudpickle.register_pickle_by_value(found)
    return Function(evaluate)


def watch(study: Study | RemoteStudy, crew: Crew, cancel: Callable[[], None], quiet: bool) -> None:
    """Let the crew work, with a live picture if there is a terminal."""
    out = console()
    if quiet or not out.is_terminal:
        crew.work(lines(study), cancel)
        return
    from rich.live import Live

    from mfbai.cli.views.study import Glance, picture

    glance = Glance(study)
    with Live(console=out, refresh_per_second=8, transient=True) as live:
        crew.work(lambda: live.update(picture(glance.status(), under_way(crew))), cancel)


def lines(study: Study | RemoteStudy) -> Callable[[], None]:
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
    lines = [f"{trial.arm} at {trial.fidelity}, {now - since:.0f} s" for trial, since in crew.busy]
    failed = [f"failed: {trial.arm} at {trial.fidelity}: {reason}" for trial, reason in crew.failures[-3:]]
    return Text("\n" + "\n".join(lines + failed), style="dim")


def conclude(study: Study | RemoteStudy, crew: Crew, as_json: bool) -> None:
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
