"""The site, built once, as `make docs` does it."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The folder of the site. Warnings are errors, and so is a cell of the gallery that fails."""
    out = tmp_path_factory.mktemp("docs") / "site"
    build = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--jobs", "2", "--quiet"]
    folders = ["--conf-dir", "docs", "--doctree-dir", out.parent / "doctrees", ".", out]
    done = subprocess.run([*build, *folders], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return out
