"""The file of a report: a function of what it shows and of this version, without a clock or chance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from html import escape
from typing import Any, NamedTuple

from mfbai._version import __version__
from mfbai.study.certificate import lines_of
from mfbai.study.report import program
from mfbai.study.report.answer import answer
from mfbai.study.report.reading import digests_of, opening

POLICY = (
    "default-src 'none'; script-src 'unsafe-inline' data:; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)


class Part(NamedTuple):
    """A piece of the file, with what people call it."""

    what: str
    text: str


class Report(NamedTuple):
    """What a report is made of: all that is in it, but for the program."""

    certificate: Mapping[str, Any]
    shown: Mapping[str, Any]  # what follows from the journal: see `shown_of`
    beside: Mapping[str, Any]  # what was kept beside it

    @property
    def html(self) -> str:
        """The file."""
        return "".join(part.text for part in parts_of(self))


def parts_of(report: Report) -> list[Part]:
    """The file, piece by piece."""
    parts = _without_digests(report)
    digests = digests_of("".join(part.text for part in parts))
    block = Part("digests", _block("digests", as_json(digests)))
    return [block if part.what == "digests" else part for part in parts]


def _without_digests(report: Report) -> list[Part]:
    """The same, with nothing where the digests will be. A browser writes the markup of the frame just so."""
    said = answer(report.certificate, report.shown)
    return [
        Part("head", _head(report.certificate["study"])),
        Part("styles", f"<style>{program.style()}</style>\n"),
        Part("program", f'<script type="importmap">{program.program()}</script>\n'),
        Part("frame", _TOP),
        Part("answer in plain HTML", f'<section id="answer" class="card">{said}</section>'),
        Part("frame", _BOTTOM),
        Part("digests", _block("digests", "")),
        Part("numbers of the pictures", _block("shown", as_json(report.shown))),
        Part("note, tags and workers", _block("beside", as_json(report.beside))),
        Part("certificate", _block("certificate", "".join(lines_of(report.certificate)))),
        Part("program", f'<script type="module">{program.start()}</script>\n'),
        Part("end", "</body>\n</html>\n"),
    ]


def trials_of(certificate: Mapping[str, Any]) -> int:
    """How many evaluations were handed out."""
    return sum(event["kind"] == "ask" for event in certificate["journal"])


def as_json(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"), allow_nan=False)


def as_block(text: str) -> str:
    """JSON that cannot end the element it is in: a less-than sign occurs within strings alone."""
    return text.replace("<", "\\u003c")


def _block(name: str, text: str) -> str:
    return f"{opening(name)}{as_block(text)}</script>\n"


def _head(study: str) -> str:
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{POLICY}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="mfbai {__version__}">
<title>{escape(study, quote=False)} · mfbai report</title>
<link rel="icon" type="image/svg+xml" href="{program.icon()}">
"""


_TOP = """</head>
<body>
<a id="skip" class="skip" href="#main">Skip to the content</a>
<header class="top"><span class="brand">mfbai report</span></header>
<main id="main" tabindex="-1">
"""
_BOTTOM = """
<div id="report"></div>
</main>
<footer class="bottom"><details id="glossary"><summary>All terms explained</summary><dl></dl></details></footer>
<div id="tip" class="tip" hidden=""></div>
"""
