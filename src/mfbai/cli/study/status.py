"""mfbai study status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, console, print_json
from mfbai.cli.study.common import NAME, load
from mfbai.cli.views.study import SHOWN, first_arms, picture
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study import Status

BY_ARM = ("arms", "evidence", "spent", "counts", "means", "intervals", "differences")
TOP_HELP = f"Show this many arms: the leader and its closest rivals. [default: {SHOWN}; all with --json]"


def status(
    name: Annotated[str, NAME],
    top: Annotated[int | None, typer.Option(min=1, help=TOP_HELP)] = None,
    storage: Annotated[str, STORAGE] = DEFAULT_STORAGE,
    as_json: bool = JSON,
) -> None:
    """Show where a study stands.

    The table has each arm's mean at each fidelity, with the number of evaluations in brackets, an interval for its true
    mean, and one for the leader's true mean minus its own. All intervals of a column hold together, however often you
    look. Where arms share seeds, differences alone are known.

    Example: mfbai study status designs
    """
    from mfbai.study.forecast import Forecast

    study = load(name, storage)
    with waiting(LOADING):
        found = study.status()
        remaining = Forecast(study).remaining(found)
    if as_json:
        print_json({**to_dict(found, top), "remaining": remaining})
    else:
        console().print(picture(found, top=top or SHOWN, remaining=remaining))


def to_dict(status: Status, top: int | None) -> dict[str, Any]:
    """With `top`, tables have only these arms, whose `indices` are added; other indices stay those of the problem."""
    body = status.to_dict()
    if top is None:
        return body
    indices = first_arms(status, top)
    return {**body, **{table: [body[table][a] for a in indices] for table in BY_ARM}, "indices": indices}


def add_to(app: typer.Typer) -> None:
    app.command()(status)
