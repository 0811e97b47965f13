"""The whole empirical part of the paper: compute, draw, judge, report."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from mfbai._version import __version__
from mfbai.analysis.oracle import oracle
from mfbai.errors import Faults, suggestion
from mfbai.paper import appendix, beyond, constant, costs, shares, trap
from mfbai.paper.claims import Claim, tally
from mfbai.paper.document import Block, Grid, Heading, Paragraph, Picture, markdown, page
from mfbai.paper.experiment import (
    PRINTED,
    PUBLISHED,
    SEED,
    Columns,
    Experiment,
    Figure,
    Results,
    Scale,
    Setting,
    Sheet,
    Table,
)
from mfbai.paper.store import Store, csv_text, replace
from mfbai.simulation.engine import compile_all, compiling
from mfbai.strategies import STRATEGIES
from mfbai.terminal import told_to

BOTH = (Setting(PUBLISHED), Setting(PRINTED))
ENDINGS = ("png", "svg")
DRAWING = 0.5  # seconds a figure or table takes, about
HEADINGS = {
    costs.GROUP: "What the strategies cost",
    constant.GROUP: "A constant learning rate",
    shares.GROUP: "How MF-GRAD spreads its cost",
    beyond.GROUP: "Beyond the paper: all strategies",
    trap.GROUP: "The trap of LUCBExplore",
    appendix.GROUP: "The examples of the appendix",
}
TITLE = "Optimal Multi-Fidelity Best-Arm Identification, reproduced"
Item = Figure | Sheet


class Watch:
    """Is told how the work goes on. This one keeps quiet."""

    def begin(self, seconds: float) -> None:
        """So many seconds of work are expected in all."""

    def now(self, name: str) -> None:
        """Work on this begins."""

    def advance(self, seconds: float) -> None:
        """So many of the expected seconds are over."""

    def done(self, name: str, seconds: float | None) -> None:
        """It is done and took so long; None if its numbers were there already."""


@dataclass(frozen=True)
class Outcome:
    """What was made."""

    claims: dict[Setting | None, list[Claim]]  # by the setting they were measured in; None: they have no variance
    files: list[Path]
    seconds: float  # of computing, in this run or in earlier ones

    def by_claim(self) -> Iterator[tuple[list[Setting | None], dict[str, list[Claim]]]]:
        """The settings, and by the claim what was found at each: first of what depends on the variance, then of the
        rest."""
        groups: list[list[Setting | None]] = [[setting for setting in self.claims if setting], [None]]
        for group in groups:
            found: dict[str, list[Claim]] = {}
            for setting in group:
                for claim in self.claims[setting]:
                    found.setdefault(claim.text, []).append(claim)
            if found:
                yield group, found

    @property
    def tally(self) -> str:
        """How many claims agree, and so on, at each variance."""
        return "; ".join(
            f"{f'at variance {setting.variance:g}' if setting else 'others'}: {tally(claims)}"
            for setting, claims in self.claims.items()
            if claims
        )


def items(setting: Setting) -> Iterator[Item]:
    """The figures and tables that depend on the variance."""
    yield from costs.figures(setting)
    yield from constant.figures(setting)
    yield from shares.figures(setting)
    yield from beyond.sheets(setting)


def other_items() -> Iterator[Item]:
    yield from trap.figures()
    yield from appendix.sheets()


def chosen(wanted: Sequence[str]) -> list[str]:
    """The names that are meant by names and groups; all, if none are given."""
    everything = [(item.name, item.group) for item in (*items(Setting()), *other_items())]
    known = [*HEADINGS, *(name for name, _ in everything)]
    faults = Faults()
    for name in wanted:
        if name not in known:
            faults.add("FIGURE", f"{name!r} is not known: {suggestion(name, known)}")
    faults.raise_if_any("call")
    return [name for name, group in everything if not wanted or name in wanted or group in wanted]


def reproduce(
    out: str | Path,
    figures: Sequence[str] = (),
    scale: Scale | None = None,
    settings: Sequence[Setting] = BOTH,
    watch: Watch | None = None,
) -> Outcome:
    """Compute what the figures need, unless it is in `out` already, draw them, and write the report.

    `figures` are names or groups, all by default.
    """
    folder, scale, watch = Path(out), scale or Scale(), watch or Watch()
    make = chosen(figures)
    by_setting = {
        setting: [item for item, base in zip(items(setting), items(Setting()), strict=True) if base.name in make]
        for setting in settings
    }
    others = [item for item in other_items() if item.name in make]
    wanted = [*(item for found in by_setting.values() for item in found), *others]
    needed = {name for item in wanted for name in item.experiments}
    experiments = [experiment for experiment in _experiments(settings) if experiment.name in needed]
    make_folders(folder)
    store = Store(folder / "data", scale)
    kept = {experiment.name: store.load(experiment) for experiment in experiments}
    missing = [experiment for experiment in experiments if kept[experiment.name] is None]
    watch.begin(sum(experiment.seconds for experiment in missing) + sum(_effort(item) for item in wanted))
    if missing:
        watch.now("loading (compiled the first time)")
        _compile({strategy for experiment in missing for strategy in experiment.strategies})
    results, seconds = _compute(experiments, kept, store, watch)
    files = [folder / "data" / f"{experiment.name}.csv" for experiment in experiments]
    tables = {}
    for item in wanted:
        made = f"{item.name}.{'png' if isinstance(item, Figure) else 'csv'}"
        watch.now(made)
        begun = time.perf_counter()
        if isinstance(item, Figure):
            pictures = [folder / "figures" / f"{item.name}.{ending}" for ending in ENDINGS]
            item.draw(results, pictures)
            files += pictures
        else:
            tables[item.name] = item.build(results, scale)
            files.append(folder / "data" / made)
            replace(files[-1], csv_text(tables[item.name].columns, tables[item.name].rows))
        watch.advance(_effort(item))
        watch.done(made, time.perf_counter() - begun)
    claims: dict[Setting | None, list[Claim]] = {s: list(_claims(results, s, by_setting[s])) for s in settings}
    claims[None] = [*trap.claims(results), *appendix.claims(tables)]
    outcome = Outcome(claims, [*files, folder / "report.md", folder / "report.html"], seconds)
    blocks = list(_report(outcome, by_setting, others, tables, scale))
    replace(folder / "report.md", markdown(blocks))
    replace(folder / "report.html", page(TITLE, blocks))
    return outcome


def _experiments(settings: Iterable[Setting]) -> Iterator[Experiment]:
    for setting in settings:
        yield from costs.experiments(setting)
        yield from shares.experiments(setting)
        yield from beyond.experiments(setting)
    yield from trap.experiments()


def _compile(strategies: set[str]) -> None:
    """Compile, or load, what these strategies and the figures need, in two processes: the first time it takes long."""
    with compiling(*(strategy for strategy in ("mf-grad", "lucb") if strategy in strategies)):
        oracle(costs.INSTANCES[0])
        compile_all(*(strategy for strategy in ("iise", "grad") if strategy in strategies))


def _compute(
    experiments: list[Experiment], kept: Mapping[str, tuple[Columns, float] | None], store: Store, watch: Watch
) -> tuple[dict[str, Columns], float]:
    results, total = {}, 0.0
    for experiment in experiments:
        found = kept[experiment.name]
        if found is None:
            watch.now(f"{experiment.name}.csv")
            begun = time.perf_counter()
            with told_to(partial(_advance, watch, experiment.seconds / _calls(experiment))):
                table = experiment.compute(store.scale)
            found = table, time.perf_counter() - begun
            store.save(experiment, *found)
        watch.done(f"{experiment.name}.csv", None if kept[experiment.name] else found[1])
        results[experiment.name] = found[0]
        total += found[1]
    return results, total


def _advance(watch: Watch, seconds: float, part: float) -> None:
    watch.advance(part * seconds)


def _calls(experiment: Experiment) -> int:
    """How many trajectories its strategies make: those whose sampling depends on delta make one for each."""
    deltas = len(experiment.about.get("deltas", (0,)))
    return sum(deltas if "delta" in STRATEGIES[strategy].needs else 1 for strategy in experiment.strategies)


def _effort(item: Item) -> float:
    return item.seconds if isinstance(item, Sheet) else DRAWING


def _claims(results: Results, setting: Setting, made: list[Item]) -> Iterator[Claim]:
    """Of the parts that were asked for."""
    groups = {item.group for item in made}
    for part in (costs, constant, shares, beyond):
        if part.GROUP in groups:
            yield from part.claims(results, setting)


def _report(
    outcome: Outcome, by_setting: dict[Setting, list[Item]], others: list[Item], tables: dict[str, Table], scale: Scale
) -> Iterator[Block]:
    yield Heading(1, TITLE)
    yield Paragraph(
        f"Made by mfbai {__version__} with seed {SEED}: {scale.runs:,} runs of each strategy for the cost "
        f"figures, {scale.share_runs} for the shares, {scale.trap_runs} for the trap; {outcome.seconds:,.0f} seconds "
        "of computing (the authors: less than a day on 100 processors). "
        f"How many of the claims, judged at the end, agree: {outcome.tally}."
    )
    for setting, made in by_setting.items():
        if made:
            yield Heading(2, f"Variance {setting.variance:g}{ORIGINS.get(setting.variance, '')}")
            if setting.variance == PRINTED and len(by_setting) > 1:
                yield Paragraph(WHY_BOTH)
            yield from _entries(made, tables, 3)
    yield from _entries(others, tables, 2)
    if any(outcome.claims.values()):
        yield Heading(2, "The paper's claims")
        yield Paragraph(
            "Verdicts are computed from the numbers above. Intervals are of 95 %. A claim agrees or disagrees when its "
            'interval leaves no doubt, and is undecided otherwise; a claim of the kind "about x" agrees if the '
            "estimate is as near to x as its wording or its printed digits allow, and not too uncertain. What does not "
            "depend on the variance of the paper's instances stands in a table of its own."
        )
        yield from _verdicts(outcome)


def _entries(made: list[Item], tables: dict[str, Table], level: int) -> Iterator[Block]:
    group = ""
    for item in made:
        if item.group != group:
            group = item.group
            yield Heading(level, HEADINGS[group])
        if isinstance(item, Figure):
            yield Picture(f"figures/{item.name}", item.caption)
        else:
            table = tables[item.name]
            yield Heading(level + 1, table.title)
            yield Paragraph(table.text)
            yield Grid(table.columns, table.rows)


def _verdicts(outcome: Outcome) -> Iterator[Block]:
    """A row for each claim, a pair of columns for each variance."""
    for settings, found in outcome.by_claim():
        heads = [
            f"measured, variance {setting.variance:g}{ORIGINS.get(setting.variance, '')}" if setting else "measured"
            for setting in settings
        ]
        rows = []
        for text, claims in found.items():
            cells = [cell for claim in claims for cell in (claim.measured, claim.verdict)]
            rows.append([text, claims[0].source, *cells])
        yield Grid(["claim", "where", *(head for first in heads for head in (first, "verdict"))], rows)


def make_folders(out: Path) -> None:
    for part in ("data", "figures"):
        (out / part).mkdir(parents=True, exist_ok=True)


ORIGINS = {PUBLISHED: ", which the published results come from", PRINTED: ", as the paper's text prints"}
WHY_BOTH = (
    "The paper's text says sigma^2 = 0.1, but its printed results come from a standard deviation of 0.1, a variance of "
    "0.01: only then are MF-GRAD's shares on paper-5x2 at the printed distance from omega*. Here is everything at the "
    "printed variance, too."
)
