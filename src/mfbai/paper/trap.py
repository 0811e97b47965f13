"""LUCBExploreA and LUCBExploreB fail to stop where LUCB on the top fidelity does (appendix D.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from mfbai.analysis.oracle import oracle
from mfbai.paper.claims import AGREES, DISAGREES, UNDECIDED, Claim, near
from mfbai.paper.intervals import Interval, mean, share
from mfbai.paper.pieces import RULE, SEED, Columns, Computation, Figure, Made, Part, Results, Scale, complete
from mfbai.plots import style
from mfbai.plots.distributions import Sample, draw_costs, name_everything, with_error
from mfbai.simulation import simulate

GROUP = "trap"
INSTANCE, DELTA = "lucb-trap", 0.01
SECONDS = {"lucb": 0.1, "lucb-explore-a": 35.0, "lucb-explore-b": 25.0}
PULLS, COST = 100_000, 500_000  # of LUCB, "approximately" and "roughly"
SPENT = 10**7  # by runs that are given up, "approximately"
ROUGHLY = 1.5  # times more or less
LIMIT = 10**8  # evaluations after which the paper gives a run up


def computations() -> Iterator[Computation]:
    for strategy, seconds in SECONDS.items():
        about = {"instance": INSTANCE, "delta": DELTA}
        yield Computation(
            name(strategy), seconds, (strategy,), ("trap_runs", "pulls"), about, partial(compute, strategy)
        )


def name(strategy: str) -> str:
    return f"{GROUP}-{strategy}"


def compute(strategy: str, scale: Scale) -> Columns:
    found = simulate(INSTANCE, strategy, DELTA, scale.trap_runs, SEED, RULE, max_steps=scale.pulls)
    return complete(found.columns(), scale.trap_runs)


def figures() -> Iterator[Figure]:
    caption = (
        "LUCB on the top fidelity, LUCBExploreA and LUCBExploreB, which are told the true means of the two best arms; "
        "runs are given up after 10^8 evaluations, or 10^6 if quick (the paper's App. D.6)."
    )
    yield Figure("lucb-trap", GROUP, tuple(name(strategy) for strategy in SECONDS), caption, draw)


def draw(results: Results, files: Sequence[Path]) -> None:
    """Evaluations at the left, cost at the right."""
    bound = oracle(INSTANCE).lower_bound(DELTA)
    tables = {strategy: results[name(strategy)] for strategy in SECONDS}
    evaluations, spent = (
        [Sample(strategy, table[column].astype(float), table["stopped"]) for strategy, table in tables.items()]
        for column in ("steps", "cost")
    )
    with style.figure(files, (13.0, 4.6)) as figure:
        left, right = figure.subplots(1, 2, sharey=True)
        draw_costs(left, evaluations, None, label="evaluations")
        draw_costs(right, spent, bound)
        left.set_title(f"delta = {DELTA:g}, {len(spent[0].costs)} runs", fontsize=12, fontweight="normal")
        name_everything(figure, INSTANCE, spent)


def claims(made: Made) -> Iterator[Claim]:
    results = made.results
    if lucb := results.get(name("lucb")):
        for text, column, value in (
            ("LUCB stops after about 100k evaluations", "steps", PULLS),
            ("LUCB pays a total cost of roughly 500k", "cost", COST),
        ):
            found = mean(lucb[column].astype(float))
            stopped = f"{int(lucb['stopped'].sum())} of {len(lucb['run'])} runs stopped"
            measured = f"{with_error(found.estimate, found.half)}; {stopped}"
            yield Claim(
                f"On the trap, {text} (within a factor of {ROUGHLY})", "App. D.6", measured, ended(lucb, found, value)
            )
    if table := results.get(name("lucb-explore-a")):
        text = "LUCBExploreA never stops within 10^8 evaluations"
        verdict = DISAGREES if table["stopped"].any() else UNDECIDED if is_short(table) else AGREES
        yield Claim(text, "App. D.6", told(table), verdict)
        spent = mean(table["cost"])
        text = f"LUCBExploreA has spent about 10^7 by then (within a factor of {ROUGHLY})"
        near_it = near(spent, SPENT / ROUGHLY, SPENT * ROUGHLY)
        verdict = UNDECIDED if is_short(table) else near_it
        yield Claim(text, "App. D.6", with_error(spent.estimate, spent.half), verdict)
    if table := results.get(name("lucb-explore-b")):
        text = "70 % of the runs of LUCBExploreB do not stop within 10^8 evaluations"
        yield Claim(text, "App. D.6", told(table), endless(table))


def ended(table: Columns, found: Interval, value: float) -> str:
    """The verdict on what the runs took, which says nothing if some were given up early."""
    if table["stopped"].all():
        return near(found, value / ROUGHLY, value * ROUGHLY)
    return UNDECIDED if is_short(table) else DISAGREES


def endless(table: Columns) -> str:
    """The verdict on the share of runs that do not stop: 7 of 10, if as many were run in the paper."""
    claimed = share(7, 10)
    found = share(int((~table["stopped"]).sum()), len(table["run"]))
    if is_short(table):  # more of them may stop
        return DISAGREES if found.high < claimed.low else UNDECIDED
    return near(found, claimed.low, claimed.high)


def is_short(table: Columns) -> bool:
    """Whether a run was given up earlier than in the paper."""
    going = ~table["stopped"]
    return bool(going.any() and table["steps"][going].min() < LIMIT)


def told(table: Columns) -> str:
    going = ~table["stopped"]
    found = share(int(going.sum()), len(going))
    text = f"{int(going.sum())} of {len(going)} runs did not stop ({100 * found.low:.0f} to {100 * found.high:.0f} %)"
    return f"{text} within {int(table['steps'][going].max()):,} evaluations" if going.any() else text


PART = Part(GROUP, "The trap of LUCBExplore", figures, claims, computations, by_variance=False)
