"""Files: written as a whole or not at all; and a digest of the package's own sources."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parent


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A file to write in the place of `path`, with the same ending, which takes its name at the end of the block.

    Two processes that write the same file do not disturb each other, and after an error there is the old one, or none.
    Who may read it stays as it was. A link stays one, and what is no file, such as /dev/stdout, is written to.
    """
    path = Path(os.path.realpath(path))
    if path.exists() and not path.is_file():
        yield path
        return
    mark = os.urandom(8).hex()  # machines that share a folder have equal pids
    part = path.with_name(f".{path.stem}.{mark}{path.suffix}")
    try:
        if path.exists():
            part.touch()
            shutil.copymode(path, part)
        yield part
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


@cache
def sources_digest(*parts: str) -> str:
    """A digest of these packages of mfbai, given by name: what was made with other sources is recognised by it."""
    digest = hashlib.sha256()
    for part in sorted(parts):
        for path in sorted((PACKAGE / part).rglob("*")):
            if path.suffix in (".py", ".toml"):
                digest.update(path.relative_to(PACKAGE).as_posix().encode())
                digest.update(path.read_bytes())
    return digest.hexdigest()[:16]
