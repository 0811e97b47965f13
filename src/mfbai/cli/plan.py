"""mfbai plan."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.figures import CHANGE, COST, FACTOR, PERCENT, TIME, Unit, digits, figure, percent, scaled
from mfbai.cli.output import JSON_OPTION, console, print_json

if TYPE_CHECKING:
    from rich.table import Table

    from mfbai.planning import Plan
    from mfbai.planning.results import Estimate, Spread

WIDTH = 100  # of running text
SHOWN = 6  # names or numbers of a list; of a longer one only the ends are told


def plan(
    spec: Annotated[str, typer.Argument(help="A TOML file with a [guess] or a [truth], or a name.")],
    delta: Annotated[float, typer.Option(help="The risk of a wrong answer.")] = 0.01,
    tolerance: Annotated[float, typer.Option(help="An arm this close to the best is as good.")] = 0.0,
    rate: Annotated[float | None, typer.Option(help="Cost units per hour, to tell how long it takes.")] = None,
    plot: Annotated[Path | None, typer.Option(metavar="FILE", help="Save a picture of what fidelities save.")] = None,
    seed: Annotated[int, typer.Option(help="Results depend on it alone.")] = 0,
    as_json: bool = JSON_OPTION,
) -> None:
    """Reckon from a guess what finding the best arm costs.

    The guess is the file's [guess] table: means, or low and high, or gap and best.

    Example: mfbai plan paper-4x5 --delta 0.05 --rate 10
    """
    check(spec, delta, tolerance, rate, plot, seed)
    import mfbai

    found = mfbai.plan(spec, delta=delta, tolerance=tolerance, seed=seed)
    if as_json:
        print_json(found.to_dict(rate))
    else:
        print_plan(found, rate)
    if plot is not None:
        from mfbai.report import plot_plan

        plot_plan(found, plot)
        if not as_json:
            typer.echo(f"\nThe picture is in {plot}")


def check(spec: str, delta: float, tolerance: float, rate: float | None, plot: Path | None, seed: int) -> None:
    """Everything that can be wrong with the call, told at once and before anything is reckoned."""
    from mfbai.errors import Faults
    from mfbai.planning import plans

    faults = Faults()
    problem = None
    with faults.absorb():
        problem, *_ = plans.check(spec, None, delta, tolerance, seed)
    if rate is not None and not (rate > 0 and isfinite(rate)):
        faults.add("--rate", f"is {rate!r}: give the cost units that can be spent in an hour, such as 10")
    if plot is not None:
        from mfbai.report.style import check_file

        check_file(faults, "--plot", plot)
        if problem is not None and problem.n_fidelities == 1:
            faults.add("--plot", "has nothing to show: the problem has one fidelity, so nothing is saved by others")
    faults.raise_if_any("call")


# --- what is printed


def print_plan(plan: Plan, rate: float | None) -> None:
    from rich.markup import escape

    out = console()

    def show(heading: str, table: Table, notes: list[str]) -> None:
        out.print(f"\n[bold]{escape(heading)}[/bold]", width=WIDTH)
        out.print(table, width=WIDTH)
        for note in notes:
            out.print(f"  {escape(note)}", width=WIDTH, style="dim")

    out.print(f"[bold]{escape(headline(plan))}[/bold]", width=WIDTH)
    out.print(escape(basis(plan)), width=WIDTH)
    show(f"Cost to find the best arm with a risk of {100 * plan.delta:g} %", cost_table(plan), cost_notes(plan))
    if rate is not None:
        show(f"How long that takes at a cost of {rate:g} per hour", time_table(plan, rate), [])
    if plan.problem.n_fidelities > 1:
        show("What each fidelity is worth, and what would save more", worth_table(plan), worth_notes(plan))


def headline(plan: Plan) -> str:
    """The answer in one sentence."""
    cost, simulated = plan.expected.cost, plan.expected.strategy is not None
    chosen = plan.advice
    told = f"Expect a cost {'of' if simulated else 'above'} {figure(cost[chosen], COST)}"
    told += f" at a risk of {100 * plan.delta:g} %"
    if len(plan.sets) == 1:
        return f"{told}."
    told += f", using {listed(plan.sets[chosen])}"
    if chosen == "top":
        return f"{told} alone: {why_alone(plan)}."
    if cost[chosen].median == 0:
        return f"{told}."
    least = "at least " if cost["top"].at_least else ""
    factor = digits(cost["top"].median / cost[chosen].median, 2)
    return f"{told}: {least}{factor} times cheaper than with {plan.sets['top'][0]} alone."


def why_alone(plan: Plan) -> str:
    if all(worth.verdict == "useless" for worth in plan.fidelities[:-1]):
        return "the other fidelities are useless"
    loss = f"{plan.expected.strategy} loses more by learning how" if plan.expected.strategy else "not at this risk"
    return f"the others could pay, but {loss}"


def basis(plan: Plan) -> str:
    """What the figures rest on."""
    K, M = plan.problem.shape
    told = [f"{plan.name or 'problem'}: {K} arms, {M} {'fidelity' if M == 1 else 'fidelities'}; {guess_of(plan)}."]
    if plan.guess.gap is None:
        told.append(f"The best arm is then ahead of the second by {figure(plan.gap, COST)}.")
    if len(plan.truths) > 1:
        told.append(f"Figures are medians over {len(plan.truths)} possible truths; in brackets, the middle 80 %.")
    return " ".join(told)


def guess_of(plan: Plan) -> str:
    guess = plan.guess
    if plan.source == "truth":
        return "no [guess] is given, so the [truth] is taken for one"
    if guess.gap is not None:
        at = "" if guess.best is None else f" has a true mean of {guess.best:g} and"
        return f"guess: the best arm{at} is ahead of all others by {guess.gap:g}"
    if guess.means is not None:
        return f"guess: true means {numbers(guess.means[:, -1] if guess.means.ndim == 2 else guess.means)}"
    return f"guess: true means between {numbers(guess.low)} and {numbers(guess.high)}"


def numbers(values: Any) -> str:
    values = values.ravel().tolist()
    if len(values) > SHOWN:
        return f"{min(values):g} to {max(values):g}"
    texts = [f"{value:g}" for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def listed(names: Sequence[str]) -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    return " and ".join([", ".join(names[:-1]), names[-1]][len(names) == 1 :])


def cost_table(plan: Plan) -> Table:
    table = plain_table(["", *set_names(plan), *(["times cheaper"] if len(plan.sets) > 1 else [])])
    for estimate in plan.estimates:
        add_row(table, plan, estimate, [*estimate.cost.values(), estimate.saving], [COST] * len(plan.sets) + [FACTOR])
    return table


def time_table(plan: Plan, rate: float) -> Table:
    table = plain_table(["", *set_names(plan)])
    for estimate in plan.estimates:
        hours = [scaled(cost, 1 / rate) for cost in estimate.cost.values()]
        add_row(table, plan, estimate, hours, [TIME] * len(hours))
    return table


def add_row(
    table: Table, plan: Plan, estimate: Estimate, values: Sequence[Spread | None], units: Sequence[Unit]
) -> None:
    """A row of the estimate; ranges have a line of their own where three sets of fidelities would be too wide."""
    between = "\n" if len(plan.sets) > 2 else " "
    cells = [figure(value, unit, between) for value, unit in zip(values, units, strict=True)]
    table.add_row(way(estimate), *cells[: len(table.columns) - 1], style="bold" if estimate is plan.expected else "")


def set_names(plan: Plan) -> list[str]:
    from rich.markup import escape

    if len(plan.sets) == 1:
        return ["cost"]
    names = {"all": "all fidelities", "worth_having": "those worth having"}
    return [escape(names.get(name, f"{members[0]} alone")) for name, members in plan.sets.items()]


def way(estimate: Estimate) -> str:
    """How the costs of the estimate were reckoned."""
    if estimate.rule is None:
        return "least possible"
    return f"{estimate.rule}, {'simulated' if estimate.strategy else 'ideal'}"


def cost_notes(plan: Plan) -> list[str]:
    from mfbai.planning.trials import RUNS, STRATEGY
    from mfbai.stopping import RULES

    bound = "no method that keeps to the risk costs less on average"
    if plan.tolerance:
        bound = "the smaller the risk, the closer to what any method costs at least"
    told = [
        f"least possible: {bound}",
        *(f"{rule.name}: stops by {rule.summary}" for rule in RULES.values()),
        "ideal: every cell gets its optimal share from the start, and shows its mean without noise",
        f"simulated: {RUNS} runs of {STRATEGY}, which must learn the shares: this is what to expect",
    ]
    costs = [cost for estimate in plan.estimates for cost in estimate.cost.values() if estimate.strategy]
    if any(cost.at_least or not isfinite(cost.high) for cost in costs):
        told.append("? or a simulated ≥: runs were given up that had not ended after very many evaluations")
    return told


def worth_table(plan: Plan) -> Table:
    from rich.markup import escape

    table = plain_table(["fidelity", "share", "used", "without it", "half its cost", "half its bias", ""])
    saves = {(change.fidelity, change.change): change.saves for change in plan.changes}
    for worth in plan.fidelities:
        changes = [saves.get((worth.fidelity, f"half the {what}")) for what in ("cost", "bias bound")]
        table.add_row(
            escape(worth.fidelity),
            figure(worth.share, PERCENT),
            f"{percent(worth.used)} %",
            figure(worth.leaving_out, CHANGE),
            *(figure(scaled(saved, -1.0), CHANGE) for saved in changes),
            worth.verdict,
        )
    return table


def worth_notes(plan: Plan) -> list[str]:
    told = [
        "share: of the optimal spending; used: the part of the truths in which it gets any",
        "the others: what the least possible cost changes by without it, at half its cost or bias bound",
    ]
    if any(worth.verdict == "not worth learning" for worth in plan.fidelities):
        told.append("not worth learning: would pay with ideal spending, but not for the simulated strategy")
    return told


def plain_table(columns: Sequence[str]) -> Table:
    from rich.table import Table

    table = Table(box=None, header_style="bold", pad_edge=False)
    for n, column in enumerate(columns):
        table.add_column(column, justify="right" if n and column else "left", no_wrap=n > 0, overflow="fold")
    return table


def add_to(app: typer.Typer) -> None:
    app.command()(plan)
