"""What a part is made of: a digest of every function that is compiled into it, and of the constants that they use.

An edit of one of them, and of nothing else, makes it another part. So does an edit of the modules that build parts.
"""

from __future__ import annotations

import hashlib
import linecache
import os
import time
from collections.abc import Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from mfbai.files import PACKAGE
from mfbai.kernels.jit import Generic, Kernel
from mfbai.kernels.records import Layout, records_in

MECHANISM = ("build.py", "link.py", "random.py", "records.py")  # a part depends on how it is built
CONSTANTS = (bool, int, float, str, tuple, np.number, np.ndarray)


STARTED = time.time()


def is_as_loaded(kernel: Kernel, layouts: tuple[Layout, ...]) -> bool:
    """Whether no file of these sources was edited since this process began: else it runs other code than they say."""
    files = {function.__code__.co_filename for function in _functions(kernel, set(records_in(layouts)))[0]}
    return all(os.stat(file).st_mtime <= STARTED for file in files)


def digest_of(kernel: Kernel, layouts: tuple[Layout, ...]) -> str:
    """A digest of all that a kernel is made of, for arguments of these layouts."""
    digest = hashlib.sha256(_mechanism())
    for name, text in sorted(_pieces(kernel, set(records_in(layouts)))):
        digest.update(f"{name}\n{text}\n".encode())
    return digest.hexdigest()


@cache
def _mechanism() -> bytes:
    return b"".join((PACKAGE / "kernels" / name).read_bytes() for name in MECHANISM)


def _pieces(kernel: Kernel, records: set[type]) -> set[tuple[str, str]]:
    """The names and texts of all functions and constants."""
    return _functions(kernel, records)[1]


def _functions(kernel: Kernel, records: set[type]) -> tuple[list[Any], set[tuple[str, str]]]:
    """All functions, and the names and texts of them and of their constants."""
    functions: list[Any] = []
    found: set[tuple[str, str]] = set()
    seen: set[int] = set()
    ahead: list[Any] = [kernel]
    while ahead:
        piece = ahead.pop()
        if id(piece) in seen:
            continue
        seen.add(id(piece))
        if isinstance(piece, Generic):
            ahead += [one for record in records if (one := _implementation(piece, record)) is not None]
            continue
        function = piece.py_func if isinstance(piece, Kernel) else piece
        functions.append(function)
        flags = f"{piece.inline} {piece.memory}" if isinstance(piece, Kernel) else ""
        name = f"{function.__module__}.{function.__qualname__}"
        found.add((name, flags + _text(function.__code__)))
        for known, value in _globals_of(function):
            if isinstance(value, Kernel | Generic | FunctionType):
                ahead.append(value)
            elif isinstance(value, CONSTANTS):
                found.add((f"{name}:{known}", value.tobytes().hex() if isinstance(value, np.ndarray) else repr(value)))
    return functions, found


def _implementation(function: Generic, record: type) -> Any:
    try:
        return function.of(record)
    except AttributeError:  # it chooses by a trait that other records have
        return None


def _text(code: CodeType) -> str:
    """The lines of a function, as they stand in its file."""
    lines = linecache.getlines(code.co_filename)
    last = max((end for _, end, _, _ in code.co_positions() if end is not None), default=code.co_firstlineno)
    return "".join(lines[code.co_firstlineno - 1 : last]) or code.co_code.hex()


def _globals_of(function: Any) -> Iterator[tuple[str, Any]]:
    """What a function uses of its module, and of other modules that it names."""
    names = sorted(set(_names(function.__code__)))
    space = function.__globals__
    for name in names:
        value = space.get(name)
        if isinstance(value, ModuleType):
            members = vars(value)
            yield from ((f"{name}.{other}", members[other]) for other in names if other in members)
        elif value is not None:
            yield name, value


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
