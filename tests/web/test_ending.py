"""How a server ends, and what is left of its answers."""

import http.client
import signal
import socket
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from mfbai import load_study, verify
from support.servers import PATIENCE, Server, Stream, refused


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_though_streams_are_open_and_calls_under_way_and_keeps_what_it_answered(storage_url, end):
    with Server(storage_url) as server:
        path = server.create("s", delta=1e-9)
        trials = server.ask(path, n=400)  # as many as a study hands out before results are back
        assert len(trials) >= 40
        watching = Stream(server, path)
        watching.next()
        deaf = socket.create_connection(("127.0.0.1", server.port))  # never reads
        deaf.sendall(f"GET /api/v1/studies{path}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        slow = socket.create_connection(("127.0.0.1", server.port))  # never sends all
        slow.sendall(b"POST /api/v1/studies HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n")
        slow.sendall(b"Content-Length: 10\r\n\r\n{")
        answered, enough = [], threading.Event()

        def tell(trial):
            try:
                answer = server.tell(path, trial, 0.5)
            except (OSError, http.client.HTTPException):
                return
            if answer.status == 200:
                answered.append(trial["id"])
            if len(answered) > 20:
                enough.set()

        with ThreadPoolExecutor(8) as threads:
            for trial in trials:
                threads.submit(tell, trial)
            assert enough.wait(PATIENCE)
            assert server.stop(end) == 0
        assert server.said.endswith("stopped\n")
        assert "Traceback" not in server.said
        while watching.next() is not None:
            pass
        for connection in (watching, deaf, slow):
            connection.close()
    told = {
        f"{event.body['trial']}" for event in load_study("s", storage=storage_url).journal() if "value" in event.body
    }
    assert {trial.partition("-")[0] for trial in answered} <= told


def test_a_stopped_server_leaves_its_database_in_one_file(tmp_path):
    with Server(f"sqlite:///{tmp_path / 's.db'}") as server:
        path = server.create("s")
        for trial in server.ask(path, n=10):
            server.tell(path, trial, 0.5)
        assert server.stop() == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(("-wal", "-shm"))] == []
    copy = tmp_path / "copy.db"
    copy.write_bytes((tmp_path / "s.db").read_bytes())
    assert load_study("s", storage=f"sqlite:///{copy}").status().told == 10


def test_a_server_that_starts_again_sends_views_that_callers_had_before(storage_url):
    """Meanwhile the journal may have been damaged, or a backup restored."""
    marks = []
    for _ in range(2):
        with Server(storage_url) as server:
            path = server.create("s") if not marks else "/s"
            seen = server.get(f"{path}/view", headers={"If-None-Match": marks[-1] if marks else "none"})
            assert seen.status == 200
            marks.append(seen.headers["etag"])


def test_what_was_answered_survives_the_sudden_end_of_the_server(storage_url):
    with Server(storage_url) as server:
        path = server.create("s")
        trials = server.ask(path, n=10)
        with ThreadPoolExecutor(5) as threads:
            assert {answer.status for answer in threads.map(lambda trial: server.tell(path, trial, 0.5), trials)} == {
                200
            }
        server.kill()
    study = load_study("s", storage=storage_url)
    assert (study.status().told, study.status().pending) == (10, 0)
    assert verify(study.export())


def test_callers_and_watchers_learn_that_the_database_is_gone(tmp_path):
    with Server(f"sqlite:///{tmp_path}/s.db") as server:
        path = server.create("s")
        (trial,) = server.ask(path)
        with Stream(server, path) as stream:
            stream.next()
            for file in tmp_path.iterdir():
                file.unlink()
            kind, told = stream.next()
            assert kind == "problem"
            assert "was removed or replaced" in told["detail"]
        for answer in (server.tell(path, trial, 0.5), server.get(f"{path}/status"), server.get("")):
            refused(answer, 503, "was removed or replaced while it was in use: open it again", "StorageError")
            assert int(answer.headers["retry-after"]) > 0
        assert server.stop() == 0
        assert "Traceback" not in server.said
