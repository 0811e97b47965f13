"""Checks the links of a built site, without a network: `python tools/links.py build/site`.

Every link inside the site must lead to a file of it, and to an anchor that is there. Nothing may be loaded from
elsewhere: links to other sites are for people to follow.
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LOADED = {"script": "src", "img": "src", "link": "href", "iframe": "src", "source": "src"}
SILENT = {"canonical", "prev", "next", "search", "index", "author", "copyright"}  # of <link>: loads nothing


class Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[tuple[str, bool]] = []  # and whether the browser loads it by itself

    def handle_starttag(self, tag: str, given: list[tuple[str, str | None]]) -> None:
        attributes = dict(given)
        keys = ("id", "name") if tag == "a" else ("id",)
        self.anchors |= {str(attributes[key]) for key in keys if attributes.get(key)}
        target = attributes.get(LOADED.get(tag, "href"))
        if target is not None:
            self.links.append((target, tag in LOADED and attributes.get("rel") not in SILENT))


@cache
def read(page: Path) -> Reader:
    reader = Reader()
    reader.feed(page.read_text())
    return reader


def faults(site: Path) -> list[str]:
    found = []
    for page in sorted(site.rglob("*.html")):
        for target, loaded in read(page).links:
            told = fault(site, page, target, loaded)
            if told:
                found.append(f"{page.relative_to(site)}: {target}: {told}")
    return found


def fault(site: Path, page: Path, target: str, loaded: bool) -> str:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return "is loaded from elsewhere" if loaded and parts.scheme != "data" else ""
    there = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not there.is_file() or not there.is_relative_to(site.resolve()):
        return "no such file"
    anchor = unquote(parts.fragment)
    if anchor and there.suffix == ".html" and anchor not in read(there).anchors:
        return "no such anchor"
    return ""


def main() -> int:
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    print("\n".join(found), file=sys.stderr)
    count = sum(len(read(page).links) for page in site.rglob("*.html"))
    print(f"{count:,} links of {len(list(site.rglob('*.html')))} pages: {len(found)} lead nowhere.")
    return 1 if found or not count else 0


if __name__ == "__main__":
    sys.exit(main())
