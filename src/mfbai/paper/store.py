"""Numbers in files: a CSV for each computation, and beside it what it was made with, so that work is not done twice."""

from __future__ import annotations

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Sequence
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mfbai._version import __version__
from mfbai.files import replacing, sources_digest
from mfbai.paper.pieces import SEED, Columns, Computation, Scale

# What the numbers come from: with another version of it they are computed again.
SOURCES = ("analysis", "engines", "kernels", "model", "run", "simulation", "stopping", "strategies")


class Store:
    """A folder of results."""

    def __init__(self, folder: Path, scale: Scale) -> None:
        self.folder, self.scale = folder, scale

    def load(self, computation: Computation) -> tuple[Columns, float] | None:
        """The numbers and the seconds they took; None if they are not there, or were made with something else."""
        try:
            about = json.loads((self.folder / f"{computation.name}.json").read_text())
            if about["made with"] != self._making(computation):
                return None
            written = (self.folder / f"{computation.name}.csv").read_bytes()
            if about["sha256"] != hashlib.sha256(written).hexdigest():
                return None
            names, *lines = csv.reader(io.StringIO(written.decode(), newline=""))
            columns = zip(names, zip(*lines, strict=True), strict=True)
            seconds = float(about["seconds"])
            if not 0 <= seconds < inf:
                return None
            return {name: _parsed(column, about["columns"][name]) for name, column in columns}, seconds
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def save(self, computation: Computation, table: Columns, seconds: float) -> None:
        """The table first: without the other file it does not count, so nothing half-written is ever read."""
        self.folder.mkdir(parents=True, exist_ok=True)
        text = csv_text(list(table), zip(*(column.tolist() for column in table.values()), strict=True))
        about = {
            "made with": self._making(computation),
            "seconds": seconds,
            "columns": {name: column.dtype.kind for name, column in table.items()},
            "sha256": hashlib.sha256(text.encode()).hexdigest(),
        }
        (self.folder / f"{computation.name}.json").unlink(missing_ok=True)
        replace(self.folder / f"{computation.name}.csv", text)
        replace(self.folder / f"{computation.name}.json", json.dumps(about, indent=2))

    def _making(self, computation: Computation) -> dict[str, Any]:
        made_of = {**computation.about, "strategies": computation.strategies}
        scale = {name: getattr(self.scale, name) for name in computation.uses}
        code = f"{__version__} {sources_digest(*SOURCES)}"
        making = {"experiment": made_of, "scale": scale, "seed": SEED, "code": code}
        found: dict[str, Any] = json.loads(json.dumps(making))  # as it will be read
        return found


def csv_text(names: Sequence[str], lines: Iterable[Sequence[Any]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(lines)
    return text.getvalue()


def replace(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_bytes(text.encode())


def _parsed(column: Sequence[str], kind: str) -> NDArray[Any]:
    if kind == "b":
        return np.array([text == "True" for text in column])
    return np.array(column).astype({"i": np.int64, "f": np.float64, "U": np.str_}[kind])
