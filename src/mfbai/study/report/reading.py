"""What a report holds, read from its text: nothing of it is executed."""

from __future__ import annotations

from mfbai.study.certificate import Unreadable
from mfbai.study.report.page import opening
from mfbai.textfiles import MARK

BEGINS = "<!doctype html>"
BLOCKS = ("certificate", "shown", "beside")
END = "</script>"


def is_report(text: str) -> bool:
    """Whether a file is HTML, and not a certificate by itself."""
    return text[:1000].removeprefix(MARK).lstrip().lower().startswith(("<!doctype", "<html"))


def blocks_of(text: str) -> dict[str, str]:
    """The JSON of each block, by its name."""
    return {name: _block(text, name) for name in BLOCKS}


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
