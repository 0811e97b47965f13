"""Text that callers give in files, and text that is written for them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import IO, TypeAlias

from mfbai.errors import Fault, InvalidInput
from mfbai.files import replacing
from mfbai.text import printable

LONGEST_NAME = 1000  # to show; what is longer is a text that was given in the place of a path
MARK = "\ufeff"  # which some editors begin a file with
Source: TypeAlias = str | Path | IO[str] | IO[bytes]  # a path, or an open file


def read_text(source: Source, wanted: str = "give a file in UTF-8") -> str:
    """All of a file, or of one that is open, such as standard input; without the mark that some editors begin with."""
    try:
        return exact_text(source).removeprefix(MARK)
    except UnicodeDecodeError:
        raise InvalidInput([Fault(called(source), f"is not text: {wanted}")]) from None


def exact_text(source: Source) -> str:
    """All of it as it is, of a binary file as UTF-8. Raises UnicodeDecodeError if it is not text."""
    try:
        if not isinstance(source, str | Path):
            read = source.read()
            return read.decode("utf-8") if isinstance(read, bytes) else read
        with open(source, encoding="utf-8", newline="") as file:
            return file.read()
    except UnicodeDecodeError:
        raise
    except (OSError, ValueError) as error:
        raise _refusal(source, "read", error) from None


def write_text(lines: Iterable[str], path: str | Path) -> None:
    """Write the whole file or nothing."""
    if str(path) == "-":
        raise InvalidInput([Fault("-", "is no file: give its name; on Linux, /dev/stdout is standard output")])
    if Path(path).is_dir():
        raise InvalidInput([Fault(called(path), "cannot be written: it is a folder; give the name of a file")])
    try:
        with replacing(Path(path)) as part, open(part, "w", encoding="utf-8", newline="") as file:
            file.writelines(lines)
    except (OSError, ValueError) as error:
        raise _refusal(path, "written", error) from None


def called(source: Source) -> str:
    """What to call a file in a message."""
    name = str(source if isinstance(source, str | Path) else getattr(source, "name", "the text"))
    return printable(name if len(name) <= LONGEST_NAME else f"{name[:60]} ...")


def _refusal(source: Source, done: str, error: OSError | ValueError) -> InvalidInput:
    cause = error.strerror if isinstance(error, OSError) else error
    return InvalidInput([Fault(called(source), f"cannot be {done}: {cause}; check the path")])
