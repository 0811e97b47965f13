"""The building blocks of what notebooks show: tables with captions, sentences, bars.

Everything given is escaped, but for what is `Html` already. Colours are those of the page around it, with an accent
that can be seen on white and on black; nothing is said by colour alone, as some readers drop all styles. There are
no scripts, no links and no style sheets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from mfbai.text import printable

SHOWN = 20  # rows of a table
SHOWN_COLUMNS = 8  # fidelities
WORDS = ("", "remarks", "use")  # headings of columns that have words, not figures
LONGEST = 80  # characters of a name
ACCENT = "#3987c9"  # 3.7 times as light or dark as white and as black
FAINT = "#8886"  # grey, and partly seen through

AS_IT_IS = "tex2jax_ignore mathjax_ignore"  # notebooks would draw what stands between two dollars as a formula

_TABLE = "border-collapse:collapse;margin:.4em 0;background:transparent"
_CAPTION = "caption-side:top;text-align:left;padding:.2em 0;color:inherit;font-weight:600"
_CELL = f"padding:.2em .7em .2em 0;border:0;border-bottom:1px solid {FAINT};vertical-align:top;color:inherit"
_TRACK = f"display:inline-block;width:5em;height:.6em;margin-right:.5em;border:1px solid {FAINT};border-radius:2px"
_FILL = f"display:block;height:100%;background:{ACCENT};border-radius:1px"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


def text(given: str) -> Html:
    r"""Any text as HTML: what could be read as a tag is spelled out, and so is what cannot be printed.

    >>> text("<b>&\x00")
    '&lt;b&gt;&amp;\\x00'
    """
    return given if isinstance(given, Html) else Html(escape(printable(given)))


def named(name: str) -> str:
    """A name that a user gave; a very long one is cut."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"


def whole(*parts: str) -> str:
    """What a notebook shows of an object: parts that `sentence`, `table` and the others have made."""
    return f'<div class="{AS_IT_IS}" style="color:inherit;background:transparent">{"".join(parts)}</div>'


def heading(told: str) -> Html:
    return Html(f'<p style="margin:.2em 0"><strong>{text(told)}</strong></p>')


def sentence(told: str) -> Html:
    return Html(f'<p style="margin:.2em 0">{text(told)}</p>' if told else "")


def note(told: str) -> Html:
    """A sentence that matters less."""
    return Html(f'<p style="margin:.2em 0"><small>{text(told)}</small></p>' if told else "")


def notes(told: Iterable[str]) -> Html:
    return Html("".join(map(note, told)))


def code(told: str) -> Html:
    return Html(f"<code>{text(told)}</code>")


def strong(told: str) -> Html:
    return Html(f"<strong>{text(told)}</strong>")


def bar(part: float, told: str) -> Html:
    """A bar that is full at 1, and what it says in words or figures."""
    full = 100 * min(max(part, 0.0), 1.0)
    drawn = f'<span style="{_FILL};width:{full:.0f}%"></span>'
    return Html(f'<span style="{_TRACK}" aria-hidden="true">{drawn}</span>{text(told)}')


def table(caption: str, headings: Sequence[str], rows: Iterable[Sequence[str]], more: str = "") -> Html:
    """A table whose first column names the rows; `more` says what is not shown of it."""
    sides = ["left" if n == 0 or told in WORDS else "right" for n, told in enumerate(headings)]
    head = "".join(
        f'<th scope="col" style="{_CELL};text-align:{side}">{text(told)}</th>'
        for told, side in zip(headings, sides, strict=True)
    )
    body = "".join(f"<tr>{_row(row, sides)}</tr>" for row in rows)
    return Html(
        f'<table style="{_TABLE}"><caption style="{_CAPTION}">{text(caption)}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note(more)}"
    )


def _row(row: Sequence[str], sides: Sequence[str]) -> str:
    first, *others = row
    named = f'<th scope="row" style="{_CELL};text-align:left;font-weight:inherit">{text(first)}</th>'
    cells = [
        f'<td style="{_CELL};text-align:{side}">{text(told)}</td>' for told, side in zip(others, sides[1:], strict=True)
    ]
    return named + "".join(cells)


def more(total: int, shown: int, what: str) -> str:
    """What to say below rows of which some are not shown.

    >>> more(1000, 20, "arms"), more(3, 3, "arms")
    ('and 980 more arms', '')
    """
    return f"and {total - shown:,} more {what}" if total > shown else ""
