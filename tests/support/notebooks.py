"""What a notebook shows, as a reader of the text alone has it."""

import sys
from html.parser import HTMLParser
from types import SimpleNamespace

VOID = {"br", "hr", "img"}
ALLOWED = {"div", "p", "strong", "small", "code", "span", "table", "caption", "thead", "tbody", "tr", "th", "td"}


class Shown(HTMLParser):
    """Reads HTML strictly: every tag is one of ours, and closed; `text` is what is left without tags."""

    def __init__(self, html):
        super().__init__()
        self.text, self.tags, self.open = "", [], []
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        assert tag in ALLOWED, tag
        assert {name for name, _ in attributes} <= {"style", "scope", "aria-hidden", "class"}
        assert not any("(" in value or "/" in value for _, value in attributes), "nothing is loaded from elsewhere"
        self.tags.append(tag)
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag
        self.text += " " if tag in ("th", "td", "p", "caption") else ""

    def handle_data(self, data):
        self.text += data


class Kernel:
    """Stands for the kernel of a notebook: remembers what was displayed, and in which thread."""

    def __init__(self, monkeypatch):
        self.shown = []
        module = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=self))
        display = SimpleNamespace(display=self.display)
        monkeypatch.setitem(sys.modules, "IPython", module)
        monkeypatch.setitem(sys.modules, "IPython.display", display)

    def display(self, what, display_id):
        assert display_id is True
        self.update(what)
        return self

    def update(self, what):
        self.shown.append((repr(what), what._repr_html_()))
