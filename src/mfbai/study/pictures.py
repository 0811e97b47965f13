"""Which pictures there are of a study, and of which arms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from mfbai.errors import Fault, InvalidInput, suggestion
from mfbai.plots.studies import picture_of_study
from mfbai.study.history import Point
from mfbai.study.rows import most_relevant

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from mfbai.study.status import Status

STATUS_KINDS = ("evidence", "intervals", "spend")
KINDS = (*STATUS_KINDS, "history")


def check_kind(kind: str | None, known: Sequence[str]) -> tuple[str, ...]:
    """The panels of a picture."""
    if kind is None:
        return tuple(known)
    if kind not in known:
        raise InvalidInput([Fault("kind", f"is {kind!r:.60}: {suggestion(str(kind), known)}")])
    return (kind,)


def draw_study(status: Status, kind: str | None, known: Sequence[str], points: Sequence[Point] = ()) -> Figure:
    """Of many arms, the leader and its closest rivals are drawn."""
    return picture_of_study(status, most_relevant(status), check_kind(kind, known), points)
