"""The arguments of a part: records of arrays as a table of 64-bit words, which compiled code reads.

A table begins with a head: a word for numba's return value, one for the address of an error, and what the part returns.
Then come the arguments, depth first, scalars before all others: a float's bits, an integer, or for an array its address
and its shape. What the words of a call mean follows from its *layout*, which a part is compiled for:

    "float" "int" "bool"         a scalar
    "f8:2" "i8:1" "b1:1" "u8:1"  an array, of so many dimensions
    (Record, ...)                a NamedTuple, and the layouts of its fields
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

ENTRY = "part"  # the name of the function in an object
RESULTS = 2  # the first word of what a part returns
HEAD = 8  # the first word of the arguments
KINDS = {np.dtype(name): kind for name, kind in zip(("f8", "i8", "?", "u8"), ("f8", "i8", "b1", "u8"), strict=True)}
SCALARS = {float: "float", int: "int", bool: "bool", np.float64: "float", np.int64: "int", np.bool_: "bool"}

Layout = Any  # a text, or a tuple of a record's type and layouts


class Built(NamedTuple):
    """Object code, and what it returns: a letter for each number, after "(" if that is a tuple; None for nothing."""

    code: bytes
    returns: str | None


def layout_of(value: Any, where: str) -> Layout:
    """The layout of an argument, which messages call `where`."""
    if type(value) in SCALARS:
        return SCALARS[type(value)]
    if isinstance(value, np.ndarray):
        kind = KINDS.get(value.dtype)
        if kind is None or not value.flags.c_contiguous:
            told = f"{where} is an array of {value.dtype}" + ("" if value.flags.c_contiguous else ", not in C order")
            raise TypeError(f"{told}: kernels take {', '.join(map(str, KINDS))}, in C order")
        return f"{kind}:{value.ndim}"
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        parts = (layout_of(part, f"{where}.{name}") for name, part in zip(value._fields, value, strict=True))
        return (type(value), *parts)
    if isinstance(value, np.integer):
        return "int"
    raise TypeError(f"{where} is a {type(value).__name__}: kernels take numbers, arrays, and NamedTuples of these")


def _stated_address(array: NDArray[Any]) -> int:
    return int(array.ctypes.data)


def _stored_address(array: NDArray[Any]) -> int:
    """Ten times as fast: the first field of an array as numpy lays it out in memory."""
    return ctypes.c_void_p.from_address(id(array) + object.__basicsize__).value or 0


_PROBE = np.zeros(1)
_address = _stored_address if _stored_address(_PROBE) == _stated_address(_PROBE) else _stated_address


def records_in(layouts: Iterable[Layout]) -> Iterator[type]:
    """The types of all records."""
    for layout in layouts:
        if isinstance(layout, tuple):
            yield layout[0]
            yield from records_in(layout[1:])


def is_scalar(layout: Layout) -> bool:
    return layout in SCALARS.values()


def words_of(value: Any) -> list[int]:
    """The words of an array or of a record."""
    words: list[int] = []
    _add_words(value, words)
    return words


def _add_words(value: Any, words: list[int]) -> None:
    if isinstance(value, np.ndarray):
        words.append(_address(value))
        words.extend(value.shape)
    elif isinstance(value, tuple):
        for part in value:
            _add_words(part, words)
    elif isinstance(value, float):
        words.append(int(np.float64(value).view(np.int64)))
    else:
        words.append(int(value))


def n_words(layout: Layout) -> int:
    """How many words an argument takes."""
    if isinstance(layout, tuple):
        return sum(map(n_words, layout[1:]))
    return 1 if is_scalar(layout) else 1 + int(layout[3:])


def fill(args: tuple[Any, ...], layouts: tuple[Layout, ...]) -> NDArray[np.int64]:
    """The table of a call. The arrays must outlive it."""
    words = [0] * (HEAD + sum(map(is_scalar, layouts)))
    for value, layout in zip(args, layouts, strict=True):
        if not is_scalar(layout):
            _add_words(value, words)
    return np.array(words, dtype=np.int64)


def spell(layout: Layout) -> Any:
    """A layout as JSON can have it."""
    if isinstance(layout, tuple):
        record = layout[0]
        name = (
            f"{record.__module__}:{record.__qualname__}:{','.join(record._fields)}"  # code knows fields by their place
        )
        return [name, *map(spell, layout[1:])]
    return layout
