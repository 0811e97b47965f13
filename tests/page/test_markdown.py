"""Notes become elements, and nothing in them becomes anything else."""

import pytest

from support.pages import IMAGE, SCRIPT

RENDER = """async (text) => {
    const { markdown } = await import("/static/markdown.js");
    const place = document.createElement("div");
    const began = performance.now();
    place.append(...markdown(text));
    place.querySelectorAll("[dir]").forEach((node) => node.removeAttribute("dir"));
    return [place.innerHTML, performance.now() - began];
}"""
LINK = 'rel="noopener noreferrer" target="_blank"'
LONGEST = 20_000  # characters of a note


@pytest.fixture(scope="module")
def render(browser, server):
    context = browser.new_context()
    page = context.new_page()
    asked = []
    page.on("request", lambda made: asked.append(made.url))
    page.goto(f"{server.address}/#/new")
    yield lambda text: page.evaluate(RENDER, text)[0]
    assert all(url.startswith(server.address) for url in asked)
    context.close()


CASES = {
    "# One\n###### Six ##": "<h3>One</h3><h6>Six</h6>",
    "a\nb\n\nc": "<p>a<br>b</p><p>c</p>",
    "*a* _b_ **c** __d__ ~~e~~": "<p><em>a</em> <em>b</em> <strong>c</strong> <strong>d</strong> <s>e</s></p>",
    "***a*** ___b___": "<p><strong><em>a</em></strong> <strong><em>b</em></strong></p>",
    "a\\\nb\\": "<p>a<br>b\\</p>",
    "[a](https://x.org/A_(b)) c)": f'<p><a href="https://x.org/A_(b)" {LINK}>a</a> c)</p>',
    "[a](https://x.org/ \"A title (1)\") [b](http://x.org 'c')": f'<p><a href="https://x.org/" {LINK}>a</a> '
    f'<a href="http://x.org/" {LINK}>b</a></p>',
    "![a *b*](http://x.org/p.png)": f'<p><a href="http://x.org/p.png" {LINK}>a *b*</a></p>',
    "**a *b* c**": "<p><strong>a <em>b</em> c</strong></p>",
    "snake_case_name, 2 * 3 * 4": "<p>snake_case_name, 2 * 3 * 4</p>",
    r"\*a\* \\ \x": r"<p>*a* \ \x</p>",
    "`a *b*` ``c`d``": "<p><code>a *b*</code> <code>c`d</code></p>",
    "```py\n<b>\n\n*x*\n```\nz": '<pre tabindex="0"><code>&lt;b&gt;\n\n*x*</code></pre><p>z</p>',
    "~~~\nopen": '<pre tabindex="0"><code>open</code></pre>',
    "- a\n- b\n  - c\n- d": "<ul><li><span>a</span></li><li><span>b</span><ul><li><span>c</span></li></ul></li>"
    "<li><span>d</span></li></ul>",
    "3. a\n4. b": '<ol start="3"><li><span>a</span></li><li><span>b</span></li></ol>',
    "- a\n\npast": "<ul><li><span>a</span></li></ul><p>past</p>",
    "> a\n> > b": "<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>",
    "a\n---\nb": "<p>a</p><hr><p>b</p>",
    "[a](https://x.org/?a=1&b=2)": f'<p><a href="https://x.org/?a=1&amp;b=2" {LINK}>a</a></p>',
    "[m](mailto:a@x.org)": f'<p><a href="mailto:a@x.org" {LINK}>m</a></p>',
    "see http://x.org/a.": f'<p>see <a href="http://x.org/a" {LINK}>http://x.org/a</a>.</p>',
    "[http://a.org](http://b.org)": f'<p><a href="http://b.org/" {LINK}>http://a.org</a></p>',
    "": "",
}


@pytest.mark.parametrize("text", CASES, ids=lambda text: text[:20])
def test_markdown_becomes_elements(render, text):
    assert render(text) == CASES[text]


HOSTILE = [
    SCRIPT,
    IMAGE,
    f"# {IMAGE}",
    f"- {SCRIPT}",
    f"```\n</code></pre>{SCRIPT}\n```",
    f"`{IMAGE}`",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](data:text/html,<script>alert(1)</script>)",
    "[a](vbscript:x)",
    "[a](file:///etc/passwd)",
    "[a](//x.org)",
    "[a](/api/v1/studies)",
    "[a](#/study/b)",
    "[a](blob:http://x.org/1)",
    "[](http://x.org)",
    '[a](javascript:alert(1) "t")',
    "[a](javascript:alert((1)))",
    '[a](http://x.org/ "t" onclick="alert(1)")',
    '[a](http://x.org/ "t" (javascript:alert(1)))',
    f'[{IMAGE}](http://x.org/"onmouseover="alert(1))',
    "![p](http://x.org/p.png)",
    '<a href="javascript:alert(1)">a</a>',
    "<iframe src=http://x.org></iframe><style>*{display:none}</style>",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_notes_stay_text(render, browser, text):
    """No element but ours, no attribute but ours, no link but to the web; what was not a link keeps its words."""
    html = render(text)
    page = browser.new_page()
    found = page.evaluate(
        """(html) => {
            const made = new DOMParser().parseFromString(html, "text/html").body;
            const said = (node) => [node.tagName, ...node.getAttributeNames(), node.href ?? ""];
            return [...made.querySelectorAll("*")].map(said);
        }""",
        html,
    )
    page.close()
    for tag, *attributes, address in found:
        assert tag in {"P", "H3", "UL", "LI", "SPAN", "PRE", "CODE", "A", "BR", "EM"}
        assert set(attributes) <= {"href", "rel", "target", "tabindex"}
        assert address == "" or address.startswith(("http://x.org/", "https://"))


@pytest.mark.parametrize(
    "seed",
    [
        "*",
        "_",
        "**a",
        "`",
        "[",
        "[](",
        "> ",
        "- ",
        "*a **b ",
        "~~",
        "`` ` ",
        "![[",
        "http://",
        "\\",
        "***a ",
        "[a](x(",
        '[[a](x "   ',
    ],
)
def test_the_longest_note_is_drawn_at_once(browser, server, seed):
    """Whatever is repeated, the time does not explode."""
    page = browser.new_page()
    page.goto(f"{server.address}/#/new")
    for text in (seed * LONGEST, (seed + "\n") * LONGEST, " " * 50 + seed * LONGEST):
        assert page.evaluate(RENDER, text[:LONGEST])[1] < 3000, "ms, on a busy machine"
    page.close()
