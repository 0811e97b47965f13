"""From what a caller gives as `executor` to an engine."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from mfbai.engines.futures import Futures
from mfbai.engines.interface import Engine
from mfbai.engines.local import Processes, Threads
from mfbai.errors import Fault, InvalidInput
from mfbai.kernels.machine import cores

THREADS, PROCESSES, RAY = NAMES = ("threads", "processes", "ray")
ADDRESS = re.compile(r"(tcp|tls|ucx|ws|wss|inproc)://.+")  # of a Dask scheduler
WANTED = "give a concurrent.futures.Executor, a Dask client, cluster or address (tcp://...), or one of " + ", ".join(
    map(repr, NAMES)
)

_ambient: ContextVar[tuple[Engine, int | None] | None] = ContextVar("_ambient", default=None)


@contextmanager
def open_engine(executor: Any, workers: int | None = None) -> Iterator[tuple[Engine, int | None]]:
    """The engine, and how many calls to have under way: None where it says so itself, at any time.

    What it starts is ended with the block; what the caller made is not.
    """
    with _make(executor, workers) as engine:
        if workers is None and engine.size is None:
            told = "does not say how many calls it makes at a time: give workers="
            raise InvalidInput([Fault("executor", told)])
        yield engine, workers


@contextmanager
def using(executor: Any, workers: int | None = None) -> Iterator[None]:
    """Let simulations in this block run on an executor, unless they are given another one; None changes nothing."""
    if executor is None:
        yield
        return
    with open_engine(executor, workers) as opened:
        token = _ambient.set(opened)
        try:
            yield
        finally:
            _ambient.reset(token)


def ambient() -> tuple[Engine, int | None] | None:
    """The engine of the block `using`, if there is one, and how many calls to have under way."""
    return _ambient.get()


def _make(executor: Any, workers: int | None) -> Engine:
    if executor is None or executor == THREADS:
        return Threads(workers or cores())
    if executor == PROCESSES:
        return Processes(workers or cores())
    if _is_ray(executor):
        return _ray()
    if isinstance(executor, str):
        if not ADDRESS.fullmatch(executor):
            raise InvalidInput([Fault("executor", f"is {executor!r:.80}: {WANTED}")])
        return _dask(executor)
    if _is_dask(executor):
        return _dask(executor)
    if isinstance(executor, Executor):
        return Futures(executor)
    raise InvalidInput([Fault("executor", f"is {executor!r:.80}: {WANTED}")])


def _is_ray(executor: Any) -> bool:
    return executor == RAY or (isinstance(executor, ModuleType) and executor.__name__ == RAY)


def _is_dask(executor: Any) -> bool:
    """Whether it is a client or a cluster; nothing is imported that the caller has not imported."""
    distributed = sys.modules.get("distributed")
    return distributed is not None and isinstance(executor, (distributed.Client, distributed.deploy.Cluster))


def _dask(given: Any) -> Engine:
    try:
        import distributed

        from mfbai.engines.dask import Dask, connect
    except ImportError:
        raise _missing("Dask", "dask") from None
    if isinstance(given, distributed.Client):
        return Dask(given)
    return Dask(connect(given), own=True)


def _ray() -> Engine:
    try:
        import ray  # noqa: F401

        from mfbai.engines.ray import Ray
    except ImportError:
        raise _missing("Ray", "ray") from None
    return Ray()


def _missing(what: str, extra: str) -> InvalidInput:
    return InvalidInput([Fault("executor", f"needs {what}, which is not installed: pip install 'mfbai[{extra}]'")])
