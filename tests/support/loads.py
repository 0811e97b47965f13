"""Clients of a server, many at once: steady ones that are timed, and patient ones whose server is killed."""

import asyncio
import json
import random
import threading
import time
from typing import NamedTuple

import mfbai
from support.servers import PATIENCE, Server, steady_port

# All arms are the same, so there is never a verdict.
TIED = mfbai.Problem(
    ["north", "east", "south", "west"],
    costs=[0.1, 0.5, 2.0],
    biases=[0.1, 0.05, 0.0],
    family=mfbai.Gaussian(0.04),
    fidelities=["sketch", "model", "real"],
)
NEVER = 1e-9  # a risk that luck does not reach
LEASE = 1e6  # seconds: none runs out meanwhile


def evaluate(seed):
    return random.Random(seed).gauss(0.5, 0.2)


class Load(NamedTuple):
    """What the clients saw."""

    asks: list[float]  # seconds that each took
    tells: list[float]
    acknowledged: dict[str, float]  # trial: value
    errors: list[object]


def press(port, study, clients, rate, rounds):
    """So many clients ask and tell, each `rounds` times; all together `rate` times a second, if the server keeps up."""
    load = Load([], [], {}, [])
    chance = random.Random(1)

    async def all_of_them():
        began, pause = time.monotonic(), clients / rate
        starts = [began + chance.random() * pause for _ in range(clients)]
        await asyncio.gather(*(_press(port, study, due, pause, rounds, load) for due in starts))

    asyncio.run(all_of_them())
    return load


async def _press(port, study, due, pause, rounds, load):
    """At a steady pace: a call that comes late does not make the next one later."""
    connection = _Connection(port, study)
    for _ in range(rounds):
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        due += pause
        try:
            trial = await _ask(connection, load)
            value = evaluate(trial["seed"])
            began = time.monotonic()
            await connection.post("tell", {"trial": trial["id"], "value": value})
            load.tells.append(time.monotonic() - began)
            load.acknowledged[trial["id"]] = value
        except Exception as error:
            load.errors.append(error)
            connection.close()
    connection.close()


async def _ask(connection, load):
    """If a slow machine has too much under way, the study holds back: then wait and ask again, as any worker does."""
    while True:
        began = time.monotonic()
        try:
            (trial,) = (await connection.post("ask", {"lease": LEASE}))["trials"]
        except ValueError as refusal:
            if b"urn:mfbai:NothingToAsk" not in refusal.args[0]:
                raise
            await asyncio.sleep(0.05)
        else:
            load.asks.append(time.monotonic() - began)
            return trial


class _Connection:
    """As small as can be: it shares two cores with the server, which is what is measured."""

    def __init__(self, port, study):
        self.port, self.study = port, study
        self.reader = self.writer = None

    def close(self):
        if self.writer is not None:
            self.writer.close()
            self.writer = None

    async def post(self, verb, body):
        if self.writer is None:
            self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self.port)
        data = json.dumps(body).encode()
        head = f"POST /api/v1/studies/{self.study}/{verb} HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n\r\n"
        self.writer.write(head.encode() + data)
        headers = await self.reader.readuntil(b"\r\n\r\n")
        length = next(line for line in headers.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        answer = await self.reader.readexactly(int(length.split(b":")[1]))
        if not headers.startswith(b"HTTP/1.1 200 "):
            raise ValueError(answer)
        return json.loads(answer)


class Survivors:
    """Patient clients, each in a thread, that ask and tell while their server is killed and started again."""

    def __init__(self, storage, clients):
        self.server = Server(storage, port=steady_port())
        self.storage = storage
        self.acknowledged = {}  # trial: value
        self.received = []  # trials, as often as they were handed out
        self.errors = []
        self.stop = threading.Event()
        self._chance = random.Random(1)
        mfbai.Client(self.server.address).create_study(TIED, NEVER, name="kills")
        self.threads = [threading.Thread(target=self._work, daemon=True) for _ in range(clients)]
        for thread in self.threads:
            thread.start()

    def _work(self):
        try:
            study = mfbai.Client(self.server.address, patience=PATIENCE).load_study("kills")
            while not self.stop.is_set():
                trial = study.ask(lease=LEASE)
                self.received.append(trial.id)
                value = evaluate(trial.seed)
                study.tell(trial, value)
                self.acknowledged[trial.id] = value
        except Exception as error:
            self.errors.append(error)

    def kill_and_restart(self):
        """At a random moment of their work."""
        before = len(self.acknowledged)
        while len(self.acknowledged) < before + 20 and not self.errors:
            time.sleep(0.01)
        time.sleep(self._chance.random() * 0.1)  # the moment of the kill
        self.server.kill()
        self.server = Server(self.storage, port=self.server.port)

    def end(self):
        """Let all finish what they are at; then the server."""
        self.stop.set()
        for thread in self.threads:
            thread.join(PATIENCE)
        assert not any(thread.is_alive() for thread in self.threads)
        self.server.stop()


def told_in(study):
    """The values told, by trial; every trial was told once at most."""
    told = {}
    for event in study.journal():
        body = event.body
        if body["kind"] == "tell":
            trial = f"{body['trial']}-{study.settings.key}"
            assert trial not in told
            told[trial] = body["value"]
    return told
