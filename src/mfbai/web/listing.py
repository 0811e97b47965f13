"""The list of studies as the server gives it: filtered, sorted, with what is known of each by now."""

from __future__ import annotations

import asyncio
import logging
from typing import Any, NamedTuple

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
        self._known: dict[int, tuple[int, dict[str, Any] | None]] = {}  # of how many events a summary is, and it
        self._looks: dict[int, asyncio.Task[None]] = {}  # under way

    async def lines(self, wanted: Wanted) -> tuple[list[Line], list[str]]:
        """The studies that match, in order, and all tags. Of those that take long to open, only labels are known."""
        found = await self._hub.in_thread(lambda: list_lines(self._hub.storage))
        await self._catch_up(found)
        known = [line._replace(summary=self._known.get(line.shelved.study, (0, None))[1]) for line in found]
        shown = matching(known, wanted.state, wanted.tag, wanted.search)
        return ordered(shown, wanted.sort, wanted.descending), tags_of(found)

    async def _catch_up(self, lines: list[Line]) -> None:
        """Look at studies that have changed, the newest first. What takes long goes on for the next list."""
        self._known |= {line.shelved.study: (line.shelved.events, line.summary) for line in lines if line.summary}
        changed = [line for line in reversed(lines) if not self._is_known(line)]
        for line in changed[: AT_ONCE - len(self._looks)]:
            study = line.shelved.study
            if study not in self._looks:
                self._looks[study] = asyncio.create_task(self._look(line))
        if self._looks:
            await asyncio.wait(self._looks.values(), timeout=OPENING)

    def _is_known(self, line: Line) -> bool:
        study, _, events, *_ = line.shelved
        return self._known.get(study, (0, {}))[0] == events

    async def _look(self, line: Line) -> None:
        """Find out where a study stands."""
        study, label, events, *_ = line.shelved
        try:
            # One that is busy will be looked at again soon: what is open need not be replayed then.
            desk = self._hub.found(label.name) if line.is_quiet else await self._hub.opening(label.name)
            known = None if desk is None else desk.study
            found = await self._hub.while_opening(lambda: summarised(self._hub.storage, line, known).summary)
            self._known[study] = events, found
        except Exception:  # it was deleted or renamed meanwhile, or cannot be opened: the list goes on without it
            logging.getLogger(__name__).debug("a study cannot be listed", exc_info=True)
        finally:
            del self._looks[study]
