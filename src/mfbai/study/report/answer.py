"""The answer of a report as plain HTML: what a mail's preview shows, and a reader without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from html.parser import HTMLParser
from typing import Any

WITHOUT = (
    "Pictures, the table of trials and the check of the journal need a browser that runs scripts. "
    "If yours does, and you see none of them, this file was damaged."
)


def answer(certificate: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    grounds = shown["grounds"]
    facts = "".join(f"<dt>{_text(name)}</dt><dd dir=auto>{_text(told)}</dd>" for name, told in shown["facts"])
    parts = [
        f"<h1 dir=auto>{_text(certificate['study'])}</h1>",
        f"<p class=headline>{_text(shown['view']['sentence'])}</p>",
        f"<h2>What it rests on</h2>{_list([*grounds['rests_on'], *grounds['bounds']])}",
        f"<h2>How much it can bear</h2><p>{_text(grounds['bears'])}</p>",
        f"<h2>In numbers</h2><dl>{facts}</dl>",
        f"<p>{certificate['events']:,} events, the last with the hash <code>{_text(certificate['head'])}</code>. "
        "To check that the answer follows from them, run <code>mfbai study verify</code> on this file.</p>",
        f"<p>{WITHOUT}</p>",
    ]
    return "".join(parts)


def text_of(html: str) -> str:
    """The text that a browser finds in it."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    return "".join(reader.found)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.found: list[str] = []

    def handle_data(self, data: str) -> None:
        self.found.append(data)


def _list(texts: Iterable[str]) -> str:
    items = "".join(f"<li dir=auto>{_text(text)}</li>" for text in texts)
    return f"<ul>{items}</ul>" if items else "<p>Nothing but the results.</p>"


def _text(text: str) -> str:
    return escape(text, quote=True)
