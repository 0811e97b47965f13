"""What a release says of itself, and what is in its archive of sources. `make dist` tries the packages themselves."""

import re
import tarfile
import tomllib
from pathlib import Path

import pytest

import mfbai

ROOT = Path(__file__).parents[1]


def test_every_file_that_names_the_version_names_this_one():
    named = {
        "CITATION.cff": r"^version: (.+)$",
        "README.md": r"mfbai is young: version ([\d.]+)\. ",
        "CHANGELOG.md": r"^## ([\d.]+) - \d{4}-\d\d-\d\d$",
    }
    found = {file: re.search(form, (ROOT / file).read_text(), re.MULTILINE)[1] for file, form in named.items()}
    assert found == dict.fromkeys(named, mfbai.__version__)


def test_the_version_of_the_package_is_read_from_its_one_place():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["dynamic"] == ["version"]
    place = ROOT / project["tool"]["hatch"]["version"]["path"]
    assert f'__version__ = "{mfbai.__version__}"' in place.read_text()


@pytest.fixture(scope="module")
def sdist(tmp_path_factory):
    """The files of the archive of sources, with their sizes; built as `make dist` does, but without a download."""
    builder = pytest.importorskip("hatchling.builders.sdist", reason="hatchling is not installed")
    made = next(builder.SdistBuilder(str(ROOT)).build(directory=str(tmp_path_factory.mktemp("dist"))))
    with tarfile.open(made) as archive:
        return {file.name.partition("/")[2]: file.size for file in archive.getmembers() if file.isfile()}


def test_the_sources_have_what_it_takes_to_build_test_and_read_them(sdist):
    wanted = [
        "LICENSE",
        "README.md",
        "CHANGELOG.md",
        "pyproject.toml",
        "Makefile",
        "src/mfbai/py.typed",
        "src/mfbai/model/catalogue/paper-4x5.toml",
        "docs/guides/is_it_for_me.md",
        "examples/baselines.py",
        "tests/data/written_by_0.1.0/studies.db",
        "tools/wheel.py",
    ]
    assert [name for name in wanted if name not in sdist] == []


def test_the_sources_have_nothing_large_or_stray(sdist):
    assert {name: size for name, size in sdist.items() if size > 500_000} == {}
    assert sum(sdist.values()) < 15_000_000
    stray = re.compile(r"(^|/)(__pycache__|\.venv|build|dist|[^/]*\.egg-info|mfbai\.db.*)(/|$)")
    assert [name for name in sdist if stray.search(name)] == []
