"""The pages of the gallery, without what they run."""

from functools import cache
from pathlib import Path

import pytest

from support.programs import load


@pytest.fixture(scope="session")
def gallery():
    """tools/gallery.py"""
    return load("tools/gallery.py")


@pytest.fixture(scope="session")
def definitions(gallery):
    """What the page of a name defines: its problem, `evaluate` and constants."""
    return cache(lambda name: gallery.definitions(gallery.GALLERY / f"{name}.md"))


@pytest.fixture(scope="module")
def page(definitions, request):
    """That of the page that a file of tests is named after."""
    return definitions(Path(request.module.__file__).stem.removeprefix("test_"))
