"""The answer of a report as plain HTML: what a mail's preview shows, and a reader without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from html import escape
from typing import Any

# The program removes it when it works. A style delays it, so that it is not seen while a long file loads.
UNCHECKED = (
    "\N{WARNING SIGN} Not checked. The checks, the pictures and the table of trials need a browser that runs scripts, "
    "which previews of mail do not. If yours runs scripts and this warning stays, the file was damaged: "
    "do not rely on it."
)


def answer(certificate: Mapping[str, Any], shown: Mapping[str, Any]) -> str:
    grounds = shown["grounds"]
    facts = "".join(f'<dt>{_text(name)}</dt><dd dir="auto">{_text(told)}</dd>' for name, told in shown["facts"])
    parts = [
        f'<p class="card warning">{UNCHECKED}</p>',
        f'<h1 dir="auto">{_text(certificate["study"])}</h1>',
        f'<p class="headline">{_text(shown["view"]["sentence"])}</p>',
        f"<h2>What it rests on</h2>{_list([*grounds['rests_on'], *grounds['bounds']])}",
        f"<h2>How much it can bear</h2><p>{_text(grounds['bears'])}</p>",
        f"<h2>In numbers</h2><dl>{facts}</dl>",
        f"<p>{certificate['events']:,} events, the last with the hash <code>{_text(certificate['head'])}</code>. "
        "To check that the answer follows from them, run <code>mfbai study verify</code> on this file.</p>",
    ]
    return "".join(parts)


def as_serialised(html: str) -> str:
    """An answer as browsers write it, which do not escape quotes in a text."""
    return html.replace("&#x27;", "'").replace("&quot;", '"')


def _list(texts: Iterable[str]) -> str:
    items = "".join(f'<li dir="auto">{_text(text)}</li>' for text in texts)
    return f"<ul>{items}</ul>" if items else "<p>Nothing but the results.</p>"


def _text(text: str) -> str:
    return escape(text, quote=True)
