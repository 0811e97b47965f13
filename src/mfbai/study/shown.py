"""What notebooks show of a study, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from mfbai.errors import MfbaiError
from mfbai.study.history import Point
from mfbai.study.status import Status

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Shown(ABC):
    """A study that can be shown."""

    @property
    @abstractmethod
    def storage(self) -> str:
        """Where it is kept."""

    @abstractmethod
    def status(self) -> Status:
        """Where it stands."""

    @abstractmethod
    def history(self) -> list[Point]:
        """Its course."""

    def plot(self, kind: str | None = None) -> Figure:
        """A picture of the "evidence" against each rival, the arms' "intervals", what was spent ("spend"), or the
        "history" of the proof; all four if no kind is given. Needs matplotlib."""
        from mfbai.study.pictures import KINDS, check_kind, draw_study  # which loads much

        points = self.history() if "history" in check_kind(kind, KINDS) else []
        return draw_study(self.status(), kind, KINDS, points)

    def _repr_html_(self) -> str | None:
        """None, so that the plain form is shown, if the study was deleted, or its storage or server is away."""
        from mfbai.study.markup import study_as_html  # for notebooks alone

        try:
            status = self._status_soon()
        except MfbaiError:
            return None
        return study_as_html(type(self).__name__, status, self.storage)

    def _status_soon(self) -> Status:
        """The status, from a storage that answers soon."""
        return self.status()
