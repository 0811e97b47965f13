"""LUCBExploreA and LUCBExploreB fail to stop where LUCB on the top fidelity does (appendix D.6)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path

from mfbai.complexity import oracle
from mfbai.paper.claims import AGREES, UNDECIDED, Claim, near
from mfbai.paper.experiment import SEED, Columns, Experiment, Figure, Results, Scale, complete
from mfbai.paper.intervals import mean, share
from mfbai.report import style
from mfbai.report.costs import Sample, draw_costs, name_everything
from mfbai.simulation import simulate

GROUP = "trap"
INSTANCE, DELTA = "lucb-trap", 0.01
SECONDS = {"lucb": 0.1, "lucb-explore-a": 35.0, "lucb-explore-b": 25.0}
PULLS, COST = 100_000, 500_000  # of LUCB, "approximately" and "roughly"
ROUGHLY = 1.5  # times more or less
LIMIT = 10**8  # evaluations after which the paper gives a run up


def experiments() -> Iterator[Experiment]:
    for strategy, seconds in SECONDS.items():
        about = {"instance": INSTANCE, "delta": DELTA}
        yield Experiment(name(strategy), seconds, (strategy,), about, partial(compute, strategy))


def name(strategy: str) -> str:
    return f"{GROUP}-{strategy}"


def compute(strategy: str, scale: Scale) -> Columns:
    found = simulate(INSTANCE, strategy, DELTA, scale.trap_runs, SEED, max_steps=scale.pulls)
    return complete(found.columns(), scale.trap_runs)


def figures() -> Iterator[Figure]:
    caption = (
        "LUCB on the top fidelity stops; LUCBExploreA and most runs of LUCBExploreB do not, though they are told the "
        "true means of the two best arms (the paper's App. D.6)."
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


def claims(results: Results) -> Iterator[Claim]:
    if lucb := results.get(name("lucb")):
        pulls, cost = mean(lucb["steps"].astype(float)), mean(lucb["cost"])
        yield Claim(
            f"On the trap, LUCB stops after about 100k evaluations (within a factor of {ROUGHLY})",
            "App. D.6",
            f"{pulls.estimate:,.0f} ± {pulls.half:,.0f}; all {len(lucb['run'])} runs stopped"
            if lucb["stopped"].all()
            else f"{int(lucb['stopped'].sum())} of {len(lucb['run'])} runs stopped",
            near(pulls, PULLS / ROUGHLY, PULLS * ROUGHLY),
        )
        yield Claim(
            f"On the trap, LUCB pays a total cost of roughly 500k (within a factor of {ROUGHLY})",
            "App. D.6",
            f"{cost.estimate:,.0f} ± {cost.half:,.0f}",
            near(cost, COST / ROUGHLY, COST * ROUGHLY),
        )
    if table := results.get(name("lucb-explore-a")):
        text = "LUCBExploreA never stops within 10^8 evaluations"
        yield Claim(text, "App. D.6", told(table), endless(table, 1.0, 1.0))
    if table := results.get(name("lucb-explore-b")):
        text = "70 % of the runs of LUCBExploreB do not stop within 10^8 evaluations"
        claimed = share(7, 10)  # as uncertain as the paper's own ten runs
        yield Claim(text, "App. D.6", told(table), endless(table, claimed.low, claimed.high))


def endless(table: Columns, low: float, high: float) -> str:
    """The verdict on the share of runs that do not stop; runs that were given up early can only contradict."""
    going = ~table["stopped"]
    found = near(share(int(going.sum()), len(going)), low, high)
    given_up_early = going.any() and table["steps"][going].max() < LIMIT
    return UNDECIDED if found == AGREES and given_up_early else found


def told(table: Columns) -> str:
    going = ~table["stopped"]
    found = share(int(going.sum()), len(going))
    text = f"{int(going.sum())} of {len(going)} runs did not stop ({100 * found.low:.0f} to {100 * found.high:.0f} %)"
    return f"{text} within {int(table['steps'][going].max()):,} evaluations" if going.any() else text
