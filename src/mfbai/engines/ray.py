"""Ray: the runtime that the caller has initialised, or one that is started for the call."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from weakref import WeakKeyDictionary

from mfbai.engines.interface import Engine
from mfbai.engines.shipping import Back, perform
from mfbai.errors import ExecutorError


class Ray(Engine):
    """Calls are remote functions of one processor each. Ray repeats none of them: `is_lost` says when to."""

    name = "Ray"
    grows = True  # by its autoscaler
    knows_what_runs = False

    def __init__(self) -> None:
        super().__init__()
        import ray

        self._ray: Any = ray
        self._own = not ray.is_initialized()
        self._handler = signal.getsignal(signal.SIGTERM)  # Ray has one of its own, which outlives it
        if self._own:
            self._ray.init(include_dashboard=False, logging_level=logging.WARNING)
        self._remote: dict[Callable[..., Back], Any] = {}
        self._made: WeakKeyDictionary[Future[Back], Any] = WeakKeyDictionary()  # what Ray calls each call

    @property
    def size(self) -> int:
        self._check()
        return int(self._ray.cluster_resources().get("CPU", 0))

    def ship(self, function: Callable[..., Any], name: str) -> Any:
        return self._ray.put(super().ship(function, name))  # once to each node, not with each call

    def call(self, shipped: Any, *args: Any) -> Future[Back]:
        return self.send(perform_or_die, shipped, next(self._calls), *args)

    def send(self, function: Callable[..., Back], *args: Any) -> Future[Back]:
        self._check()
        if function not in self._remote:
            self._remote[function] = self._ray.remote(max_retries=0)(function)
        made = self._remote[function].remote(*args)
        future: Future[Back] = made.future()
        self._made[future] = made
        return future

    def cancel(self, future: Future[Back]) -> None:
        if future.cancel() and self._ray.is_initialized():
            self._ray.cancel(self._made[future])

    def _check(self) -> None:
        if not self._ray.is_initialized():
            raise ExecutorError("Ray was shut down: initialise it, and call again")

    def is_lost(self, error: BaseException) -> bool:
        known = self._ray.exceptions
        dead = (known.WorkerCrashedError, known.OutOfMemoryError, known.NodeDiedError, known.ObjectLostError)
        return isinstance(error, (*dead, known.LocalRayletDiedError))

    def gone(self, error: BaseException) -> str | None:
        if isinstance(error, self._ray.exceptions.RaySystemError) or not self._ray.is_initialized():
            return "Ray was shut down, or is out of reach: initialise it, and call again"
        return super().gone(error)

    def close(self) -> None:
        if not self._own:
            return
        self._ray.shutdown()
        if self._handler is not None and threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGTERM, self._handler)


def perform_or_die(packed: bytes, call: str, *args: Any) -> Back:
    """The same as `perform`. A worker that is told to end, as one that is evicted is, ends: Ray's own handler would
    raise SystemExit in the midst of the function, as if that had called `sys.exit`."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
    return perform(packed, call, *args)
