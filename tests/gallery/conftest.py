"""The pages of the gallery, without what they run."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "tools" / "gallery.py"


@pytest.fixture(scope="session")
def gallery():
    """tools/gallery.py"""
    spec = importlib.util.spec_from_file_location("gallery", TOOL)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def definitions(gallery):
    """What the page of a name defines: its problem, `evaluate` and constants."""
    return cache(lambda name: gallery.definitions(gallery.GALLERY / f"{name}.md"))
