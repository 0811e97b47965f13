"""What notebooks show of a study, here or on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod

from mfbai.errors import MfbaiError
from mfbai.study.status import Status


class Shown(ABC):
    """A study that can be shown."""

    @property
    @abstractmethod
    def storage(self) -> str:
        """Where it is kept."""

    @abstractmethod
    def status(self) -> Status:
        """Where it stands."""

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
