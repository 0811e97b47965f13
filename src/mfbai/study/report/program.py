"""The scripts and styles of a report: those of the page, as modules within one file.

Browsers load no module from a file beside a local page, but one file can hold them: an import map gives every module a
name, and its text as a `data:` address.
"""

from __future__ import annotations

import base64
import json
import posixpath
import re
from functools import cache

from mfbai.files import PACKAGE

STATIC = PACKAGE / "web" / "static"
MAIN = "report/main.js"
STYLES = ("uplot/uPlot.min.css", "style.css", "compare.css", "care.css", "report/report.css")
LICENCE = "uplot/LICENSE"  # asks to be kept with what it is of
INSTEAD = {"api.js": "report/offline.js"}  # a report has no server to talk to
IMPORT = re.compile(r'(?m)^((?:import|export)\b[^"\';]*)"(\.[^"]*)";')


@cache
def program() -> str:
    """The import map that holds every module that the report needs."""
    known: dict[str, str] = {}
    _gather(MAIN, known)
    modules = {_name(path): _address("text/javascript", text) for path, text in sorted(known.items())}
    return json.dumps({"imports": modules}, separators=(",", ":"))


@cache
def style() -> str:
    licence = (STATIC / LICENCE).read_text(encoding="utf-8")
    sheets = [(STATIC / path).read_text(encoding="utf-8") for path in STYLES]
    return "\n".join([f"/* uPlot, in this file:\n{licence}*/", *sheets])


@cache
def icon() -> str:
    """The address of the picture in the browser's tab."""
    return _address("image/svg+xml", (STATIC / "icon.svg").read_text(encoding="utf-8"))


def start() -> str:
    """The script that starts the program."""
    return f'import "{_name(MAIN)}";'


def _gather(path: str, known: dict[str, str]) -> None:
    """Read a module, and those that it imports, with the names of the import map in the place of paths."""
    known[path] = ""  # modules may import each other
    folder = posixpath.dirname(path)

    def rename(found: re.Match[str]) -> str:
        imported = posixpath.normpath(posixpath.join(folder, found[2]))
        imported = INSTEAD.get(imported, imported)
        if imported not in known:
            _gather(imported, known)
        return f'{found[1]}"{_name(imported)}";'

    known[path] = IMPORT.sub(rename, (STATIC / path).read_text(encoding="utf-8"))


def _name(path: str) -> str:
    return f"mfbai/{path}"


def _address(kind: str, text: str) -> str:
    return f"data:{kind};base64,{base64.b64encode(text.encode()).decode()}"
