"""Care for a study: its name, a note, tags, pauses, and its end. All of it is kept beside the journal, not in it: it
can be changed, and the proof rests on none of it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from mfbai.errors import Fault, Faults, InvalidInput, LabelChanged, StudyOver
from mfbai.study.ledger import Ledger
from mfbai.study.limits import LONGEST_NOTE, LONGEST_TAG, MOST_TAGS
from mfbai.study.settings import check_name, check_new_name
from mfbai.study.storage import Label, Turn

# What no note may have: what controls a terminal, turns lines around, or is half a sign.
ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
OTHER = {"note": "another note", "tags": "other tags"}


class Care(Ledger):
    """What can be done with any study, at any time, by anyone who may write to it."""

    @property
    def label(self) -> Label:
        """Its name, note and tags and whether it is paused, as they were last read."""
        return self._label

    @property
    def paused(self) -> bool:
        """Whether it hands out nothing for now, as this process knows it: nothing is read, so it is quick."""
        return self._label.paused

    @property
    def note(self) -> str:
        """What people wrote about the study, in Markdown."""
        return self.read_label().note

    @property
    def tags(self) -> tuple[str, ...]:
        """Words to find the study by."""
        return self.read_label().tags

    def rename(self, name: str) -> None:
        """Give the study another name. Its journal, and so its certificate, keep the name that it was created with."""
        faults = Faults()
        check_name(faults, name)
        check_new_name(faults, name)
        faults.raise_if_any("call")
        with self._turn_beside() as turn:
            self._relabel(turn, name=name)

    def pause(self) -> None:
        """Hand out nothing until `resume`: `ask` raises `StudyPaused`. Results of what is under way are accepted."""
        with self._turn() as turn:
            if (verdict := self._fold.verdict) is not None:
                raise StudyOver(f"study {self.name!r} is over, it cannot be paused: {verdict}", verdict.state)
            self._relabel(turn, paused=True)

    def resume(self) -> None:
        """Hand out evaluations again."""
        with self._turn_beside() as turn:
            self._relabel(turn, paused=False)

    def set_note(self, text: str, *, before: str | None = None) -> None:
        """Replace the note. With `before`, the note that an editor began with, raises `LabelChanged` if somebody else
        has changed it since."""
        self._replace("note", check_note(text), before)

    def set_tags(self, tags: Iterable[str], *, before: Iterable[str] | None = None) -> None:
        """Replace the tags. With `before`, those that an editor began with, raises `LabelChanged` if somebody else has
        changed them since."""
        self._replace("tags", check_tags(tags), None if before is None else tuple(before))

    def _replace(self, what: str, value: Any, before: Any) -> None:
        """Replace an entry of the label, unless there is another one by now than `before`."""
        with self._turn_beside() as turn:
            if before is not None and before != getattr(self._label, what):
                told = f"has {OTHER[what]} by now: that was changed by somebody else since you read it; read it again"
                raise LabelChanged([Fault(f"study {self.name!r}", told)])
            self._relabel(turn, **{what: value})

    def delete(self) -> None:
        """Remove the study from the storage: its journal, note, tags and all. Workers on it learn of it (`StudyGone`)
        when they next ask or tell. It cannot be undone; export its certificate first."""
        with self._turn_beside() as turn:
            turn.delete()
            self._deleted = True

    def _relabel(self, turn: Turn, **changes: Any) -> None:
        changed = self._label._replace(**changes)
        if changed != self._label:
            changed = changed._replace(revision=changed.revision + 1)
            turn.relabel(changed)
            self._label = changed


def check_note(text: Any) -> str:
    """A note that can be kept."""
    faults = Faults()
    if not isinstance(text, str):
        faults.add("note", f"is {text!r:.60}: give text of {LONGEST_NOTE:,} characters at most")
    elif len(text) > LONGEST_NOTE:
        faults.add("note", f"has {len(text):,} characters: give {LONGEST_NOTE:,} at most")
    elif (odd := ODD.search(text)) is not None:
        line = text.count("\n", 0, odd.start()) + 1
        faults.add("note", f"has the sign {odd[0]!a} in line {line}, which is no text: remove it")
    faults.raise_if_any("call")
    found: str = text
    return found


def check_tags(tags: Any) -> tuple[str, ...]:
    """Tags that can be kept: each once, in the order given."""
    if isinstance(tags, str) or not isinstance(tags, Iterable):
        raise InvalidInput([Fault("tags", f"is {tags!r:.60}: give a list of words")])
    faults, found = Faults(), []
    for tag in tags:
        stripped = tag.strip() if isinstance(tag, str) else ""
        if not stripped or len(stripped) > LONGEST_TAG or not stripped.isprintable() or "," in stripped:
            told = f"give printable text of {LONGEST_TAG} characters at most, without commas"
            faults.add("tag", f"is {tag!r:.60}: {told}")
        found.append(stripped)
    unique = tuple(dict.fromkeys(found))
    if len(unique) > MOST_TAGS:
        faults.add("tags", f"are {len(unique)}: give {MOST_TAGS} at most")
    faults.raise_if_any("call")
    return unique
