"""What is seen of a study as it happens, and of studies that take long to open."""

import asyncio
import re
import socket
import threading

from mfbai import create_study, load_study
from mfbai.model.spec import from_dict
from mfbai.study.storage import Storage
from mfbai.web import hub as hubs
from support.servers import PATIENCE, SPEC, Stream, open_stream, refused


def test_a_stream_shows_changes_by_this_server_and_by_others(either):
    path = either.create("watched")
    with Stream(either, path) as stream:
        kind, view = stream.next()
        assert (kind, view["events"]) == ("view", 1)
        (trial,) = either.ask(path)
        either.tell(path, trial, 0.5)
        while view["status"]["told"] < 1:
            kind, view = stream.next()
        elsewhere = load_study("watched", storage=either.storage)  # the server is another process
        elsewhere.tell(elsewhere.ask(), 0.25)
        while view["status"]["told"] < 2:
            kind, view = stream.next()
        assert view["status"] == either.get(f"{path}/status").json()
        assert either.get(f"{path}/status").json()["told"] == 2


def test_there_is_a_limit_to_streams_and_room_when_some_are_closed(server, study):
    streams = [open_stream(server, study) for _ in range(200)]
    try:
        refused(
            server.get(f"{study}/events"),
            503,
            "200 streams are open, the most .*: try again later",
        )
        assert server.get(f"{study}/status").status == 200
    finally:
        for stream in streams:
            stream.close()
    open_stream(server, study).close()


def test_streams_that_come_all_at_once_are_counted_too(server, study):
    streams = [socket.create_connection(("127.0.0.1", server.port), timeout=PATIENCE) for _ in range(230)]
    try:
        for stream in streams:
            stream.sendall(f"GET /api/v1/studies{study}/events HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        told = [first_event(stream) for stream in streams]
        assert told.count(b"view") <= 200
        assert told.count(b"view") + told.count(b"streams are open") == 230
    finally:
        for stream in streams:
            stream.close()


def first_event(stream):
    answer = b""
    while not (found := re.search(b"event: view|streams are open", answer)):
        part = stream.recv(4096)
        assert part, answer
        answer += part
    return found[0].removeprefix(b"event: ")


# --- studies that take long to open


def test_studies_that_take_long_to_open_hold_up_no_others(tmp_path, monkeypatch):
    """The first of a kind may compile for a minute, and there may be many of them."""
    storage = Storage(f"sqlite:///{tmp_path / 's.db'}", create=True)
    for name in ("quick", *(f"slow {n}" for n in range(30))):
        create_study(from_dict(SPEC), 0.05, name=name, storage=storage)
    go_on = threading.Event()

    def load(name, **more):
        if name.startswith("slow"):
            go_on.wait()
        return load_study(name, **more)

    monkeypatch.setattr(hubs, "load_study", load)

    async def look():
        hub = hubs.Hub(storage)
        try:
            quick = await hub.desk("quick")
            tasks = [hub.opening(f"slow {n}") for n in range(30)]
            async with asyncio.timeout(PATIENCE):
                (trial,) = await quick.call(lambda: quick.study.ask_many(1))
                await quick.call(lambda: quick.study.tell(trial, 0.5))
                assert (await quick.read(quick.study.status)).told == 1
                assert b'"quick"' in await quick.view()
            assert not any(task.done() for task in tasks)
            go_on.set()
            await asyncio.gather(*tasks)
        finally:
            go_on.set()
            hub.end()

    asyncio.run(look())


def test_a_stream_says_that_a_study_cannot_be_shown_and_shows_it_when_it_can(tmp_path, monkeypatch):
    storage = Storage(f"sqlite:///{tmp_path / 's.db'}", create=True)
    create_study(from_dict(SPEC), 0.05, name="s", storage=storage)

    async def look():
        hub = hubs.Hub(storage)
        try:
            desk = await hub.desk("s")
            with monkeypatch.context() as broken:
                broken.setattr(desk._viewer, "view", lambda: 1 / 0)
                stream = desk.watch()
                async with asyncio.timeout(PATIENCE):
                    assert b"event: problem" in await anext(stream)
            async with asyncio.timeout(PATIENCE):
                assert b"event: view" in await anext(stream)
            await stream.aclose()
        finally:
            hub.end()

    asyncio.run(look())
