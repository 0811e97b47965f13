"""Watching a study while a call works on it: its progress, and a callback."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from mfbai.errors import StorageError, StudyGone
from mfbai.study import sentences
from mfbai.study.shown import Shown
from mfbai.study.status import Status, proven
from mfbai.terminal import gauge, seldom


class Watch:
    """Looks at a study in the thread that `look` is called in, which must not be one that the study waits for."""

    def __init__(
        self, study: Shown, callback: Callable[[Status], Any] | None, show: Callable[[float, str], None] | None
    ) -> None:
        self._study, self._callback, self._show = study, callback, show
        self._results = 0  # by the last call of the callback
        self.status: Status | None = None  # the last that was seen
        self.look = seldom(self._look) if callback or show else lambda: None

    def finish(self, *, needed: bool) -> Status | None:
        """Look a last time, if anybody wants to know: the status or, if the storage does not answer soon, the last
        that was seen."""
        if needed or self._callback or self._show:
            self._look()
        return self.status

    def _look(self) -> None:
        try:
            self.status = status = self._study._status_soon()
        except (StorageError, StudyGone):  # those who work on the study hear of it, too
            return
        if self._show:
            self._show(proven(status), f"{sentences.leader(status)}; {sentences.progress(status)}")
        results = status.told + status.failed + status.imported
        if self._callback and results != self._results:
            self._results = results
            self._callback(status)


@contextmanager
def watched(study: Shown, callback: Callable[[Status], Any] | None) -> Iterator[Watch]:
    """Show how far the proof is, on a terminal or in a notebook, and call the callback."""
    with gauge("proof") as show:
        yield Watch(study, callback, show)
