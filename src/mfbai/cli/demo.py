"""mfbai demo."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.interpret import interpret
from mfbai.cli.output import console
from mfbai.terminal import waiting

if TYPE_CHECKING:
    from rich.console import Console, Group

    from mfbai.simulation.experiment import Run

INSTANCE, STRATEGY, BASELINE, DELTA, RUNS = "paper-4x5", "race", "track-and-stop", 0.01, 500
FRAME = 0.05  # seconds between two pictures
SPEED_UP = 25  # pictures after which one more evaluation is made between two of them

Child = subprocess.Popen[str]


def demo(seed: Annotated[int, typer.Option(help="Another seed gives another run.")] = 4) -> None:
    """Watch the best of four arms being found.

    The run on the screen is interpreted, so that it begins at once; other processes compile the simulations meanwhile.

    Example: mfbai demo
    """
    out = console()
    out.print(
        "[bold]Which of four arms is best?[/bold] Each can be evaluated at five fidelities, from cheap and biased"
    )
    out.print(f"to true, where one evaluation costs a hundred times as much (instance {INSTANCE}).\n")
    interpret()
    run = start(seed)
    with simulating(seed) as children:
        watch(out, run)
        conclude(out, run)
        compare(out, *(mean_cost_and_errors(child) for child in children))
    out.print("Next, on your own evaluations: mfbai study --help, docs/guides/studies.md; or mfbai simulate --help.")
    out.print("Or watch studies come to their verdicts, in a browser: [bold]mfbai serve --demo[/bold]")


@contextmanager
def simulating(seed: int) -> Iterator[list[Child]]:
    """Processes that simulate both strategies, compiling what they need first; ended with the block."""
    compiled = {name: value for name, value in os.environ.items() if name != "NUMBA_DISABLE_JIT"}
    options = ["--runs", str(RUNS), "--delta", str(DELTA), "--seed", str(seed), "--workers", "1", "--json"]
    command = [sys.executable, "-m", "mfbai", "simulate", INSTANCE, *options, "--strategy"]
    children = [
        subprocess.Popen(
            [*command, name], env=compiled, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        for name in (STRATEGY, BASELINE)
    ]
    try:
        yield children
    finally:
        for child in children:
            child.kill()
            child.communicate()


def watch(out: Console, run: Run) -> None:
    """Show the run from its first evaluation to the answer."""
    import numpy as np
    from rich.live import Live

    with np.errstate(all="ignore"):
        if out.is_terminal:
            with Live(picture(run), console=out, refresh_per_second=1 / FRAME) as live:
                frames = 0
                while not run.decided:
                    frames += 1
                    run.advance(int(run.stats.steps[0]) + 1 + frames // SPEED_UP)
                    live.update(picture(run))
                    time.sleep(FRAME)
        else:
            while not run.decided:
                run.advance(int(run.stats.steps[0]) + 1)
            out.print(picture(run))


def start(seed: int) -> Run:
    from mfbai.simulation.experiment import Run, prepare

    run = Run(prepare(INSTANCE, STRATEGY, None, [DELTA], {}, {"seed": seed})[0])
    run.restart(seed, 0)
    return run


def picture(run: Run) -> Group:
    """What is proven against each rival and what must be, and what was spent on each cell."""
    import numpy as np
    from rich.console import Group
    from rich.progress_bar import ProgressBar
    from rich.table import Table

    from mfbai.stopping.contrasts import standing

    problem, stats, counts = run.setup.instance.problem, run.stats, run.counts
    found = standing(run.rule)
    proven = np.minimum(found.evidence, found.needed)
    rivals = [a for a in range(problem.n_arms) if a != found.leader]
    out = [a for a in rivals if proven[a] == found.needed]
    cells = Table(title="cost spent", box=None, header_style="bold", title_justify="left", pad_edge=False)
    cells.add_column("arm")
    for fidelity, cost in zip(problem.fidelities, problem.costs[0], strict=True):
        cells.add_column(f"{fidelity}\n(cost {cost:g})", justify="right")
    cells.add_column(f"evidence\n(of {found.needed:.2f})", justify="right")
    for a, arm in enumerate(problem.arms):
        style = "bold green" if a == found.leader else "dim" if a in out else ""
        spent = [f"{cost:.2f}" for cost in counts[a] * problem.costs[a]]
        cells.add_row(arm, *spent, "leads" if a == found.leader else f"{proven[a]:.2f}", style=style)
    steps = int(stats.steps[0])
    made = "1 evaluation" if steps == 1 else f"{steps} evaluations"
    told = f"ruled out: {len(out)} of {problem.n_arms - 1} rivals; {made}, cost {stats.spent[0]:.2f}"
    bar = ProgressBar(total=found.needed * (problem.n_arms - 1), completed=float(proven[rivals].sum()), width=72)
    return Group(told, bar, "\n", cells)


def conclude(out: Console, run: Run) -> None:
    instance = run.setup.instance
    answer, cost = int(run.outcome.answer[0]), float(run.outcome.cost[0])
    verdict = "which is right" if answer == instance.best else f"which is wrong: it is {instance.arms[instance.best]}"
    out.print(f"\n[bold]The best arm is {instance.arms[answer]}[/bold] ({verdict}). It cost {cost:.2f}.")
    out.print(f"The risk of a wrong answer is {DELTA:.0%} at most, which is proven (docs/theory/guarantee.md).")


def mean_cost_and_errors(child: Child) -> dict[str, Any]:
    """What a process of `simulating` found."""
    with waiting(f"simulating {RUNS} runs (compiled the first time) ..."):
        told, complaint = child.communicate()
    if child.returncode != 0:
        typer.echo(f"error: the simulation ended with exit code {child.returncode}: {complaint[-500:]}", err=True)
        raise typer.Exit(1)
    record: dict[str, Any] = json.loads(told)[0]
    return record


def compare(out: Console, ours: dict[str, Any], top: dict[str, Any]) -> None:
    saved = 1 - ours["mean_cost"] / top["mean_cost"]
    out.print(
        f"Over {RUNS} runs: {ours['mean_cost']:.0f} on average with all fidelities, {top['mean_cost']:.0f} with the "
        f"top fidelity only: [bold]{saved:.0%} saved[/bold]. "
        f"Wrong answers: {ours['error_rate']:.1%} and {top['error_rate']:.1%}."
    )


def add_to(app: typer.Typer) -> None:
    app.command()(demo)
