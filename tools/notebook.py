"""Executes the example notebook and writes its outputs into it: `make notebook`.

Studies get the same seeds every time, and the outputs have neither paths nor times in them: what changes in the file
has changed in mfbai.
"""

import os
from pathlib import Path
from tempfile import TemporaryDirectory

import nbformat
from nbclient import NotebookClient

NOTEBOOK = Path(__file__).parents[1] / "examples" / "notebook" / "from_problem_to_verdict.ipynb"
LIMIT = 600  # seconds for a cell: kernels may have to compile
# The seeds of a study follow from its key, which is drawn at random otherwise.
FIXED = "import itertools, secrets; _keys = itertools.count(1)\n"
FIXED += "secrets.token_hex = lambda size: f'{next(_keys):0{2 * size}x}'"


def executed(path: Path, folder: Path) -> nbformat.NotebookNode:
    """The notebook with its outputs, executed in a folder; raises CellExecutionError where a cell fails."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(FIXED))
    here = {"metadata": {"path": str(folder)}}
    env = {**os.environ, "IPYTHONDIR": str(folder / ".ipython")}
    NotebookClient(notebook, timeout=LIMIT, resources=here, record_timing=False).execute(env=env)
    del notebook.cells[0]
    count = 0
    for cell in notebook.cells:
        if cell.cell_type == "code":
            count += 1
            number(cell, count)
    return nbformat.from_dict(without(notebook, f"{folder}{os.sep}"))


def number(cell: nbformat.NotebookNode, count: int) -> None:
    cell.execution_count = count
    for output in cell.outputs:
        if "execution_count" in output:
            output.execution_count = count


def without(value, text):
    """The same with a text left out everywhere."""
    if isinstance(value, dict):
        return {key: without(part, text) for key, part in value.items()}
    if isinstance(value, list):
        return [without(part, text) for part in value]
    return value.replace(text, "") if isinstance(value, str) else value


def main() -> None:
    with TemporaryDirectory() as folder:
        done = executed(NOTEBOOK, Path(folder))
    done.metadata.pop("language_info", None)  # it names the version of Python
    nbformat.write(done, NOTEBOOK)


if __name__ == "__main__":
    main()
