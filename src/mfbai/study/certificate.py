"""Certificates: a study's journal in a file, which anyone can replay to see that the verdict follows from it."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mfbai._version import __version__
from mfbai.checks import real
from mfbai.errors import InvalidInput
from mfbai.study.fold import BEARS, VARIED, Cell, Fold, contradiction
from mfbai.study.journal import NOTHING, canonical, seal
from mfbai.study.ledger import readable
from mfbai.study.parts import entries_of
from mfbai.study.settings import UNSAID, Settings, read_settings
from mfbai.study.verdict import Verdict
from mfbai.text import printable
from mfbai.textfiles import write_text

if TYPE_CHECKING:
    from mfbai.study.standing import Standing

FORMAT = "mfbai certificate 1"
# The entries of an event, besides its number, time, kind and hash; the first one has the settings instead.
ENTRIES = {
    "ask": ("trial", "arm", "fidelity", "seed"),
    "tell": ("trial", "value"),
    "fail": ("trial", "reason"),
    "add": ("arm", "fidelity", "values"),
    "verdict": ("state", "arm", "risk", "cost", "told", "alarms", VARIED, *BEARS),
}
LATER = {VARIED, *BEARS}  # of a verdict, entries that journals of earlier versions do not have
PLACE = ("seed_number", "part")  # further entries of "ask" where arms are compared in rounds
SETTINGS = {entry.name for entry in dataclasses.fields(Settings)}
LEFT_OUT = {"seeds", *UNSAID}  # settings that journals may leave out; those of mfbai 0.1.0 do, and variance alarms
VERSIONS = ("mfbai", "numpy", "numba", "python", "machine")
VERSION = re.compile(r"\d+(\.\d+)+([a-z]\w*)?([-.+]\w+)*\+?", re.ASCII)  # 2.1.0, 3.14.0rc1+, 2.4.0.dev0+git.1a2b
CLOSE = 1e-6  # relative difference that another machine's arithmetic may make, in what a verdict says of its risk


@dataclass(frozen=True)
class Verification:
    """The result of checking a certificate or a report; true if all of it is confirmed.

    confirmed  whether it is
    reason     why, or why not, in one sentence
    event      the first event that differs; None if there is none
    study      the name of the study
    verdict    its `Verdict`; None if it has none
    unchecked  true if only the journal of a report is confirmed: the page around it is another version's

    >>> from mfbai import Bernoulli, Problem, create_study, verify
    >>> study = create_study(Problem(["old", "new"], costs=1, biases=0, family=Bernoulli()), 0.05, storage="sqlite://")
    >>> study.tell(study.ask(), 1)
    >>> certificate = study.export()
    >>> bool(verify(certificate))
    True
    >>> certificate["journal"][2]["value"] = 0.0
    >>> found = verify(certificate)
    >>> found.confirmed, found.event
    (False, 2)
    """

    confirmed: bool
    reason: str
    event: int | None = None
    study: str | None = None
    verdict: Verdict | None = None
    unchecked: bool = False

    def __bool__(self) -> bool:
        return self.confirmed


class Differs(Exception):  # noqa: N818
    """A certificate says something that no study would have written."""


class Unreadable(Exception):  # noqa: N818
    """A file that cannot be a certificate."""


class Recomputed(Differs):
    """An event differs from what this version of mfbai computes; another version may compute something else."""


def make_certificate(study: Standing) -> dict[str, Any]:
    """The certificate of a study as it stands."""
    with readable(study.name):
        events = [{**event.body, "hash": event.hash} for event in study.journal()]
        verdicts = [event for event in events if event["kind"] == "verdict"]
    study.read_label()  # it may have been deleted while its events were read
    return {
        "format": FORMAT,
        "study": study.settings.name,  # the one it was created with, as the journal has it
        "problem": study.problem.to_dict(),
        "verdict": verdicts[0] if verdicts else None,
        "versions": {
            "mfbai": __version__,
            "numpy": np.__version__,
            "numba": version("numba"),
            "python": platform.python_version(),
            "machine": platform.machine(),
        },
        "events": len(events),
        "head": events[-1]["hash"],
        "journal": events,
    }


def write_certificate(certificate: Mapping[str, Any], path: str | Path) -> None:
    """Write the whole file or nothing; a line for each event."""
    write_text(lines_of(certificate), path)


def lines_of(certificate: Mapping[str, Any]) -> Iterator[str]:
    """The text of a certificate, piece by piece: a line for each event."""
    rest = {name: value for name, value in certificate.items() if name != "journal"}
    yield json.dumps(rest, indent=2, allow_nan=False).removesuffix("\n}") + ',\n  "journal": [\n'
    last = len(certificate["journal"]) - 1
    for n, event in enumerate(certificate["journal"]):
        yield f"    {json.dumps(event, allow_nan=False)}{',' if n < last else ''}\n"
    yield "  ]\n}\n"


def replay(document: Any) -> Verification:
    """Replay a certificate that was read, as `verify` says."""
    if not isinstance(document, Mapping) or document.get("format") != FORMAT:
        return Verification(False, f'this is not a certificate: it does not say "format": "{FORMAT}"')
    events = document.get("journal")
    if not isinstance(events, list) or not events or not all(isinstance(event, Mapping) for event in events):
        return Verification(False, "the certificate has no journal")
    n = 0
    audit: Audit | None = None
    try:
        head = NOTHING
        for n, event in enumerate(events):
            head = _check_seal(n, event, head)
            if audit is None:
                audit = Audit(event)
            audit.take_in(event)
        assert audit is not None
        n = len(events)
        audit.check_end()
        _check_frame(document, audit, head)
    except Differs as difference:
        where = f"event {n}" if n < len(events) else "after the last event"
        hint = _hint(document) if isinstance(difference, Recomputed) else ""
        return Verification(False, printable(f"{where}: {difference}{hint}"), n, _name(audit))
    except Exception as error:  # whatever a forger may write
        told = printable(f"event {n}: it cannot be replayed: {type(error).__name__}: {error}")
        return Verification(False, told, n, _name(audit))
    return Verification(True, "every event follows from those before it", None, _name(audit), audit.fold.verdict)


class Audit:
    """Replays a journal and compares each event with what should have happened."""

    def __init__(self, first: Mapping[str, Any]) -> None:
        if first.get("kind") != "create":
            raise Differs("the first event does not create a study")
        stated = SETTINGS - (LEFT_OUT - set(first))
        _check_entries(first, {"mfbai", *stated})
        if not isinstance(first.get("mfbai"), str):
            raise Differs("it does not say which version of mfbai created the study")
        try:
            self.settings: Settings = read_settings(first)
        except InvalidInput as error:
            raise Differs(f"the study could not have been created: {error}") from None
        if canonical(self.settings.to_dict()) != canonical({name: first[name] for name in stated}):
            raise Differs("the study could not have been created so: its settings are not as they would be written")
        self.fold = Fold(self.settings)

    def take_in(self, event: Mapping[str, Any]) -> None:
        kind = event.get("kind")
        checks = {"ask": self._ask, "tell": self._tell, "fail": self._close, "add": self._add, "verdict": self._verdict}
        if self.fold.events > 0:
            if not isinstance(kind, str) or kind not in checks:
                raise Differs(f"there is no event {kind!r}")
            if kind != "verdict":
                self._check_no_verdict_is_due()
            checks[kind](event)
            more = self._further_entries(event)
            unsaid = LATER - set(event)  # the replay finds what they say, so leaving them out hides nothing
            _check_entries(event, {*ENTRIES[kind], *more} - unsaid)
        self.fold.apply(event, str(event["hash"]))

    def _further_entries(self, event: Mapping[str, Any]) -> tuple[str, ...]:
        if event["kind"] == "ask" and self.settings.in_rounds:
            return PLACE
        controlled = event["kind"] == "tell" and self.settings.problem.controls[self.fold.open[event["trial"]][1]]
        return ("parts",) if controlled else ()

    def check_end(self) -> None:
        self._check_no_verdict_is_due()

    def _check_no_verdict_is_due(self) -> None:
        due = self.fold.conclusion()
        if due is not None:
            raise Recomputed(f"here the study is {due['state']}, but the journal has no verdict")

    def _ask(self, event: Mapping[str, Any]) -> None:
        if self.fold.verdict is not None:
            raise Differs("an evaluation was handed out after the verdict")
        wanted = self.fold.next_trial()
        for entry, value in wanted.items():
            if not same(event.get(entry), value):
                raise Recomputed(f"the {entry} handed out is {event.get(entry)!r}, the replay gives {value!r}")
        if not self.fold.affords((wanted["arm"], wanted["fidelity"])):
            raise Differs("an evaluation was handed out beyond the budget")

    def _close(self, event: Mapping[str, Any]) -> None:
        trial = event.get("trial")
        if type(trial) is not int or trial not in self.fold.open:
            raise Differs(f"trial {trial!r} is not under way")
        if not isinstance(event.get("reason", ""), str):
            raise Differs("its reason is not text")

    def _tell(self, event: Mapping[str, Any]) -> None:
        self._close(event)
        cell = self.fold.open[event["trial"]]
        self._check_values(cell, [event.get("value")])
        if self.settings.problem.controls[cell[1]] is not None:
            self._check_parts(cell[1], event)

    def _check_parts(self, fidelity: int, event: Mapping[str, Any]) -> None:
        """The value is that of the parts, to the bit."""
        parts = event.get("parts")
        if not isinstance(parts, list) or not all(isinstance(part, float) for part in parts):
            raise Differs("the values of its parts are not as they would be written")
        try:
            found = entries_of(self.settings, parts, fidelity)["value"]
        except InvalidInput as error:
            raise Differs(f"its parts are impossible: {error}") from None
        if found != event["value"]:
            raise Differs(f"its value is {event['value']!r}, but that of its parts is {found!r}")

    def _add(self, event: Mapping[str, Any]) -> None:
        K, M = self.settings.problem.shape
        arm, fidelity, values = event.get("arm"), event.get("fidelity"), event.get("values")
        inside = type(arm) is int and type(fidelity) is int and 0 <= arm < K and 0 <= fidelity < M
        if not inside or not isinstance(values, list) or self.fold.verdict is not None:
            raise Differs("these values cannot be added")
        assert isinstance(arm, int)
        assert isinstance(fidelity, int)
        taken_over = self.fold.imported + len(values) <= self.settings.taken_over
        why = self.settings.refusal_to_add(fidelity, taken_over=taken_over)
        if why is not None:
            raise Differs(f"these values cannot be added: {why}")
        self._check_values((arm, fidelity), values)

    def _check_values(self, cell: Cell, values: list[Any]) -> None:
        for value in values:
            try:
                as_written = isinstance(value, float) and self.settings.check_value(value, cell[1]) == value
            except InvalidInput:
                as_written = False
            if not as_written:
                raise Differs(f"the value {value!r:.60} is impossible")
        told = contradiction(self.fold, cell, values)
        if told is not None:
            raise Differs(f"a value {told}")

    def _verdict(self, event: Mapping[str, Any]) -> None:
        due = self.fold.conclusion()
        if due is None:
            raise Recomputed(
                f"the journal says {event.get('state')!r}, but here the evaluations do not allow a verdict"
            )
        for entry, value in due.items():
            unsaid = entry in LATER and entry not in event
            if not unsaid and not same(event.get(entry), value):
                raise Recomputed(f"the verdict's {entry} is {event.get(entry)!r}, the replay gives {value!r}")


def parse(text: str) -> Any:
    """What JSON says, if that can be read in one way only."""
    try:
        return json.loads(text, object_pairs_hook=_once)
    except ValueError as error:
        raise Unreadable(f"it is not JSON: {error}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object whose keys are unique: of two entries with one key, some readers see the first, others the last."""
    made = dict(pairs)
    if len(made) < len(pairs):
        raise Unreadable("it has a key twice in one object")
    return made


