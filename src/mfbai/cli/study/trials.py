"""mfbai study ask, tell, fail, release: what a worker does by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, print_json, quoted
from mfbai.cli.study.common import NAME, elsewhere, load
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study import Study

TRIAL = typer.Argument(help="The trial's id, as `ask` printed it.", show_default=False)


def ask(
    name: Annotated[str, NAME],
    lease: Annotated[float, typer.Option(help="Seconds until the trial may go to another worker.")] = 3600.0,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Print what to evaluate next.

    The exit code is 1 if there is nothing: the study is over, or results must come back first.

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
    what = f"Trial {trial.id}: evaluate {trial.arm!r} at {trial.fidelity!r} (cost {trial.cost:g})"
    values = "VALUE"
    if trial.parts:
        typer.echo(f"{what}, which is")
        for k, part in enumerate(trial.parts, 1):
            typer.echo(f"  {k}. {part.arm!r} at {part.fidelity!r}, with seed {part.seed},")
        values = f"VALUE1 ... VALUE{len(trial.parts)}"
    else:
        typer.echo(f"{what}, with seed {trial.seed},")
    typer.echo(f"by {trial.lease_until.astimezone():%Y-%m-%d %H:%M:%S}.")
    typer.echo(f"Then: mfbai study tell {quoted(name)} {trial.id} {values}{elsewhere(storage, study)}")


def tell(
    name: Annotated[str, NAME],
    trial: Annotated[str, TRIAL],
    values: Annotated[
        list[str],
        typer.Argument(help="What the evaluation found; of a trial with parts, of each.", show_default=False),
    ],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Report the value of a trial, or those of its parts.

    It is on disk when the command ends. Repeating the command does nothing.

    Example: mfbai study tell designs 1-3f9a02c4 0.83
    """
    study, read = load(name, storage), [number(value) for value in values]
    told = {"value": read[0]} if len(read) == 1 else {"values": read}
    with waiting(LOADING):
        study.tell(trial, read[0] if len(read) == 1 else read)
    acknowledge(study, {"trial": trial, **told}, f"Trial {trial}: {' '.join(values)}.", as_json)


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


def release(
    name: Annotated[str, NAME],
    trial: Annotated[str, TRIAL],
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Give a trial up: the next `ask` hands it out.

    Use it if a worker is gone, its lease is long, and other results wait for its trial.

    Example: mfbai study release designs 1-3f9a02c4
    """
    study = load(name, storage)
    study.release(trial)
    was_open = trial in dict(study.trials())
    told = "released" if was_open else "it is not under way: there is nothing to release"
    acknowledge(study, {"trial": trial, "released": was_open}, f"Trial {trial}: {told}.", as_json)


def number(text: str) -> float:
    from mfbai.errors import Fault, InvalidInput
    from mfbai.text import read_number

    try:
        return read_number(text)
    except ValueError:
        raise InvalidInput([Fault("VALUE", f"is {text!r}: give a number")]) from None


def acknowledge(study: Study, told: dict[str, Any], text: str, as_json: bool) -> None:
    verdict = study.result
    if as_json:
        print_json({**told, "state": "running" if verdict is None else verdict.state})
    else:
        typer.echo(text if verdict is None else f"{text}\n{verdict}")


def add_to(app: typer.Typer) -> None:
    app.command()(ask)
    app.command(context_settings={"ignore_unknown_options": True})(tell)  # a value may begin with a minus
    app.command()(fail)
    app.command()(release)
