"""A figure that notebooks show by itself. Importing this module loads matplotlib."""

from __future__ import annotations

from io import BytesIO
from typing import Any

from matplotlib.figure import Figure

DPI = 120
SHOWN_DPI = 80  # fewer, so that it is sharp on screens with small pixels, too


class Picture(Figure):
    """Not one of pyplot's: it is shown where it is the value of a cell, once, and goes with its last reference."""

    alt = ""  # what the picture shows, for those who do not see it

    def _repr_png_(self) -> tuple[bytes, dict[str, Any]]:
        from mfbai.plots.style import own_settings

        drawn = BytesIO()
        with own_settings():
            self.savefig(drawn, format="png", dpi=DPI, metadata={"Description": self.alt, "Software": None})
        width, height = (round(inches * SHOWN_DPI) for inches in self.get_size_inches())
        return drawn.getvalue(), {"width": width, "height": height, "alt": self.alt}
