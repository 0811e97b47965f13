"""mfbai simulate."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mfbai.cli.options import (
    AUDIT_HELP,
    DASK,
    DEFAULT_RULE,
    DEFAULT_STRATEGY,
    JSON,
    PROCESSES,
    RAY,
    NamesInHelp,
    read_deltas,
    read_executor,
    read_settings,
)
from mfbai.cli.output import console, print_json

if TYPE_CHECKING:
    from mfbai.errors import Faults
    from mfbai.model.instance import Instance
    from mfbai.simulation import Runs


def simulate(
    instance: Annotated[str, typer.Argument(help="A name (see `mfbai instances`) or a TOML file with a [truth].")],
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="{strategies}; repeat it to compare several. " + DEFAULT_STRATEGY,
        ),
    ] = None,
    stopping: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="For strategies without a rule of their own: {rules}. " + DEFAULT_RULE),
    ] = None,
    delta: Annotated[list[str], typer.Option(metavar="NUMBER", help="The risk, or several.")] = ["0.01"],  # noqa: B006
    runs: Annotated[int, typer.Option(help="How many runs.")] = 1000,
    seed: Annotated[int, typer.Option(help="Results depend on it alone.")] = 0,
    max_steps: Annotated[int | None, typer.Option(help="Give up a run after this many evaluations.")] = None,
    variance: Annotated[float | None, typer.Option(help="Replace the variance of the instance.")] = None,
    seeds: Annotated[
        str | None, typer.Option(metavar="NAME", help="independent or common: replace the seeds of the instance.")
    ] = None,
    audit: Annotated[float, typer.Option(help=AUDIT_HELP)] = 0.0,
    workers: Annotated[int | None, typer.Option(help="Threads; all cores by default.")] = None,
    processes: Annotated[int | None, PROCESSES] = None,
    dask: Annotated[str | None, DASK] = None,
    ray: Annotated[bool, RAY] = False,
    settings: Annotated[
        list[str],
        typer.Option("--set", metavar="KEY=VALUE", help="Settings of the strategy or the rule, such as rate=0.1."),
    ] = [],  # noqa: B006
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture of the costs.")] = None,
    as_json: bool = JSON,
) -> None:
    """Run strategies many times; report cost and errors.

    Example: mfbai simulate paper-4x5 --strategy mf-grad --strategy grad --delta 0.01 --runs 1000
    """
    from mfbai.engines import using
    from mfbai.errors import Faults

    faults = Faults()
    executor, workers = read_executor(faults, dask, ray, processes, workers)
    counts = Counts(runs, seed, max_steps, workers)
    call = check(faults, instance, variance, seeds, strategy, stopping, delta, settings, counts, plot, audit)
    with using(executor, workers):
        done = run_all(call)
    show(call, done, as_json, plot)
    if len(done) < len(call.strategies) or len(done[-1]) < runs:
        finished = ", ".join(f"{len(found)} of {runs} runs of {found.strategy}" for found in done) or "nothing"
        typer.echo(f"interrupted: {finished} finished", err=True)
        sys.exit(130)


class Counts(NamedTuple):
    """Arguments that must be whole numbers."""

    runs: int
    seed: int
    max_steps: int | None
    workers: int | None


class Call(NamedTuple):
    """What is to be run, checked."""

    instance: Instance
    strategies: list[str]
    stopping: str | None  # None: for each strategy the one that goes with it
    deltas: list[float]
    options: dict[str, float]
    counts: Counts
    audit: float

    def options_of(self, strategy: str) -> dict[str, float]:
        """Those that the strategy has, or its rule."""
        known = known_options(self.instance, strategy, self.stopping)
        return {key: value for key, value in self.options.items() if key in known}


def run_all(call: Call) -> list[Runs]:
    """The runs of each strategy; fewer if Ctrl-C ended them."""
    from mfbai.simulation import simulate as run

    done: list[Runs] = []
    runs, seed, max_steps, workers = call.counts
    try:
        for name in call.strategies:
            how = (call.stopping, max_steps, workers, call.options_of(name))
            done.append(run(call.instance, name, call.deltas, runs, seed, *how, audit=call.audit))
            if len(done[-1]) < runs:
                break
    except KeyboardInterrupt:
        pass
    return done


def show(call: Call, done: list[Runs], as_json: bool, plot: Path | None) -> None:
    records = [record for found in done for record in found.records()]
    if as_json:
        print_json(records)
    elif records:
        print_table(call.instance, records, call.audit)
    if plot is not None and records:
        from mfbai.plots import plot_costs

        plot_costs(done, plot)
        if not as_json:
            typer.echo(f"\nThe picture is in {plot}")


def check(
    faults: Faults,
    instance: str,
    variance: float | None,
    seeds: str | None,
    strategies: list[str] | None,
    stopping: str | None,
    delta: list[str],
    settings: list[str],
    counts: Counts,
    plot: Path | None,
    audit: float,
) -> Call:
    """The call. Everything that can be wrong with it is reported at once, before anything runs."""
    from mfbai.model.spec import check_instance
    from mfbai.run.assemble import choose
    from mfbai.simulation.experiment import STAND_IN, prepare

    loaded = check_instance(STAND_IN)
    with faults.absorb():
        loaded = check_instance(instance, variance)
        loaded = loaded if seeds is None else loaded.with_seeds(seeds)
    risks, options = read_deltas(faults, delta), read_settings(faults, settings)
    chosen = strategies or [choose(loaded.problem, None, stopping)[0]]
    call = Call(loaded, chosen, stopping, risks, options, counts, audit)
    check_settings(faults, call)
    for name in call.strategies:
        with faults.absorb():
            options = call.options_of(name)
            prepare(loaded, name, call.stopping, risks or [0.5], options, counts._asdict(), audit=audit)
    if plot is not None:
        from mfbai.plots.style import check_file

        check_file(faults, "--plot", plot)
    faults.raise_if_any("call")
    return call


def check_settings(faults: Faults, call: Call) -> None:
    """Each must be of some strategy, or of its rule."""
    from mfbai.errors import suggestion
    from mfbai.strategies import STRATEGIES

    if not all(name in STRATEGIES for name in call.strategies):
        return
    known = sorted({key for name in call.strategies for key in known_options(call.instance, name, call.stopping)})
    for key in set(call.options) - set(known):
        hint = suggestion(key, known) if known else "neither strategy nor stopping rule has any"
        faults.add("--set", f"has no {key!r}: {hint}")


def known_options(instance: Instance, strategy: str, stopping: str | None) -> list[str]:
    from mfbai.run.assemble import choose
    from mfbai.stopping import RULES
    from mfbai.strategies import STRATEGIES

    plan, name = STRATEGIES.get(strategy), choose(instance.problem, strategy, stopping)[1]
    rule = RULES[name].options if name in RULES and not (plan and plan.own_rule) else {}
    return [*(plan.options if plan else ()), *rule]


def print_table(instance: Instance, records: list[dict[str, Any]], audit: float) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mfbai.simulation.rows import HEADINGS, row_of

    name, best = escape(instance.name or "instance"), escape(instance.arms[instance.best])
    K, M = instance.shape
    table = Table(box=None, header_style="bold", pad_edge=False)
    runs, seed = records[0]["runs"], records[0]["seed"]
    rules = " / ".join(sorted({record["stopping"] for record in records}, reverse=True))
    told = f"{runs} run{'s' * (runs > 1)}, seed {seed}, {rules}"
    told += ", common seeds" if instance.problem.seeds == "common" else ""
    told += f", audit {audit:g}" if audit else ""
    out = console()
    out.print(
        f"{name}: {K} arms, {M} {'fidelity' if M == 1 else 'fidelities'}, best arm '{best}'; {told}", soft_wrap=True
    )
    table.add_column("strategy", no_wrap=True)
    for column in HEADINGS:
        table.add_column(column, justify="right", no_wrap=True)
    for record in records:
        table.add_row(record["strategy"], *row_of(record))
    out.print(table)


def add_to(app: typer.Typer) -> None:
    app.command(cls=NamesInHelp)(simulate)
