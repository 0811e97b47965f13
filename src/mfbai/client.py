"""Studies on a server (`mfbai serve`), with the methods of `Study`."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import ssl
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from numbers import Integral, Real
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, quote, urlsplit

from mfbai import errors
from mfbai._version import __version__
from mfbai.analysis.evidence import read_problem
from mfbai.checks import real
from mfbai.errors import Fault, Faults, InvalidInput, MfbaiError, StorageError
from mfbai.model.instance import Instance
from mfbai.model.problem import Problem
from mfbai.model.spec import load
from mfbai.study import Status, Trial, Verdict
from mfbai.study.certificate import write_certificate
from mfbai.study.history import Point
from mfbai.study.journal import Event, canonical
from mfbai.study.limits import LEASE, LONGEST_REASON
from mfbai.study.parts import read_told
from mfbai.study.settings import STOP, Bias, Settings, check_name, read_settings
from mfbai.study.status import status_from_dict, trial_from_dict
from mfbai.study.storage import NameTaken

SERVER = "http://127.0.0.1:8400"
PATIENCE = 60.0  # seconds that a server may be away
TIMEOUT = 180.0  # seconds that an answer may take: the server may have to compile
PAUSES = (0.05, 2.0)  # seconds before the second attempt, and before later ones at most
AWAY = (502, 503, 504)  # statuses of a server whose storage, or which itself, is away for a moment


class Client:
    """The studies of a server.

    url        the address that `mfbai serve` prints
    token      the server's token, if it needs one; by default that of the environment variable MFBAI_TOKEN
    patience   seconds for which a call is repeated while the server is away

    Several threads may share a client. `create_study` and `add` cannot be done twice: they are not sent again once they
    may have arrived.
    """

    def __init__(self, url: str = SERVER, *, token: str | None = None, patience: float = PATIENCE) -> None:
        faults = Faults()
        self.url = str(url).rstrip("/")
        parts = _split(self.url)
        if parts is None:
            faults.add("url", f"is {url!r:.80}: give the address of a server, such as {SERVER}")
        seconds = real(patience)
        if seconds is None or not 0 <= seconds <= 1e9:
            faults.add("patience", f"is {patience!r:.60}: give a number of seconds, 0 or more")
        given = os.environ.get("MFBAI_TOKEN", "").strip() if token is None else token
        if not isinstance(given, str) or not given.isascii() or not all(map(str.isprintable, given)):
            faults.add("token", "cannot be sent: give the text that the server was given")
        faults.raise_if_any("call")
        assert parts is not None
        self._parts = parts
        self._token = given
        self._patience = float(patience)
        self._idle: list[http.client.HTTPConnection] = []  # connections that no thread uses now
        weakref.finalize(self, _close_all, self._idle)

    def __repr__(self) -> str:
        return f"<Client of {self.url}>"

    def create_study(
        self,
        problem: Problem | Instance | str | Path,
        delta: float,
        *,
        name: str | None = None,
        strategy: str | None = None,
        stopping: str | None = None,
        tolerance: float = 0.0,
        max_cost: float | None = None,
        direction: str | None = None,
        seeds: str | None = None,
        options: Mapping[str, float] | None = None,
        audit: float = 0.0,
        on_alarm: str = STOP,
    ) -> RemoteStudy:
        """Create a study on the server, as `mfbai.create_study` does. Spec files are read on this machine."""
        found = read_problem(load(problem, ties=True) if isinstance(problem, str | Path) else problem)
        asked: dict[str, Any] = {"name": name, "strategy": strategy, "stopping": stopping, "tolerance": tolerance}
        asked |= {"max_cost": max_cost, "direction": direction, "seeds": seeds, "audit": audit, "on_alarm": on_alarm}
        asked["options"] = None if options is None else dict(options)
        made = self.call("POST", "studies", {"spec": found.to_dict(), "delta": delta, **asked}, repeatable=False)
        return self._created(made)

    def _created(self, made: Any) -> RemoteStudy:
        with self.understanding():
            if not isinstance(given := made["name"], str):
                raise TypeError
        return self.load_study(given)

    def load_study(self, name: str) -> RemoteStudy:
        """A study that was created before."""
        faults = Faults()
        check_name(faults, name)
        faults.raise_if_any("call")
        answer = self.call("GET", f"studies/{quote(name, safe='')}")
        with self.understanding():
            return RemoteStudy(self, read_settings(answer))

    def list_studies(self) -> list[str]:
        """The names of the server's studies, in the order they were created."""
        names: list[str] = []
        while True:
            page = self.call("GET", f"studies?brief=true&limit=1000&offset={len(names)}")
            with self.understanding():
                names += [study["name"] for study in page["studies"]]
                if not page["studies"] or len(names) >= page["total"]:
                    return names[::-1]

    def choices(self) -> dict[str, Any]:
        """What a new study can be made of: strategies, rules, families, directions, defaults and limits."""
        found = self.call("GET", "choices")
        with self.understanding():
            if not isinstance(found["strategies"], list):
                raise TypeError
            return dict(found)

    def close(self) -> None:
        """End the connections that are not in use; the next call makes another."""
        _close_all(self._idle)

    def call(self, method: str, path: str, body: Any = None, *, repeatable: bool = True) -> Any:
        """The server's answer; its errors are raised as the library's own exceptions."""
        data = None if body is None else _encode(body)
        until = time.monotonic() + self._patience
        pause, longest = PAUSES
        while True:
            sent = False
            connection = None
            try:
                # An idle connection may be broken, which shows only after something was sent.
                connection = self._idle.pop() if self._idle and repeatable else self._connect()
                sent = True
                status, answer = self._exchange(connection, method, path, data)
                if status not in AWAY:
                    return _read(self.url, status, answer)
                failure: MfbaiError = _error(self.url, status, answer)
                sent = False  # it was refused
            except (OSError, http.client.HTTPException) as error:
                if connection is None and isinstance(error, ssl.SSLError) and not isinstance(error, ssl.SSLEOFError):
                    told = f"{self.url} cannot be reached by https ({error.reason or error})"
                    raise StorageError(f"{told}: `mfbai serve` itself speaks http; check the address") from None
                if connection is not None:
                    connection.close()
                failure = StorageError(f"{self.url} does not answer: {error}; check that `mfbai serve` runs there")
            if sent and not repeatable:
                raise StorageError(
                    f"{failure}; it is not known whether the call was carried out: look before you repeat it"
                )
            if time.monotonic() + pause > until:
                raise failure
            time.sleep(pause)
            pause = min(2 * pause, longest)

    @contextmanager
    def understanding(self) -> Iterator[None]:
        """Read an answer: raise StorageError if it is not one of mfbai's."""
        try:
            yield
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
            raise StorageError(f"{self.url} did not answer as mfbai does: check its address and version") from None

    def _connect(self) -> http.client.HTTPConnection:
        kind = http.client.HTTPSConnection if self._parts.scheme == "https" else http.client.HTTPConnection
        connection = kind(str(self._parts.hostname), self._parts.port, timeout=TIMEOUT)
        connection.connect()
        return connection

    def _exchange(
        self, connection: http.client.HTTPConnection, method: str, path: str, data: bytes | None
    ) -> tuple[int, bytes]:
        headers = {"Accept": "application/json", "User-Agent": f"mfbai/{__version__}"}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        if data is not None:
            headers["Content-Type"] = "application/json"
        connection.request(method, f"{self._parts.path}/api/v1/{path}", data, headers)
        response = connection.getresponse()
        answer = response.read()
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)
        return response.status, answer


