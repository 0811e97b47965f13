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


def test_second_process_compiles_nothing():
    """Compiled code is found on disk by the next process."""
    code = (
        "import mfbai; from mfbai.run import loop;"
        "mfbai.simulate('paper-5x2', runs=2); print(sum(loop.advance.stats.cache_misses.values()))"
    )
    misses = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True) for _ in range(2)
    ]
    assert misses[1].stdout.strip() == "0"


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


NAMES_OF_CACHES = """
import os
from mfbai.kernels.jit import cache_folder
from mfbai.study.fold import snapshot_format
print(os.path.basename(cache_folder()), snapshot_format())
"""


def names_of_caches(folder, tmp_path):
    """The name of the folder of compiled code, and the format of snapshots, of a package in this folder."""
    env = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", NAMES_OF_CACHES], env=env, capture_output=True, text=True, check=True)
    return done.stdout.split()


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """A copy of the package that may be changed, and the names of its caches as it is."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(SOURCE, folder / "mfbai", ignore=shutil.ignore_patterns("__pycache__"))
    return folder, names_of_caches(folder, folder)


@pytest.mark.parametrize(("file", "kept"), [("cli/simulate.py", True), ("kernels/stats.py", False)])
def test_a_changed_word_discards_compiled_code_and_snapshots_only_where_they_are_made(copied, tmp_path, file, kept):
    folder, before = copied
    changed = folder / "mfbai" / file
    text = changed.read_text()
    changed.write_text(text.replace('"""', '"""Note: ', 1))
    try:
        after = names_of_caches(folder, tmp_path)
    finally:
        changed.write_text(text)
    assert [now == then for now, then in zip(after, before, strict=True)] == [kept, kept]
