"""Documents are well formed, whatever is in them."""

from html.parser import HTMLParser

import pytest

from mfbai.paper.claims import AGREES, ANSWERED, DISAGREES, UNDECIDED
from mfbai.paper.document import MARKS, Grid, Heading, Paragraph, Picture, markdown, page

EVIL = """<script>alert("x")</script> & 'quoted' > |pipe|"""


class Balanced(HTMLParser):
    """Fails on tags that do not match; collects texts and attributes."""

    def __init__(self):
        super().__init__()
        self.open, self.texts, self.links = [], [], []

    def handle_starttag(self, tag, attrs):
        self.links += [value for name, value in attrs if name in ("src", "href")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def parsed(html):
    parser = Balanced()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


BLOCKS = [
    Heading(1, EVIL),
    Paragraph(EVIL),
    Picture("figures/a", EVIL),
    Grid(["one", EVIL], [[EVIL, AGREES], [1.5, 2_000_000.0], [3, DISAGREES], ["", UNDECIDED], ["q", ANSWERED]]),
]


def test_html_is_balanced_and_escapes_everything():
    html = page(EVIL, BLOCKS)
    assert "<script" not in html
    found = parsed(html)
    places = ("title", "heading", "paragraph", "caption", "column", "cell")
    assert [text.strip() for text in found.texts if EVIL in text] == [EVIL] * len(places)
    assert 'alt="&lt;script&gt;alert(&quot;x&quot;)&lt;/script&gt; &amp; &#x27;quoted&#x27; &gt; |pipe|"' in html
    assert set(found.links) == {"figures/a.png", "figures/a.svg"}


def test_markdown_tables_have_the_same_columns_in_every_line():
    lines = [line for line in markdown(BLOCKS).splitlines() if line.startswith("| ")]
    assert len(lines) == 2 + 5
    assert {line.replace("\\|", "").count("|") for line in lines} == {3}
    assert lines[1] == "| --- | --- |"


@pytest.mark.parametrize("verdict", MARKS)
def test_verdicts_have_their_mark_in_both_forms(verdict):
    grid = Grid(["claim", "verdict"], [["x", verdict]])
    assert f"| x | {MARKS[verdict]} {verdict} |" in markdown([grid])
    assert f'<td class="mark {verdict}">{MARKS[verdict]} {verdict}</td>' in page("", [grid])
    assert len(set(MARKS.values())) == len(MARKS)


def test_every_verdict_has_a_colour():
    html = page("", [])
    for verdict in MARKS:
        assert f".{verdict} {{ color:" in html


@pytest.mark.parametrize(
    ("cell", "text"),
    [(0.1, "0.1"), (1 / 3, "0.333333"), (12345.678, "12,345.7"), (2.5e7, "25,000,000"), (1e-10, "1e-10"), (5, "5")],
)
def test_numbers_are_short(cell, text):
    assert f"| {text} |" in markdown([Grid(["x"], [[cell]])])


def test_a_caption_with_an_asterisk_stays_emphasised_as_a_whole():
    """Between its first and last asterisk no other may end the emphasis."""
    caption = markdown([Picture("a", "dashed: omega*.")]).strip().splitlines()[-1]
    assert caption[0] in "*_"
    assert caption[-1] == caption[0]
    assert caption[0] not in caption[1:-1].replace(f"\\{caption[0]}", "")
