"""mfbai pilot."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mfbai.cli.options import COMMAND, JSON, RETRIES, SHELL, TIMEOUT, WORKERS, check_program, number, read_program
from mfbai.cli.output import print_json, quoted

if TYPE_CHECKING:
    from mfbai.analysis.pilot import Pilot
    from mfbai.errors import Faults
    from mfbai.model.problem import Problem

LEVEL = 0.01  # an example


def pilot(
    spec: Annotated[str, typer.Argument(help="The problem: a TOML file, whose fidelities need no `bias`.")],
    command: Annotated[str | None, typer.Option(help=COMMAND, show_default=False)] = None,
    seeds: Annotated[int, typer.Option(help="How many, the same for all arms and fidelities.")] = 8,
    arms: Annotated[
        str | None, typer.Option(metavar="NAMES", help="Some of the arms, with commas between them.")
    ] = None,
    workers: Annotated[int, WORKERS] = 1,
    timeout: Annotated[float, TIMEOUT] = 3600.0,
    retries: Annotated[int, RETRIES] = 2,
    shell: Annotated[bool, SHELL] = False,
    csv: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The values, arm,fidelity,seed,value; by default SPEC-pilot.csv."),
    ] = None,
    out: Annotated[Path | None, typer.Option("--spec", metavar="FILE", help="Write the problem to go on with.")] = None,
    bounds: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Write bias intervals, all true but for this probability, not a control."),
    ] = None,
    variances: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="Write limits of variances, all true but for this probability."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture: cheap against true.")] = None,
    as_json: bool = JSON,
) -> None:
    """Find out what cheap fidelities share with the true one.

    Evaluates arms at all fidelities with the same seeds. Says which fidelity to control the true one by, so that no
    bias bound is needed, how far each is off, and whether arms should share seeds; --spec writes the problem to go on
    with. Values are kept in the CSV file as they come in: run the same command to resume, or with more --seeds to go
    on. Without --command, the values of the CSV file are analysed.

    Example: mfbai pilot problem.toml --command "python evaluate.py {arm} {fidelity} {seed}" --spec controlled.toml
    """
    from mfbai.errors import Faults

    check_program(Faults(), workers, timeout, retries)
    call = check(spec, command, seeds, arms, csv, out, bounds, variances, plot)
    from mfbai.analysis.pilot import read_pilot
    from mfbai.analysis.plain import pilot_as_text
    from mfbai.textfiles import write_text

    if command is None:
        found = read_pilot(call.problem, call.csv)
    else:
        found = run(call, command, seeds, workers, timeout, retries, shell)
    onward = found.onward(call.bounds, call.variances)
    text = onward.spec if out is not None else None
    written = {"The values are in": call.csv}
    if out is not None and text is not None:
        write_text([text], out)
        written["The problem to go on with is in"] = out
    if plot is not None:
        from mfbai.plots import plot_pilot

        plot_pilot(found, plot)
        written["The picture is in"] = plot
    if as_json:
        print_json({**found.to_dict(call.bounds, call.variances), "spec": text})
        return
    advice, _, rest = pilot_as_text(onward).partition("\n")
    typer.secho(advice, bold=True)
    typer.echo(f"{rest}\n")
    for what, file in written.items():
        typer.echo(f"{what} {file}")
    if found.more_seeds is not None and command is not None:
        typer.echo(f"Next: the same command with --seeds {found.seeds + found.more_seeds}; what is evaluated stays.")
    elif out is not None:
        typer.echo(f"Next: mfbai study create {quoted(str(out))} --name NAME --delta 0.05")
    else:
        typer.echo("Next: the same command with --spec FILE writes the problem to go on with.")


class Call(NamedTuple):
    problem: Problem
    arms: list[str] | None
    csv: Path
    bounds: float | None
    variances: float | None


def check(
    spec: str,
    command: str | None,
    seeds: int,
    arms: str | None,
    csv: Path | None,
    out: Path | None,
    bounds: str | None,
    variances: str | None,
    plot: Path | None,
) -> Call:
    """What can be wrong with the call is reported before any work, all at once."""
    from mfbai.analysis.evidence import read_problem
    from mfbai.analysis.onward import check_level, check_limits
    from mfbai.errors import Faults
    from mfbai.model.spec import load

    faults = Faults()
    problem = None
    with faults.absorb():
        problem = read_problem(load(spec, ties=True))
    levels = {}
    for name, text in {"bounds": bounds, "variances": variances}.items():
        levels[name] = None if text is None else number(faults, f"--{name}", text, LEVEL)
        if levels[name] is not None:
            check_level(faults, f"--{name}", levels[name])
        if text is not None and out is None:
            faults.add(f"--{name}", "says what to write: add --spec FILE")
    if command is None and csv is None:
        faults.add("--command", "is missing: give a program to evaluate with, or values that exist with --csv")
    if command is None and arms is not None:
        faults.add("--arms", "is given without a --command: the CSV file says which arms there are")
    if problem is not None and out is not None and bounds is None:
        check_family(faults, problem, variances)
    if problem is not None and variances is not None:
        check_limits(faults, problem, seeds if command is not None else None, "--variances")
    if out is not None and not out.parent.is_dir():
        faults.add("--spec", f"{str(out)!r} is in a folder that does not exist: make {str(out.parent)!r} first")
    values = csv or Path(f"{Path(spec).stem}-pilot.csv")
    for name, file in {"the spec": Path(spec), "the values": values}.items():
        if out is not None and out.resolve() == file.resolve():
            faults.add("--spec", f"{str(out)!r} would replace {name}: give another file")
    if plot is not None:
        from mfbai.plots.style import check_file

        check_file(faults, "--plot", plot)
    faults.raise_if_any("call")
    assert problem is not None
    chosen = None if arms is None else [name.strip() for name in arms.split(",")]
    return Call(problem, chosen, values, levels["bounds"], levels["variances"])


def check_family(faults: Faults, problem: Problem, variances: str | None) -> None:
    """Whether what the pilot may advise, a controlled fidelity, can be written."""
    from mfbai.analysis.controls import states_variances
    from mfbai.model.families import NO_SUMS

    if not problem.family.sums:
        faults.add("[family]", f"is {problem.family.name}: {NO_SUMS}; or add --bounds {LEVEL}")
    elif states_variances(problem) and variances is None:
        told = "is missing: the family states variances, and that of a controlled fidelity comes from the pilot"
        faults.add("--variances", f"{told}; add a level, such as {LEVEL}, or --bounds")


def run(call: Call, command: str, seeds: int, workers: int, timeout: float, retries: int, shell: bool) -> Pilot:
    from mfbai.study.pilot import conclude, open_notes, progress
    from mfbai.study.workers import Crew

    with open_notes(call.problem, seeds, call.arms, call.csv) as notes:
        program = read_program(command, notes, shell, timeout, retries, ("arm", "fidelity", "seed"))
        crew = Crew(notes, program, workers)
        try:
            with progress(notes) as show:
                crew.work(show, program.cancel)
        except KeyboardInterrupt:
            typer.echo(f"interrupted: values are kept in {call.csv}; run the same command to resume", err=True)
            sys.exit(130)
        return conclude(notes, crew)


def add_to(app: typer.Typer) -> None:
    app.command()(pilot)
