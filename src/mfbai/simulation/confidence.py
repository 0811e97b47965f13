"""The confidence interval of a mean."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def half_width(sample: NDArray[np.float64]) -> Any:
    """Half the width of the 95 % interval of the mean over the first axis, by Student's t; NaN if there is one value.

    >>> round(float(half_width(np.array([1.0, 2.0, 3.0]))), 3)
    2.484
    """
    from scipy.special import stdtrit

    n = len(sample)
    if n < 2:
        return np.full(np.shape(sample)[1:], np.nan)[()]
    return stdtrit(n - 1, 0.975) * np.std(sample, axis=0, ddof=1) / np.sqrt(n)
