"""What the site has beside the pages, as an extension of Sphinx: menu, downloads of the gallery, first page, llms.txt.

The menu is made from the pages that list others: docs/README.md has the chapters, docs/gallery/README.md and
docs/api/README.md the pages of theirs. So a page is in the menu if it is on the list that people read.
"""

import os
import re
import shutil
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

from docutils import nodes
from pygments.lexers import TextLexer
from sphinx.errors import ExtensionError

import docstrings
import gallery
from notebook import FIXED

LINK = re.compile(  # of a line of a list
    r"^- \[(?P<title>[^\]]+)\]\((?P<way>[^)#]+\.(?:md|ipynb))\)(?P<about>[^\n]*)",
    re.MULTILINE,
)
INDEX = "docs/README"
DOWNLOADS = {"ipynb": "notebook", "py": "script"}
NEEDS = 'In a clone, <code>pip install ".[examples]"</code> installs what they need; notebooks need Jupyter, too.'
PRINTED = ("text", "myst-ansi")  # what programs print, and cells
GALLERY, _ = LISTS = ("docs/gallery/README", "docs/api/README")


def setup(app: Any) -> dict[str, bool]:
    app.add_lexer("csv", TextLexer)
    settle_kernels(Path(app.outdir).parent / "ipython")
    app.connect("source-read", add_parts)
    app.connect("doctree-read", mark)
    app.connect("build-finished", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def settle_kernels(folder: Path) -> None:
    """Pages are executed with fixed seeds, and without a history on the disk, which kernels would wait for."""
    profile = folder / "profile_default"
    profile.mkdir(parents=True, exist_ok=True)
    config = f"c.IPKernelApp.exec_lines = [{FIXED!r}]\nc.HistoryManager.enabled = False\nc.IPKernelApp.log_level = 40\n"
    (profile / "ipython_kernel_config.py").write_text(config)
    os.environ["IPYTHONDIR"] = str(folder)


def add_parts(app: Any, page: str, source: list[str]) -> None:
    if page == "README":
        index = (Path(app.srcdir) / f"{INDEX}.md").read_text()
        source[0] += menu([f"All pages </{INDEX}>"], "") + "".join(
            menu(linked(Path(app.srcdir), INDEX, body), title) for title, body in chapters(index)
        )
    if page in LISTS:
        source[0] = illustrated(source[0]) + menu(linked(Path(app.srcdir), page, source[0]), "")
    if page.startswith("docs/gallery/"):
        source[0] = gallery.COMMENT.sub("", source[0])
    if page.startswith("docs/gallery/") and page not in LISTS:
        name = gallery.download(Path(page))
        ways = (f'<a href="{name}.{kind}" download>{title}</a>' for kind, title in DOWNLOADS.items())
        links = f'<p class="downloads">Download: {" · ".join(ways)}. {NEEDS}</p>'
        source[0] = re.sub(r"^(# [^\n]+\n)", rf"\1\n{links}\n", source[0], count=1, flags=re.MULTILINE)


def mark(_: Any, page: nodes.document) -> None:
    """Classes for docs/static/site.css: of output that is sentences, and of the pictures of comparisons.

    Sentences are wrapped where the screen ends; tables and code are not, for they would fall apart.
    """
    for block in page.findall(nodes.literal_block):
        if block.get("language") in PRINTED and "  " not in block.astext():
            block["classes"].append("sentences")
    for picture in page.findall(nodes.image):
        if picture["uri"].startswith("docs/images/gallery/"):
            picture["classes"].append("comparison")


def chapters(text: str) -> list[tuple[str, str]]:
    """The headings, up to a colon, and what is below them."""
    parts = re.split(r"^## ([^:\n]+).*$", text, flags=re.MULTILINE)
    return list(zip(parts[1::2], parts[2::2], strict=True))


def linked(root: Path, page: str, text: str) -> list[str]:
    """The pages that the lines of a list or table lead to first, as the site names them."""
    folder = (root / page).parent
    ways = [folder / found["way"] for found in LINK.finditer(text)]
    return [Path(os.path.relpath(way, root)).with_suffix("").as_posix() for way in ways]


def menu(pages: list[str], title: str) -> str:
    caption = f":caption: {title}\n" if title else ""
    names = "\n".join(page if page.endswith(">") else f"/{page}" for page in pages)
    return f"\n```{{toctree}}\n:hidden:\n{caption}\n{names}\n```\n"


def illustrated(text: str) -> str:
    """A list of pages of the gallery, each with its first picture, which `add_leads` puts there."""

    def with_picture(found: re.Match[str]) -> str:
        name = found["name"]
        picture = f'<img class="lead" src="../../_images/lead-{name}.png" alt="" loading="lazy">'
        return f'- <a href="{name}.html" aria-hidden="true" tabindex="-1">{picture}</a> [{found["title"]}]({name}.md)'

    names = "|".join(page.stem for page in gallery.pages())
    return re.sub(rf"^- \[(?P<title>[^\]]+)\]\((?P<name>{names})\.md\)", with_picture, text, flags=re.MULTILINE)


def add_leads(out: Path) -> None:
    for page in gallery.pages():
        shown = (out / "docs" / "gallery" / f"{page.stem}.html").read_text()
        first = re.search(r'<img [^>]*src="\.\./\.\./_images/([^"]+)"', shown)
        if first is None:
            raise ExtensionError(f"{page.name} shows no picture")
        shutil.copy(out / "_images" / first[1], out / "_images" / f"lead-{page.stem}.png")


def add_files(app: Any, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    out = Path(app.outdir)
    shutil.copy(out / "README.html", out / "index.html")
    add_leads(out)
    for page in gallery.pages():
        place = out / "docs" / "gallery" / gallery.download(page)
        place.with_suffix(".ipynb").write_text(gallery.notebook(page))
        place.with_suffix(".py").write_text(gallery.script(page))
    (out / "llms.txt").write_text("\n".join(overview(Path(app.srcdir))) + "\n")
    (out / "api.txt").write_text("\n\n".join(public_names()) + "\n")


def overview(root: Path) -> Iterator[str]:
    """For language models: what there is, in the form of llmstxt.org. Sources are Markdown as people wrote it."""
    opening = next(line for line in (root / "README.md").read_text().split("\n\n") if line.startswith("**"))
    yield f"# mfbai\n\n> {' '.join(opening.split()).strip('*')}\n"
    yield "- [README](_sources/README.md.txt): what it is, a first example, and when not to use it"
    yield "- [api.txt](api.txt): every public name with its signature and documentation"
    for title, body in chapters((root / f"{INDEX}.md").read_text()):
        yield f"\n## {title}\n"
        for page, found in zip(linked(root, INDEX, body), LINK.finditer(body), strict=True):
            about = re.sub(r"\[([^\]]+)\]\([^)]*\)", r"\1", found["about"])
            yield f"- {source_of(page, found)}{about}"
            if page == GALLERY:  # the pages of the API are made of the docstrings, which api.txt has
                yield from listed(root, page)


def listed(root: Path, page: str) -> Iterator[str]:
    text = (root / f"{page}.md").read_text()
    for there, found in zip(linked(root, page, text), LINK.finditer(text), strict=True):
        yield f"  - {source_of(there, found)}"


def source_of(page: str, found: re.Match[str]) -> str:
    return f"[{found['title']}](_sources/{page}{Path(found['way']).suffix}.txt)"


def public_names() -> Iterator[str]:
    """What the pages of the API have, as plain text."""
    for name, members in chain.from_iterable(docstrings.shown().values()):
        yield f"## {docstrings.in_words(name)}"
        yield from (f"### {docstrings.in_words(f'{name}.{member}')}" for member in members)
