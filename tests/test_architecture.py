"""The package keeps its shape: public names are exact, old names lead to new ones, and caches to what they are made of.

That imports point one way is held by import-linter: see pyproject.toml.
"""

import importlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import mfbai
from mfbai._moved import MOVED

SOURCE = Path(mfbai.__file__).parent


def test_public_names_are_exact():
    """Every public name can be had, and nothing else is promised."""
    names = set(mfbai.__all__)
    assert names == {name for name in dir(mfbai) if getattr(mfbai, name) is not None}
    with pytest.raises(AttributeError, match="no attribute 'simulat'"):
        mfbai.simulat  # noqa: B018


def test_package_data_is_installed():
    """The catalogue travels with the package."""
    assert (SOURCE / "model" / "catalogue" / "paper-4x5.toml").is_file()
    assert (SOURCE / "py.typed").is_file()


@pytest.mark.parametrize("old", MOVED)
def test_an_old_name_of_a_module_is_the_module_of_its_new_name(old):
    assert importlib.import_module(old) is importlib.import_module(MOVED[old])


@pytest.mark.parametrize("room", [*mfbai._ROOMS, "families", "literature", "report"])
def test_packages_that_documents_name_can_be_reached_after_a_plain_import(room):
    """In a process of its own, where nothing else has imported them."""
    within = "".join(f"mfbai.{room}.{module};" for module in mfbai._ROOMS.get(room, []))
    code = f"import mfbai; print(mfbai.{room}.__name__); {within}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == MOVED.get(f"mfbai.{room}", f"mfbai.{room}")


def format_of_snapshots(folder):
    """Of a package in this folder."""
    code = "from mfbai.study.fold import snapshot_format; print(snapshot_format())"
    env = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True).stdout


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package that may be changed, and the format of its snapshots as it is."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, folder / "mfbai", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, format_of_snapshots(folder)


@pytest.mark.parametrize(("file", "kept"), [("cli/simulate.py", True), ("kernels/stats.py", False)])
def test_a_changed_word_discards_snapshots_only_where_they_are_made(copied, file, kept):
    folder, before = copied
    changed = folder / "mfbai" / file
    text = changed.read_text()
    changed.write_text(text.replace('"""', '"""Note: ', 1))
    try:
        after = format_of_snapshots(folder)
    finally:
        changed.write_text(text)
    assert (after == before) == kept
