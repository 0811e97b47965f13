"""The records that a run changes, as arrays: to be copied, compared, or kept."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.model.compiled import Model

ALIGNED = 64  # bytes: where an array begins


def arrays_of(record: Any) -> list[NDArray[Any]]:
    """All arrays in nested tuples."""
    if isinstance(record, tuple):
        return [array for part in record for array in arrays_of(part)]
    return [record] if isinstance(record, np.ndarray) else []


def own_model(model: Model) -> Model:
    """A copy for one run, which changes some of it: see `changing`."""
    return copy.deepcopy(model)


def changing(model: Model) -> tuple[Any, ...]:
    """What a run changes of its model: the interval of the top means and what that follows from; and what it learns of
    the noise; and what audits have cost."""
    law = model.law
    learnt = (law.precision, law.memory, getattr(law, "levels", ())) if law.quadratic and not law.known else ()
    return model.top_low, model.top_high, model.epoch, model.beaten, model.exact, learnt, model.audit


def gather(records: Any, changing: Any) -> tuple[Any, NDArray[np.int64]]:
    """The same records, with the arrays of `changing` moved into one piece of memory, and that."""
    moving = {id(array): array for array in arrays_of(changing)}
    sizes = [-(-array.nbytes // ALIGNED) * ALIGNED for array in moving.values()]
    memory = np.zeros((sum(sizes) + ALIGNED) // 8, dtype=np.int64)
    first = -memory.ctypes.data % ALIGNED // 8
    memory = memory[first : first + sum(sizes) // 8]
    moved: dict[int, Any] = {}
    at = 0
    for (key, array), size in zip(moving.items(), sizes, strict=True):
        raw = memory[at : at + size // 8].view(np.uint8)[: array.nbytes]
        moved[key] = raw.view(array.dtype).reshape(array.shape)
        moved[key][...] = array
        at += size // 8
    return _moved(records, moved), memory


def _moved(record: Any, moved: dict[int, Any]) -> Any:
    if isinstance(record, tuple) and id(record) not in moved:  # a record in two places stays one
        parts = [_moved(part, moved) for part in record]
        moved[id(record)] = type(record)(*parts) if hasattr(record, "_fields") else tuple(parts)
    return moved.get(id(record), record)
