"""What the paper derives by hand, in tables, and what they say of its claims (appendix B and D.1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import inf

from mfbai.paper import examples
from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED, Claim
from mfbai.paper.examples import NEVER, NOTHING
from mfbai.paper.intervals import share
from mfbai.paper.pieces import Made, Part, Results, Scale, Sheet, Table

GROUP = "tables"
BUILDERS: Mapping[str, Callable[[Results, Scale], Table]] = {
    "lower-bounds": lambda results, scale: examples.lower_bounds(),
    "believed-fidelities": lambda results, scale: examples.believed_fidelities(),
    "rival-fidelities": lambda results, scale: examples.rival_fidelities(),
    "null-weights": lambda results, scale: examples.null_weights(),
    "weights-5x2": lambda results, scale: examples.weights(),
    "sparsity": lambda results, scale: examples.two_arms(scale.instances),
}


def sheets() -> Iterator[Sheet]:
    for name, build in BUILDERS.items():
        seconds = 8.0 if name == "sparsity" else 0.1
        yield Sheet(name, GROUP, (), build, seconds)


def claims(made: Made) -> Iterator[Claim]:
    """For the tables that are there."""
    for name, checks in CHECKS.items():
        if name in made.tables:
            yield from (check(made.tables[name]) for check in checks)


def tighter(table: Table) -> Claim:
    derived = [(float(row[3]), float(row[4])) for row in table.rows if row[4] != NOTHING]
    others = [float(row[3]) for row in table.rows]
    found = all(abs(ratio / paper - 1) < 1e-6 for ratio, paper in derived) and min(others) > 1
    return Claim(
        "The lower bound is tighter than that of Poiani et al. (2022), without limit",
        "App. B.2",
        f"{min(others):.1f} to {max(others):,.0f} times as large in {len(others)} examples, in the {len(derived)} that "
        "the paper derives as derived",
        verdict(found),
    )


def first_notion(table: Table) -> Claim:
    case = [row for row in table.rows if str(row[0]).startswith("Case")]
    never = [row for row in case if row[3] == NEVER]
    return Claim(
        "The fidelities that Poiani et al. and Wang et al. call optimal may never lead to an answer",
        "App. B.5, Case 1",
        f"of {len(case)} variants of the example, {len(never)} never end: {', '.join(str(row[0]) for row in never)}",
        verdict(bool(never)),
    )


def second_notion(table: Table) -> Claim:
    factors = [inf if row[3] == NEVER else float(row[5]) for row in table.rows]
    return Claim(
        "The fidelities on which IISE is built are not optimal either",
        "App. B.5, Case 2",
        f"using them costs up to {max(factors):.0f} times C*" if max(factors) < inf else "using them may never end",
        verdict(max(factors) > 1 + 1e-6),
    )


def null_weights(table: Table) -> Claim:
    denied = {str(row[0]): int(row[4]) for row in table.rows if row[4]}
    told = " and ".join(f"{count} cell{'s' * (count > 1)} that omega* of {name} uses" for name, count in denied.items())
    corrected = sum(int(row[6]) for row in table.rows)
    repaired = "it holds" if corrected == 0 else f"to {corrected}"
    return Claim(
        'Proposition "null-weights": cells that no optimal allocation uses',
        "App. B.4",
        f"as printed it denies weight to {told}; with mu[best,M] for mu[best,m] {repaired}" if denied else "it holds",
        verdict(not denied),
    )


def weights(table: Table) -> Claim:
    """The paper says that its digits are right to four decimals."""
    rows = [row for row in table.rows if str(row[0]).startswith("w* of arm")]
    off = max(abs(float(row[1]) - float(row[4])) for row in rows)
    printed, found = (" / ".join(f"{float(row[column]):.5f}" for row in rows) for column in (1, 4))
    return Claim(
        f"omega* of paper-5x2 is {printed}, to four decimals", "Section 5, App. D.1", found, verdict(off < 5e-5)
    )


def sparsity(table: Table) -> Claim:
    two = [row for row in table.rows if str(row[0]).startswith("2 x")]
    dense, drawn = (sum(int(row[column]) for row in two) for column in (2, 1))
    found = share(dense, drawn)
    return Claim(
        "In almost all 2 x M instances an optimal allocation uses one fidelity for each arm",
        "Theorem 2",
        f"{dense} of {drawn:,} random instances are otherwise (at most {100 * found.high:.2f} % at 95 %)",
        verdict(dense == 0),
    )


def open_question(table: Table) -> Claim:
    """Not a claim: a question, which has an answer."""
    more = [row for row in table.rows if not str(row[0]).startswith("2 x")]
    shares = ", ".join(f"{row[0]}: {100 * float(row[3]):.1f} %" for row in more if row[3] != NOTHING)
    proved = max(float(row[6]) for row in more if row[6] != NOTHING)
    return Claim(
        "Question (i): does the sparsity pattern hold for K x M instances?",
        "Section 6",
        f"{'no: ' * (proved > 0)}not sparse are {shares} of random instances; one fidelity an arm costs up to "
        f"{100 * proved:.1f} % more, by certified bounds",
        ANSWERED if proved > 0 else UNDECIDED,
    )


def verdict(holds: bool) -> str:
    return AGREES if holds else DISAGREES


CHECKS: Mapping[str, tuple[Callable[[Table], Claim], ...]] = {
    "lower-bounds": (tighter,),
    "believed-fidelities": (first_notion,),
    "rival-fidelities": (second_notion,),
    "null-weights": (null_weights,),
    "weights-5x2": (weights,),
    "sparsity": (sparsity, open_question),
}

PART = Part(GROUP, "The examples of the appendix", sheets, claims, by_variance=False)
