"""Clients whose server goes and comes back, is not there, or wants a token."""

import socket
import threading

import pytest

from mfbai import Client, InvalidInput, StorageError, verify
from support.servers import PATIENCE, PROBLEM, TOKEN, Server, steady_port


def test_a_server_may_be_restarted_between_calls(tmp_path):
    url = f"sqlite:///{tmp_path}/s.db"
    with Server(url, port=steady_port()) as before:
        client = Client(before.address, patience=PATIENCE)
        study = client.create_study(PROBLEM, 0.05, name="s")
        first, second = study.ask_many(2)
        study.tell(first, 0.5)
        before.kill()
    again = []
    restart = threading.Thread(target=lambda: again.append(Server(url, port=before.port)))
    restart.start()  # while the next call is being tried
    try:
        study.tell(second, 0.75)
        study.add("plain", 0, [0.5])  # not repeatable: it must not go down an old connection
        assert client.create_study(PROBLEM, 0.05, name="t").name == "t"
        assert study.status().told == 2
        assert verify(study.export())
    finally:
        restart.join()
        client.close()
        again[0].kill()


def test_a_server_that_is_not_there_is_reported_after_a_while():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # nobody listens there
        client = Client(f"http://127.0.0.1:{silent.getsockname()[1]}", patience=0.1)
        with pytest.raises(StorageError, match=r"does not answer: .*refused.*check that `mfbai serve` runs there"):
            client.list_studies()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "127.0.0.1:8400",
        "ftp://x",
        "http://",
        "http://x:99999",
        "http://x:y",
        "http://[::1",
        "http://x/?a",
        3,
        None,
        "http://x/a b",
        "http://é",
        "http://x\n",
        "http://user:password@x",
    ],
)
def test_addresses_that_are_none_are_refused(url):
    with pytest.raises(InvalidInput, match="url is"):
        Client(url)


def test_what_cannot_be_waited_for_or_sent_is_refused():
    for patience in (-1, float("nan"), "x", None):
        with pytest.raises(InvalidInput, match="patience is"):
            Client("http://x", patience=patience)
    for token in ("é", "a\nb", 3):
        with pytest.raises(InvalidInput, match="token cannot be sent") as caught:
            Client("http://x", token=token)
        assert str(token) not in str(caught.value)


def test_the_token_is_that_given_or_that_of_the_environment(tmp_path, monkeypatch):
    with Server(f"sqlite:///{tmp_path}/s.db", token=TOKEN) as server:
        for wrong, told in {None: "a token is needed", "wrong": "the token is wrong"}.items():
            with pytest.raises(InvalidInput, match=told):
                Client(server.address, token=wrong).list_studies()
        assert Client(server.address, token=TOKEN).list_studies() == []
        monkeypatch.setenv("MFBAI_TOKEN", TOKEN)
        client = Client(server.address)
        assert client.list_studies() == []
        assert TOKEN not in repr(client)
        client.close()


def test_a_server_that_does_not_speak_https_is_told_at_once(server):
    with pytest.raises(StorageError, match=r"cannot be reached by https .*speaks http; check the address"):
        Client(server.address.replace("http:", "https:"), patience=60).list_studies()
