"""The records that a run changes, as arrays: to be copied, compared, or kept."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai.model.compiled import Model


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
