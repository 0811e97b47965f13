"""What a report holds, read from its text: nothing of it is executed."""

from __future__ import annotations

import hashlib
from typing import Any

from mfbai.study.certificate import Unreadable, parse
from mfbai.study.report.answer import as_serialised
from mfbai.textfiles import MARK

BLOCKS = ("digests", "shown", "beside", "certificate")
END = "</script>"


def opening(name: str) -> str:
    """How the element of a block begins."""
    return f'<script type="application/json" id="{name}">'


ENDS = {  # of each part that has a digest of its own, in the order of the file
    "style": ("<style>", "</style>"),
    "program": ('<script type="importmap">', END),
    "answer": ('<section id="answer" class="card">', "</section>"),
    **{name: (opening(name), END) for name in BLOCKS},
}


def is_report(text: str) -> bool:
    """Whether a file is HTML, and not a certificate by itself."""
    return text[:1000].removeprefix(MARK).lstrip().lower().startswith(("<!doctype", "<html"))


def blocks_of(text: str) -> dict[str, str]:
    """The JSON of each block, by its name."""
    return {name: _block(text, name) for name in BLOCKS}


def read_block(blocks: dict[str, str], name: str) -> Any:
    """What the JSON of a block says."""
    try:
        return parse(blocks[name])
    except Unreadable as error:
        raise Unreadable(f"the report was damaged: its part {name!r} cannot be read: {error}") from None


def digests_of(text: str) -> dict[str, str]:
    """A digest of each part, and one of the frame: all that is around them. That of the digests is left out."""
    parts, rest = {}, text
    for name, (begin, end) in ENDS.items():
        before, opened, after = rest.partition(begin)
        parts[name], closed, after = after.partition(end)
        rest = f"{before}{opened}{closed}{after}"
    del parts["digests"]
    parts["answer"] = as_serialised(parts["answer"])
    parts["frame"] = rest.replace("\n", "")  # of which browsers leave some out
    return {name: hashlib.sha256(part.encode("utf-8", "surrogatepass")).hexdigest() for name, part in parts.items()}


def _block(text: str, name: str) -> str:
    begin = opening(name)
    found = text.count(begin)
    if found == 0:
        raise Unreadable(f"it is a web page, but no report: its {name!r} is missing")
    if found > 1:
        raise Unreadable(f"it has its {name!r} {found} times, and readers could take one or the other")
    inside, end, _ = text.partition(begin)[2].partition(END)
    if not end:
        raise Unreadable("it ends too early: the report is not complete")
    return inside
