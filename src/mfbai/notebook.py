"""A live display in a notebook: one line of output, which changes in place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from mfbai import html


def is_here() -> bool:
    """Whether this code runs in the kernel of a notebook."""
    loaded = sys.modules.get("IPython")  # a kernel has loaded it
    shell = None if loaded is None else loaded.get_ipython()
    return hasattr(shell, "kernel")


class Gauge:
    """How far something is, from 0 to 1, and what is to be said of it."""

    def __init__(self, label: str) -> None:
        self.label, self.part, self.told = label, 0.0, ""

    def __repr__(self) -> str:
        return f"{self.label} {self._percent}  {self.told}"

    def _repr_html_(self) -> str:
        return html.whole(html.sentence(html.Html(html.bar(self.part, f"{self.label} {self._percent}  {self.told}"))))

    @property
    def _percent(self) -> str:
        return f"{100 * min(max(self.part, 0.0), 1.0):.0f} %"


def gauge(label: str) -> Callable[[float, str], None]:
    """Shows one, and returns what changes it."""
    from IPython.display import display

    shown = Gauge(label)
    handle: Any = display(shown, display_id=True)  # type: ignore[no-untyped-call]

    def update(part: float, told: str) -> None:
        if (part, told) != (shown.part, shown.told):
            shown.part, shown.told = part, told
            handle.update(shown)

    return update
