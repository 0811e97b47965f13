"""Computed numbers: tables, and files that are trusted only if they are whole."""

import ast
import json
import math
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

import mfbai
from mfbai.files import replacing
from mfbai.paper import store
from mfbai.paper.pieces import DELTAS, Computation, Scale, complete, where
from mfbai.paper.store import Store
from support.paper import COSTS, FINAL, cost_table

# --- computations' tables


def test_rows_are_selected_by_values():
    table = cost_table(n=10)
    found = where(table, strategy="grad", delta=FINAL)
    assert len(found["cost"]) == 10
    assert found["cost"].mean() == pytest.approx(COSTS["grad", FINAL])


def test_a_short_table_is_an_interrupted_one():
    table = {"run": np.repeat(np.arange(5), 2)}
    assert complete(table, 5) is table
    with pytest.raises(KeyboardInterrupt):
        complete(table, 6)


# --- files


TABLE = {
    "strategy": np.array(["mf-grad", 'a "b", c', "täglich", ""]),
    "run": np.array([0, -1, 2**62, 3]),
    "cost": np.array([0.1, 1 / 3, 5e-324, -0.0]),
    "odd": np.array([math.inf, -math.inf, math.nan, 1e308]),
    "stopped": np.array([True, False, True, True]),
}


def made(name="some", compute=None, **about):
    uses = ("runs", "steps")
    about = {"instance": "x", "deltas": DELTAS, **about}
    return Computation(name, 1.0, ("mf-grad",), uses, about, compute or (lambda scale: TABLE))


@pytest.fixture
def kept(tmp_path):
    """A folder with computed numbers."""
    found = Store(tmp_path / "data", Scale())
    found.save(made(), TABLE, 12.5)
    return found


def test_numbers_come_back_to_the_bit(kept):
    table, seconds = kept.load(made())
    assert seconds == 12.5
    assert list(table) == list(TABLE)
    for name, column in TABLE.items():
        assert table[name].dtype.kind == column.dtype.kind
        assert table[name].tobytes() == column.tobytes() or column.dtype.kind == "U"
    assert table["strategy"].tolist() == TABLE["strategy"].tolist()


def test_saving_what_was_loaded_changes_no_byte(kept):
    before = (kept.folder / "some.csv").read_bytes()
    kept.save(made(), kept.load(made())[0], 1.0)
    assert (kept.folder / "some.csv").read_bytes() == before


def test_nothing_there_is_nothing_loaded(tmp_path, kept):
    assert Store(tmp_path / "nowhere", Scale()).load(made()) is None
    assert kept.load(made("other")) is None


@pytest.mark.parametrize("change", [{"runs": 999}, {"steps": 10}])
def test_numbers_of_another_scale_are_not_used(kept, change):
    assert Store(kept.folder, Scale(**change)).load(made()) is None


@pytest.mark.parametrize("change", [{"pulls": 10}, {"instances": 1}])
def test_what_an_experiment_does_not_use_does_not_matter(kept, change):
    assert Store(kept.folder, Scale(**change)).load(made()) is not None


@pytest.mark.parametrize("about", [{"instance": "y"}, {"deltas": (0.01,)}, {"strategy": "new"}])
def test_numbers_of_another_definition_are_not_used(kept, about):
    assert kept.load(made(**about)) is None


def test_numbers_of_another_seed_or_code_are_not_used(kept, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store, "SEED", 1)
        assert kept.load(made()) is None
    with monkeypatch.context() as patch:
        patch.setattr(store, "sources_digest", lambda *parts: "other")
        assert kept.load(made()) is None
    assert kept.load(made()) is not None


@pytest.mark.parametrize("name", ["some.csv", "some.json"])
def test_numbers_without_their_other_file_are_not_used(kept, name):
    (kept.folder / name).unlink()
    assert kept.load(made()) is None


@pytest.mark.parametrize("name", ["some.csv", "some.json"])
@pytest.mark.parametrize("drop", [1, 2, 3, 10, 60, 10**6])
def test_truncated_files_are_not_used(kept, name, drop):
    """Not even if it is the last letter of a number or of "True"; a lost line break alone does no harm."""
    file = kept.folder / name
    content = file.read_bytes()
    file.write_bytes(content[: max(0, len(content) - drop)])
    found = kept.load(made())
    if found is not None:
        assert found[0]["stopped"].tolist() == TABLE["stopped"].tolist()
        assert drop == 1


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("0.1", "0.2"),
        ("True", "Tru"),
        ("run", "runs"),
        ("-1,", "one,"),
        ("mf-grad,", "mf-grad,extra,"),
        ("mf-grad,0,0.1,inf,True\n", ""),
        ("4611686018427387904", "99999999999999999999"),
    ],
)
def test_edited_numbers_are_not_used(kept, old, new):
    file = kept.folder / "some.csv"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    assert kept.load(made()) is None


