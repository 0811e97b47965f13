"""The journal of a study: events in the order they happened, each sealed by a hash of itself and all before it.

    create    what was asked: the problem, delta, strategy, rule; always the first
    ask       an evaluation was handed out: trial, arm, fidelity, seed; with common seeds also its place in its round
    tell      its value came back
    fail      it will not come back
    add       values that were measured elsewhere
    verdict   the answer, or that there is none within the budget; at most one

An event is a JSON object, and is stored as the text that was hashed, so that nothing changes between writing and
reading.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any, NamedTuple

NOTHING = "0" * 64  # what the first event is chained to


class Event(NamedTuple):
    """One line of a journal."""

    text: str  # canonical JSON
    hash: str

    @property
    def body(self) -> dict[str, Any]:
        body: dict[str, Any] = json.loads(self.text)
        return body


def canonical(body: Mapping[str, Any]) -> str:
    """The one text of an event; numbers are written so that they are read back exactly."""
    return json.dumps(body, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def seal(before: str, text: str) -> str:
    """The hash of an event, given that of the one before it."""
    return hashlib.sha256(f"{before}\n{text}".encode()).hexdigest()
