"""tools/links.py: what it finds, and what it leaves alone."""

import pytest

from support.programs import load


@pytest.fixture(scope="module")
def links():
    return load("tools/links.py")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('<a href="b.html#here">b</a>', None),
        ('<a href="b%20c.txt">a name with a blank</a>', None),
        ('<a href="#top" id="top">up</a>', None),
        ('<a href="https://example.org/">elsewhere</a>', None),
        ('<img src="data:image/png;base64,AA==">', None),
        ('<link rel="canonical" href="https://example.org/">', None),
        ('<a href="c.html">c</a>', "no such file"),
        ('<a href="../secret.html">outside</a>', "no such file"),
        ('<a href="b.html#there">b</a>', "no such anchor"),
        ('<a href="#there">down</a>', "no such anchor"),
        ('<a href="#old">down</a><a name="old"></a>', None),
        ('<a href="#there">down</a><meta name="there">', "no such anchor"),
        ('<img src="none.png">', "no such file"),
        ('<script src="https://example.org/a.js"></script>', "is loaded from elsewhere"),
        ('<link rel="stylesheet" href="//example.org/a.css">', "is loaded from elsewhere"),
    ],
)
def test_links_lead_to_files_and_anchors_of_the_site(links, tmp_path, body, told):
    site = tmp_path / "site"
    site.mkdir()
    (tmp_path / "secret.html").write_text("")
    (site / "a.html").write_text(f"<html><body>{body}</body></html>")
    (site / "b.html").write_text('<h1 id="here">b</h1>')
    (site / "b c.txt").write_text("")
    found = links.faults(site)
    assert [fault.rpartition(": ")[2] for fault in found] == ([told] if told else [])


def test_the_command_names_the_page_and_the_link(links, tmp_path, monkeypatch, capsys):
    (tmp_path / "a.html").write_text('<a href="none.html">a</a>')
    monkeypatch.setattr("sys.argv", ["links.py", str(tmp_path)])
    assert links.main() == 1
    printed = capsys.readouterr()
    assert printed.err == "a.html: none.html: no such file\n"
    assert printed.out == "1 links of 1 pages: 1 lead nowhere.\n"


def test_a_site_without_links_is_no_site(links, tmp_path, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["links.py", str(tmp_path)])
    assert links.main() == 1
