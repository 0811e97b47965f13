"""Parts: kernels that Python calls, as machine code that was compiled before, here or on the machine of a developer.

A part is a kernel, compiled for the layouts of its arguments (`records`). It is taken from the package or the cache
folder (`store`), or else built: several at once in processes of their own, and kept. Parts that concern records or
kernels from outside the package are compiled in this process, and not kept: nobody would notice an edit.
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import pickle
from collections.abc import Callable, Iterable
from functools import cache, partial
from threading import RLock
from typing import Any, NamedTuple

import numpy as np

from mfbai.files import PACKAGE
from mfbai.kernels import machine, random, sources, store
from mfbai.kernels.jit import Generic, Kernel, is_compiling
from mfbai.kernels.records import ENTRY, HEAD, RESULTS, Built, Layout, fill, is_scalar, layout_of, records_in, spell

ADDRESS = ctypes.c_void_p
FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ADDRESS, ADDRESS, ADDRESS)  # ctypes gives up the GIL for its calls
MANY = 2  # parts to build, from which on it is done in other processes

_loaded: dict[tuple[Kernel, tuple[Layout, ...]], Part] = {}
_building = RLock()


class Error(ctypes.Structure):
    """How numba describes an error: a pickle of its type and its arguments."""

    _fields_ = (("data", ADDRESS), ("size", ctypes.c_int32))


class Part(NamedTuple):
    """Machine code in this process."""

    address: int
    call: Any
    returns: str | None


class Wanted(NamedTuple):
    """A part that somebody needs."""

    kernel: Kernel
    layouts: tuple[Layout, ...]

    @property
    def is_ours(self) -> bool:
        """Whether it can be kept: nothing of it is from outside the package."""
        modules = {self.kernel.__module__, *(record.__module__ for record in records_in(self.layouts))}
        return not self.kernel.memory and all(module.startswith(f"{PACKAGE.name}.") for module in modules)

    @property
    def name(self) -> str:
        """What it is called in the store: another name for other sources and for another machine."""
        return self.name_on(machine.this_machine())

    def name_on(self, target: machine.Target) -> str:
        return _name(self.kernel, self.layouts, target)

    def spelled(self) -> str:
        """As a builder reads it."""
        return json.dumps([self.kernel.__module__, self.kernel.__qualname__, *map(spell, self.layouts)])


@cache
def _name(kernel: Kernel, layouts: tuple[Layout, ...], target: machine.Target) -> str:
    known = [kernel.__module__, kernel.__qualname__, *map(spell, layouts), *target, sources.digest_of(kernel, layouts)]
    return f"{kernel.__name__}-{hashlib.sha256(json.dumps(known).encode()).hexdigest()[:24]}"


class Bound:
    """A part and a table of its arguments. Numbers can be given with each call; everything else is the same."""

    def __init__(self, part: Part, args: tuple[Any, ...], layouts: tuple[Layout, ...]) -> None:
        self._part, self._args, self._layouts = part, args, layouts  # arrays must outlive the table
        self._table = fill(args, layouts)
        self._floats = self._table.view(np.float64)
        self.address: int = self._table.ctypes.data
        self._numbers = [kind for kind in layouts if is_scalar(kind)]
        self._set([value for value, kind in zip(args, layouts, strict=True) if is_scalar(kind)])

    @property
    def link(self) -> tuple[int, int]:
        """The addresses by which other parts call it: see `link`."""
        return self._part.address, self.address

    def __call__(self, *numbers: float) -> Any:
        if numbers:
            self._set(numbers)
        table = self.address
        if self._part.call(table, table + 8, table) != 0:
            raise self._error()
        returns = self._part.returns
        if returns is None:
            return None
        values = [
            float(self._floats[n]) if kind == "f" else bool(self._table[n]) if kind == "b" else int(self._table[n])
            for n, kind in enumerate(returns.lstrip("("), RESULTS)
        ]
        return tuple(values) if returns[:1] == "(" else values[0]

    def _set(self, numbers: Iterable[float]) -> None:
        for n, (number, kind) in enumerate(zip(numbers, self._numbers, strict=True), HEAD):
            if kind == "float":
                self._floats[n] = number
            else:
                self._table[n] = number

    def _error(self) -> BaseException:
        found = ctypes.cast(int(self._table[1]), ctypes.POINTER(Error)).contents
        kind, args, _ = pickle.loads(ctypes.string_at(found.data, found.size))
        error: BaseException = kind(*args)
        return error


def bind(kernel: Kernel, *args: Any) -> Bound:
    """A kernel's part for arguments like these, with them: to be called, once or often."""
    given = tuple(random.stream_of(value) if isinstance(value, np.random.Generator) else value for value in args)
    layouts = _layouts(kernel, given)
    part = _loaded.get((kernel, layouts))
    if part is None:
        [part] = load([Wanted(kernel, layouts)])
    return Bound(part, given, layouts)


def bound(function: Any, *args: Any) -> Callable[..., Any]:
    """The same of a kernel or a generic function, also where nothing is compiled."""
    kernel = function.serving(args[function.position]) if isinstance(function, Generic) else function
    return bind(kernel, *args) if isinstance(kernel, Kernel) and is_compiling() else partial(kernel, *args)


def needs(*calls: tuple[Any, ...]) -> list[Wanted]:
    """The parts of calls like these: (function, its arguments, ...). None where nothing is compiled."""
    return [_wanted(*call) for call in calls] if is_compiling() else []


def _wanted(function: Any, *args: Any) -> Wanted:
    kernel = function.serving(args[function.position]) if isinstance(function, Generic) else function
    return Wanted(kernel, _layouts(kernel, args))


def _layouts(kernel: Kernel, args: tuple[Any, ...]) -> tuple[Layout, ...]:
    code = kernel.py_func.__code__
    if len(args) != code.co_argcount:
        raise TypeError(f"{kernel.__name__} takes {code.co_argcount} arguments, and not {len(args)}")
    names = code.co_varnames[: len(args)]
    return tuple(layout_of(value, f"{kernel.__name__}: {name}") for name, value in zip(names, args, strict=True))


def load(parts: list[Wanted]) -> list[Part]:
    """These parts, from wherever they can be had."""
    if any(part not in _loaded for part in parts):
        with _building:
            missing = [part for part in dict.fromkeys(parts) if part not in _loaded and not _find(part)]
            if missing:
                _build(missing)
    return [_loaded[part] for part in parts]


def count() -> int:
    """How many parts this process has loaded."""
    return len(_loaded)


def _find(part: Wanted) -> bool:
    """Take a part that was built for this machine, or came with the package for all machines of its kind."""
    kind, found = machine.kind_of_machine(), None
    if part.is_ours:
        found = store.find(store.folder(), part.name)
        if found is None and kind is not None and store.SHIPPED.exists():
            found = store.find(store.SHIPPED / kind.processor, part.name_on(kind))
    if found is not None:
        _take(part, found)
    return found is not None


def _take(part: Wanted, built: Built) -> None:
    address = machine.load_object(built.code, ENTRY)
    _loaded[part] = Part(address, FUNCTION(address), built.returns)


def _build(missing: list[Wanted]) -> None:
    from mfbai.kernels import builders

    ours = [part for part in missing if part.is_ours]
    if len(ours) >= MANY:
        for part, built in builders.build_together(ours):
            _take(part, built)
    for part in missing:
        if part not in _loaded:
            _take(part, builders.build_here(part))
