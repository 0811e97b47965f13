"""A Dask client or cluster."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any

from mfbai.engines.interface import Engine
from mfbai.engines.shipping import Back
from mfbai.errors import ExecutorError, Fault, InvalidInput

LOOK = 1.0  # seconds for which the number of workers is taken to be the same


class Dask(Engine):
    """Calls go through `Client.get_executor`. Dask itself makes a call again whose worker died, some times."""

    name = "Dask"
    grows = True  # a cluster that adapts
    knows_what_runs = False

    def __init__(self, client: Any, own: bool = False) -> None:
        super().__init__()
        if client.asynchronous:
            raise InvalidInput([Fault("executor", "is an asynchronous Dask client: give a synchronous one")])
        self._client = client
        self._own = own  # made here, so it is closed here
        self._executor = client.get_executor(pure=False)
        self._size, self._looked = 0, -LOOK

    @property
    def size(self) -> int:
        if time.monotonic() - self._looked > LOOK:
            self._size, self._looked = sum(self._ask(self._client.nthreads).values()), time.monotonic()
        return self._size

    def send(self, function: Callable[..., Back], *args: Any) -> Future[Back]:
        return self._ask(lambda: self._executor.submit(function, *args))  # type: ignore[no-any-return]

    def _ask(self, call: Callable[[], Any]) -> Any:
        if self._client.status != "running":
            raise ExecutorError(f"the Dask client is {self._client.status}: give one that is connected")
        try:
            return call()
        except (OSError, RuntimeError, TimeoutError) as error:
            raise ExecutorError(f"the Dask scheduler does not answer ({error}): check that it runs") from None

    def is_lost(self, error: BaseException) -> bool:
        from distributed import KilledWorker

        return isinstance(error, KilledWorker)

    def deaths(self, error: BaseException) -> int:
        return 1 + int(getattr(error, "allowed_failures", 0))

    def gone(self, error: BaseException) -> str | None:
        if isinstance(error, CancelledError):
            return "the Dask client was closed, or its scheduler is gone: call again with one that is connected"
        return super().gone(error)

    def close(self) -> None:
        if self._own:
            self._client.close()


def connect(address: Any) -> Any:
    """A client of a cluster, or of the scheduler at an address."""
    import distributed

    make: Any = distributed.Client
    try:
        return make(address)
    except (OSError, TimeoutError, ValueError) as error:
        told = f"is {address!r}: no Dask scheduler answers there ({error}); start one with `dask scheduler`"
        raise InvalidInput([Fault("executor", told)]) from None
    except RuntimeError as error:
        raise ExecutorError(f"the Dask cluster cannot be used ({error}): give one that is open") from None
