"""Says that an engine has no workers: a cluster may take minutes to start some."""

from __future__ import annotations

import time
from collections.abc import Callable

from mfbai.engines.interface import Engine

PATIENCE = 2.0  # seconds without workers before that is said


class Waiting:
    """To be looked at while nothing comes back. Says it once, until there are workers again."""

    def __init__(self, engine: Engine, say: Callable[[str], None]) -> None:
        self._engine = engine
        self._say = say
        self._since: float | None = None
        self._said = False

    def look(self) -> None:
        if self._engine.size != 0:
            self._since, self._said = None, False
            return
        self._since = time.monotonic() if self._since is None else self._since
        if not self._said and time.monotonic() - self._since >= PATIENCE:
            self._said = True
            self._say(f"waiting: {self._engine.name} has no workers")
