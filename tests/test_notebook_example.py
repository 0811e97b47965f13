"""examples/notebook: executed as a reader would, in a kernel of its own."""

import json

import nbformat
import pytest

from support.notebooks import Shown
from support.programs import load


@pytest.fixture(scope="module")
def outputs(tmp_path_factory):
    """Of each code cell; a cell that fails raises."""
    tool = load("tools/notebook.py")
    done = tool.executed(tool.NOTEBOOK, tmp_path_factory.mktemp("notebook"))
    return [cell.outputs for cell in done.cells if cell.cell_type == "code"]


def data(outputs, kind):
    return [output.data[kind] for cell in outputs for output in cell if kind in output.get("data", {})]


def test_it_ends_with_the_right_verdict_and_its_progress(outputs):
    (progress, verdict) = next(cell for cell in outputs if "Verdict(" in str(cell))
    assert verdict.data["text/plain"].startswith("Verdict(state='decided', arm='hollow'")
    assert "proof 100 %  'hollow' leads" in progress.data["text/plain"]


def test_it_shows_objects_tables_and_pictures(outputs):
    html = [text for text in data(outputs, "text/html") if "dataframe" not in text]
    starts = [Shown(text).text.partition(" ")[0] for text in html]
    assert starts == ["Problem:", "Expect", "proof", "The", "Study"]
    assert len(data(outputs, "text/html")) - len(html) == 2  # the tables of pandas
    assert len(data(outputs, "image/png")) == 2


def test_nothing_is_on_standard_error(outputs):
    assert [output for cell in outputs for output in cell if output.get("name") == "stderr"] == []


def test_what_is_committed_is_what_comes_out(outputs):
    """But for pictures, which depend on the version of matplotlib, and the tables of pandas."""
    cells = nbformat.read(load("tools/notebook.py").NOTEBOOK, as_version=4).cells
    kept = [cell.outputs for cell in cells if cell.cell_type == "code"]

    def ours(shown, kind):
        return [text for text in data(shown, kind) if "dataframe" not in text and "Picture" not in text]

    for kind in ("text/plain", "text/html"):
        assert ours(kept, kind) == ours(outputs, kind)


def test_what_is_committed_names_no_machine(outputs):
    text = json.dumps(nbformat.read(load("tools/notebook.py").NOTEBOOK, as_version=4))
    assert "/tmp/" not in text
    assert "/home/" not in text
