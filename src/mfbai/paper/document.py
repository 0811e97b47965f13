"""A report of headings, paragraphs, pictures and tables, written as Markdown and as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED

MARKS = {AGREES: "✔", DISAGREES: "✘", UNDECIDED: "?", ANSWERED: "→"}

STYLE = """
body { font: 17px/1.5 system-ui, sans-serif; color: #222; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1, h2, h3 { line-height: 1.2; margin-top: 2.5rem; }
figure { margin: 2rem 0; }
figure img { width: 100%; max-width: 50rem; display: block; }
figcaption { color: #555; font-size: 0.9rem; }
.wide { overflow-x: auto; margin: 1.5rem 0; }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
th { text-align: left; border-bottom: 2px solid #444; }
th, td { padding: 0.35rem 0.8rem 0.35rem 0; vertical-align: top; }
tr + tr td { border-top: 1px solid #e4e4e4; }
.mark { white-space: nowrap; font-weight: 600; }
.agrees { color: #00664b; }
.disagrees { color: #a83c00; }
.undecided { color: #666; }
.answered { color: #00507d; }
"""


@dataclass(frozen=True)
class Heading:
    level: int
    text: str


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Picture:
    file: str  # without its ending: there is a PNG and an SVG
    caption: str


@dataclass(frozen=True)
class Grid:
    columns: Sequence[str]
    rows: Sequence[Sequence[object]]


Block = Heading | Paragraph | Picture | Grid


def markdown(blocks: Sequence[Block]) -> str:
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    match block:
        case Heading():
            return f"{'#' * block.level} {block.text}"
        case Paragraph():
            return block.text
        case Picture():
            return f"![{block.caption}]({block.file}.png)\n\n_{block.caption}_"
        case Grid():
            lines = [block.columns, ["---"] * len(block.columns), *block.rows]
            return "\n".join(f"| {' | '.join(_safe(marked(cell)) for cell in line)} |" for line in lines)


def _safe(text: str) -> str:
    """In a cell of a table."""
    return " ".join(text.replace("|", "/").split())


def page(title: str, blocks: Sequence[Block]) -> str:
    """The HTML."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{escape(title)}</title>\n'
        f'<meta name="viewport" content="width=device-width">\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n'
        "</body>\n</html>\n"
    )


def _html(block: Block) -> str:
    match block:
        case Heading():
            return f"<h{block.level}>{escape(block.text)}</h{block.level}>"
        case Paragraph():
            return f"<p>{escape(block.text)}</p>"
        case Picture():
            file, caption = escape(block.file), escape(block.caption)
            links = f'<a href="{file}.png">PNG</a>, <a href="{file}.svg">SVG</a>'
            return f'<figure><img src="{file}.png" alt="{caption}"><figcaption>{caption} {links}</figcaption></figure>'
        case Grid():
            head = "".join(f"<th>{escape(name)}</th>" for name in block.columns)
            rows = "\n".join(f"<tr>{''.join(_cell(cell) for cell in row)}</tr>" for row in block.rows)
            return f'<div class="wide"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody></table></div>'


def _cell(cell: object) -> str:
    kind = f' class="mark {cell}"' if cell in MARKS else ""
    return f"<td{kind}>{escape(marked(cell))}</td>"


def marked(cell: object) -> str:
    """A cell's text: numbers to six digits, verdicts with a mark."""
    if isinstance(cell, float):
        return f"{cell:,.6g}" if abs(cell) < 1e6 else f"{cell:,.0f}"
    return f"{MARKS[cell]} {cell}" if isinstance(cell, str) and cell in MARKS else str(cell)
