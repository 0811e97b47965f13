"""Problems and instances as notebooks show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mfbai import html
from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.model.given import Array
    from mfbai.model.instance import Instance
    from mfbai.model.problem import Problem

MOST_NAMED = 10  # arms in a sentence


def problem_as_html(problem: Problem) -> str:
    return html.whole(html.heading(f"Problem: {_summary(problem)}"), html.sentence(arms_of(problem)), _stated(problem))


def instance_as_html(instance: Instance) -> str:
    """What is stated, and the truth."""
    label = f"Instance {html.named(instance.name)!r}" if instance.name else "Instance"
    shared = "" if instance.correlation is None else f" Values with the same seed correlate: {instance.correlation}."
    truth = f"The best arm is {html.named(instance.arms[instance.best])!r}, by {digits(instance.gap)}.{shared}"
    parts = [html.heading(f"{label}: {_summary(instance.problem)}"), html.sentence(truth)]
    return html.whole(*parts, _means(instance), _stated(instance.problem))


def arms_of(problem: Problem) -> str:
    """Their names; of many, the first."""
    names = [html.named(name) for name in problem.arms[:MOST_NAMED]]
    more = html.more(problem.n_arms, len(names), "arms")
    return f"Arms: {', '.join(names)}{f' {more}' if more else ''}."


def columns_of(fidelities: Sequence[str]) -> list[int]:
    """The indices of those that a table has room for: the cheapest ones, and the top."""
    count = len(fidelities)
    return [*range(min(count, html.SHOWN_COLUMNS) - 1), count - 1]


def left_out(problem: Problem, arms: int, fidelities: int) -> str:
    """What a table of some arms and fidelities does not show."""
    missing = [html.more(problem.n_arms, arms, "arms"), html.more(problem.n_fidelities, fidelities, "fidelities")]
    return "; ".join(filter(None, missing))


def _summary(problem: Problem) -> str:
    K, M = problem.shape
    seeds = ", common seeds" if problem.seeds == "common" else ""
    counted = f"{K:,} arms, {M} {'fidelity' if M == 1 else 'fidelities'}"
    return f"{counted}, {problem.family.name} noise, {problem.direction}{seeds}"


def _stated(problem: Problem) -> html.Html:
    """The table of fidelities."""
    shown = columns_of(problem.fidelities)
    variance = _variance(problem)
    headings = ["fidelity", "cost", "bias", *["variance"] * (variance is not None), "remarks"]
    rows = []
    for m in shown:
        noise = [] if variance is None else [_range(variance[:, m])]
        name, cost = html.named(problem.fidelities[m]), _range(problem.costs[:, m])
        rows.append([name, cost, _bias(problem, m), *noise, _remark(problem, m)])
    return html.table("Fidelities", headings, rows, html.more(problem.n_fidelities, len(shown), "fidelities"))


def _variance(problem: Problem) -> Array | None:
    stated = getattr(problem.family, "variance", None)
    return None if stated is None else np.broadcast_to(np.asarray(stated, dtype=np.float64), problem.shape)


def _range(values: Array) -> str:
    """One number where all arms share it, else from the least to the greatest."""
    low, high = digits(float(values.min())), digits(float(values.max()))
    return low if low == high else f"{low} to {high}, by arm"


def _bias(problem: Problem, m: int) -> str:
    if problem.unbounded[m]:
        return "unknown"
    low, high = problem.bias_low[:, m], problem.bias_high[:, m]
    if not (low.any() or high.any()):
        return "none"
    if (low == -high).all():
        return f"±{_range(high)}"
    return f"{digits(float(low.min()))} to {digits(float(high.max()))}{_differ(low, high)}"


def _differ(*bounds: Array) -> str:
    return "" if all((bound == bound[0]).all() for bound in bounds) else ", by arm"


def _remark(problem: Problem, m: int) -> str:
    control = problem.controls[m]
    if control is not None:
        by = html.named(problem.fidelities[control.by])
        return f"the top, controlled by {by!r} with {control.others} other seeds"
    if problem.deterministic[m]:
        return "deterministic"
    return "the true one" if m == problem.n_fidelities - 1 else ""


def _means(instance: Instance) -> html.Html:
    """The best arms first, if not all are shown."""
    problem = instance.problem
    columns, arms = columns_of(problem.fidelities), list(range(problem.n_arms))
    if len(arms) > html.SHOWN:
        arms = np.argsort(-problem.sign * instance.means[:, -1], kind="stable")[: html.SHOWN].tolist()
    names = [html.named(problem.fidelities[m]) for m in columns]
    rows = []
    for arm in arms:
        best = arm == instance.best
        name = html.named(problem.arms[arm])
        means = [digits(float(instance.means[arm, m]), 4) for m in columns]
        rows.append([html.strong(name) if best else name, *means, "the best" if best else ""])
    return html.table("True means", ["arm", *names, ""], rows, left_out(problem, len(arms), len(columns)))
