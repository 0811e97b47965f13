"""mfbai study."""

from __future__ import annotations

import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, console, print_json
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study import Study
    from mfbai.study.workers import Crew

app = typer.Typer(
    help="Live studies: ask, evaluate, tell, until the verdict.\n\n"
    "Example: mfbai study create problem.toml --name designs --delta 0.05",
    no_args_is_help=True,
    rich_markup_mode=None,
)
NAME = typer.Argument(help="The study's name.", show_default=False)
TRIAL = typer.Argument(help="The trial's id, as `ask` printed it.", show_default=False)
SAY_EVERY = 30.0  # seconds between two lines about a run, where there is no terminal


@app.command()
def create(
    spec: Annotated[str, typer.Argument(help="The problem: a TOML file, or a name (see `mfbai instances`).")],
    name: Annotated[str, typer.Option(help="What to call the study.", show_default=False)],
    delta: Annotated[float, typer.Option(help="The risk of a wrong answer that is accepted.", show_default=False)],
    strategy: Annotated[str, typer.Option(help="Chooses what to evaluate.")] = "frugal",
    stopping: Annotated[str, typer.Option(help="Decides when it is enough.")] = "e-process",
    tolerance: Annotated[float, typer.Option(help="An arm this close to the best is as good.")] = 0.0,
    max_cost: Annotated[float | None, typer.Option(help="A budget: the verdict may then be `undecided`.")] = None,
    direction: Annotated[str | None, typer.Option(help="maximise or minimise, if not as the file says.")] = None,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the strategy or rule.")] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Begin a study.

    Example: mfbai study create problem.toml --name designs --delta 0.05
    """
    from mfbai.cli.options import read_settings
    from mfbai.errors import Faults
    from mfbai.study import create_study

    faults = Faults()
    options = read_settings(faults, settings or [])
    faults.raise_if_any("call")
    study = create_study(
        spec,
        delta,
        name=name,
        storage=storage,
        strategy=strategy,
        stopping=stopping,
        tolerance=tolerance,
        max_cost=max_cost,
        direction=direction,
        options=options,
    )
    if as_json:
        print_json({"name": study.name, "storage": study.storage})
        return
    typer.echo(f"Study {study.name!r} is in {study.storage}.")
    where = elsewhere(storage, study)
    program = "--command 'PROGRAM {arm} {fidelity} {seed}' --workers 2"
    typer.echo(f"Next: mfbai study run {quoted(name)} {program}{where}")
    typer.echo(f"or, by hand: mfbai study ask {quoted(name)}{where}")


@app.command("list")
def list_all(storage: Annotated[str, STORAGE] = DEFAULT_STORAGE, as_json: bool = JSON) -> None:
    """Name the studies of a storage.

    Example: mfbai study list
    """
    from rich.markup import escape
    from rich.table import Table

    from mfbai.study import list_studies, load_study

    found = []
    with waiting("reading the studies ..."):
        for name in list_studies(storage=storage):
            status = load_study(name, storage=storage).status()
            entries = ("name", "state", "leader", "risk", "delta", "cost", "told", "pending")
            found.append({entry: getattr(status, entry) for entry in entries})
    if as_json:
        print_json(found)
        return
    table = Table(box=None, header_style="bold", pad_edge=False)
    for column in ("study", "state", "leader"):
        table.add_column(column)
    for column in ("risk", "goal", "cost", "evaluations", "under way"):
        table.add_column(column, justify="right")
    for row in found:
        risk = f"{row['risk']:.2g}" if row["risk"] < 1 else ""
        numbers = (risk, f"{row['delta']:g}", f"{row['cost']:g}", str(row["told"]), str(row["pending"]))
        table.add_row(escape(row["name"]), row["state"], escape(row["leader"] or ""), *numbers)
    console().print(table)


@app.command()
def ask(
    name: Annotated[str, NAME],
    lease: Annotated[float, typer.Option(help="Seconds after which another worker may have it.")] = 3600.0,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Say what to evaluate next. Exit code 1 if there is nothing: the study is over, or must wait.

    Example: mfbai study ask designs
    """
    from mfbai.errors import NothingToAsk, StudyOver

    study = load(name, storage)
    try:
        with waiting(LOADING):
            trial = study.ask(lease=lease)
    except (StudyOver, NothingToAsk) as told:
        if as_json:
            print_json({"id": None, "message": str(told)})
        else:
            typer.echo(str(told), err=True)
        raise typer.Exit(1) from None
    if as_json:
        print_json(trial.to_dict())
        return
    typer.echo(
        f"Trial {trial.id}: evaluate {trial.arm!r} at {trial.fidelity!r} (cost {trial.cost:g}), with seed {trial.seed},"
    )
    typer.echo(f"by {trial.lease_until.astimezone():%Y-%m-%d %H:%M:%S}.")
    where = elsewhere(storage, study)
    typer.echo(f"Then: mfbai study tell {quoted(name)} {trial.id} VALUE{where}")


@app.command(context_settings={"ignore_unknown_options": True})
def tell(
    name: Annotated[str, NAME],
    trial: Annotated[str, TRIAL],
    value: Annotated[str, typer.Argument(help="What the evaluation found.", show_default=False)],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Tell the value of a trial. It is on disk when this ends; to tell it again does nothing.

    Example: mfbai study tell designs 1-3f9a02c4 0.83
    """
    study, x = load(name, storage), number(value)
    with waiting(LOADING):
        study.tell(trial, x)
    acknowledge(study, {"trial": trial, "value": x}, f"Trial {trial}: {value}.", as_json)


@app.command()
def fail(
    name: Annotated[str, NAME],
    trial: Annotated[str, TRIAL],
    reason: Annotated[str, typer.Option(help="Why, for the journal.")] = "",
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Report that a trial has no value and never will.

    Example: mfbai study fail designs 1-3f9a02c4 --reason "out of memory"
    """
    study = load(name, storage)
    with waiting(LOADING):
        study.fail(trial, reason)
    acknowledge(study, {"trial": trial, "failed": True}, f"Trial {trial}: failed.", as_json)


@app.command()
def release(
    name: Annotated[str, NAME],
    trial: Annotated[str, TRIAL],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Give a trial up: whoever asks next has it.

    For a worker that is gone, where its lease is long and others wait for its result.

    Example: mfbai study release designs 1-3f9a02c4
    """
    study = load(name, storage)
    study.release(trial)
    was_open = trial in dict(study.trials())
    told = "released" if was_open else "it is not under way: there is nothing to release"
    acknowledge(study, {"trial": trial, "released": was_open}, f"Trial {trial}: {told}.", as_json)


@app.command()
def status(
    name: Annotated[str, NAME],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Show where a study stands.

    Means with the number of evaluations for each arm and fidelity; intervals of the true means that hold at all times.

    Example: mfbai study status designs
    """
    from mfbai.cli.views.study import picture

    study = load(name, storage)
    with waiting(LOADING):
        found = study.status()
    if as_json:
        print_json(found.to_dict())
    else:
        console().print(picture(found))


@app.command()
def run(
    name: Annotated[str, NAME],
    command: Annotated[
        str, typer.Option(help="The program, with {arm}, {fidelity}, {seed} in their places.", show_default=False)
    ],
    workers: Annotated[int, typer.Option(help="Programs to run at a time.")] = 1,
    timeout: Annotated[float, typer.Option(help="Seconds after which a program counts as hanging.")] = 3600.0,
    retries: Annotated[int, typer.Option(help="Further attempts if a program fails or hangs.")] = 2,
    shell: Annotated[bool, typer.Option("--shell", help="Let a shell run the command.")] = False,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Run a program for each evaluation, until there is a verdict.

    The last line that the program prints is the value. Also known: {arm_index}, {fidelity_index}, {cost}, {id}. No
    shell is involved unless you ask for one. A program that fails is started again after a pause, longer each time;
    then its trial is reported as failed. Three in a row of one cell end the run, with exit code 1; the study goes on
    when you run again. So it does after Ctrl-C or a crash.

    Example: mfbai study run designs --command "python evaluate.py {arm} {fidelity} {seed}" --workers 3
    """
    from mfbai.study.program import Command
    from mfbai.study.workers import Crew

    check_run(workers, timeout, retries)
    study = load(name, storage)
    program = Command(command, study, shell=shell, timeout=timeout, retries=retries)
    with waiting(LOADING):
        study.warm_up()
    crew = Crew(study, program, workers)
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)  # end as after Ctrl-C: leave no program behind
    try:
        watch(study, crew, program.cancel, quiet=as_json)
    except KeyboardInterrupt:
        typer.echo(f"interrupted: study {name!r} is kept; run again to go on", err=True)
        sys.exit(130)
    finally:
        signal.signal(signal.SIGTERM, before)
    conclude(study, crew, as_json)


@app.command()
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


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="A certificate, as `export` writes it.", show_default=False)],
    storage: Annotated[str | None, typer.Option(help="Not used: a certificate has all it needs.", hidden=True)] = None,
    as_json: bool = JSON,
) -> None:
    """Replay a certificate: is it true?

    It is confirmed, or else the first event that differs is named, with exit code 1.

    Example: mfbai study verify designs.json
    """
    from dataclasses import asdict

    from mfbai.study import verify as replay

    with waiting("replaying every event ..."):
        found = replay(file)
    if as_json:
        body = asdict(found)
        if found.verdict is not None:
            del body["verdict"]["rests_on_bounds"]
        print_json(body)
    else:
        typer.echo(f"{'Confirmed' if found else 'REJECTED'}: {found.reason}.")
        if found.verdict is not None:
            typer.echo(f"Study {found.study!r}: {found.verdict}")
        elif found:
            typer.echo(f"Study {found.study!r} has no verdict yet.")
    if not found:
        raise typer.Exit(1)


def load(name: str, storage: str) -> Study:
    from mfbai.study import load_study

    return load_study(name, storage=storage)


def number(text: str) -> float:
    from mfbai.errors import Fault, InvalidInput
    from mfbai.text import read_number

    try:
        return read_number(text)
    except ValueError:
        raise InvalidInput([Fault("VALUE", f"is {text!r}: give a number")]) from None


def quoted(text: str) -> str:
    import shlex

    return shlex.quote(text)


def elsewhere(storage: str, study: Study) -> str:
    """What to add to a command that we suggest, if the storage is not the usual one; without a password."""
    return "" if storage == DEFAULT_STORAGE else f" --storage {quoted(study.storage)}"


def acknowledge(study: Study, told: dict[str, Any], text: str, as_json: bool) -> None:
    verdict = study.result
    if as_json:
        print_json({**told, "state": "running" if verdict is None else verdict.state})
    else:
        typer.echo(text if verdict is None else f"{text}\n{verdict}")


def check_run(workers: int, timeout: float, retries: int) -> None:
    from mfbai.errors import Faults

    faults = Faults()
    if workers < 1:
        faults.add("--workers", f"is {workers}: give 1 or more")
    if not 0 < timeout <= 1e9:
        faults.add("--timeout", f"is {timeout:g}: give a positive number of seconds, of 1e9 at most")
    if retries < 0:
        faults.add("--retries", f"is {retries}: give 0 or more")
    faults.raise_if_any("call")


def watch(study: Study, crew: Crew, cancel: Any, quiet: bool) -> None:
    """Let the crew work, with a live picture if there is a terminal."""
    out = console()
    if quiet or not out.is_terminal:
        crew.work(lines(study), cancel)
        return
    from rich.live import Live

    from mfbai.cli.views.study import picture

    with Live(console=out, refresh_per_second=8, transient=True) as live:
        crew.work(lambda: live.update(picture(study.status(), under_way(crew))), cancel)


def lines(study: Study) -> Any:
    """Says now and then on standard error how things stand."""
    import time

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
    import time

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
        typer.echo(
            "stopped: three evaluations of one cell failed in a row; the study is kept: run again to go on", err=True
        )
        raise typer.Exit(1)


def add_to(parent: typer.Typer) -> None:
    parent.add_typer(app, name="study")
