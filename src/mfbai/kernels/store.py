"""Where parts are kept: in the package, if it came as a wheel, and in the user's cache folder.

A file is only taken if it is whole and is the part that was asked for. Anything else is as good as none.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from contextlib import suppress
from pathlib import Path

from mfbai.files import PACKAGE, replacing
from mfbai.kernels.records import Built

MAGIC = b"mfbai part 1"
SHIPPED = PACKAGE / "parts"  # a folder for each processor
ROOM = 200 << 20  # bytes that the cache folder may take: parts that nobody used for long are removed
OLD = "kernels-*"  # what versions before parts left in the folder


def folder() -> Path:
    """The cache folder; it may not exist."""
    stated = os.environ.get("NUMBA_CACHE_DIR"), os.environ.get("XDG_CACHE_HOME")
    for base in stated:
        if base and os.path.isabs(base):
            return Path(base, "mfbai", "parts")
    try:
        return Path.home() / ".cache" / "mfbai" / "parts"
    except RuntimeError:  # a user who has none, as in some containers
        return Path(os.devnull, "mfbai")  # nothing can be kept there


def find(place: Path, name: str) -> Built | None:
    """The part of this name in a folder, if there is one."""
    path = place / f"{name}.part"
    built = read(path, name)
    if built is not None:
        with suppress(OSError):
            os.utime(path)  # it is in use
    return built


def read(path: Path, name: str) -> Built | None:
    """The part in a file; None if there is none, or it is damaged, or another one."""
    try:
        magic, seal, head, code = path.read_bytes().split(b"\n", 3)
        known = json.loads(head)
    except (OSError, ValueError):
        return None
    whole = magic == MAGIC and hashlib.sha256(head + code).hexdigest().encode() == seal
    return Built(code, known["returns"]) if whole and known["name"] == name else None


def write(place: Path, name: str, built: Built) -> None:
    """Keep a part. Two processes may write the same one: each writes it as a whole."""
    head = json.dumps({"name": name, "returns": built.returns}).encode()
    seal = hashlib.sha256(head + built.code).hexdigest().encode()
    place.mkdir(parents=True, exist_ok=True)
    with replacing(place / f"{name}.part") as path:
        path.write_bytes(b"\n".join([MAGIC, seal, head, built.code]))


def is_writable(place: Path) -> bool:
    try:
        place.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(place, os.W_OK)


def tidy(place: Path, room: int = ROOM) -> None:
    """Remove the parts that were not used for the longest time, if all take more than the room there is."""
    for old in place.parent.glob(OLD):
        shutil.rmtree(old, ignore_errors=True)
    with suppress(OSError):
        files = sorted(((file.stat(), file) for file in place.glob("[!.]*.part")), key=lambda known: -known[0].st_mtime)
        taken = 0
        for status, file in files:
            taken += status.st_size
            if taken > room:
                file.unlink(missing_ok=True)
