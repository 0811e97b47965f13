"""Large answers as JSON, made in steps so short that other threads, and the event loop, have their turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from mfbai.study.journal import Event
from mfbai.study.status import finite
from mfbai.web.bodies import as_json

STEP = 500  # entries of a list that are written at once


def in_steps(value: Any) -> bytes:
    """The same bytes as from `as_json`, which would hold up all other threads until it is done."""
    return b"".join(_pieces(value))


def _pieces(value: Any) -> Iterator[bytes]:
    if isinstance(value, Mapping):
        yield b"{"
        for k, (name, entry) in enumerate(value.items()):
            yield b"%s%s:" % (b"," if k else b"", json.dumps(name).encode("ascii"))
            yield from _pieces(entry)
        yield b"}"
    elif isinstance(value, list | np.ndarray) and len(value) > STEP:
        yield b"["
        for k in range(0, len(value), STEP):
            yield b"," if k else b""
            yield as_json(_listed(value[k : k + STEP]))[1:-1]
        yield b"]"
    else:
        yield as_json(_listed(value))


def _listed(value: Any) -> Any:
    """For JSON: the rows of a table as lists. Of a large one these would take long to make, and to forget."""
    return finite(value) if isinstance(value, np.ndarray) else value


def sealed(events: Iterable[Event]) -> list[bytes]:
    """Each event with its hash. Its text is JSON already, and the first one, with the problem, may be long."""
    return [b'%s,"hash":"%s"}' % (event.text[:-1].encode("ascii"), event.hash.encode("ascii")) for event in events]
