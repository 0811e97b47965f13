"""mfbai simulate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import JSON, read_deltas, read_settings
from mfbai.cli.output import console, print_json

if TYPE_CHECKING:
    from mfbai.model.problem import Instance
    from mfbai.simulation import Runs


def simulate(
    instance: Annotated[str, typer.Argument(help="A name (see `mfbai instances`) or a TOML file with a [truth].")],
    strategy: Annotated[
        list[str],
        typer.Option(
            help="frugal, mf-grad, mf-grad-const, mf-grad-row, grad, grad-const, track-and-stop, iise, lucb, "
            "lucb-explore-a, lucb-explore-b, uniform or oracle (which knows the truth); give it again to compare."
        ),
    ] = ["mf-grad"],  # noqa: B006
    stopping: Annotated[
        str,
        typer.Option(
            help="The stopping rule, for strategies without one of their own: e-process, stylised, theorem or "
            "kaufmann-koolen."
        ),
    ] = "e-process",
    delta: Annotated[list[str], typer.Option(help="The risk, or several.")] = ["0.01"],  # noqa: B006
    runs: Annotated[int, typer.Option(help="How many runs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Results depend on it alone.")] = 0,
    max_steps: Annotated[int | None, typer.Option(help="Give up a run after this many evaluations.")] = None,
    variance: Annotated[float | None, typer.Option(help="Replace the variance of the instance.")] = None,
    workers: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    settings: Annotated[
        list[str],
        typer.Option(
            "--set", metavar="KEY=VALUE", help="Settings of the strategy or the rule, as rate=0.1, or mu1=0.6 mu2=0.5."
        ),
    ] = [],  # noqa: B006
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture of the costs.")] = None,
    as_json: bool = JSON,
) -> None:
    """Run strategies many times; report cost and errors.

    Example: mfbai simulate paper-4x5 --strategy mf-grad --strategy grad --delta 0.01 --runs 1000
    """
    loaded, deltas, options = check(
        instance, strategy, stopping, delta, runs, seed, max_steps, variance, workers, settings, plot
    )
    from mfbai.simulation import simulate as run

    done: list[Runs] = []
    try:
        for name in strategy:
            wanted = {key: value for key, value in options.items() if key in known_options(name, stopping)}
            done.append(run(loaded, name, deltas, runs, seed, stopping, max_steps, workers, wanted))
            if len(done[-1]) < runs:
                raise KeyboardInterrupt
    except KeyboardInterrupt:
        show(loaded, done, as_json, plot)
        finished = ", ".join(f"{len(found)} of {runs} runs of {found.strategy}" for found in done) or "nothing"
        typer.echo(f"interrupted: {finished} finished", err=True)
        sys.exit(130)
    show(loaded, done, as_json, plot)


def show(instance: Instance, done: list[Runs], as_json: bool, plot: Path | None) -> None:
    records = [record for found in done for record in found.records()]
    if as_json:
        print_json(records)
    elif records:
        print_table(instance, records)
    if plot is not None and records:
        from mfbai.plots import plot_costs

        plot_costs(done, plot)
        if not as_json:
            typer.echo(f"\nThe picture is in {plot}")


def check(
    instance: str,
    strategies: list[str],
    stopping: str,
    delta: list[str],
    runs: int,
    seed: int,
    max_steps: int | None,
    variance: float | None,
    workers: int | None,
    settings: list[str],
    plot: Path | None,
) -> tuple[Instance, list[float], dict[str, float]]:
    """Everything that can be wrong with the call, told at once and before anything runs."""
    from mfbai.errors import Faults, suggestion
    from mfbai.model.spec import check_instance
    from mfbai.simulation.experiment import STAND_IN, prepare
    from mfbai.strategies import STRATEGIES

    faults = Faults()
    loaded = None
    with faults.absorb():
        loaded = check_instance(instance, variance)
    risks = read_deltas(faults, delta)
    options = read_settings(faults, settings)
    if all(name in STRATEGIES for name in strategies):
        known = sorted({key for name in strategies for key in known_options(name, stopping)})
        for key in set(options) - set(known):
            hint = suggestion(key, known) if known else "neither strategy nor stopping rule has any"
            faults.add("--set", f"has no {key!r}: {hint}")
    integers = {"runs": runs, "seed": seed, "max_steps": max_steps, "workers": workers}
    for name in strategies:
        wanted = {key: value for key, value in options.items() if key in known_options(name, stopping)}
        with faults.absorb():
            prepare(loaded or STAND_IN, name, stopping, risks or [0.5], wanted, integers)
    if plot is not None:
        from mfbai.plots.style import check_file

        check_file(faults, "--plot", plot)
    faults.raise_if_any("call")
    assert loaded is not None
    return loaded, risks, options


def known_options(strategy: str, stopping: str) -> list[str]:
    from mfbai.stopping import RULES
    from mfbai.strategies import STRATEGIES

    plan = STRATEGIES.get(strategy)
    rule = RULES[stopping].options if stopping in RULES and not (plan and plan.own_rule) else {}
    return [*(plan.options if plan else ()), *rule]


def print_table(instance: Instance, records: list[dict[str, Any]]) -> None:
    from rich.markup import escape
    from rich.table import Table

    name, best = escape(instance.name or "instance"), escape(instance.arms[instance.best])
    K, M = instance.shape
    table = Table(box=None, header_style="bold", pad_edge=False)
    runs, seed = records[0]["runs"], records[0]["seed"]
    rules = " / ".join(sorted({record["stopping"] for record in records}, reverse=True))
    told = f"{runs} run{'s' * (runs > 1)}, seed {seed}, {rules}"
    out = console()
    out.print(
        f"{name}: {K} arms, {M} {'fidelity' if M == 1 else 'fidelities'}, best arm '{best}'; {told}", soft_wrap=True
    )
    table.add_column("strategy", no_wrap=True)
    for column in ("delta", "mean cost", "± 95 %", "median", "errors", "steps", "stopped"):
        table.add_column(column, justify="right", no_wrap=True)
    for record in records:
        at_least = "≥ " * (record["stopped"] < 1)  # runs given up would have cost more
        table.add_row(
            record["strategy"],
            f"{record['delta']:g}",
            f"{at_least}{record['mean_cost']:,.1f}",
            "" if record["cost_ci95"] is None else f"{record['cost_ci95']:,.1f}",
            f"{at_least}{record['median_cost']:,.1f}",
            f"{100 * record['error_rate']:.2f} %",
            f"{record['mean_steps']:,.0f}",
            f"{100 * record['stopped']:.0f} %",
        )
    out.print(table)


def add_to(app: typer.Typer) -> None:
    app.command()(simulate)
