"""The list of studies as the server gives it: filtered, sorted, with what is known of each by now."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any, NamedTuple

from mfbai.errors import StudyGone
from mfbai.study.catalogue import Line, list_lines, matching, ordered, summarised, tags_of
from mfbai.web.hub import Hub

OPENING = 1.0  # seconds that a list waits for studies to be opened
AT_ONCE = 100  # studies that are opened for one list


class Wanted(NamedTuple):
    """Which studies a list has: see `catalogue.matching` and `ordered`."""

    state: str | None
    tag: str | None
    search: str
    sort: str
    descending: bool


class Listing:
    """The list of a hub's studies. It remembers where they stood, as that takes long to find out."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._known: dict[int, tuple[int, dict[str, Any]]] = {}  # of a study: how many events a summary is of, and it

    async def lines(self, wanted: Wanted) -> tuple[list[Line], list[str]]:
        """The studies that match, in order, and all tags. Of those that take long to open, only labels are known."""
        found = await self._hub.in_thread(lambda: list_lines(self._hub.storage))
        await self._catch_up(found)
        known = [line._replace(summary=self._known.get(line.shelved.study, (0, None))[1]) for line in found]
        shown = matching(known, wanted.state, wanted.tag, wanted.search)
        return ordered(shown, wanted.sort, wanted.descending), tags_of(found)

    async def _catch_up(self, lines: list[Line]) -> None:
        """Look at studies that have changed, the newest first."""
        self._known |= {line.shelved.study: (line.shelved.events, line.summary) for line in lines if line.summary}
        changed = [line for line in reversed(lines) if not self._is_known(line)][:AT_ONCE]
        tasks = [self._hub.opening(line.shelved.label.name) for line in changed]
        if tasks:
            await asyncio.wait(tasks, timeout=OPENING)
            await self._hub.in_thread(lambda: self._look(changed))

    def _is_known(self, line: Line) -> bool:
        study, _, events, *_ = line.shelved
        return self._known.get(study, (0, {}))[0] == events

    def _look(self, lines: list[Line]) -> None:
        """Find out where studies stand, of those that are open by now."""
        for line in lines:
            study, label, events, *_ = line.shelved
            desk = self._hub.found(label.name)
            with suppress(StudyGone):
                if desk is not None and (found := summarised(self._hub.storage, line, desk.study).summary) is not None:
                    self._known[study] = events, found
