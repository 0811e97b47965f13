"""The records that a run changes, as arrays: to be copied, compared, or kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def arrays_of(record: Any) -> list[NDArray[Any]]:
    """All arrays in nested tuples."""
    if isinstance(record, tuple):
        return [array for part in record for array in arrays_of(part)]
    return [record] if isinstance(record, np.ndarray) else []