class RemoteStudy:
    """A study on a server, with the methods of `Study`: see `Client.create_study` and `Client.load_study`."""

    def __init__(self, client: Client, settings: Settings) -> None:
        self.settings = settings
        self._client = client
        self._path = f"studies/{quote(settings.name, safe='')}"

    @property
    def name(self) -> str:
        return self.settings.name

    @property
    def problem(self) -> Problem:
        return self.settings.problem

    def __repr__(self) -> str:
        return f"<RemoteStudy {self.name!r} at {self._client.url}>"

    def ask(self, *, lease: float = LEASE) -> Trial:
        """The next evaluation to make. If the answer is lost and the call repeated, the trial is the same."""
        return self.ask_many(1, lease=lease)[0]

    def ask_many(self, n: int, *, lease: float = LEASE) -> list[Trial]:
        """Up to n evaluations to make at once."""
        answer = self._post("ask", {"n": n, "lease": lease, "request": secrets.token_hex(8)})
        with self._client.understanding():
            found = [trial_from_dict(trial) for trial in answer["trials"]]
            if not found:
                raise ValueError
            return found

    def tell(self, trial: Trial | str, value: float | Iterable[float]) -> None:
        """Report the value of a trial or, if it has parts, the list of theirs. It is on the server's disk when this
        returns. Repeating it changes nothing."""
        told = read_told(self.settings, value)
        self._post("tell", {"trial": _id(trial), "values" if isinstance(told, list) else "value": told})

    def fail(self, trial: Trial | str, reason: str = "") -> None:
        """Report that a trial has no value and never will."""
        if not isinstance(reason, str):
            raise InvalidInput([Fault("reason", f"is {reason!r:.60}: give text")])
        sendable = reason.encode("utf-8", "backslashreplace").decode("utf-8")
        self._post("fail", {"trial": _id(trial), "reason": sendable[:LONGEST_REASON]})

    def renew(self, trial: Trial | str, *, lease: float = LEASE) -> None:
        """Extend the lease of a trial that is still being evaluated: `lease` seconds from now."""
        self._post("renew", {"trial": _id(trial), "lease": lease})

    def release(self, trial: Trial | str) -> None:
        """Give a trial back: the next caller that asks receives it."""
        self._post("release", {"trial": _id(trial)})

    def add(self, arm: str | int, fidelity: str | int, values: float | Iterable[float]) -> None:
        """Count values that were measured elsewhere, 1000 at once at most. Not sent again if the answer is lost."""
        given = list(values) if isinstance(values, Iterable) and not isinstance(values, str | bytes) else [values]
        body = {"arm": arm, "fidelity": fidelity, "values": [self.check_value(value) for value in given]}
        if given:
            self._post("add", body, repeatable=False)

    def reopen(self, name: str, bias: Mapping[str, Bias], *, max_cost: float | None = None) -> RemoteStudy:
        """Go on with other bias bounds, in a new study on the server: see `Study.reopen`."""
        bounds = {fidelity: list(bound) if isinstance(bound, tuple) else bound for fidelity, bound in bias.items()}
        body = {"name": name, "bias": bounds, "max_cost": max_cost}
        return self._client._created(self._post("reopen", body, repeatable=False))

    @property
    def result(self) -> Verdict | None:
        """The verdict, once there is one."""
        return self.status().result

    def status(self) -> Status:
        """Where the study stands."""
        answer = self._get("status")
        with self._client.understanding():
            return status_from_dict(answer, self.problem)

    def history(self) -> list[Point]:
        """Risk and evidence over cost, up to now."""
        answer = self._get("view")
        with self._client.understanding():
            columns = answer["history"]
            rows = zip(columns["cost"], columns["risk"], columns["evidence"], columns["leader"], strict=True)
            return [
                Point(cost, risk, float("inf") if evidence is None else evidence, leader)
                for cost, risk, evidence, leader in rows
            ]

    def trials(self) -> list[tuple[str, tuple[int, int]]]:
        """The ids and cells (arm, fidelity) of the trials under way."""
        answer = self._get("trials")
        with self._client.understanding():
            return [(row["id"], (row["arm_index"], row["fidelity_index"])) for row in answer["trials"]]

    def journal(self, first: int = 0) -> Iterator[Event]:
        """The events from a number on, in the order they happened."""
        following: int | None = first
        while following is not None:
            page = self._get(f"journal?first={following}")
            with self._client.understanding():
                seals = [event.pop("hash") for event in page["events"]]
                events = [Event(canonical(event), seal) for event, seal in zip(page["events"], seals, strict=True)]
                following = page["next"]
            yield from events

    def export(self, path: str | Path | None = None) -> dict[str, Any]:
        """A certificate that anyone can check with `mfbai.verify`; also written to a file, if `path` is given."""
        made = self._get("export")
        if not isinstance(made, dict):
            with self._client.understanding():
                raise ValueError
        if path is not None:
            write_certificate(made, Path(path))
        return made

    def check_value(self, value: Any, fidelity: int | None = None) -> float:
        """The value as a number, if an evaluation of this problem can return it: at that fidelity, or at any."""
        return self.settings.check_value(value, fidelity)

    def _get(self, what: str) -> Any:
        return self._client.call("GET", f"{self._path}/{what}")

    def _post(self, what: str, body: dict[str, Any], *, repeatable: bool = True) -> Any:
        return self._client.call("POST", f"{self._path}/{what}", body, repeatable=repeatable)


