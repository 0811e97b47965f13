"""mfbai demo."""

from __future__ import annotations

import time
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.output import console

if TYPE_CHECKING:
    from rich.console import Group

    from mfbai.simulation.experiment import Run

INSTANCE, STRATEGY, DELTA, RUNS = "paper-4x5", "frugal", 0.01, 500
FRAME = 0.05  # seconds between two pictures
FRAMES = 100  # a run is spread over about so many of them: some five seconds


def demo(seed: Annotated[int, typer.Option(help="Another seed, another run.")] = 4) -> None:
    """Watch the best of four arms being found.

    Example: mfbai demo
    """
    from rich.live import Live

    from mfbai.simulation import simulate

    out = console()
    out.print(
        "[bold]Which of four arms is best?[/bold] Each can be evaluated at five fidelities, from cheap and biased"
    )
    out.print(f"to true, where one evaluation costs a hundred times as much (instance {INSTANCE}).\n")
    goal = int(simulate(INSTANCE, STRATEGY, DELTA, runs=1, seed=seed).steps[0])
    run = start(seed)
    if out.is_terminal:
        with Live(picture(run), console=out, refresh_per_second=1 / FRAME) as live:
            while not run.decided:
                run.advance(int(run.stats.steps[0]) + max(1, goal // FRAMES))
                live.update(picture(run))
                time.sleep(FRAME)
    else:
        run.advance(goal)
        out.print(picture(run))
    conclude(out, run, seed)


def start(seed: int) -> Run:
    from mfbai.simulation.experiment import Run, prepare
    from mfbai.stopping import DEFAULT

    run = Run(prepare(INSTANCE, STRATEGY, DEFAULT, [DELTA], {}, {"seed": seed})[0])
    run.restart(seed, 0)
    return run


def picture(run: Run) -> Group:
    """What is proven and what must be, and what was spent on each cell."""
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from mfbai.analysis.guarantee import intervals, risk

    problem, stats = run.setup.instance.problem, run.stats
    found = risk(problem, stats.count, stats.mean)
    ends = intervals(problem, stats.count, stats.mean, DELTA)
    proven, needed = proof(run)
    cells = Table(title="cost spent", box=None, header_style="bold", title_justify="left", pad_edge=False)
    cells.add_column("arm")
    for fidelity, cost in zip(problem.fidelities, problem.costs[0], strict=True):
        cells.add_column(f"{fidelity}\n(cost {cost:g})", justify="right")
    cells.add_column("true mean\n(99 % sure)", justify="right")
    for a, arm in enumerate(problem.arms):
        style = "bold green" if a == found.leader and proven > 0 else ""
        spent = [f"{cost:.2f}" for cost in stats.count[a] * problem.costs[a]]
        low, high = ends[a].tolist()
        cells.add_row(arm, *spent, f"{low:.2f}-{high:.2f}" if isfinite(high - low) else "", style=style)
    steps = int(stats.steps[0])
    told = f"evidence {proven:.2f} of {needed:.2f} needed; {steps} evaluations, cost {stats.spent[0]:.2f}"
    bar = ProgressBar(total=needed, completed=min(proven, needed), width=72)
    return Group(told, bar, "\n", cells)


def proof(run: Run) -> tuple[float, float]:
    """The evidence that the leader has against its closest rival, at best so far, and what it takes to stop."""
    from mfbai.analysis.guarantee import find_risk

    found = find_risk(run.setup.model, run.stats, run.rule)
    return max(float(found.log_evidence.min()), 0.0), float(run.rule.target[0])


def conclude(out: Any, run: Run, seed: int) -> None:
    from mfbai.simulation import simulate

    instance = run.setup.instance
    answer, cost = int(run.outcome.answer[0]), float(run.outcome.cost[0])
    verdict = "which is right" if answer == instance.best else f"which is wrong: it is {instance.arms[instance.best]}"
    out.print(f"\n[bold]The best arm is {instance.arms[answer]}[/bold] ({verdict}). It cost {cost:.2f}.")
    out.print(f"The risk of a wrong answer is {DELTA:.0%} at most, which is proven (docs/theory/guarantee.md).")
    ours = simulate(instance, STRATEGY, DELTA, RUNS, seed)
    top = simulate(instance, "track-and-stop", DELTA, RUNS, seed)
    saved = 1 - ours.mean_cost / top.mean_cost
    out.print(
        f"Over {RUNS} runs: {ours.mean_cost:.0f} on average with all fidelities, {top.mean_cost:.0f} with the top "
        f"fidelity only: [bold]{saved:.0%} saved[/bold]. Wrong answers: {ours.error_rate:.1%} and {top.error_rate:.1%}."
    )
    out.print(
        "Next, on your own evaluations: mfbai study --help, docs/guides/studies.md; or simulate: mfbai simulate --help."
    )
    out.print("Or watch studies come to their verdicts, in a browser: [bold]mfbai serve --demo[/bold]")


def add_to(app: typer.Typer) -> None:
    app.command()(demo)
