"""mfbai plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from mfbai.cli.options import JSON, RISK, number
from mfbai.cli.output import print_json

if TYPE_CHECKING:
    from mfbai.errors import Faults
    from mfbai.planning.plans import Checked

DELTA = 0.01


def plan(
    spec: Annotated[str, typer.Argument(help="A TOML file with a [guess] or a [truth], or a name.")],
    delta: Annotated[list[str], typer.Option(metavar="NUMBER", help="The risk of a wrong answer.")] = [str(DELTA)],  # noqa: B006
    tolerance: Annotated[str, typer.Option(metavar="NUMBER", help="An arm this close to the best is as good.")] = "0",
    correlation: Annotated[
        str | None,
        typer.Option(metavar="NUMBER", help="Of values with the same seed: predict what common seeds save."),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(metavar="NUMBER", help="Cost units spent per hour, to predict how long it takes.")
    ] = None,
    pilot: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Values of a pilot (CSV): plan what it advises.")
    ] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture of what fidelities save.")] = None,
    seed: Annotated[str, typer.Option(metavar="NUMBER", help="Results depend on it alone.")] = "0",
    as_json: bool = JSON,
) -> None:
    """Predict from a guess what finding the best arm costs.

    The guess is the file's [guess] table: means, or low and high, or gap and best.

    Example: mfbai plan paper-4x5 --delta 0.05 --rate 10
    """
    checked, per_hour = check(spec, delta, tolerance, correlation, rate, pilot, plot, seed)
    from mfbai.cli.views.plan import print_plan
    from mfbai.planning.plans import make

    found = make(checked)
    if as_json:
        print_json(found.to_dict(per_hour))
    else:
        print_plan(found, per_hour)
    if plot is not None:
        from mfbai.plots import plot_plan

        plot_plan(found, plot)
        if not as_json:
            typer.echo(f"\nThe picture is in {plot}")


class Call(NamedTuple):
    delta: float
    tolerance: float
    correlation: float | None
    rate: float | None
    seed: int


def check(
    spec: str,
    delta: list[str],
    tolerance: str,
    correlation: str | None,
    rate: str | None,
    pilot: Path | None,
    plot: Path | None,
    seed: str,
) -> tuple[Checked, float | None]:
    """What to plan, and the rate. Everything that can be wrong with the call is reported at once, before any work."""
    from mfbai.errors import Faults
    from mfbai.planning import plans
    from mfbai.planning.results import check_rate

    faults = Faults()
    call = read(faults, delta, tolerance, correlation, rate, seed)
    checked = None
    with faults.absorb():
        checked = plans.check(spec, None, call.delta, call.tolerance, call.seed, call.correlation, pilot)
    check_rate(faults, "--rate", call.rate)
    if plot is not None:
        from mfbai.plots.style import check_file

        check_file(faults, "--plot", plot)
        if checked is not None and checked.problem.n_fidelities == 1:
            faults.add("--plot", "has nothing to show: the problem has one fidelity, so nothing is saved by others")
    faults.raise_if_any("call")
    assert checked is not None
    return checked, call.rate


def read(
    faults: Faults, delta: list[str], tolerance: str, correlation: str | None, rate: str | None, seed: str
) -> Call:
    """The numbers as given; what cannot be read is noted, and its default stands in for it."""
    given = ",".join(delta).split(",")
    risks = [number(faults, "delta", text, RISK) for text in given]
    if len(given) > 1:
        faults.add("delta", f"is {', '.join(given)}: a plan is for one risk; give one, such as {DELTA}")
    loose = number(faults, "tolerance", tolerance, example=0.01)
    known_seed = seed.removeprefix("-").isdecimal()
    if not known_seed:
        faults.add("seed", f"is {seed!r}: give a whole number of 0 or more")
    return Call(
        DELTA if risks[0] is None else risks[0],
        0.0 if loose is None else loose,
        None if correlation is None else number(faults, "correlation", correlation, example=0.8),
        None if rate is None else number(faults, "--rate", rate, example=10),
        int(seed) if known_seed else 0,
    )


def add_to(app: typer.Typer) -> None:
    app.command()(plan)
