"""mfbai evidence."""

from __future__ import annotations

import json
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mfbai.cli.options import JSON, RISK, number
from mfbai.cli.output import console, print_json

MOST_ROWS = 40  # arms of the table; more do not fit a screen
MOST_PAIRED = 1000  # arms whose evidence is printed for all pairs

if TYPE_CHECKING:
    from mfbai.analysis.evidence import Evidence
    from mfbai.analysis.guarantee import BiasAlarm, Risk
    from mfbai.model.problem import Problem


def evidence(
    spec: Annotated[str, typer.Argument(help="The problem: a TOML file, or a name (see `mfbai instances`).")],
    data: Annotated[Path, typer.Argument(help="Evaluations: a CSV file, or counts and means in a JSON file.")],
    tolerance: Annotated[float, typer.Option(help="An arm this close to the best is as good.")] = 0.0,
    delta: Annotated[
        str, typer.Option(metavar="NUMBER", help="The risk of the intervals and of a false bias alarm.")
    ] = "0.05",
    as_json: bool = JSON,
) -> None:
    """Weigh evaluations made so far.

    Says which arm leads, how certain that is, and whether the data contradict the bias bounds.

    A CSV file has the header arm,fidelity,value and a line for each evaluation (names, or numbers from 1). A JSON file
    holds {"counts": [[...]], "means": [[...]]}, arms by fidelities; the families symmetric and bounded need the values.

    Example: mfbai evidence problem.toml evaluations.csv
    """
    from mfbai.analysis.evidence import evidence as weigh
    from mfbai.analysis.guarantee import bias_alarms, intervals, risk
    from mfbai.errors import Faults
    from mfbai.model.instance import Instance
    from mfbai.model.spec import load

    faults = Faults()
    sure = number(faults, "delta", delta, RISK)
    with faults.absorb():
        found = load(spec)
    faults.raise_if_any("call")
    assert sure is not None
    problem = found.problem if isinstance(found, Instance) else found
    given = read_data(data)
    result = weigh(problem, **given, tolerance=tolerance)
    certain = risk(problem, **given, tolerance=tolerance)
    ends = intervals(problem, **given, delta=sure).tolist()
    alarms = bias_alarms(problem, **given, delta=sure)
    if as_json:
        print_json(to_dict(problem, result, certain, ends, alarms))
    else:
        print_evidence(problem, result, certain, ends, alarms, sure)


def read_data(path: Path) -> dict[str, Any]:
    """What a file says, as arguments of the functions that weigh it."""
    from mfbai.errors import Fault, InvalidInput
    from mfbai.textfiles import read_text

    if path.suffix.lower() != ".json":
        return {"values": path}
    text = read_text(path, "give a CSV or a JSON file")
    try:
        tables = json.loads(text)
        return {"counts": tables["counts"], "means": tables["means"]}
    except (ValueError, KeyError, TypeError):
        told = 'is not what is expected: give {"counts": [[...]], "means": [[...]]}, arms by fidelities'
        raise InvalidInput([Fault(str(path), told)]) from None


def to_dict(
    problem: Problem, found: Evidence, certain: Risk, ends: list[list[float]], alarms: list[BiasAlarm]
) -> dict[str, Any]:
    return {
        "value": finite(found.value),
        "leader": problem.arms[found.leader],
        "challenger": problem.arms[found.challenger],
        "against": [finite(f) for f in found.against],
        "matrix": [[finite(f) for f in row] for row in found.matrix] if problem.n_arms <= MOST_PAIRED else None,
        "risk": certain.level,
        "certified": problem.arms[certain.leader] if certain.level < 1 else None,
        "intervals": [[finite(end) for end in interval] for interval in ends],
        "bias_alarms": [
            {
                "arm": problem.arms[alarm.arm],
                "fidelity": problem.fidelities[alarm.fidelity],
                "level": alarm.level,
                "certain": alarm.certain,
            }
            for alarm in alarms
        ],
    }


def finite(value: float) -> float | None:
    """A number for JSON, which has no infinity."""
    return float(value) if isfinite(value) else None


def print_evidence(
    problem: Problem, found: Evidence, certain: Risk, ends: list[list[float]], alarms: list[BiasAlarm], delta: float
) -> None:
    from rich.markup import escape
    from rich.table import Table

    from mfbai.stopping import DEFAULT
    from mfbai.study import sentences
    from mfbai.study.verdict import assumptions_of

    leader, challenger = escape(problem.arms[found.leader]), escape(problem.arms[found.challenger])
    out = console()
    out.print(
        f"[bold]{leader}[/bold] leads, with evidence {found.value:.4g} against {challenger!r}, the closest rival."
    )
    table = Table(box=None, header_style="bold", pad_edge=False)
    table.add_column("arm")
    sure = f"true mean ({100 * (1 - delta):g} %)"
    for column in ("evidence that it is not better", sure, "evaluations", "cost spent"):
        table.add_column(column, justify="right")
    spent = found.counts * problem.costs
    for j in first_arms(found):
        against = "leader" if j == found.leader else f"{found.against[j]:.4g}"
        against = against if found.counts[j].any() else "no data"
        low, high = ends[j]
        sure = f"{low:.4g} to {high:.4g}" if low <= high else "none fits"
        table.add_row(escape(problem.arms[j]), against, sure, f"{found.counts[j].sum():g}", f"{spent[j].sum():g}")
    out.print(table)
    if problem.n_arms > MOST_ROWS:
        out.print(
            f"[dim]and {problem.n_arms - MOST_ROWS:,} arms with more evidence against them (--json has all)[/dim]"
        )
    if certain.level < 1:
        answer, assumed = (
            escape(repr(problem.arms[certain.leader])),
            sentences.condition(assumptions_of(problem, DEFAULT)),
        )
        out.print(f"Answering {answer} now has a risk of {level(certain.level)} at most{assumed}.", soft_wrap=True)
    else:
        out.print("Nothing is certain yet.")
    for alarm in alarms:
        out.print(f"[bold red]Bias alarm[/bold red]: {escape(sentences.alarm(alarm, problem))}", soft_wrap=True)


def first_arms(found: Evidence) -> list[int]:
    """All arms in their order, if these are not too many; else the leader and its closest rivals."""
    if len(found.against) <= MOST_ROWS:
        return list(range(len(found.against)))
    rivals = [j for j in found.against.argsort(kind="stable")[:MOST_ROWS].tolist() if j != found.leader]
    return [found.leader, *rivals][:MOST_ROWS]


def level(value: float) -> str:
    return f"{value:.2g}" if value > 0 else "less than 1e-300"


def add_to(app: typer.Typer) -> None:
    app.command()(evidence)
