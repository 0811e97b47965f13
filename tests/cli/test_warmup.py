"""`mfbai warmup`: which families are compiled, and what is said. What it leaves to compile: see test_wheel."""

import pytest

from mfbai import warmup
from mfbai.kernels import store
from mfbai.model.families import FAMILIES


@pytest.fixture
def compiled(monkeypatch, tmp_path):
    """The families that are compiled, in place of compiling them."""
    names = []
    monkeypatch.setattr(warmup, "compile_families", lambda chosen, done: (names.extend(chosen), done()))
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return names


def test_all_families_are_compiled_if_none_is_named(succeed, compiled):
    told = succeed("warmup")
    assert compiled == list(FAMILIES)
    assert f"Compiled code is kept in {store.folder()}." in told


def test_only_the_families_that_are_named_are_compiled(succeed, compiled):
    assert succeed("warmup", "bounded", "gaussian").startswith("Ready for bounded, gaussian, after 0 seconds.")
    assert compiled == ["bounded", "gaussian"]


def test_an_unknown_family_is_refused_before_anything_is_compiled(refuse, compiled):
    assert "did you mean 'gaussian'" in refuse("warmup", "bounded", "gausian")
    assert compiled == []


def test_a_folder_that_cannot_be_written_to_is_reported(mfbai_command, compiled, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    _, _, err = mfbai_command("warmup", "gaussian")
    assert "cannot be written to. Set NUMBA_CACHE_DIR to another folder." in err


def test_every_family_has_an_example():
    assert warmup.EXAMPLES.keys() == FAMILIES.keys()
