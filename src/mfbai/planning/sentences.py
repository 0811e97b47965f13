"""A plan in words and tables, the same on the command line and in notebooks: the answer comes first."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple

from mfbai.planning.numbers import CHANGE, COST, DASH, FACTOR, PERCENT, TIME, figure, percent, scaled
from mfbai.text import digits, listed

if TYPE_CHECKING:
    from mfbai.planning.results import Estimate, Plan, Spread

CLEAR = 1.05  # times cheaper: less is not worth saying
SHOWN = 6  # numbers of a list; of a longer one only the ends are shown


class Table(NamedTuple):
    """A table of texts; the first of a row is its name, and a row may be the one to go by."""

    headings: list[str]
    rows: list[tuple[list[str], bool]]


def opening(plan: Plan) -> list[tuple[str, bool]]:
    """The sentences above the tables, each with whether it is one of the main ones."""
    told = [(headline(plan), True)]
    if plan.with_known_noise is not None:
        told.append((with_known_noise(plan, plan.with_known_noise), False))
    if plan.with_common_seeds is not None:
        told.append((with_common_seeds(plan, plan.with_common_seeds), True))
    if plan.caution:
        told.append((plan.caution, False))
    if plan.more_pilot is not None:
        told.append((str(plan.more_pilot), False))
    return [*told, (basis(plan), False)]


def cost_heading(plan: Plan) -> str:
    return f"Cost to find the best arm with a risk of {100 * plan.delta:g} %"


WORTH_HEADING = "What each fidelity is worth, and what would save more"


def headline(plan: Plan) -> str:
    """The answer in one sentence."""
    cost, simulated = plan.expected.cost, plan.expected.strategy is not None
    chosen = plan.advice
    told = f"Expect a cost of {figure(cost[chosen], COST)}"
    if not simulated:
        told = f"Simulation given up. With ideal spending, expect a cost of {figure(cost[chosen], COST)}"
        told += f", and in practice of more{spent_in_vain(plan)},"
    told += f" at a risk of {100 * plan.delta:g} %"
    if len(plan.sets) == 1:
        return f"{told}."
    told += f", using {listed(plan.sets[chosen])}"
    if chosen == "top":
        return f"{told} alone: {why_alone(plan)}."
    if cost[chosen].median == 0:
        return f"{told}."
    top, factor = plan.sets["top"][0], cost["top"].median / cost[chosen].median
    if factor < CLEAR:
        return f"{told}: no clear saving over {top} alone."
    least = "at least " if cost["top"].at_least else ""
    least = least if simulated else "ideally "
    told += f": {least}{digits(factor, 2)} times cheaper than with {top} alone."
    alone = plan.simulated.cost["top"]
    return told if simulated or alone.at_least else f"{told} By simulation, {top} alone costs {figure(alone, COST)}."


def with_known_noise(plan: Plan, known: Estimate) -> str:
    """What not knowing it costs, in one sentence."""
    theirs, ours = (estimate.cost[plan.advice] for estimate in (known, plan.simulated))
    told = f"If the noise were normal and its size known, expect {_about(theirs)}"
    if ours.at_least or theirs.at_least or theirs.median == 0:
        return f"{told}."
    return f"{told}: not knowing it costs {digits(ours.median / theirs.median, 2)} times as much."


def _about(cost: Spread) -> str:
    return f"{'at least ' * cost.at_least}{digits(cost.median)}"


def with_common_seeds(plan: Plan, shared: Estimate) -> str:
    """What they would save, in one sentence."""
    told = [_about(estimate.cost[plan.advice]) for estimate in (shared, plan.simulated)]
    given = f"if values with the same seed have a correlation of {plan.correlation}"
    return f"With common seeds, {given}, expect {told[0]} in place of {told[1]}."


def spent_in_vain(plan: Plan) -> str:
    """What runs with the fidelities advised had spent when they were given up."""
    spent = plan.simulated.cost[plan.advice]
    more = spent.at_least and spent.median > plan.expected.cost[plan.advice].median
    return f" than {digits(spent.median)}" if more else ""


def why_alone(plan: Plan) -> str:
    verdicts = {worth.verdict for worth in plan.fidelities[:-1]}
    if verdicts == {"useless"}:
        return "the other fidelities are useless"
    if "not known" in verdicts and plan.expected.strategy:
        return "runs with others were given up, after very many evaluations"
    loss = f"{plan.expected.strategy} loses more by learning how" if plan.expected.strategy else "not at this risk"
    return f"the others could pay, but {loss}"


def basis(plan: Plan) -> str:
    """What the figures rest on."""
    K, M = plan.problem.shape
    told = [f"{plan.name or 'problem'}: {K} arms, {M} {'fidelity' if M == 1 else 'fidelities'}; {guess_of(plan)}."]
    if plan.problem.seeds == "common" and plan.correlation is None:
        told.append("Seeds are common, but values with the same seed are taken to be independent: set --correlation.")
    elif plan.problem.seeds == "common":
        told.append(f"Seeds are common; values with the same seed have a correlation of {plan.correlation}.")
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
        told = f"the best arm{at} is ahead of all others by {guess.gap:g}"
    elif guess.means is not None:
        told = f"true means {numbers(guess.means[:, -1] if guess.means.ndim == 2 else guess.means)}"
    else:
        told = f"true means between {numbers(guess.low)} and {numbers(guess.high)}"
    noise = "" if guess.deviation is None else f", and values have a deviation of {numbers(guess.deviation)}"
    return f"guess: {told}{noise}"


def numbers(values: Any) -> str:
    values = values.ravel().tolist()
    if len(values) > SHOWN:
        return f"{min(values):g} to {max(values):g}"
    texts = [f"{value:g}" for value in values]
    return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"


def cost_table(plan: Plan) -> Table:
    table = Table(["", *set_names(plan), *(["times cheaper"] if len(plan.sets) > 1 else [])], [])
    for estimate in plan.estimates:
        cells = [figure(cost, COST) for cost in estimate.cost.values()] + [figure(estimate.saving, FACTOR)]
        table.rows.append(([way(plan, estimate), *cells[: len(table.headings) - 1]], estimate is plan.expected))
    return table


def time_table(plan: Plan, rate: float) -> Table:
    table = Table(["", *set_names(plan)], [])
    for estimate in plan.estimates:
        cells = [figure(scaled(cost, 1 / rate), TIME) for cost in estimate.cost.values()]
        table.rows.append(([way(plan, estimate), *cells], estimate is plan.expected))
    return table


def set_names(plan: Plan) -> list[str]:
    if len(plan.sets) == 1:
        return ["cost"]
    names = {"all": "all fidelities", "worth_having": "those worth having"}
    return [names.get(name, f"{members[0]} alone") for name, members in plan.sets.items()]


def way(plan: Plan, estimate: Estimate) -> str:
    """How the costs of the estimate were found."""
    if estimate is plan.with_common_seeds:
        return "with common seeds"
    if estimate is plan.with_known_noise:
        return "with the noise known"
    if estimate.rule is None:
        return "least possible"
    return f"{estimate.rule}, {'simulated' if estimate.strategy else 'ideal'}"


def cost_notes(plan: Plan) -> list[str]:
    from mfbai.stopping import RULES

    bound = "no method that keeps to the risk costs less on average"
    if plan.tolerance:
        bound = "the smaller the risk, the closer to what any method costs at least"
    if plan.with_known_noise is not None:
        bound += ", if the noise is normal and its size known"
    if plan.with_common_seeds is not None:
        bound += ", with independent seeds"
    rules = dict.fromkeys(estimate.rule for estimate in plan.estimates if estimate.rule)
    told = [f"{rule}: stops by {RULES[rule].summary}" for rule in rules]
    if plan.problem.seeds == "common":
        told.append(
            "there is no row for the least possible cost, nor for other rules: they take all values to be independent, "
            "and values with the same seed need not be"
        )
    else:
        told.insert(0, f"least possible: {bound}")
    if any(estimate.rule and not estimate.strategy for estimate in plan.estimates):
        told.append(
            "ideal: every cell gets its optimal share from the start, and shows its mean without noise; with noise, "
            "some runs end sooner by luck"
        )
    for simulated in [estimate for estimate in plan.estimates if estimate.strategy]:
        told += simulated_notes(plan, simulated)
    costs = [cost for estimate in plan.estimates for cost in estimate.cost.values() if estimate.strategy]
    if any(cost.at_least or not isfinite(cost.high) for cost in costs):
        told.append("? or a simulated ≥: runs were given up that had not ended after very many evaluations")
    return told


def simulated_notes(plan: Plan, estimate: Estimate) -> list[str]:
    assert estimate.runs is not None
    assert estimate.interval is not None
    runs = sorted(set(estimate.runs.values()))
    ends = [[digits(end) if isfinite(end) else "?" for end in interval] for interval in estimate.interval.values()]
    medians = [f"{name} {low}{DASH}{high}" for name, (low, high) in zip(set_names(plan), ends, strict=True)]
    count = f"{' or '.join(map(str, runs))} runs of {estimate.strategy}"
    uncertain = f"medians are uncertain; their 95 % intervals: {', '.join(medians)}"
    if estimate is plan.with_common_seeds:
        return [f"with common seeds: {count}, which uses the same seeds for all arms in turn; its {uncertain}"]
    if estimate is plan.with_known_noise:
        return [f"with the noise known: {count}, were the guessed deviation stated, and true; its {uncertain}"]
    return [
        f"simulated: {count}, which must learn the shares: this is what to expect",
        f"simulated {uncertain}",
    ]


def worth_table(plan: Plan) -> Table:
    table = Table(["fidelity", "share", "used", "without it", "half its cost", "half its bias", ""], [])
    saves = {(change.fidelity, change.change): change.saves for change in plan.changes}
    for worth in plan.fidelities:
        changes = [saves.get((worth.fidelity, f"half the {what}")) for what in ("cost", "bias bound")]
        cells = [
            figure(worth.share, PERCENT),
            f"{percent(worth.used)} %",
            figure(worth.leaving_out, CHANGE),
            *(figure(scaled(saved, -1.0), CHANGE) for saved in changes),
            worth.verdict,
        ]
        table.rows.append(([worth.fidelity, *cells], False))
    return table


def worth_notes(plan: Plan) -> list[str]:
    told = [
        "share: of the optimal spending; used: the part of the truths in which it gets any",
        "the others: what the least possible cost changes by without it, at half its cost or bias bound",
    ]
    if plan.problem.seeds == "common":
        told.append("all of these are for independent seeds")
    if any(worth.verdict == "not worth learning" for worth in plan.fidelities):
        told.append("not worth learning: would pay with ideal spending, but the simulated strategy clearly loses by it")
    if any(worth.verdict == "not known" for worth in plan.fidelities):
        told.append("not known: runs with it were given up, as they had not ended after very many evaluations")
    return told
