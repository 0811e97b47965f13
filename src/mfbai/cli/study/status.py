"""mfbai study status."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import DEFAULT_STORAGE, JSON, STORAGE
from mfbai.cli.output import LOADING, console, print_json
from mfbai.cli.study.common import NAME, elsewhere, load
from mfbai.cli.views.study import SHOWN, Choice, picture
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.study import Status

BY_ARM = ("arms", "evidence", "spent", "counts", "means", "intervals", "differences")
SEARCH_HELP = "Show the arms whose names contain this text."
TOP_HELP = f"Show this many arms: the leader and its closest rivals. [default: {SHOWN}; all with --json]"


def status(
    name: Annotated[str, NAME],
    top: Annotated[int | None, typer.Option(min=1, help=TOP_HELP)] = None,
    search: Annotated[str | None, typer.Option(metavar="TEXT", help=SEARCH_HELP)] = None,
    every: Annotated[bool, typer.Option("--all", help="Show all arms.")] = False,
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

    check_choice(top, every)
    study = load(name, storage)
    with waiting(LOADING):
        found = study.status()
        remaining = Forecast(study).remaining(found)
    if as_json:
        print_json({**to_dict(found, Choice(top, search)), "remaining": remaining})
    else:
        choice = Choice(None if every else top or SHOWN, search)
        console().print(picture(found, choice=choice, remaining=remaining, where=elsewhere(storage, study)))


def check_choice(top: int | None, every: bool) -> None:
    from mfbai.errors import Faults

    faults = Faults()
    if every and top is not None:
        faults.add("--all", f"is given beside --top {top}: give one of them")
    faults.raise_if_any("call")


def to_dict(status: Status, choice: Choice) -> dict[str, Any]:
    """With `top` or `search`, tables have only these arms, whose `indices` are added; other indices stay those of the
    problem."""
    body = status.to_dict()
    if choice == (None, None):
        return body
    indices = choice.of(status)
    return {**body, **{table: [body[table][a] for a in indices] for table in BY_ARM}, "indices": indices}


def add_to(app: typer.Typer) -> None:
    app.command()(status)
