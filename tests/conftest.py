"""Fixtures of several test files: a real PostgreSQL server, storages to run the same tests on, a real
browser, the command."""

import shutil
import sys

import pytest

from mfbai.cli import main
from support.postgres import Postgres

SLOWEST = "test_docs.py"  # it takes minutes


def pytest_collection_modifyitems(items):
    """The slowest file first: files are given to one worker or the other, which should end together."""
    items.sort(key=lambda item: item.path.name != SLOWEST)


@pytest.fixture(scope="session")
def postgres():
    server = Postgres()
    yield server
    server.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def storage_url(request, tmp_path):
    """An empty storage of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'studies.db'}"
    return request.getfixturevalue("postgres").new_schema()


@pytest.fixture(scope="module")  # not longer: its event loop would be in the way of other tests
def browser():
    from playwright.sync_api import sync_playwright

    program = shutil.which("chromium") or shutil.which("chromium-browser")
    if program is None:
        pytest.fail("Chromium is missing: tests of pages need it; on Debian, apt-get install chromium")
    options = ["no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
    options += ["disable-component-update", "disable-sync"]
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=[f"--{option}" for option in options])
        yield running
        running.close()


@pytest.fixture
def mfbai_command(capsys, monkeypatch):
    """Calls the command in this process; returns exit code, standard output and standard error."""

    def call(*words):
        monkeypatch.setattr(sys, "argv", ["mfbai", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code, *capsys.readouterr()

    return call


@pytest.fixture
def succeed(mfbai_command):
    """What a call prints; it must end well and say nothing on standard error."""

    def call(*words):
        code, out, err = mfbai_command(*words)
        assert (code or 0, err) == (0, "")
        return out

    return call


@pytest.fixture
def refuse(mfbai_command):
    """What a call that must be refused says: exit code 2, nothing on standard output, no traceback."""

    def call(*words):
        code, out, err = mfbai_command(*words)
        assert (code, out) == (2, "")
        assert "Traceback" not in err
        return err

    return call
