"""Servers that the tests share: on each kind of storage, on SQLite alone, and one that wants a token."""

import itertools

import pytest

from support.servers import TOKEN, Server

numbers = itertools.count()


@pytest.fixture(scope="session", params=["sqlite", "postgresql"])
def either(request, tmp_path_factory):
    """A server on each kind of storage."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('either')}/studies.db"
    else:
        url = request.getfixturevalue("postgres").new_schema()
    with Server(url) as server:
        server.storage = url
        yield server
        assert server.stop() == 0
        assert "Traceback" not in server.said


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('served')}/studies.db"
    with Server(url) as made:
        made.storage = url
        yield made
        assert made.stop() == 0
        assert "Traceback" not in made.said


@pytest.fixture(scope="session")
def locked(tmp_path_factory):
    """A server that wants a token."""
    with Server(f"sqlite:///{tmp_path_factory.mktemp('locked')}/studies.db", token=TOKEN) as made:
        yield made
        made.stop()
        assert TOKEN not in made.said


@pytest.fixture
def study(server):
    return server.create(f"study {next(numbers)}")
