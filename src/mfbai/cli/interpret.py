"""Running kernels as plain Python: slower, but at once, where compiling would take a minute."""

from __future__ import annotations

import os


def interpret() -> None:
    """Compile nothing for the rest of this process. Call it before anything imports numba, and after every check.

    The numbers are the same: every kernel is also valid Python.
    """
    import warnings

    os.environ["NUMBA_DISABLE_JIT"] = "1"
    warnings.filterwarnings("ignore", category=RuntimeWarning, module="mfbai")  # compiled code gives none
