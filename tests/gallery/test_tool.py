"""tools/gallery.py: from a page to its definitions, its notebook and its script."""

import base64
import json
import subprocess
import sys

import nbformat
import pytest

PAGE = """---
file_format: mystnb
---
# Which of two?

See [the guide](../guides/pilot.md#here) and [a site](https://example.org/).

![A picture](../images/one.png)

*What its colours mean.*

```{code-cell}
import random

ARMS = ("a", "b")
problem = {"arms": ARMS}
lower = print("this runs")


def evaluate(arm, fidelity, seed):
    return random.Random(f"{arm} {seed}").random()
```

Then:

```{code-cell}
---
tags: [hide-input]
mystnb:
  image:
    alt: "Two bars: a and b"
---
print(evaluate("a", "true", 1) < 2)
```

<!-- table: make bench-gallery -->

| procedure | mean cost |
|---|---|
| mfbai | 1 |

<!-- end of table -->

```{code-cell}
:tags: [remove-output]

x: int = 3
for arm in ARMS:
    print(arm)
```

```{code-cell}
class Drawing:
    def savefig(self, file):
        open(file, "w").close()


Drawing()
```

```{code-cell}
# The worst comes last: sorted(é).
"é" and sorted(
    ARMS,
    reverse=True,
)  # sorted in this order
```

```{code-cell}
ARMS.index("a") and None
None
```

```{code-cell}
# Nothing to do.
```

```text
no cell
```
"""


@pytest.fixture
def page(tmp_path):
    file, picture = tmp_path / "gallery" / "two.md", tmp_path / "images" / "one.png"
    for one in (file, picture):
        one.parent.mkdir()
    picture.write_bytes(b"a picture")
    file.write_text(PAGE)
    return file


def test_cells_are_text_and_code_in_turn_without_options_and_comments(gallery, page):
    cells = gallery.cells(page)
    kinds = [False, True, False, True, False, True, True, True, True, True, False]
    assert [cell.is_code for cell in cells] == kinds
    assert cells[0].text.startswith("# Which of two?")
    assert cells[3].text == 'print(evaluate("a", "true", 1) < 2)'
    assert cells[4].text == "| procedure | mean cost |\n|---|---|\n| mfbai | 1 |"
    assert cells[5].text.startswith("x: int = 3")
    assert cells[-1].text == "```text\nno cell\n```"


def test_definitions_are_made_without_running_the_page(gallery, page, capsys):
    made = gallery.definitions(page)
    assert made.problem == {"arms": ("a", "b")}
    assert 0 <= made.evaluate("a", "true", 3) < 1
    assert not hasattr(made, "lower")
    assert not hasattr(made, "x")
    assert capsys.readouterr().out == ""


def test_the_source_of_definitions_stays_when_only_the_rest_changes(gallery, page):
    before = gallery.source(page)
    page.write_text(PAGE.replace("for arm in ARMS", "for arm in reversed(ARMS)").replace("Then:", "Now:"))
    assert gallery.source(page) == before
    page.write_text(PAGE.replace("{seed}", "{seed} again"))
    assert gallery.source(page) != before


def test_the_notebook_is_valid_and_the_same_every_time(gallery, page):
    text = gallery.notebook(page)
    nbformat.validate(nbformat.reads(text, as_version=4))
    assert gallery.notebook(page) == text
    first = json.loads(text)["cells"][0]
    told = "".join(first["source"])
    assert "See the guide and [a site](https://example.org/)." in told
    assert "![A picture](attachment:one.png)" in told
    assert base64.b64decode(first["attachments"]["one.png"]["image/png"]) == b"a picture"


def test_the_script_runs_and_shows_what_a_notebook_would(gallery, page, tmp_path):
    script = tmp_path / "two.py"
    script.write_text(gallery.script(page))
    done = subprocess.run([sys.executable, script], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "this runs\nTrue\na\nb\ntwo-1.png\n['b', 'a']\n"
    assert (tmp_path / "two-1.png").is_file()
    text = script.read_text()
    assert "# # Which of two?" in text
    assert "picture](" not in text
    assert "colours" not in text
