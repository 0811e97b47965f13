"""Numbers and texts as people read them."""

from collections.abc import Sequence
from math import floor, log10


def read_number(text: str) -> float:
    """As a program prints it: 1_000 and other scripts' digits, which Python reads, are typing errors rather.

    >>> read_number(" -2.5e3 ")
    -2500.0
    """
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def printable(text: str) -> str:
    r"""With what a terminal would not show as it is, or might obey, spelled out.

    >>> print(printable("this is \x1b[31m red"))
    this is \x1b[31m red
    """
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in text)


def digits(value: float, count: int = 3) -> str:
    """So many significant ones, without exponents where that can be read.

    >>> [digits(value) for value in (0.0, 0.01234, 12.0, 12.34, 1234.5, 1234567.0, 1.5e12)]
    ['0', '0.0123', '12', '12.3', '1,230', '1,230,000', '1.5e+12']
    """
    if value == 0 or not 1e-4 <= abs(value) < 1e10:
        return f"{value:.{count}g}"
    places = count - 1 - floor(log10(abs(value)))
    text = f"{round(value, places):,.{max(places, 0)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def listed(names: Sequence[str], before_last: str = "and") -> str:
    """
    >>> listed(["a"]), listed(["a", "b", "c"]), listed(["a", "b"], "or")
    ('a', 'a, b and c', 'a or b')
    """
    return f" {before_last} ".join([", ".join(names[:-1]), names[-1]][len(names) == 1 :])


def columns(rows: Sequence[Sequence[str]]) -> str:
    """A table: the first column begins at the left, the others end at the right.

    >>> print(columns([["arm", "mean"], ["plain", "0.5"]]))
    arm    mean
    plain   0.5
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = (
        "  ".join([first.ljust(widths[0]), *map(str.rjust, others, widths[1:])]).rstrip() for first, *others in rows
    )
    return "\n".join(lines)
