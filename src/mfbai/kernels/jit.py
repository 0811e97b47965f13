"""The one way this package compiles: `kernel`, and `generic` for functions that dispatch on a record's type.

Numba's disk cache looks at a function's own file only: edit a callee elsewhere and stale machine code runs. So the
cache folder is named by a digest of the packages that kernels are made of: a change elsewhere costs nothing. Functions
from outside the package, such as a strategy of the user's, are compiled in every process.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any

import numba
from numba.core.caching import FunctionCache
from numba.extending import overload

from mfbai.files import PACKAGE, sources_digest

COMPILED = ("kernels", "model", "run", "stopping", "strategies")  # packages with kernels, and the records they take
RECORDS: dict[tuple[str, tuple[str, ...]], Any] = {}  # by name and fields, those that generic functions dispatch on
UNUSED = 30 * 24 * 3600  # seconds after which compiled code that no process has loaded is removed


def kernel(function: Callable[..., Any] | None = None, *, inline: bool = True, memory: bool = False) -> Any:
    """Compile a function: no GIL, IEEE arithmetic, cached on disk if it belongs to the package.

    Kernels are inlined into their callers, because records of many arrays are slow to pass; `inline=False` is for what
    is large and rarely reached, and keeps the rest small. They allocate nothing: numba's run time for memory is off, as
    counting references would cost ten times what the arithmetic does; `memory=True` is for the few functions of numba's
    library that need it.
    """
    if function is None:
        return partial(kernel, inline=inline, memory=memory)
    folder = cache_folder() if Path(function.__code__.co_filename).is_relative_to(PACKAGE) else None
    flags = {"nogil": True, "error_model": "numpy", "forceinline": inline, "_nrt": memory, "cache": folder is not None}
    flags["no_cfunc_wrapper"] = True  # nobody calls kernels from C, and a tenth of the time to compile is saved
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = folder or before
    try:
        compiled = numba.njit(**flags)(function)
        if folder is not None and hasattr(compiled, "_cache"):  # plain functions with NUMBA_DISABLE_JIT
            compiled._cache = PackageCache(function)
        return compiled
    finally:
        numba.config.CACHE_DIR = before


class PackageCache(FunctionCache):  # type: ignore[misc]
    """Keeps no code that was compiled for records from outside the package.

    It would be stale after an edit of theirs, and a process that cannot import them could not read the index.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return None if _has_foreign_record(sig) else super().load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        if not _has_foreign_record(sig):
            super().save_overload(sig, data)


def _has_foreign_record(types: Any) -> bool:
    """Whether a NamedTuple among the argument types, or nested in one, is defined outside the package."""
    for kind in getattr(types, "args", types):
        record = getattr(kind, "instance_class", None)
        if record is not None and record.__module__.partition(".")[0] != __name__.partition(".")[0]:
            return True
        if record is not None and _has_foreign_record(kind.types):
            return True
    return False


@cache
def cache_folder() -> str | None:
    """Where compiled code is kept, or None if no such folder can be written."""
    base = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(base) / "mfbai" / f"kernels-{sources_digest(*COMPILED)}-numba-{numba.__version__}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for other in folder.parent.glob("kernels-*"):
            if other.stat().st_mtime < time.time() - UNUSED:
                shutil.rmtree(other, ignore_errors=True)  # of an older version
        os.utime(folder)
    except OSError:
        return None
    return str(folder) if os.access(folder, os.W_OK) else None


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

    def decorate(signature: Callable[..., Any]) -> Any:
        table: dict[type, Any] = {}

        def implementation(kind: Any) -> Any:
            if kind in table:
                return table[kind]
            return choose(kind) if choose and issubclass(kind, tuple) else None

        def call(*args: Any) -> Any:
            kind = type(args[position])
            found = implementation(kind)
            if found is None:
                raise TypeError(f"{signature.__name__} is not registered for {kind.__name__}")
            return found(*args)

        def register(kind: type, function: Any) -> None:
            _tell_apart(kind)
            table[kind] = function

        @overload(call, strict=False)
        def resolve(*args: Any) -> Any:
            found = implementation(getattr(args[position], "instance_class", object))
            return getattr(found, "py_func", found)

        call.__name__, call.__doc__ = signature.__name__, signature.__doc__
        call.register = register  # type: ignore[attr-defined]
        return call

    return decorate
