"""How `mfbai serve` starts, and what it refuses to start with."""

import os
import re
from urllib.parse import quote

import pytest

from support.servers import TOKEN, Server, Stream


@pytest.fixture
def no_token(monkeypatch):
    monkeypatch.delenv("MFBAI_TOKEN", raising=False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "example.org", "192.0.2.1"])
@pytest.mark.usefixtures("no_token")
def test_it_does_not_listen_to_others_without_a_token(refuse, tmp_path, host):
    told = refuse("serve", "--host", host, "--storage", f"sqlite:///{tmp_path}/s.db")
    assert "which others can reach" in told
    assert "--token-file" in told
    assert "MFBAI_TOKEN" in told


@pytest.mark.usefixtures("no_token")
def test_bad_tokens_are_refused_and_not_shown(refuse, tmp_path, monkeypatch):
    bad = [b"", b"short", b"a b c d e f g h i j", b"\xff" * 20, "é".encode() * 20, b"0123456789\n0123456789", b"0" * 9]
    for text in bad:
        (tmp_path / "token").write_bytes(text)
        told = refuse("serve", "--token-file", tmp_path / "token")
        assert "token file" in told
        assert re.search("give one line of 16 or more letters|it is not text", " ".join(told.split()))
    for file in (tmp_path / "missing", tmp_path):
        assert "cannot be read" in refuse("serve", "--token-file", file)
    monkeypatch.setenv("MFBAI_TOKEN", "hunter2")
    told = refuse("serve")
    assert "MFBAI_TOKEN" in told
    assert "hunter2" not in told


@pytest.mark.usefixtures("no_token")
def test_an_address_that_cannot_be_used_is_refused(refuse, server, tmp_path):
    storage = f"sqlite:///{tmp_path}/s.db"
    told = " ".join(refuse("serve", "--port", server.port, "--storage", storage).split())
    assert f"address 127.0.0.1:{server.port} cannot be used (Address already in use)" in told
    assert "--port" in told
    for port in (-1, 65536, 10**9):
        assert "give a number from 1 to 65535" in " ".join(refuse("serve", "--port", port).split())
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("no_token")
def test_storages_that_cannot_be_used_are_refused(refuse, tmp_path):
    assert "--demo" in refuse("serve", "--port", 0, "--demo", "--storage", "sqlite:///x.db")
    assert "NUMBA_DISABLE_JIT" not in os.environ  # this process goes on to compile
    assert "cannot be used" in refuse("serve", "--port", 0, "--storage", f"sqlite:///{tmp_path}/missing/s.db")
    assert "only SQLite and PostgreSQL" in refuse("serve", "--port", 0, "--storage", "mysql://x/y")


def test_a_token_may_be_in_a_file(tmp_path):
    (tmp_path / "token").write_text(f"{TOKEN}\n")
    with Server(f"sqlite:///{tmp_path}/s.db", "--token-file", tmp_path / "token", "--host", "0.0.0.0") as server:
        assert server.get("").status == 401
        assert server.get("", headers={"Authorization": f"Bearer {TOKEN}"}).status == 200
        assert server.stop() == 0
        assert TOKEN not in server.said


def test_a_demo_shows_studies_that_are_kept_nowhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with Server(None, "--demo") as server:
        names = {row["name"] for row in server.get("?brief=true").json()["studies"]}
        assert len(names) == 3
        with Stream(server, f"/{quote(min(names))}") as stream:
            assert stream.next()[0] == "view"
        assert server.stop() == 0
        assert "Traceback" not in server.said
    assert not list(tmp_path.iterdir())
