"""What a report has that is kept beside the journal: people may have changed it, and it proves nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mfbai.errors import MfbaiError
from mfbai.study.care import check_note, check_tags
from mfbai.study.limits import LONGEST_WORKER
from mfbai.study.standing import Standing

NOBODY = -1  # stands for the worker of a trial of which none is known
ENTRIES = {"name", "note", "tags", "paused", "workers", "worker_of"}


def beside(study: Standing, trials: int) -> dict[str, Any]:
    """The label of a study and the workers of its first trials, for JSON."""
    label = study.label
    workers = study.workers()
    names = sorted({name for trial, name in workers.items() if trial <= trials})
    number = {name: n for n, name in enumerate(names)}
    of_trials = [number[workers[trial]] if trial in workers else NOBODY for trial in range(1, trials + 1)]
    return {
        "name": label.name,
        "note": label.note,
        "tags": list(label.tags),
        "paused": label.paused,
        "workers": names,
        "worker_of": of_trials if names else [],
    }


def is_beside(given: Any, trials: int) -> bool:
    """Whether `beside` could have written it."""
    if not isinstance(given, Mapping) or set(given) != ENTRIES:
        return False
    workers, of_trials = given["workers"], given["worker_of"]
    if not isinstance(workers, list) or not isinstance(of_trials, list) or not isinstance(given["paused"], bool):
        return False
    try:
        check_note(given["note"])
        check_tags(given["tags"])
    except MfbaiError:
        return False
    worker = all(_is_word(name, LONGEST_WORKER) for name in workers) and _is_word(given["name"], 1000)
    numbers = all(type(n) is int and NOBODY <= n < len(workers) for n in of_trials)
    return worker and numbers and len(of_trials) in (0, trials)


def _is_word(text: Any, longest: int) -> bool:
    return isinstance(text, str) and len(text) <= longest and text.isprintable()
