"""What every engine does."""

from __future__ import annotations

import itertools
import secrets
from abc import ABC, abstractmethod
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from types import TracebackType
from typing import Any, ClassVar

from mfbai.engines.shipping import Back, arrive, pack, perform

MOST_LOSSES = 5  # workers that may die on one and the same call: some of them may be unlucky


class Engine(ABC):
    """Makes calls elsewhere. It ends no more than what it has started itself."""

    name: ClassVar[str]  # in sentences
    ahead: ClassVar[float] = 0.06  # seconds of work that wait for each worker, so that it need not wait itself
    grows: ClassVar[bool] = False  # whether it may start workers for calls that wait
    knows_what_runs: ClassVar[bool] = True  # whether a call that is being made cannot be cancelled

    def __init__(self) -> None:
        self._calls = (f"{secrets.token_hex(4)}-{n}" for n in itertools.count())

    @property
    @abstractmethod
    def size(self) -> int | None:
        """How many calls it makes at a time: 0 while it has no workers, None if it does not say."""

    @abstractmethod
    def send(self, function: Callable[..., Back], *args: Any) -> Future[Back]:
        """Have a function called that is the same everywhere; raises `ExecutorError` if nothing can be sent."""

    def is_lost(self, error: BaseException) -> bool:
        """Whether the error says that a worker died, so that the call may be made elsewhere."""
        return False

    def deaths(self, error: BaseException) -> int:
        """How many workers died, if `is_lost`: some engines make a call again themselves."""
        return 1

    def gone(self, error: BaseException) -> str | None:
        """What has become of the engine, if the error says that it can make no more calls."""
        return f"{self.name} has cancelled what was under way" if isinstance(error, CancelledError) else None

    def ship(self, function: Callable[..., Any], name: str) -> Any:
        """The function in a form to be called with `call`; raises InvalidInput about the argument of that name."""
        return pack(function, name)

    def call(self, shipped: Any, *args: Any) -> Future[Back]:
        """Have it called with these arguments. What comes back says how that went; the future itself fails only if
        the worker or the engine does."""
        return self.send(perform, shipped, next(self._calls), *args)

    def probe(self, shipped: Any) -> Future[Back]:
        """Have a worker see whether it can load the function."""
        return self.send(arrive, shipped)

    def cancel(self, future: Future[Back]) -> None:
        """Have a call not made, if it has not begun."""
        future.cancel()

    def close(self) -> None:  # noqa: B027 - most have nothing to end
        """End what this engine has started."""

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
