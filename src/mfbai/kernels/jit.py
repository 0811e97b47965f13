"""How kernels are written: `kernel`, and `generic` for functions that dispatch on a record's type.

A kernel that Python calls runs as a *part*, machine code that was compiled before: see `parts`. Kernels that other
kernels call are compiled into these. Numba is imported only where a part must be built (`build`), so nothing here does.

`NUMBA_DISABLE_JIT=1` makes all of them plain Python functions, with the same results.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import partial, update_wrapper
from typing import Any

COMPILED = ("kernels", "model", "run", "stopping", "strategies")  # packages with kernels, and the records they take
RECORDS: dict[tuple[str, tuple[str, ...]], Any] = {}  # by name and fields, those that generic functions dispatch on

UNKNOWN: list[Generic] = []  # generic functions that numba has not heard of


class Kernel:
    """A function that is compiled when it is called."""

    __name__: str
    __qualname__: str

    def __init__(self, function: Callable[..., Any], inline: bool, memory: bool) -> None:
        self.py_func, self.inline, self.memory = function, inline, memory
        self.numba: Any = None  # how numba sees it, once `build` has asked
        update_wrapper(self, function)

    def __call__(self, *args: Any) -> Any:
        if not is_compiling():
            return self.py_func(*args)
        from mfbai.kernels.parts import bind

        return bind(self, *args)()

    @property
    def is_empty(self) -> bool:
        """Whether it does nothing at all."""
        return bool(self.py_func.__code__.co_code == _nothing.__code__.co_code)

    def __repr__(self) -> str:
        return f"<kernel {self.__module__}.{self.__qualname__}>"


def _nothing() -> None:
    pass


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = True, memory: bool = False) -> Any:
    """Compile a function: no GIL, IEEE arithmetic, kept on disk if it belongs to the package.

    Kernels are inlined into their callers, because records of many arrays are slow to pass; `inline=False` is for what
    is large and rarely reached, and keeps the rest small. They allocate nothing: numba's run time for memory is off, as
    counting references would cost ten times what the arithmetic does. `memory=True` turns it on for a function from
    outside the package, for the few functions of numba's library that need it.
    """
    if function is None:
        return partial(kernel, inline=inline, memory=memory)
    return Kernel(function, inline, memory) if is_compiling() else function


def is_compiling() -> bool:
    """Whether kernels are compiled. It may change while the process runs: see `mfbai.testing.common`."""
    return os.environ.get("NUMBA_DISABLE_JIT", "0") in ("", "0")


class Generic:
    """A function with an implementation for each type of the argument at `position`."""

    __name__: str

    def __init__(self, signature: Callable[..., Any], position: int, choose: Callable[[Any], Any] | None) -> None:
        self.position, self.choose = position, choose
        self.table: dict[type, Any] = {}
        update_wrapper(self, signature)
        UNKNOWN.append(self)

    def __call__(self, *args: Any) -> Any:
        return self.serving(args[self.position])(*args)

    def serving(self, record: Any) -> Any:
        """The implementation for this record."""
        found = self.of(type(record))
        if found is None:
            raise TypeError(f"{self.__name__} is not registered for {type(record).__name__}")
        return found

    def of(self, kind: Any) -> Any:
        """The implementation for this type of record; None if there is none."""
        if kind in self.table:
            return self.table[kind]
        return self.choose(kind) if self.choose and issubclass(kind, tuple) else None

    def register(self, kind: type, function: Any) -> None:
        _tell_apart(kind)
        self.table[kind] = function


def _tell_apart(record: Any) -> None:
    """Rename a record that has the name and the fields of another one: numba would run the other one's code for it."""
    name, others = record.__name__, 1
    while RECORDS.setdefault((record.__name__, record._fields), record) is not record:
        others += 1
        record.__name__ = f"{name}_{others}"


def generic(position: int, choose: Callable[[Any], Any] | None = None) -> Callable[[Callable[..., Any]], Any]:
    """Make a function pick its implementation by the type of its argument at `position` (a NamedTuple).

    The decorated function itself is only a signature and a docstring. Implementations are added with
    `function.register(RecordType, implementation)`; for types without one, `choose(RecordType)` names it, by a trait
    of the type. Numba resolves both at compile time, so a kernel that calls a generic function is compiled once for
    each record type, without the implementations that it does not use, and pays nothing at run time.
    """
    return lambda signature: Generic(signature, position, choose)