def _close_all(connections: list[http.client.HTTPConnection]) -> None:
    while connections:
        connections.pop().close()


def _id(trial: Trial | str) -> Any:
    return trial.id if isinstance(trial, Trial) else trial


def _encode(body: Any) -> bytes:
    try:
        return json.dumps(body, allow_nan=False, default=_number).encode("ascii")
    except (TypeError, ValueError) as error:
        raise InvalidInput([Fault("call", f"cannot be sent as JSON: {error}")]) from None


def _number(value: Any) -> int | float:
    """For JSON: a number of any type, as `Study` takes it."""
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    raise TypeError(f"{value!r:.60} is no number")


def _split(url: str) -> SplitResult | None:
    """The parts of a server's address; None if it is none."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return None
    plain = url.isascii() and url.isprintable() and " " not in url
    good = plain and parts.scheme in ("http", "https") and parts.hostname and port != 0
    return None if not good or parts.query or parts.fragment or parts.username else parts


def _read(url: str, status: int, answer: bytes) -> Any:
    if status >= 400:
        raise _error(url, status, answer)
    try:
        return json.loads(answer)
    except (ValueError, RecursionError):
        raise StorageError(f"{url} did not answer in JSON: check that `mfbai serve` runs there") from None


def _error(url: str, status: int, answer: bytes) -> MfbaiError:
    """The exception that the answer describes."""
    try:
        body = json.loads(answer)
        name, told = body["type"].rpartition(":")[2], str(body["detail"])
        faults = [Fault(fault["field"], fault["message"]) for fault in body.get("faults") or []]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return StorageError(f"{url} answered {status}, and not as mfbai does: check that `mfbai serve` runs there")
    kind = NameTaken if name == "NameTaken" else getattr(errors, name, None)
    if isinstance(kind, type) and issubclass(kind, InvalidInput):
        return kind(faults or [Fault("call", f"was refused: {told}")])
    if isinstance(kind, type) and issubclass(kind, MfbaiError):
        return kind(told)
    if status < 500:
        return InvalidInput([Fault(url, f"refused the call: {told}")])
    return StorageError(f"{url} answered {status}: {told}")
