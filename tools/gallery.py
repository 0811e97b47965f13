"""The pages of the gallery as programs: their cells, what they define, and the notebook and script to download.

A page is Markdown with ```{code-cell} blocks, which the site executes and shows with their output (`make docs`). What
`make bench-gallery` and the tests need of a page is its problem, its `evaluate` and its constants: see `definitions`.
"""

import ast
import base64
import re
from itertools import accumulate
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import nbformat

ROOT = Path(__file__).parents[1]
GALLERY = ROOT / "docs" / "gallery"
CELL = re.compile(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OPTIONS = re.compile(r"\A(?:---\n.*?^---\n|(?::[\w-]+:[^\n]*\n)+)", re.MULTILINE | re.DOTALL)
FRONT = re.compile(r"\A---\n.*?^---\n", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"<!--.*?-->\n?", re.DOTALL)
PICTURE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<way>(?!https?:)[^)]*)\)")
ILLUSTRATION = re.compile(rf"^{PICTURE.pattern}\n*(\*[^*\n]+\*\n*)?", re.MULTILINE)  # with its caption
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\((?!https?:)[^)]*\)")
SHARED = ("problem",)  # beside functions, classes and names in capitals


class Cell(NamedTuple):
    is_code: bool
    text: str


def pages() -> list[Path]:
    return sorted(file for file in GALLERY.glob("*.md") if file.name != "README.md")


def cells(page: Path) -> list[Cell]:
    """Text and code in turn, without what only the site reads: front matter, options of cells and comments."""
    parts = CELL.split(FRONT.sub("", page.read_text()))
    found = [
        Cell(bool(number % 2), (OPTIONS.sub("", part) if number % 2 else COMMENT.sub("", part)).strip())
        for number, part in enumerate(parts)
    ]
    return [cell for cell in found if cell.text]


def definitions(page: Path) -> SimpleNamespace:
    """What a page defines: its imports, functions, classes, constants (names in capitals) and its `problem`."""
    names = {"__name__": page.stem}
    exec(compile(source(page), str(page), "exec"), names)
    return SimpleNamespace(**names)


def source(page: Path) -> str:
    """The code of these definitions. All else, such as the study that the page runs, is left out: that takes time."""
    module = ast.parse("\n\n".join(cell.text for cell in cells(page) if cell.is_code))
    module.body = [statement for statement in module.body if defines(statement)]
    return ast.unparse(module)


def defines(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Assign):
        targets = [node.id for target in statement.targets for node in ast.walk(target) if isinstance(node, ast.Name)]
        return bool(targets) and all(name.isupper() or name in SHARED for name in targets)
    return isinstance(statement, ast.Import | ast.ImportFrom | ast.FunctionDef | ast.ClassDef)


def download(page: Path) -> str:
    """The name of the page as a notebook or script. A file named dask.py would be imported in place of Dask."""
    return f"mfbai_{page.stem}"


def notebook(page: Path) -> str:
    """A Jupyter notebook of the page, with its pictures. Links to other pages are left as text: they lead nowhere from
    there."""
    made = nbformat.v4.new_notebook()
    made.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    for cell in cells(page):
        made.cells.append(nbformat.v4.new_code_cell(cell.text) if cell.is_code else with_pictures(page, cell.text))
    for number, cell in enumerate(made.cells):
        cell.id = f"cell-{number}"  # or ids would be random
    return nbformat.writes(made) + "\n"


def with_pictures(page: Path, text: str) -> Any:
    """A cell of text, in which the pictures of this repository are attachments."""
    attached = {}

    def attach(found: re.Match[str]) -> str:
        file = page.parent / found["way"]
        attached[file.name] = {"image/png": base64.b64encode(file.read_bytes()).decode()}
        return f"![{found['alt']}](attachment:{file.name})"

    made = nbformat.v4.new_markdown_cell(unlinked(PICTURE.sub(attach, text)))
    if attached:
        made.attachments = attached
    return made


SHOW = """
# What ends a cell is printed here, and a picture saved, where a notebook would show it.
def show(thing, numbers=count(1)):
    if hasattr(thing, "savefig"):
        thing.savefig(thing := f"{Path(__file__).stem}-{next(numbers)}.png")
    if thing is not None:
        print(thing)
"""


def script(page: Path) -> str:
    """The page as a Python script in cells, its text in comments."""
    parts = [f"from itertools import count\nfrom pathlib import Path\n\n{SHOW}"]
    for cell in cells(page):
        if cell.is_code:
            parts.append(f"# %%\n{shown(cell.text)}\n")
        else:
            lines = unlinked(ILLUSTRATION.sub("", cell.text)).splitlines()
            parts.append("\n".join(["# %% [markdown]", *(f"# {line}".rstrip() for line in lines)]) + "\n")
    return "\n".join(parts)


def shown(code: str) -> str:
    """With a call of `show` around what ends the cell, if that is a value."""
    body = ast.parse(code).body
    if not body or not isinstance(body[-1], ast.Expr) or ast.unparse(body[-1]).startswith("print("):
        return code
    raw, value = code.encode(), body[-1]  # columns are counted in bytes
    lines = [0, *accumulate(map(len, raw.splitlines(keepends=True)))]
    begin, end = lines[value.lineno - 1] + value.col_offset, lines[value.end_lineno - 1] + value.end_col_offset
    return b"".join([raw[:begin], b"show(", raw[begin:end], b")", raw[end:]]).decode()


def unlinked(text: str) -> str:
    """Without links to files of this repository."""
    return LINK.sub(r"\1", text)
