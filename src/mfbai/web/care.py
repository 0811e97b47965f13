"""Care for studies: their names, notes, tags, pauses, and their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Response

from mfbai.errors import Fault, InvalidInput
from mfbai.study import Study
from mfbai.web import bodies, replies
from mfbai.web.answers import READS, STUDY, WRITES, answer
from mfbai.web.hub import Desk
from mfbai.web.reading import BodyRoute, TheDesk

care = APIRouter(route_class=BodyRoute)


@care.get(f"{STUDY}/label", response_model=replies.LabelBody, responses=READS)
async def label(desk: TheDesk) -> Response:
    """What people keep beside the journal: the name, a note, tags, and whether the study is paused."""
    return answer(await desk.read(lambda: _label(desk.study)))


def _label(study: Study) -> dict[str, Any]:
    name, paused, note, tags, _ = study.label
    return {"name": name, "paused": paused, "note": note, "tags": list(tags), "events": study.length()}


async def _relabel(desk: Desk, work: Callable[[Study], None]) -> Response:
    def call() -> dict[str, Any]:
        work(desk.study)
        return _label(desk.study)

    return answer(await desk.call(call))


@care.post(f"{STUDY}/rename", response_model=replies.LabelBody, responses=WRITES)
async def rename(body: bodies.Rename, desk: TheDesk) -> Response:
    """Give the study another name. Its certificate keeps the one that it was created with."""
    return await _relabel(desk, lambda study: study.rename(body.name))


@care.post(f"{STUDY}/pause", response_model=replies.LabelBody, responses=WRITES)
async def pause(body: bodies.Nothing, desk: TheDesk) -> Response:
    """Hand out nothing until the study is resumed. Results of what is under way are accepted."""
    return await _relabel(desk, lambda study: study.pause())


@care.post(f"{STUDY}/resume", response_model=replies.LabelBody, responses=WRITES)
async def resume(body: bodies.Nothing, desk: TheDesk) -> Response:
    """Hand out evaluations again."""
    return await _relabel(desk, lambda study: study.resume())


@care.post(f"{STUDY}/note", response_model=replies.LabelBody, responses=WRITES)
async def note(body: bodies.Note, desk: TheDesk) -> Response:
    """Replace the note, which is Markdown."""
    return await _relabel(desk, lambda study: study.set_note(body.text, before=body.before))


@care.post(f"{STUDY}/tags", response_model=replies.LabelBody, responses=WRITES)
async def tags(body: bodies.Tags, desk: TheDesk) -> Response:
    """Replace the tags."""
    return await _relabel(desk, lambda study: study.set_tags(body.tags))


@care.post(f"{STUDY}/delete", response_model=replies.Deleted, responses=WRITES)
async def delete(body: bodies.Delete, desk: TheDesk) -> Response:
    """Remove the study, with its journal, note and tags. It cannot be undone."""
    if body.name != desk.name:
        told = f"is {body.name!r:.60}: repeat the study's name, {desk.name!r}, to confirm"
        raise InvalidInput([Fault("name", told)], "call")
    await desk.delete()
    return answer({"deleted": True})
