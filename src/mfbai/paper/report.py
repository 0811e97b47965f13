"""What a reproduction found, and the report of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from mfbai._version import __version__
from mfbai.paper import parts
from mfbai.paper.claims import Claim, tally
from mfbai.paper.document import Block, Grid, Heading, Paragraph, Picture, markdown, page
from mfbai.paper.parts import Scope
from mfbai.paper.pieces import PRINTED, PUBLISHED, SEED, Figure, Item, Scale, Table
from mfbai.paper.store import replace

TITLE = "Optimal Multi-Fidelity Best-Arm Identification, reproduced"
ORIGINS = {PUBLISHED: ", which the published results come from", PRINTED: ", as the paper's text prints"}
WHY_BOTH = (
    "The paper's text says sigma^2 = 0.1, but its printed results come from a standard deviation of 0.1, a variance of "
    "0.01: only then are MF-GRAD's shares on paper-5x2 at the printed distance from omega*. Here is everything at the "
    "printed variance, too."
)
HOW_JUDGED = (
    "Verdicts are computed from the numbers above. Intervals are of 95 %. A claim agrees or disagrees when its "
    'interval leaves no doubt, and is undecided otherwise; a claim of the kind "about x" agrees if the estimate is as '
    "near to x as its wording or its printed digits allow, and not too uncertain. What does not depend on the variance "
    "of the paper's instances stands in a table of its own."
)


@dataclass(frozen=True)
class Reproduction:
    """What was made."""

    claims: dict[Scope, list[Claim]]  # by the variance they were measured at; None: they have no variance
    files: list[Path]
    seconds: float  # of computing, in this run or in earlier ones

    def by_claim(self) -> Iterator[tuple[list[Scope], dict[str, list[Claim]]]]:
        """First for claims that depend on the variance, then for the rest: the scopes, and what each claim's text was
        found to be in each."""
        groups: list[list[Scope]] = [[scope for scope in self.claims if scope], [None]]
        for group in groups:
            found: dict[str, list[Claim]] = {}
            for scope in group:
                for claim in self.claims[scope]:
                    found.setdefault(claim.text, []).append(claim)
            if found:
                yield group, found

    @property
    def tally(self) -> str:
        """How many claims agree, and so on, at each variance."""
        return "; ".join(
            f"{f'at variance {scope.variance:g}' if scope else 'others'}: {tally(claims)}"
            for scope, claims in self.claims.items()
            if claims
        )


def write(
    folder: Path, found: Reproduction, shown: Mapping[Scope, list[Item]], tables: Mapping[str, Table], scale: Scale
) -> None:
    """Write report.md and report.html."""
    blocks = list(blocks_of(found, shown, tables, scale))
    replace(folder / "report.md", markdown(blocks))
    replace(folder / "report.html", page(TITLE, blocks))


def blocks_of(
    found: Reproduction, shown: Mapping[Scope, list[Item]], tables: Mapping[str, Table], scale: Scale
) -> Iterator[Block]:
    yield Heading(1, TITLE)
    yield Paragraph(
        f"Made by mfbai {__version__} with seed {SEED}: {scale.runs:,} runs of each strategy for the cost "
        f"figures, {scale.share_runs} for the shares, {scale.trap_runs} for the trap; {found.seconds:,.0f} seconds "
        "of computing (the authors: less than a day on 100 processors). "
        f"How many of the claims, judged at the end, agree: {found.tally}."
    )
    several = len(shown) > 2  # variances: one scope is that of what has none
    for scope, items in shown.items():
        if scope and items:
            yield Heading(2, f"Variance {scope.variance:g}{ORIGINS.get(scope.variance, '')}")
            if scope.variance == PRINTED and several:
                yield Paragraph(WHY_BOTH)
        yield from _entries(items, tables, 3 if scope else 2)
    if any(found.claims.values()):
        yield Heading(2, "The paper's claims")
        yield Paragraph(HOW_JUDGED)
        yield from _verdicts(found)


def _entries(items: list[Item], tables: Mapping[str, Table], level: int) -> Iterator[Block]:
    headings = {part.group: part.heading for part in parts.PARTS}
    group = ""
    for item in items:
        if item.group != group:
            group = item.group
            yield Heading(level, headings[group])
        if isinstance(item, Figure):
            yield Picture(f"figures/{item.name}", item.caption)
        else:
            table = tables[item.name]
            yield Heading(level + 1, table.title)
            yield Paragraph(table.text)
            yield Grid(table.columns, table.rows)


def _verdicts(found: Reproduction) -> Iterator[Block]:
    """A row for each claim, a pair of columns for each variance."""
    for scopes, by_text in found.by_claim():
        heads = [
            f"measured, variance {scope.variance:g}{ORIGINS.get(scope.variance, '')}" if scope else "measured"
            for scope in scopes
        ]
        rows = []
        for text, claims in by_text.items():
            cells = [cell for claim in claims for cell in (claim.measured, claim.verdict)]
            rows.append([text, claims[0].source, *cells])
        yield Grid(["claim", "where", *(head for first in heads for head in (first, "verdict"))], rows)
