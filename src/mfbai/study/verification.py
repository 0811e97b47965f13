"""Checking what somebody else has made: a certificate, or the report that holds one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfbai.study.certificate import Unreadable, Verification, parse, refusal, replay
from mfbai.study.report.checking import check_report
from mfbai.study.report.reading import is_report


def verify(certificate: str | Path | Mapping[str, Any]) -> Verification:
    """Replay a certificate, given as a file or as what `Study.export` returned; or a report, as `Study.report` writes.

    It is confirmed if the events are complete and in their order, the problem is that of the journal, every evaluation
    handed out is the one that the strategy asks for, and the verdict follows from them, exactly where it stands. A
    report must be what this version makes of its certificate, to the byte.
    """
    if not isinstance(certificate, str | Path):
        return replay(certificate)
    try:
        text = _text_of(certificate)
        return check_report(text) if is_report(text) else replay(parse(text))
    except Unreadable as error:
        return Verification(False, f"this is not a certificate: {error}")


def _text_of(path: str | Path) -> str:
    try:
        with open(path, encoding="utf-8-sig", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise Unreadable("it is not text") from None
    except (OSError, ValueError) as error:
        raise refusal(path, "read", error) from None
