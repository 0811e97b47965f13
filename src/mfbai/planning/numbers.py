"""Numbers as people read them."""

from __future__ import annotations

from collections.abc import Callable
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from mfbai.text import digits

if TYPE_CHECKING:
    from mfbai.planning.results import Spread

HOURS = {"s": 1 / 3600, "min": 1 / 60, "h": 1.0, "days": 24.0, "weeks": 168.0, "years": 8766.0}
DASH = "\N{EN DASH}"


class Unit(NamedTuple):
    write: Callable[[float], str]
    suffix: str = ""  # of all numbers of a figure: written once
    endless: str = "?"  # for what is infinite


def figure(value: Spread | None, unit: Unit) -> str:
    """The median, and in brackets the range, if there is one."""
    if value is None:
        return ""
    median, low, high = (unit.write(x) if isfinite(x) else unit.endless for x in value[:3])
    told = f"{'≥ ' * value.at_least}{median}{unit.suffix}"
    return told if low == high else f"{told} ({range_of(low, high)})"


def range_of(low: str, high: str) -> str:
    """From low to high; a sign is not repeated, as the median has it, nor a unit that both have."""
    number, _, name = low.lstrip("+-").partition(" ")
    first = number if name and high.endswith(f" {name}") else low.lstrip("+-")
    return f"{first}{DASH}{high.lstrip('+-')}"


def scaled(value: Spread | None, factor: float) -> Spread | None:
    if value is None:
        return None
    return value._replace(median=factor * value.median, low=factor * value.low, high=factor * value.high)


def percent(part: float) -> str:
    """
    >>> [percent(part) for part in (0.01, 0.123456, 0.001, -0.0004, 26.86)]
    ['1', '12', '0.1', '0', '2,700']
    """
    value = 100 * part
    text = digits(value, 2) if abs(value) >= 1000 else f"{value:.0f}" if abs(value) >= 2 else f"{value:.1f}"
    return {"-0.0": "0"}.get(text, text.removesuffix(".0"))


def change(part: float) -> str:
    return f"+{percent(part)}" if part > 0 and percent(part) != "0" else percent(part)


def duration(hours: float) -> str:
    """
    >>> [duration(hours) for hours in (1e-9, 0.0005, 0.5, 1, 30.5, 1000, 1e5)]
    ['0 s', '1.8 s', '30 min', '1 h', '1.3 days', '6 weeks', '11 years']
    """
    name = next((name for name in reversed(HOURS) if hours >= HOURS[name]), "s")
    value = hours / HOURS[name]
    text = digits(round(value, 1) if value < 1 else value, 2)  # parts of a second do not matter
    return f"{text} {name.removesuffix('s') if text == '1' and name != 's' else name}"


COST, FACTOR, PERCENT, CHANGE, TIME = (
    Unit(digits),
    Unit(lambda factor: digits(factor, 2), "x", "∞"),
    Unit(percent, " %"),
    Unit(change, " %"),
    Unit(duration),
)