def _check_entries(event: Mapping[str, Any], wanted: Iterable[str]) -> None:
    """An event says what it must, and no more: every word of a confirmed certificate has been checked."""
    odd = set(event) ^ {"n", "at", "kind", "hash", *wanted}
    if odd:
        raise Differs(f"its entry {min(odd)!r} should not be there, or is missing")
    at = real(event["at"])
    if at is None or not 0 <= at < math.inf:
        raise Differs(f"its time is {event['at']!r}")


def _check_seal(n: int, event: Mapping[str, Any], before: str) -> str:
    body = {name: value for name, value in event.items() if name != "hash"}
    try:
        found = seal(before, canonical(body))
    except ValueError:
        raise Differs("it holds a number that is not finite") from None
    if not same(event.get("n"), n):
        raise Differs(f"its number is {event.get('n')!r}: an event is missing, or there is one too many")
    if event.get("hash") != found:
        raise Differs("its hash does not fit: it, or an event before it, was changed")
    return found


def _check_frame(document: Mapping[str, Any], audit: Audit, head: str) -> None:
    """Check what the certificate says outside its journal."""
    journal = document["journal"]
    verdicts = [event for event in journal if event.get("kind") == "verdict"]
    wanted = {
        "study": audit.settings.name,
        "problem": journal[0]["problem"],
        "verdict": verdicts[0] if verdicts else None,
        "events": len(journal),
        "head": head,
    }
    for entry, value in wanted.items():
        if entry not in document or canonical({"": document[entry]}) != canonical({"": value}):
            raise Differs(f"the {entry} that the certificate states is not that of its journal")
    if not _are_versions(document.get("versions")):
        raise Differs("the versions that it was made with are not as they would be written")
    odd = set(document) ^ {"format", "versions", "journal", *wanted}
    if odd:
        raise Differs(f"the certificate's entry {min(map(str, odd))!r} should not be there, or is missing")


