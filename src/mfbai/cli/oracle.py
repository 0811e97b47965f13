"""mfbai oracle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import JSON
from mfbai.cli.output import console, print_json
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from mfbai.analysis.oracle import Oracle
    from mfbai.model.instance import Instance

MOST_ROWS, MOST_COLUMNS = 30, 7  # of the table; what is cut is counted


def oracle(
    instance: Annotated[str, typer.Argument(help="A name (see `mfbai instances`) or a TOML file with a [truth].")],
    delta: Annotated[list[str], typer.Option(metavar="NUMBER", help="The risk, or several.")] = ["0.01"],  # noqa: B006
    tolerance: Annotated[float, typer.Option(help="An arm this close to the best is as good.")] = 0.0,
    variance: Annotated[float | None, typer.Option(help="Replace the variance of the instance.")] = None,
    as_json: bool = JSON,
) -> None:
    """Compute the least possible cost, and how to spend it.

    For known means: C*, the optimal share of the cost for each arm and fidelity, and a certificate.

    Example: mfbai oracle paper-4x5 --delta 0.01
    """
    from mfbai.analysis.oracle import oracle as solve
    from mfbai.checks import check_delta
    from mfbai.cli.options import read_deltas
    from mfbai.errors import Faults
    from mfbai.model.spec import check_instance
    from mfbai.simulation.experiment import STAND_IN

    faults = Faults()
    risks = read_deltas(faults, delta)
    if risks:
        check_delta(faults, risks)
    loaded = check_instance(STAND_IN)
    with faults.absorb():
        loaded = check_instance(instance, variance, ties=True)
    with faults.absorb():
        loaded.problem.model(tolerance)  # knows what a tolerance can be
    faults.raise_if_any("call")
    with waiting("solving (the first time it is compiled: 20 s) ..."):
        found = solve(loaded, tolerance)
    bounds = {repr(risk): found.lower_bound(risk) for risk in risks}
    if as_json:
        print_json(to_dict(loaded, found, bounds, tolerance))
    else:
        print_oracle(loaded, found, bounds, tolerance)


def to_dict(instance: Instance, found: Oracle, bounds: dict[str, float], tolerance: float) -> dict[str, Any]:
    return {
        "instance": instance.name,
        "best_arm": instance.arms[found.best],
        "tolerance": tolerance,
        "cost_complexity": found.cost_complexity,
        "gap": found.gap,
        "unique": found.unique,
        "assumes_normal": found.assumes_normal,
        "weights": found.weights.tolist(),
        "pulls": found.pulls.tolist(),
        "lower_bound": bounds,
    }


def print_oracle(instance: Instance, found: Oracle, bounds: dict[str, float], tolerance: float) -> None:
    from rich.markup import escape

    from mfbai.analysis.literature import earlier_lower_bound
    from mfbai.analysis.sentences import NORMAL, certified

    out = console()
    name, best = escape(instance.name or "instance"), escape(instance.arms[found.best])
    answer = f"best arm '{best}'" if tolerance == 0 else f"answer '{best}', within {tolerance:g} of the best"
    if found.cost_complexity == 0:
        out.print(f"{name}: nothing needs to be evaluated. No arm can be better than another by {tolerance:g}.")
        return
    out.print(f"{name}: {answer}. The optimal share of the cost, in %:", soft_wrap=True)
    out.print(table_of(instance, found))
    out.print(f"C* = [bold]{found.cost_complexity:.7g}[/bold], {certified(found)}.")
    if found.assumes_normal:
        out.print(NORMAL, soft_wrap=True)
    if not found.unique:
        out.print("Other allocations are as cheap: this is one of several.")
    for delta, bound in bounds.items():
        told = (
            "no strategy costs less than" if tolerance == 0 else "the least average cost, as delta goes to 0, is about"
        )
        out.print(f"At delta = {delta} {told} [bold]{bound:,.6g}[/bold]{' on average' * (tolerance == 0)}.")
    if tolerance == 0:
        earlier = earlier_lower_bound(instance) / found.cost_complexity
        out.print(f"(The lower bound known before, of Poiani et al. 2022, is {100 * earlier:.3g} % of this one.)")


def table_of(instance: Instance, found: Oracle) -> Any:
    from rich.markup import escape
    from rich.table import Table

    from mfbai.analysis.rows import largest, share_row

    weights = found.weights
    rows, columns = largest(weights.sum(axis=1), MOST_ROWS), largest(weights.sum(axis=0), MOST_COLUMNS)
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm", overflow="fold")
    for m in columns:
        table.add_column(escape(instance.fidelities[m]), justify="right")
    table.add_column("use")
    for arm in rows:
        *shares, used = share_row(found, arm, columns)
        dimmed = ["[dim]0[/dim]" if share == "0" else share for share in shares]
        label = escape(instance.arms[arm])
        table.add_row(f"[bold]{label}[/bold]" if arm == found.best else label, *dimmed, escape(used))
    hidden_rows, hidden_columns = len(weights) - len(rows), weights.shape[1] - len(columns)
    if hidden_rows or hidden_columns:
        told = [f"{hidden_rows} arms" * (hidden_rows > 0), f"{hidden_columns} fidelities" * (hidden_columns > 0)]
        table.caption = f"not shown: {' and '.join(filter(None, told))} of smaller share (--json has all)"
    return table


def add_to(app: typer.Typer) -> None:
    app.command()(oracle)
