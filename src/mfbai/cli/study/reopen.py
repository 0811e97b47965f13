"""mfbai study reopen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, print_json, quoted
from mfbai.cli.study.common import NAME, elsewhere, load
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.errors import Faults

BIAS_HELP = "The new bound of a fidelity: NAME=0.2, or NAME=-0.1,0.3; repeat it for several."


def reopen(
    name: Annotated[str, NAME],
    new: Annotated[str, typer.Option("--as", help="What to call the new study.", show_default=False)],
    bias: Annotated[list[str], typer.Option(metavar="NAME=BOUND", help=BIAS_HELP, show_default=False)],
    max_cost: Annotated[float | None, typer.Option(help="A budget, instead of what is left of the old one.")] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Go on with other bias bounds and all values.

    They are those of a new study, which counts all values of the old one.

    Example: mfbai study reopen designs --as designs-2 --bias coarse=0.2
    """
    from mfbai.errors import Faults

    faults = Faults()
    bounds = read_bounds(faults, bias)
    faults.raise_if_any("call")
    study = load(name, storage)
    with waiting(LOADING):
        made = study.reopen(new, bounds, max_cost=max_cost)
        status = made.status()
    if as_json:
        print_json({"name": made.name, "storage": made.storage, "state": status.state, "imported": status.imported})
        return
    before, after = study.settings, made.settings
    typer.echo(f"Study {made.name!r} has {status.imported} values of {name!r}.")
    if (before.strategy, before.rule) != (after.strategy, after.rule):
        typer.echo(f"It goes on with {after.strategy} and the rule {after.rule!r}, which count them all.")
    if status.result is not None:
        typer.echo(str(status.result))
    else:
        typer.echo(f"Next: mfbai study status {quoted(made.name)}{elsewhere(storage, made)}")


def read_bounds(faults: Faults, texts: list[str]) -> dict[str, float | tuple[float, float]]:
    """The bounds of `--bias`, by fidelity."""
    from mfbai.text import read_number

    bounds: dict[str, float | tuple[float, float]] = {}
    for text in texts:
        fidelity, equals, bound = text.rpartition("=")
        try:
            numbers = [read_number(part) for part in bound.split(",")]
        except ValueError:
            numbers = []
        if not equals or len(numbers) not in (1, 2):
            faults.add("--bias", f"is {text!r}: give NAME=0.2, or NAME=-0.1,0.3")
        elif fidelity in bounds:
            faults.add("--bias", f"has {fidelity!r} twice: give it once")
        else:
            bounds[fidelity] = numbers[0] if len(numbers) == 1 else (numbers[0], numbers[1])
    return bounds


def add_to(app: typer.Typer) -> None:
    app.command()(reopen)