def _are_versions(given: Any) -> bool:
    if not isinstance(given, Mapping) or set(given) != set(VERSIONS):
        return False
    return all(_is_word(told) if name == "machine" else _is_version(told) for name, told in given.items())


def same(told: Any, found: Any) -> bool:
    """Equal; numbers with a fraction up to what another machine's arithmetic may change."""
    if isinstance(found, float):
        number = real(told)
        return number is not None and math.isclose(number, found, rel_tol=CLOSE, abs_tol=1e-300)
    if isinstance(found, Mapping):
        return isinstance(told, Mapping) and told.keys() == found.keys() and all(same(told[k], found[k]) for k in told)
    if isinstance(found, list):
        return isinstance(told, list) and len(told) == len(found) and all(map(same, told, found))
    return type(told) is type(found) and bool(told == found)


def _hint(document: Mapping[str, Any]) -> str:
    versions = document.get("versions")
    made = versions.get("mfbai") if isinstance(versions, Mapping) else None
    if not _is_version(made) or made == __version__:
        return ""
    return f" (it was made by mfbai {made}, and this is {__version__}: strategies may differ)"


def _is_word(text: Any) -> bool:
    return isinstance(text, str) and len(text) <= 40 and text.isprintable()


def _is_version(text: Any) -> bool:
    return _is_word(text) and VERSION.fullmatch(text) is not None


def _name(audit: Audit | None) -> str | None:
    return None if audit is None else audit.settings.name
