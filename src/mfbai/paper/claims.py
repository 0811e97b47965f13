"""What the paper says, what was measured, and a verdict that is computed from the numbers.

A statement is about a quantity, of which we have an interval: that it is above or below some value, or near it. It is
agreed with or disagreed with when the interval leaves no doubt, and undecided otherwise.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from mfbai.paper.intervals import Interval

AGREES, DISAGREES, UNDECIDED = "agrees", "disagrees", "undecided"
ANSWERED = "answered"  # of a question that the paper leaves open


@dataclass(frozen=True)
class Claim:
    text: str  # what the paper says
    source: str  # where
    measured: str
    verdict: str


def above(found: Interval, value: float) -> str:
    """The verdict on "the quantity is larger than `value`".

    >>> [above(Interval(1.0, 0.5, 1.5), value) for value in (0.4, 0.9, 1.6)], above(Interval(1.0, 1.0, 1.0), 1.0)
    (['agrees', 'undecided', 'disagrees'], 'disagrees')
    """
    return AGREES if found.low > value else DISAGREES if found.high <= value else UNDECIDED


def below(found: Interval, value: float) -> str:
    """The verdict on "the quantity is smaller than `value`"."""
    return above(Interval(-found.estimate, -found.high, -found.low), -value)


def near(found: Interval, low: float, high: float) -> str:
    """The verdict on "the quantity is about x", which [low, high] stands for.

    It agrees if the estimate is in it and its interval no more than twice as wide, and disagrees if nothing of the
    interval is in it.

    >>> [near(Interval(1.0, 0.5, 1.5), low, low + 1) for low in (0.9, 1.2, 1.6)]
    ['agrees', 'undecided', 'disagrees']
    """
    if low <= found.estimate <= high and found.half <= high - low:
        return AGREES
    return DISAGREES if found.high < low or found.low > high else UNDECIDED


def together(verdicts: list[str]) -> str:
    """Of a statement that says all of these."""
    return DISAGREES if DISAGREES in verdicts else UNDECIDED if UNDECIDED in verdicts else AGREES


def tally(claims: Iterable[Claim]) -> str:
    """How many there are of each verdict.

    >>> tally([Claim("a", "", "", AGREES), Claim("b", "", "", UNDECIDED), Claim("c", "", "", AGREES)])
    '2 agree, 0 disagree, 1 undecided'
    """
    counts = Counter(claim.verdict for claim in claims)
    told = f"{counts[AGREES]} agree, {counts[DISAGREES]} disagree, {counts[UNDECIDED]} undecided"
    return told + (f", {counts[ANSWERED]} open question answered" if counts[ANSWERED] else "")
