"""Checking what somebody else has made: a certificate, or the report that holds one."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mfbai.study.certificate import Unreadable, Verification, parse, replay
from mfbai.study.report.checking import check_report
from mfbai.study.report.reading import is_report
from mfbai.textfiles import MARK, Source, exact_text


def verify(certificate: Source | Mapping[str, Any]) -> Verification:
    """Replay a certificate, or check a report: returns a `Verification`.

    certificate  a file (its path, or open) of `Study.export`, or what that returned; or a file of `Study.report`

    It is confirmed if the events are complete and in their order, the problem is that of the journal, every evaluation
    handed out is the one that the strategy asks for, and the verdict follows from them, exactly where it stands. A
    report must be what this version makes of its certificate, to the byte. One that another version has made is not
    confirmed: of it, only the journal can be (`unchecked`).

    >>> from mfbai import Bernoulli, Problem, create_study, verify
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> study.tell(study.ask(), 1)
    >>> certificate = study.export("certificate.json")
    >>> verify("certificate.json").confirmed
    True
    """
    if isinstance(certificate, Mapping) or not (isinstance(certificate, str | Path) or hasattr(certificate, "read")):
        return replay(certificate)
    try:
        text = exact_text(certificate)
        return check_report(text) if is_report(text) else replay(parse(text.removeprefix(MARK)))
    except UnicodeDecodeError:
        return Verification(False, "this is not a certificate: it is not text")
    except Unreadable as error:
        return Verification(False, f"this is not a certificate: {error}")
