"""A server, clients of it, and no token in the environment."""

import itertools

import pytest

from mfbai import Client
from support.servers import PATIENCE, PROBLEM, Server

numbers = itertools.count()


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('client')}/studies.db"
    with Server(url) as made:
        made.storage = url
        yield made


@pytest.fixture
def client(server):
    made = Client(server.address, patience=PATIENCE)
    yield made
    made.close()


@pytest.fixture
def study(client):
    return client.create_study(PROBLEM, 0.05, name=f"study {next(numbers)}")


@pytest.fixture(autouse=True)
def _no_token(monkeypatch):
    monkeypatch.delenv("MFBAI_TOKEN", raising=False)
