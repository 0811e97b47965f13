"""Whether a report is what this version of mfbai makes of the certificate in it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from mfbai._version import __version__
from mfbai.study.certificate import Verification, replay, same
from mfbai.study.report.beside import is_beside
from mfbai.study.report.page import Report, parts_of, trials_of
from mfbai.study.report.reading import BLOCKS, blocks_of, digests_of, read_block
from mfbai.study.report.shown import replayed, shown_of

FORECAST = ("optimal", "match", "remaining")  # what a search found, which stops when it is close enough
NEAR = 1e-3  # relative difference that another machine may find there
# Sentences, which another version may put in other words.
WORDS = ("view.sentence", "view.rule", "view.alarms", "view.variance_alarms", "grounds", "facts")


def check_report(text: str) -> Verification:
    """Replay the certificate, compute again what is shown of it, and make the report again.

    What another version has made cannot be made again. Its page must have the digests that it carries, and show the
    names and numbers that follow from the journal; even so only the journal is confirmed.
    """
    blocks = blocks_of(text)
    digests, shown, beside, certificate = (read_block(blocks, name) for name in BLOCKS)
    found = replay(certificate)
    if not found:
        return found
    if not is_beside(beside, trials_of(certificate)):
        return _rejected(found, "its note, tags or workers are not as they would be written")
    made_by = certificate["versions"]["mfbai"]
    ours = made_by == __version__
    recomputed = shown_of(replayed(certificate, paused=beside["paused"]))
    differs = _first_difference(shown, recomputed, exact=ours)
    if differs:
        hint = "" if ours else f" (mfbai {made_by} made it, and this is {__version__})"
        return _rejected(found, f"{differs} in what the report shows is not what follows from its journal{hint}")
    wrong = _not_as_made(text, Report(certificate, shown, beside)) if ours else _not_as_digested(text, digests)
    if wrong is not None:
        return _rejected(found, wrong)
    if ours:
        return found
    told = (
        f"mfbai {made_by} made the page, and this is {__version__}, which cannot check it; verify it with that version"
    )
    return replace(found, confirmed=False, reason=f"only the journal is confirmed: {told}", unchecked=True)


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


def _not_as_digested(text: str, digests: Any) -> str | None:
    """Which part of a file does not have the digest that the file carries."""
    told = digests if isinstance(digests, Mapping) else {}
    changed = next((name for name, digest in digests_of(text).items() if told.get(name) != digest), None)
    return None if changed is None else f"its part {changed!r} was changed: the digest in the file is another"


def _first_difference(told: Any, found: Any, *, exact: bool, path: str = "") -> str | None:
    """The name of the first entry that differs; another version may have other words, and further entries."""
    if not exact and path in WORDS:
        return None
    if isinstance(found, Mapping):
        if not isinstance(told, Mapping) or found.keys() - told.keys() or (exact and told.keys() - found.keys()):
            return repr(path or "everything")
        pairs = [(f"{path}.{name}".lstrip("."), told[name], found[name]) for name in found]
    elif isinstance(found, list):
        if not isinstance(told, list) or len(told) != len(found):
            return repr(path)
        pairs = [(path, *pair) for pair in zip(told, found, strict=True)]
    else:
        return None if _is_near(told, found, path=path) else repr(path)
    differing = (_first_difference(one, other, exact=exact, path=name) for name, one, other in pairs)
    return next((name for name in differing if name is not None), None)


def _is_near(told: Any, found: Any, *, path: str) -> bool:
    if path.split(".")[-1] in FORECAST and isinstance(told, float) and isinstance(found, float):
        return math.isclose(told, found, rel_tol=NEAR, abs_tol=NEAR)
    return same(told, found)
