"""mfbai study create."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import (
    AUDIT_HELP,
    DEFAULT_RULE,
    DEFAULT_STORAGE,
    DEFAULT_STRATEGY,
    JSON,
    RISK,
    STORAGE,
    NamesInHelp,
    number,
    read_settings,
)
from mfbai.cli.output import print_json, quoted
from mfbai.cli.study.common import elsewhere

if TYPE_CHECKING:
    from mfbai.study import Study

ON_ALARM_HELP = "stop or continue, when the results contradict a bias bound or a variance."
SEEDS_HELP = "independent or common (arms share seeds), instead of what the file says."


def create(
    spec: Annotated[str, typer.Argument(help="The problem: a TOML file, or a name (see `mfbai instances`).")],
    name: Annotated[str, typer.Option(help="What to call the study.", show_default=False)],
    delta: Annotated[str, typer.Option(metavar="NUMBER", help="The accepted risk of a wrong answer, such as 0.05.")],
    strategy: Annotated[
        str | None, typer.Option(metavar="NAME", help="Chooses what to evaluate: {strategies}. " + DEFAULT_STRATEGY)
    ] = None,
    stopping: Annotated[
        str | None, typer.Option(metavar="NAME", help="Decides when to stop: {rules}. " + DEFAULT_RULE)
    ] = None,
    tolerance: Annotated[float, typer.Option(help="An arm this close to the best is as good.")] = 0.0,
    max_cost: Annotated[float | None, typer.Option(help="A budget: the verdict may then be `undecided`.")] = None,
    direction: Annotated[str | None, typer.Option(help="maximise or minimise, instead of what the file says.")] = None,
    seeds: Annotated[str | None, typer.Option(help=SEEDS_HELP)] = None,
    audit: Annotated[float, typer.Option(help=AUDIT_HELP)] = 0.0,
    on_alarm: Annotated[str, typer.Option(metavar="NAME", help=ON_ALARM_HELP)] = "stop",
    plan: Annotated[bool, typer.Option("--plan", help="Keep the fidelities that a plan calls worth having.")] = False,
    settings: Annotated[list[str] | None, typer.Option("--set", help="KEY=VALUE of the strategy or rule.")] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Create a study.

    With --plan, the file's [guess] says which fidelities are worth having, as `mfbai plan` does; others are left out.

    Example: mfbai study create problem.toml --name designs --delta 0.05
    """
    from mfbai.errors import Faults
    from mfbai.study import create_study

    faults = Faults()
    given: dict[str, Any] = {"strategy": strategy, "stopping": stopping, "tolerance": tolerance, "max_cost": max_cost}
    given |= {"direction": direction, "seeds": seeds, "audit": audit, "on_alarm": on_alarm}
    given["options"] = read_settings(faults, settings or [])
    risk: Any = number(faults, "delta", delta, RISK)
    faults.raise_if_any("call")
    planned = None
    if plan:
        from mfbai.planning.fidelities import plan_fidelities

        planned = plan_fidelities(spec, None, risk, tolerance, direction, seeds)
    study = create_study(planned.advised if planned else spec, risk, name=name, storage=storage, **given)
    if as_json:
        kept = {"fidelities": list(study.problem.fidelities), "plan": planned.choice} if planned else {}
        print_json({"name": study.name, "storage": study.storage, **kept})
    else:
        if planned:
            typer.echo(planned.choice)
        say_what_to_do(study, elsewhere(storage, study))


def say_what_to_do(study: Study, where: str) -> None:
    name, program = quoted(study.name), "--command 'PROGRAM {arm} {fidelity} {seed}' --workers 2"
    typer.echo(f"Study {study.name!r} is in {study.storage}.")
    best = "largest" if study.problem.sign > 0 else "smallest"
    typer.echo(f"The best arm is the one with the {best} mean at {study.problem.fidelities[-1]!r}.")
    typer.echo(f"Next: mfbai study run {name} {program}{where}")
    typer.echo(f"or, by hand: mfbai study ask {name}{where}")


def add_to(app: typer.Typer) -> None:
    app.command(cls=NamesInHelp)(create)
