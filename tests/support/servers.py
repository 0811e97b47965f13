"""Real servers to call, and plain HTTP to call them with."""

import contextlib
import http.client
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import threading
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from mfbai.model.spec import from_dict

PATIENCE = 900  # seconds for anything to happen: kernels may have to compile, on a busy machine
TOKEN = "correct-horse-battery-staple"
SPEC = {
    "problem": {"arms": ["plain", "wide", "deep"]},
    "fidelity": [{"name": "coarse", "cost": 0.1, "bias": 0.1}, {"name": "full", "cost": 1.0}],
    "family": {"name": "gaussian", "variance": 0.04},
}
PROBLEM = from_dict(SPEC)
TEXT = """
[problem]
arms = ["plain", "wide"]
[[fidelity]]
name = "full"
cost = 1.0
[family]
name = "gaussian"
variance = 0.04
"""


class Server:
    """`mfbai serve` as a process of its own; `said` is all that it has printed, once it is over."""

    def __init__(self, storage, *options, port=0, token=None):
        environment = {name: value for name, value in os.environ.items() if name != "MFBAI_TOKEN"}
        if token is not None:
            environment["MFBAI_TOKEN"] = token
        command = [sys.executable, "-m", "mfbai", "serve", "--port", str(port), *map(str, options)]
        if storage is not None:
            command += ["--storage", storage]
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.pid = self.process.pid
        self.said = ""
        late = threading.Timer(PATIENCE, self.process.kill)
        late.start()
        try:
            while not (found := re.search(r"at (http://\S+) \(Ctrl-C", self.said)):
                line = self.process.stdout.readline()
                assert line, f"the server did not start: {self.said}"
                self.said += line
        finally:
            late.cancel()
        self.address = found[1]
        self.port = urlsplit(self.address).port
        self.token = token

    def stop(self, with_signal=signal.SIGTERM):
        """Let it end by itself; its exit code."""
        if self.process.poll() is None:
            self.process.send_signal(with_signal)
        try:
            rest, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise
        self.said += rest
        return self.process.returncode

    def kill(self):
        """As a power cut would."""
        if self.process.returncode is None:
            self.process.kill()
            self.said += self.process.communicate()[0]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

    def call(self, method, path, body=None, headers=None, host=None):
        """An answer to a request; `body` is JSON, unless it is bytes."""
        given = {"Host": host or f"127.0.0.1:{self.port}"}
        if self.token is not None:
            given["Authorization"] = f"Bearer {self.token}"
        if body is not None:
            given["Content-Type"] = "application/json"
            body = body if isinstance(body, bytes) else json.dumps(body).encode()
        given |= headers or {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            if body is not None:
                given["Content-Length"] = str(len(body))
            for name, value in given.items():
                if value is not None:
                    connection.putheader(name, value)
            connection.endheaders(body)
            response = connection.getresponse()
            return Answer(response.status, dict(response.getheaders()), response.read())
        finally:
            connection.close()

    def get(self, path, **more):
        return self.call("GET", f"/api/v1/studies{path}", **more)

    def post(self, path, body, **more):
        return self.call("POST", f"/api/v1/studies{path}", body, **more)

    def create(self, name="s", **settings):
        """A study on this server; its path."""
        made = self.post("", {"spec": SPEC, "delta": 0.05, "name": name, **settings})
        assert made.status == 201, made.body
        return f"/{quote(name, safe='')}"

    def ask(self, study, **more):
        answer = self.post(f"{study}/ask", more)
        assert answer.status == 200, answer.body
        return answer.json()["trials"]

    def tell(self, study, trial, value):
        return self.post(f"{study}/tell", {"trial": trial["id"], "value": value})

    def raw(self, data):
        """All that is answered to some bytes until the connection is closed."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as connection:
            with contextlib.suppress(OSError):  # it may answer and close before it has read everything
                connection.sendall(data)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := connection.recv(65536):
                    answer += part
            return answer


def steady_port():
    """A free port that no outgoing connection is given meanwhile: for a server that is to be started there again."""
    for port in random.SystemRandom().sample(range(20_000, 32_000), 100):  # systems take theirs from above
        with socket.socket() as trying, contextlib.suppress(OSError):
            trying.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


class Answer(NamedTuple):
    status: int
    headers: dict
    body: bytes

    def json(self):
        return json.loads(self.body)


class Stream:
    """The server-sent events of a study."""

    def __init__(self, server, study):
        self.connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=PATIENCE)
        self.connection.request("GET", f"/api/v1/studies{study}/events")
        self.response = self.connection.getresponse()
        self.status = self.response.status

    def next(self):
        """The next event: its kind and what it says; None at the end."""
        fields = {}
        while line := self.response.readline().decode():
            name, _, value = line.rstrip("\n").partition(": ")
            if not line.strip() and "data" in fields:
                return fields["event"], json.loads(fields["data"])
            if name:
                fields[name] = value
        return None

    def close(self):
        self.connection.close()
        self.response.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def open_stream(server, study):
    """A stream that was admitted, past its first view: streams closed before may count for a moment."""
    while True:
        stream = Stream(server, study)
        event = stream.next() if stream.status == 200 else None
        if event is not None and event[0] == "view":
            return stream
        stream.close()


def refused(answer, status, message, kind=None):
    """A refusal says what is wrong, in the same form always."""
    assert (answer.status, answer.headers["content-type"]) == (status, "application/problem+json"), answer.body
    body = answer.json()
    assert body["status"] == status
    assert re.search(message, body["detail"]), body["detail"]
    if kind is not None:
        assert body["type"] == f"urn:mfbai:{kind}"
    return True


def journal(server, study):
    return server.get(f"{study}/journal").json()["events"]


def kinds(server, study):
    return [event["kind"] for event in journal(server, study)]
