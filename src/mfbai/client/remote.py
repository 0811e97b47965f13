"""A study on a server, with the methods of `Study`."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

from mfbai.client.calls import Caller, hurried
from mfbai.errors import Fault, Faults, InvalidInput, StudyGone, StudyOver, StudyRenamed
from mfbai.model.problem import Problem
from mfbai.study import Status, Trial, Verdict
from mfbai.study.care import check_note, check_tags
from mfbai.study.certificate import write_certificate
from mfbai.study.history import Point
from mfbai.study.journal import Event, Journal, canonical
from mfbai.study.limits import LEASE, LONGEST_REASON
from mfbai.study.parts import Told, read_told
from mfbai.study.settings import Bias, Settings, check_name, read_settings
from mfbai.study.shown import Shown
from mfbai.study.status import status_from_dict, trial_from_dict, verdict_from_dict
from mfbai.study.storage import Label
from mfbai.study.study import check_worker
from mfbai.study.table import frame_of, read_csv
from mfbai.textfiles import write_text

if TYPE_CHECKING:
    from pandas import DataFrame

RESULTS_AT_ONCE = 1000
VALUES_AT_ONCE = 100_000  # of trials with parts
SOON = 1.0  # seconds that a server may be away for those who only want to look
MOST_RENAMED = 3  # times during one call

T = TypeVar("T")


class RemoteStudy(Shown):
    """A study on a server, with the methods of `Study`: see `Client.create_study` and `Client.load_study`."""

    def __init__(self, client: Caller, settings: Settings, name: str | None = None) -> None:
        self.settings = settings
        self._client = client
        self._name = settings.name if name is None else name
        self._state = "running"
        self._verdict: Verdict | None = None  # once it is known: it never changes

    @property
    def name(self) -> str:
        """Its name, as it was when the server last said something about it: it can be changed."""
        return self._name

    @property
    def problem(self) -> Problem:
        return self.settings.problem

    @property
    def storage(self) -> str:
        """The address of the server."""
        return self._client.url

    @property
    def state(self) -> str:
        """ "running", "decided", "undecided" or "alarm", as the last answer said: nothing is asked, so it is quick."""
        return self._state

    def warm_up(self) -> None:
        """Does nothing: the server has the study open, with all that it needs, before it returns its settings."""

    def __repr__(self) -> str:
        return f"<RemoteStudy {self.name!r} at {self._client.url}>"

    def ask(self, *, lease: float = LEASE, worker: str | None = None) -> Trial:
        """The next evaluation to make. If the answer is lost and the call repeated, the trial is the same.

        `worker` is a name for tables (`to_frame`): by default that of this machine, and the number of this process.
        """
        return self.ask_many(1, lease=lease, worker=worker)[0]

    def ask_many(self, n: int, *, lease: float = LEASE, worker: str | None = None) -> list[Trial]:
        """Up to n evaluations to make at once."""
        faults = Faults()
        named = check_worker(faults, worker)
        faults.raise_if_any("call")
        answer = self._post("ask", {"n": n, "lease": lease, "request": secrets.token_hex(8), "worker": named})
        with self._client.understanding():
            found = [trial_from_dict(trial) for trial in answer["trials"]]
            if not found:
                raise ValueError
            return found

    def tell(self, trial: Trial | str, value: float | Iterable[float]) -> None:
        """Report the value of a trial or, if it has parts, the list of theirs. It is on the server's disk when this
        returns. Repeating it changes nothing."""
        self._post("tell", _result(trial, read_told(self.settings, value)))

    def tell_many(self, results: Iterable[tuple[Trial | str, float | Iterable[float]]]) -> None:
        """Report many results, as pairs of a trial and its value. Repeating it changes nothing.

        They are sent 1000 at a time, fewer if they have many parts; of these, all are kept or none, and they are on the
        server's disk before the next are sent.
        """
        bodies = [_result(trial, read_told(self.settings, value)) for trial, value in results]
        for some in _batches(bodies):
            self._post("tell-many", {"results": some})

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
        return created(self._client, self._post("reopen", body, repeatable=False))

    @property
    def result(self) -> Verdict | None:
        """The verdict, once there is one. It never changes."""
        if self._verdict is None:
            answer = self._get("result")
            with self._client.understanding():
                self._verdict = None if answer["result"] is None else verdict_from_dict(answer["result"], self.problem)
        return self._verdict

    def status(self) -> Status:
        """Where the study stands."""
        answer = self._get("status")
        with self._client.understanding():
            return status_from_dict(answer, self.problem)

    def _status_soon(self) -> Status:
        with hurried(SOON):
            return self.status()

    def history(self) -> list[Point]:
        """Risk and evidence over cost, up to now."""
        answer = self._get("view")
        with self._client.understanding():
            columns = answer["history"]
            shares = columns.get("spent") or []  # of the arms that a page shows: of all, if they are few
            whole = shares if len(shares) == self.problem.n_arms else []
            rows = zip(columns["cost"], columns["risk"], columns["evidence"], columns["leader"], *whole, strict=True)
            return [
                Point(cost, risk, float("inf") if evidence is None else evidence, leader, tuple(spent))
                for cost, risk, evidence, leader, *spent in rows
            ]

    def trials(self) -> list[tuple[str, tuple[int, int]]]:
        """The ids and cells (arm, fidelity) of the trials under way."""
        answer = self._get("trials")
        with self._client.understanding():
            return [(row["id"], (row["arm_index"], row["fidelity_index"])) for row in answer["trials"]]

    def journal(self, first: int = 0) -> Journal:
        """The events from a number on, in the order they happened: a sequence, which reads what is looked at."""
        return Journal(self._events, self.length, first)

    def length(self) -> int:
        """How many events the journal has."""
        found = self._get("label")
        with self._client.understanding():
            return int(found["events"])

    def _events(self, first: int) -> Iterator[Event]:
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
            write_certificate(made, path)
        return made

    def report(self, path: str | Path | None = None) -> str:
        """The certificate as a web page that opens without a server: see `Study.report`."""
        text = self._text_of("report")
        if path is not None:
            write_text([text], path)
        return text

    def to_frame(self) -> DataFrame:
        """A pandas table with a row for each trial: see `Study.to_frame`."""
        text = self.to_csv()
        with self._client.understanding():
            rows = read_csv(text)
        return frame_of(rows)

    def to_csv(self, path: str | Path | None = None) -> str:
        """The same table as CSV; also written to a file, if `path` is given."""
        text = self._text_of("trials.csv")
        if path is not None:
            write_text([text], path)
        return text

    def _text_of(self, what: str) -> str:
        """A file of the server's."""
        with self._client.understanding():
            return self._kept(lambda where: self._client.call_for_bytes("GET", f"{where}/{what}{self._key}")).decode()

    # --- care

    @property
    def label(self) -> Label:
        """Its name, note and tags and whether it is paused."""
        return self._labelled(self._get("label"))

    @property
    def note(self) -> str:
        """What people wrote about the study, in Markdown."""
        return self.label.note

    @property
    def tags(self) -> tuple[str, ...]:
        """Words to find the study by."""
        return self.label.tags

    @property
    def paused(self) -> bool:
        """Whether it hands out nothing for now."""
        return self.label.paused

    def rename(self, name: str) -> None:
        """Give the study another name."""
        faults = Faults()
        check_name(faults, name)
        faults.raise_if_any("call")
        self._labelled(self._post("rename", {"name": name}))

    def pause(self) -> None:
        """Hand out nothing until `resume`. Results of what is under way are accepted."""
        self._post("pause", {})

    def resume(self) -> None:
        """Hand out evaluations again."""
        self._post("resume", {})

    def set_note(self, text: str, *, before: str | None = None) -> None:
        """Replace the note: see `Study.set_note`."""
        self._post("note", {"text": check_note(text), "before": before})

    def set_tags(self, tags: Iterable[str], *, before: Iterable[str] | None = None) -> None:
        """Replace the tags: see `Study.set_tags`."""
        self._post("tags", {"tags": check_tags(tags), "before": None if before is None else list(before)})

    def delete(self) -> None:
        """Remove the study from the server's storage. It cannot be undone; export its certificate first."""
        try:
            self._post("delete", {"name": self._name})
        except StudyGone:  # an earlier attempt, whose answer was lost
            return

    def _labelled(self, answer: Any) -> Label:
        with self._client.understanding():
            self._name = answer["name"]
            return Label(answer["name"], answer["paused"], answer["note"], tuple(answer["tags"]))

    def check_value(self, value: Any, fidelity: int | None = None) -> float:
        """The value as a number, if an evaluation of this problem can return it: at that fidelity, or at any."""
        return self.settings.check_value(value, fidelity)

    def _get(self, what: str) -> Any:
        joined = self._key.replace("?", "&") if "?" in what else self._key
        return self._heard(self._kept(lambda path: self._client.call("GET", f"{path}/{what}{joined}")))

    def _post(self, what: str, body: dict[str, Any], *, repeatable: bool = True) -> Any:
        try:
            return self._heard(
                self._kept(
                    lambda path: self._client.call("POST", f"{path}/{what}{self._key}", body, repeatable=repeatable)
                )
            )
        except StudyOver as over:
            self._state = over.state or self.status().state  # an earlier version of the server does not say
            raise

    @property
    def _key(self) -> str:
        """With it, the server recognises the study if that was renamed."""
        return f"?key={self.settings.key}"

    def _kept(self, call: Callable[[str], T]) -> T:
        """Call the study by its path; under its new name, if it was renamed."""
        for _ in range(MOST_RENAMED):
            try:
                return call(_path(self._name))
            except StudyRenamed as renamed:
                if renamed.name is None:
                    raise
                self._name = renamed.name
        return call(_path(self._name))

    def _heard(self, answer: Any) -> Any:
        """Remember the state that an answer says."""
        said = answer.get("state") if isinstance(answer, dict) else None
        if isinstance(said, str):
            self._state = said
        return answer


def loaded(client: Caller, name: str) -> RemoteStudy:
    """The study of that name."""
    answer = client.call("GET", _path(name))
    with client.understanding():
        return RemoteStudy(client, read_settings(answer), name)


def created(client: Caller, made: Any) -> RemoteStudy:
    """The study that an answer says was made."""
    with client.understanding():
        if not isinstance(given := made["name"], str):
            raise TypeError
    return loaded(client, given)


def _path(name: str) -> str:
    return f"studies/{quote(name, safe='')}"


def _id(trial: Trial | str) -> Any:
    return trial.id if isinstance(trial, Trial) else trial


def _result(trial: Trial | str, told: Told) -> dict[str, Any]:
    return {"trial": _id(trial), "values" if isinstance(told, list) else "value": told}


def _batches(results: list[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    """Lists that the server takes, in the same order."""
    batch: list[dict[str, Any]] = []
    size = 0
    for result in results:
        values = len(result.get("values", ()))
        if batch and (len(batch) >= RESULTS_AT_ONCE or size + values > VALUES_AT_ONCE):
            yield batch
            batch, size = [], 0
        batch.append(result)
        size += values
    if batch:
        yield batch
