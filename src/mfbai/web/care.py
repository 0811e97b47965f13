"""Care for studies: their names, notes, tags, pauses, and their end."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fastapi import APIRouter, Response

from mfbai.errors import Fault, InvalidInput
from mfbai.study import Study
from mfbai.web import bodies, replies
from mfbai.web.answers import READS, STUDY, WRITES, answer
from mfbai.web.hub import Keeper
from mfbai.web.reading import BodyRoute, TheDesk, TheKeeper

care = APIRouter(route_class=BodyRoute)


@care.get(f"{STUDY}/label", response_model=replies.LabelBody, responses=READS)
async def label(keeper: TheKeeper) -> Response:
    """What people keep beside the journal: the name, a note, tags, and whether the study is paused."""
    return answer(await keeper.read(lambda: _label(keeper)))


def _label(keeper: Keeper) -> dict[str, Any]:
    name, paused, note, tags, _ = keeper.study.label
    said = {"name": name, "paused": paused, "note": note, "tags": list(tags)}
    return {**said, "events": keeper.study.length(), "key": keeper.key}


async def _relabel(keeper: Keeper, work: Callable[[Study], None]) -> Response:
    def call() -> dict[str, Any]:
        work(keeper.study)
        return _label(keeper)

    return answer(await keeper.care(call))


@care.post(f"{STUDY}/rename", response_model=replies.LabelBody, responses=WRITES)
async def rename(body: bodies.Rename, keeper: TheKeeper) -> Response:
    """Give the study another name. Its certificate keeps the one that it was created with."""
    return await _relabel(keeper, lambda study: study.rename(body.name))


@care.post(f"{STUDY}/pause", response_model=replies.LabelBody, responses=WRITES)
async def pause(body: bodies.Nothing, desk: TheDesk) -> Response:
    """Hand out nothing until the study is resumed. Results of what is under way are accepted."""
    return await _relabel(desk, lambda study: study.pause())


@care.post(f"{STUDY}/resume", response_model=replies.LabelBody, responses=WRITES)
async def resume(body: bodies.Nothing, keeper: TheKeeper) -> Response:
    """Hand out evaluations again."""
    return await _relabel(keeper, lambda study: study.resume())


@care.post(f"{STUDY}/note", response_model=replies.LabelBody, responses=WRITES)
async def note(body: bodies.Note, keeper: TheKeeper) -> Response:
    """Replace the note, which is Markdown."""
    return await _relabel(keeper, lambda study: study.set_note(body.text, before=body.before))


@care.post(f"{STUDY}/tags", response_model=replies.LabelBody, responses=WRITES)
async def tags(body: bodies.Tags, keeper: TheKeeper) -> Response:
    """Replace the tags."""
    return await _relabel(keeper, lambda study: study.set_tags(body.tags, before=body.before))


@care.post(f"{STUDY}/delete", response_model=replies.Deleted, responses=WRITES)
async def delete(body: bodies.Delete, keeper: TheKeeper) -> Response:
    """Remove the study, with its journal, note and tags. It cannot be undone."""
    if body.name != keeper.name:
        told = f"is {body.name!r:.60}: repeat the study's name, {keeper.name!r}, to confirm"
        raise InvalidInput([Fault("name", told)], "call")
    await keeper.delete()
    return answer({"deleted": True})
