"""Functions and results on their way between processes.

A function travels as bytes that this module has made, not as an object that the executor pickles: so one that cannot be
sent is known before anything is asked for, one that cannot be read there is an ordinary error with a traceback, and no
executor has to know of it. cloudpickle also sends what is defined in a notebook or within another function.
"""

from __future__ import annotations

import pickle
import traceback
from collections.abc import Callable
from functools import lru_cache
from numbers import Real
from time import perf_counter
from typing import Any, NamedTuple

from mfbai.errors import Fault, InvalidInput


class Back(NamedTuple):
    """What comes back of a call: a value, or an error."""

    value: Any
    error: bytes | BaseException | None  # pickled, if it comes from another process
    trace: str  # of the error, as the worker saw it
    seconds: float  # that the call took, without its way there and back


class Unsendable(NamedTuple):
    """Stands for a result that cannot be pickled: nothing but its text came back."""

    text: str

    def __repr__(self) -> str:
        return self.text


class RemoteError(Exception):
    """Stands for an exception of a worker that cannot be pickled: its name and its message."""


def pack(function: Callable[..., Any], name: str) -> bytes:
    """The function as bytes; raises InvalidInput that calls it by its name."""
    import cloudpickle

    try:
        packed: bytes = cloudpickle.dumps(function)
    except Exception as error:  # pickle raises whatever the object's own methods raise
        called = getattr(function, "__qualname__", None) or type(function).__qualname__
        why = f"{called!r} cannot be sent to other processes ({type(error).__name__}: {error})"
        told = f"{why}: open files, locks, connections and models inside the function, or use threads"
        raise InvalidInput([Fault(name, told)]) from None
    return packed


def perform(packed: bytes, call: str, *args: Any) -> Back:
    """Call a packed function, in a worker. Each `call` has a name of its own, as some schedulers (Dask) take calls with
    equal arguments for one."""
    begun = perf_counter()
    try:
        value = _sendable(_unpack(packed)(*args))
    except BaseException as error:  # the coordinator decides what it means
        return Back(None, _pack_error(error), traceback.format_exc(), perf_counter() - begun)
    return Back(value, None, "", perf_counter() - begun)


def arrive(packed: bytes) -> Back:
    """Load a packed function, in a worker, and do not call it."""
    begun = perf_counter()
    try:
        _unpack(packed)
    except BaseException as error:
        return Back(None, _pack_error(error), traceback.format_exc(), perf_counter() - begun)
    return Back(None, None, "", perf_counter() - begun)


def perform_here(function: Callable[..., Any], *args: Any) -> Back:
    """Call a function in this process."""
    begun = perf_counter()
    try:
        return Back(function(*args), None, "", perf_counter() - begun)
    except BaseException as error:
        return Back(None, error, "", perf_counter() - begun)


def arrive_here(function: Callable[..., Any]) -> Back:
    """It has."""
    return Back(None, None, "", 0.0)


def error_of(back: Back) -> BaseException | None:
    """The error of a call, with the worker's traceback as a note. What would end a program, such as SystemExit, ended
    no more than a call there, and must not end this one."""
    if back.error is None or isinstance(back.error, BaseException):
        return back.error
    error: Any
    try:
        error = pickle.loads(back.error)
    except Exception:  # its class may exist only there
        error = None
    if not isinstance(error, Exception):
        error = RemoteError(back.trace.strip().rpartition("\n")[2])
    if back.trace:
        error.add_note(f"In the worker:\n{back.trace.rstrip()}")
    found: BaseException = error
    return found


@lru_cache(8)
def _unpack(packed: bytes) -> Any:
    return pickle.loads(packed)


def _sendable(value: Any) -> Any:
    """Simulations return arrays and evaluations numbers; whatever else it is goes back for the caller to see."""
    if isinstance(value, Real):
        return value if type(value).__module__ in ("builtins", "numpy") else float(value)
    try:
        pickle.dumps(value)
    except Exception:
        return Unsendable(f"{value!r:.60}")
    return value


def _pack_error(error: BaseException) -> bytes:
    import cloudpickle

    try:
        packed: bytes = cloudpickle.dumps(error)
        pickle.loads(packed)
    except Exception:
        packed = pickle.dumps(RemoteError(f"{type(error).__name__}: {error}"))
    return packed