def test_a_stray_quote_in_a_long_file_is_not_used(tmp_path):
    """It makes one field of all that follows, longer than the csv module reads."""
    long = {"cost": np.arange(50_000.0)}
    found = Store(tmp_path, Scale())
    found.save(made(), long, 1.0)
    file = tmp_path / "some.csv"
    file.write_text(file.read_text().replace("\n0.0", '\n"0.0', 1))
    assert found.load(made()) is None


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"null", b"{}", b'"x"', b"\xff\xfe", b"[" * 50])
@pytest.mark.parametrize("name", ["some.csv", "some.json"])
def test_rubbish_is_not_used(kept, name, content):
    (kept.folder / name).write_bytes(content)
    assert kept.load(made()) is None


def test_a_failed_write_leaves_the_old_file_and_no_other(tmp_path):
    (tmp_path / "a.csv").write_text("old")
    with suppress(ZeroDivisionError), replacing(tmp_path / "a.csv") as part:
        part.write_text(f"half {1 / 0}")
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("a.csv", "old")]


def test_two_processes_may_write_the_same_file(tmp_path):
    code = f"from pathlib import Path; from mfbai.paper.store import replace; path = Path({str(tmp_path / 'a')!r})"
    code += "; [replace(path, str(n) * 10000) for n in range(300)]"
    writers = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2)]
    assert [writer.wait() for writer in writers] == [0, 0]
    assert (tmp_path / "a").read_text() == "299" * 10000


@pytest.mark.parametrize("seconds", [-1.0, math.inf, math.nan, "long"])
def test_an_impossible_time_is_not_used(kept, seconds):
    about = json.loads((kept.folder / "some.json").read_text())
    (kept.folder / "some.json").write_text(json.dumps({**about, "seconds": seconds}))
    assert kept.load(made()) is None


@pytest.mark.parametrize("fails_at", [0, 1])
def test_a_write_that_fails_leaves_nothing_that_is_used(kept, monkeypatch, fails_at):
    """Old numbers with the description of new ones, or the reverse."""
    calls, real = [], store.replace

    def failing(path, text):
        calls.append(path)
        if len(calls) > fails_at:
            raise OSError("disk full")
        real(path, text)

    monkeypatch.setattr(store, "replace", failing)
    other = {name: column[::-1] for name, column in TABLE.items()}
    with pytest.raises(OSError, match="disk full"):
        kept.save(made(), other, 1.0)
    assert kept.load(made()) is None


def test_what_was_made_with_can_be_read_by_people(kept):
    about = json.loads((kept.folder / "some.json").read_text())
    assert about["made with"]["experiment"] == {"instance": "x", "deltas": list(DELTAS), "strategies": ["mf-grad"]}
    assert about["made with"]["scale"] == {"runs": 1000, "steps": 100_000}


def test_all_code_that_numbers_come_from_is_in_the_digest():
    """What simulations import, directly or not. How numbers are shown, and messages of errors, change none."""
    root = Path(mfbai.__file__).parent
    seen = {root / "__init__.py"}
    todo = [root / "model" / "spec.py", *(root / "simulation").glob("*.py"), *(root / "strategies").glob("*.py")]
    while todo:
        file = todo.pop()
        if file not in seen:
            seen.add(file)
            todo += imported(file, root)
    parts = {file.relative_to(root).parts[0] for file in seen} - {
        "__init__.py",
        "errors.py",
        "checks.py",
        "terminal.py",
        "files.py",
        "text.py",  # the numbers of CSV files, which no instance of the paper has
        "textfiles.py",
        "html.py",
        "notebook.py",
        "pictures.py",
        "_version.py",  # is with the digest
    }
    assert parts - set(store.SOURCES) == set()


def imported(file, root):
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] == "mfbai":
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                base = root.parent / name.replace(".", "/")
                yield from (path for path in (base.with_suffix(".py"), base / "__init__.py") if path.exists())
