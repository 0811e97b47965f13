"""The pictures of objects in layers below that of `mfbai.plots`: a generic function.

Packages below the plots, such as `analysis`, cannot import what draws their objects. `mfbai.plots` registers how to
draw each kind, and is loaded when the first one is drawn.
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DRAWER = "mfbai.plots"


@singledispatch
def draw(what: Any) -> Figure:
    """A picture of an object, by its type."""
    raise TypeError(f"there is no picture of {what!r:.60}")


def picture_of(what: Any) -> Figure:
    """The same, once all that can be drawn is known."""
    import_module(DRAWER)
    return draw(what)
