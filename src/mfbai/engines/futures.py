"""Any `concurrent.futures.Executor`: the pools of Python itself, loky, mpi4py, and others like them."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

from mfbai.engines.interface import Engine
from mfbai.engines.shipping import Back, arrive_here, perform_here
from mfbai.errors import ExecutorError

SIZES = ("num_workers", "max_workers")  # what executors that say how large they are call it: mpi4py has the first


class Futures(Engine):
    """An executor of the caller's."""

    name = "executor"

    def __init__(self, executor: Executor) -> None:
        super().__init__()
        self._executor = executor
        self._threads = isinstance(executor, ThreadPoolExecutor)

    @property
    def size(self) -> int | None:
        found = next((getattr(self._executor, name) for name in SIZES if hasattr(self._executor, name)), None)
        return found if isinstance(found, int) else None

    def ship(self, function: Callable[..., Any], name: str) -> Any:
        return function if self._threads else super().ship(function, name)

    def call(self, shipped: Any, *args: Any) -> Future[Back]:
        return self.send(perform_here, shipped, *args) if self._threads else super().call(shipped, *args)

    def probe(self, shipped: Any) -> Future[Back]:
        return self.send(arrive_here, shipped) if self._threads else super().probe(shipped)

    def send(self, function: Callable[..., Back], *args: Any) -> Future[Back]:
        try:
            return self._executor.submit(function, *args)
        except BrokenExecutor as error:
            raise ExecutorError(str(self.gone(error))) from None
        except RuntimeError as error:
            raise ExecutorError(f"the executor takes no calls ({_first_line(error)}): give one that is open") from None

    def is_lost(self, error: BaseException) -> bool:
        dask = sys.modules.get("distributed")  # it may be a Dask client's `get_executor()`
        return dask is not None and isinstance(error, dask.KilledWorker)

    def gone(self, error: BaseException) -> str | None:
        if isinstance(error, BrokenExecutor):
            told = f"a worker of the executor died, and with it the whole executor ({_first_line(error)})"
            return f"{told}: call again with another one, or let executor='processes' replace workers that die"
        return super().gone(error)


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".") or type(error).__name__
