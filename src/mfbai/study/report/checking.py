"""Whether a report is what this version of mfbai makes of the certificate in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mfbai._version import __version__
from mfbai.study.certificate import Verification, parse, replay, same
from mfbai.study.report.beside import is_beside
from mfbai.study.report.page import Report, parts_of, trials_of
from mfbai.study.report.reading import blocks_of
from mfbai.study.report.shown import replayed, shown_of

FORECAST = ("optimal", "match", "remaining")  # what a search found, which stops when it is close enough
NEAR = 1e-3  # relative difference that another machine may find there


def check_report(text: str) -> Verification:
    """Replay the certificate, compute again what is shown of it, and make the report again."""
    blocks = blocks_of(text)
    certificate, shown, beside = (parse(blocks[name]) for name in ("certificate", "shown", "beside"))
    found = replay(certificate)
    if not found:
        return found
    if not is_beside(beside, trials_of(certificate)):
        return _rejected(found, "its note, tags or workers are not as they would be written")
    made_by = certificate["versions"]["mfbai"]
    recomputed = shown_of(replayed(certificate))
    differs = _first_difference(shown, recomputed, exact=made_by == __version__)
    if differs:
        return _rejected(found, f"{differs} in what the report shows is not what follows from its journal")
    if made_by != __version__:
        told = f"the page around them was made by mfbai {made_by}, and this is {__version__}: its words are not checked"
        return replace(found, reason=f"{found.reason}; {told}")
    wrong = _not_as_made(text, Report(certificate, shown, beside))
    return found if wrong is None else _rejected(found, wrong)


def _rejected(found: Verification, told: str) -> Verification:
    return replace(found, confirmed=False, reason=f"the journal is right, but the page is not: {told}", verdict=None)


def _not_as_made(text: str, report: Report) -> str | None:
    """Which part of a file differs from the report that it should be."""
    place = 0
    for what, expected in parts_of(report):
        if text[place : place + len(expected)] != expected:
            where = next((n for n, sign in enumerate(expected) if text[place + n : place + n + 1] != sign), 0)
            return f"its part {what!r} was changed, at character {place + where}"
        place += len(expected)
    return None if place == len(text) else "something was added after its end"


def _first_difference(told: Any, found: Any, *, exact: bool, path: str = "") -> str | None:
    """The name of the first entry that differs; of another version's, only numbers and flags that both have count."""
    if isinstance(found, Mapping):
        if not isinstance(told, Mapping) or (exact and told.keys() != found.keys()):
            return repr(path or "everything")
        shared = [name for name in found if name in told]
        pairs = [(f"{path}.{name}".lstrip("."), told[name], found[name]) for name in shared]
    elif isinstance(found, list) and (exact or isinstance(told, list)):
        if not isinstance(told, list) or len(told) != len(found):
            return repr(path)
        pairs = [(path, *pair) for pair in zip(told, found, strict=True)]
    else:
        return None if _is_near(told, found, exact=exact, path=path) else repr(path)
    differing = (_first_difference(one, other, exact=exact, path=name) for name, one, other in pairs)
    return next((name for name in differing if name is not None), None)


def _is_near(told: Any, found: Any, *, exact: bool, path: str) -> bool:
    if path.split(".")[-1] in FORECAST and isinstance(told, float) and isinstance(found, float):
        return math.isclose(told, found, rel_tol=NEAR, abs_tol=NEAR)
    if not exact and isinstance(found, str | None):
        return True
    return same(told, found)
