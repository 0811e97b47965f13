"""The contract of storages, as checks that anyone can run on their own: `check_storage(make)`.

    from mfbai.testing import check_storage
    check_storage(lambda: f"mine://{tempfile.mkdtemp()}")

Every storage of the package passes it. Each check raises an AssertionError that says what is wrong.
"""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable, Sequence
from typing import Any

from mfbai.errors import UnknownName
from mfbai.study.journal import NOTHING, Event, canonical, seal
from mfbai.study.storage import Label, NameTaken, Storage, Turn

NAMES = ["zebra", "ape", "Ape", "ünïcode 🙂", "a'; DROP TABLE studies; --", "100%", "a/b\\c", "x" * 200]
TEXTS = ["", "ünïcode 🙂", "'; --", "\\", "\x00", "x" * 10_000, 0.1 + 0.2, 5e-324, -(2**53)]
WRITERS = 3
TURNS = 15  # of each writer
LONGEST = 300.0  # seconds that writers may take

Make = Callable[[], str | Storage]


def check_storage(make: Make) -> None:
    """Check a storage: all of its contract, with an `AssertionError` that says what it breaks.

    make  called again and again, it gives a place for studies that is empty: a URL, of a place that need not exist yet;
          then several storages and processes are let loose on it. Or an open storage, if that is kept in the memory of
          this process and nobody else can have it.

    >>> from mfbai.study.storage import Storage
    >>> from mfbai.testing import check_storage
    >>> check_storage(lambda: Storage("sqlite://", create=True))
    """
    check_names(_open(make))
    check_events(_open(make))
    check_rollback(_open(make))
    check_leases(_open(make))
    check_snapshots(_open(make))
    check_labels(_open(make))
    check_deletion(_open(make))
    check_overview(_open(make))
    check_threads(_open(make))
    place = make()
    if isinstance(place, str):
        check_missing(place)
        check_reopened(place)
        check_processes(place)


def check_names(storage: Storage) -> None:
    """Studies are listed in the order they were created, found by name, and no two have the same."""
    kind = _kind(storage)
    assert storage.names() == [], f"{kind}: a new storage lists studies: {storage.names()}"
    _check_unknown(storage, "none")
    numbers = [storage.create(name, _events(1)) for name in NAMES]
    listed = storage.names()
    assert listed == NAMES, f"{kind}: names() lists {listed}, created in the order {NAMES}"
    assert len(set(numbers)) == len(NAMES), f"{kind}: create() gave studies the same number: {numbers}"
    found = [storage.find(name) for name in NAMES]
    assert found == numbers, f"{kind}: find() gives the numbers {found}, create() gave {numbers}"
    _check_unknown(storage, "aper")
    try:
        storage.create("ape", _events(2))
    except NameTaken:
        pass
    else:
        raise AssertionError(f"{kind}: create() accepts a name that another study has; it must raise NameTaken")
    assert storage.names() == NAMES, f"{kind}: create() raised NameTaken and changed the list of studies"
    assert storage.length(numbers[1]) == 1, f"{kind}: create() raised NameTaken and changed the study of that name"


def check_events(storage: Storage) -> None:
    """Events come back byte for byte, in their order, each study with its own."""
    kind = _kind(storage)
    events = _events(60)
    study, other = storage.create("s", events[:2]), storage.create("other", events[:1])
    assert storage.length(study) == 2, f"{kind}: length() is {storage.length(study)} after create() with two events"
    trials = [None if n % 7 == 0 else n % 5 for n in range(len(events))]
    for first, last in ((2, 3), (3, 40), (40, 60)):
        with storage.turn(study) as turn:
            turn.append(first, list(zip(trials, events, strict=True))[first:last])
    with storage.turn(study) as turn:
        readers: dict[str, Callable[[int], list[Event]]] = {
            "Storage.read()": lambda first: list(storage.read(study, first)),
            "Turn.read()": lambda first: list(turn.read(first)),
        }
        inside = [readers["Turn.read()"](first) for first in (0, 25, 60)]
        of_trial = turn.events_of(3)
    outside = [readers["Storage.read()"](first) for first in (0, 25, 60)]
    for name, found in zip(readers, (outside, inside), strict=True):
        wanted = [events[first:] for first in (0, 25, 60)]
        assert found == wanted, f"{kind}: {name} does not give the events as they were appended, from a number on"
    wanted_of_trial = [event for trial, event in list(zip(trials, events, strict=True))[2:] if trial == 3]
    assert of_trial == wanted_of_trial, f"{kind}: events_of() does not give the events of a trial, in their order"
    assert storage.length(study) == 60, f"{kind}: length() is {storage.length(study)} after 60 events"
    assert list(storage.read(other, 0)) == events[:1], f"{kind}: events of one study are in another's journal"


def check_rollback(storage: Storage) -> None:
    """A turn that ends in an error leaves nothing behind, and the next one works."""
    kind = _kind(storage)
    events = _events(4)
    study = storage.create("s", events[:1])
    with storage.turn(study) as turn:
        turn.lease(1, 50.0, "r")
    for error in (ValueError, KeyboardInterrupt):
        try:
            with storage.turn(study) as turn:
                turn.append(1, [(1, events[1])])
                turn.lease(2, 50.0, "r")
                turn.end_lease(1)
                turn.keep_snapshot(2, "form", b"body")
                raise error
        except error:
            pass
        else:
            raise AssertionError(f"{kind}: turn() swallows a {error.__name__} of its block")
        told = f"{kind}: turn() ended in a {error.__name__}, and kept"
        assert storage.length(study) == 1, f"{told} an event"
        with storage.turn(study) as turn:
            assert turn.requested("r") == [1], f"{told} changes of leases"
            assert turn.snapshot_at() == 0, f"{told} a snapshot"
    with storage.turn(study) as turn:
        turn.append(1, [(1, events[1])])
    assert list(storage.read(study, 0)) == events[:2], f"{kind}: after a turn with an error, the next one fails"


def check_leases(storage: Storage) -> None:
    """Leases run out, are renewed, handed over and ended, and belong to requests."""
    kind = _kind(storage)
    study, other = storage.create("s", _events(1)), storage.create("other", _events(1))
    with storage.turn(study) as turn:
        first, now = turn.now(), turn.now()
        assert 0 < first <= now, f"{kind}: now() gives {first} and then {now}: it must be a time in seconds"
        for trial in (12, 2, 5, 9):
            turn.lease(trial, now + trial, "even" if trial % 2 == 0 else None)
    with storage.turn(other) as turn:
        turn.lease(2, now, "even")

    def check(told: str, now: float, expired: Sequence[int], requested: Sequence[int], most: int = 10) -> None:
        with storage.turn(study) as turn:
            found = turn.expired(now, most)
            assert found == expired, f"{kind}: {told}, expired() gives {found}, not {expired}"
            found = turn.requested("even")
            assert found == requested, f"{kind}: {told}, requested() gives {found}, not {requested}"

    check("before any lease has run out", now, [], [2, 12])
    check("at the very end of a lease", now + 2, [2], [2, 12])
    check("after three leases have run out", now + 10, [2, 5, 9], [2, 12])
    check("asked for two at most", now + 10, [2, 5], [2, 12], most=2)
    _change(storage, study, lambda turn: turn.renew(5, now + 100))
    _change(storage, study, lambda turn: turn.renew(7, now + 100))
    check("after renew(), also of a trial without a lease", now + 200, [2, 5, 9, 12], [2, 12])
    check("after renew()", now + 10, [2, 9], [2, 12])
    _change(storage, study, lambda turn: turn.hand_over(2, now + 50, "another"))
    check("after hand_over() to another request", now + 10, [9], [12])
    _change(storage, study, lambda turn: turn.hand_over(9, now + 1, "even"))
    check("after hand_over() to this request", now + 10, [9], [9, 12])
    _change(storage, study, lambda turn: turn.end_lease(9))
    check("after end_lease()", now + 10, [], [12])
    _change(storage, study, lambda turn: turn.lease_all([21, 22, 23], now, "even"))
    check("after lease_all()", now + 10, [21, 22, 23], [12, 21, 22, 23])
    _change(storage, study, lambda turn: turn.end_leases([21, 23]))
    check("after end_leases()", now + 10, [22], [12, 22])
    _change(storage, study, lambda turn: turn.end_leases([22]))
    _change(storage, study, lambda turn: turn.lease_all([], now, None))
    _change(storage, study, lambda turn: turn.end_leases([]))
    check("after both of no trials", now + 10, [], [12])
    with storage.turn(other) as turn:
        assert turn.requested("even") == [2], f"{kind}: leases of one study changed those of another"


def check_snapshots(storage: Storage) -> None:
    """There is one snapshot at most, and only readers of its format get it."""
    kind = _kind(storage)
    study, other = storage.create("s", _events(1)), storage.create("other", _events(1))
    assert storage.snapshot(study, "form") is None, f"{kind}: a study has a snapshot before any was kept"
    for n, form, body in ((5, "form", bytes(range(256)) * 40), (9, "form", b""), (11, "another form", b"x")):
        with storage.turn(study) as turn:
            before = turn.snapshot_at()
            turn.keep_snapshot(n, form, body)
        told = f"{kind}: after keep_snapshot({n}, {form!r})"
        with storage.turn(study) as turn:
            assert turn.snapshot_at() == n, f"{told} snapshot_at() is {turn.snapshot_at()}, and was {before} before"
        found = storage.snapshot(study, form)
        assert found == body, f"{told} snapshot() does not give its body"
    assert storage.snapshot(study, "form") is None, f"{told} snapshot() gives the one before, of another format"
    assert storage.snapshot(other, form) is None, f"{told} another study has it too"


def check_labels(storage: Storage) -> None:
    """A study's name, note, tags and pauses can be changed; its number, and its place in the list, stay."""
    kind = _kind(storage)
    study, other = storage.create("s", _events(2)), storage.create("other", _events(1))
    assert storage.label(study) == Label("s"), f"{kind}: the label of a new study is {storage.label(study)}"
    for name in NAMES:
        label = Label(name, name == "ape", name * 3, (name, "b"), len(name))
        _change(storage, study, lambda turn, label=label: turn.relabel(label))  # type: ignore[misc]
        with storage.turn(study) as turn:
            inside = turn.label()
        found = storage.label(study)
        assert found == inside == label, f"{kind}: after relabel({label}), label() gives {found}, in a turn {inside}"
        assert storage.find(name) == study, f"{kind}: find() does not give a study by its new name {name!r}"
    _check_unknown(storage, "s")
    assert storage.names() == [NAMES[-1], "other"], f"{kind}: relabel() changed the order of names(): {storage.names()}"
    assert storage.label(other) == Label("other"), f"{kind}: relabel() of one study changed another's label"
    assert storage.length(study) == 2, f"{kind}: relabel() changed the journal"
    for wanted, told in (("other", "a name that another study has"), ("free", "a name, and then raises")):
        try:
            with storage.turn(study) as turn:
                turn.append(2, [(None, _events(3)[2])])
                turn.relabel(label._replace(name=wanted))
                raise NameTaken([])
        except NameTaken:
            pass
        assert storage.label(study) == label, f"{kind}: a turn that takes {told} changed the label"
        assert storage.length(study) == 2, f"{kind}: a turn that takes {told} kept an event"
    with storage.turn(study) as turn:
        try:
            turn.relabel(label._replace(name="other"))
        except NameTaken:
            turn.append(2, [(None, _events(3)[2])])
        else:
            raise AssertionError(f"{kind}: relabel() accepts a name that another study has; it must raise NameTaken")
    assert storage.length(study) == 3, f"{kind}: after relabel() raised NameTaken, its turn kept nothing else"


def check_deletion(storage: Storage) -> None:
    """Of a deleted study nothing is left, and its number is not given to another one."""
    kind = _kind(storage)
    study, other = storage.create("s", _events(2)), storage.create("other", _events(1))
    with storage.turn(study) as turn:
        turn.lease(1, 50.0, "r")
        turn.assign([1], "worker")
        turn.keep_snapshot(2, "form", b"body")
        turn.keep_summary(2, "form", "text")
    _change(storage, study, lambda turn: turn.delete())
    assert storage.label(study) is None, f"{kind}: after delete(), label() gives {storage.label(study)}, not None"
    assert storage.names() == ["other"], f"{kind}: after delete(), names() gives {storage.names()}"
    _check_unknown(storage, "s")
    left = [list(storage.read(study, 0)), storage.snapshot(study, "form"), storage.workers(study)]
    assert not any(left), f"{kind}: delete() leaves {left} behind"
    assert study not in storage.summaries("form"), f"{kind}: delete() leaves a summary behind"
    assert [row.label.name for row in storage.overview()] == ["other"], f"{kind}: overview() has a deleted study"
    with storage.turn(study) as turn:
        assert turn.label() is None, f"{kind}: in a turn, label() of a deleted study is {turn.label()}, not None"
        assert turn.requested("r") == [], f"{kind}: delete() leaves leases behind"
    again = storage.create("s", _events(1))
    assert again not in (study, other), f"{kind}: create() gives the number of a deleted study again: {again}"
    assert storage.names() == ["other", "s"], f"{kind}: a study of a deleted one's name is not listed as the newest"


def check_overview(storage: Storage) -> None:
    """Studies are listed with their times, and found by their keys; what is kept of workers and summaries is right."""
    kind = _kind(storage)
    keys = ("0000beef", "0000cafe")
    for n, key in enumerate(keys):
        bodies = [{"n": k, "at": 1000.5 + k + n, "key": key, "problem": "x" * 500} for k in range(3)]
        events = [Event(canonical(body), seal(NOTHING, canonical(body))) for body in bodies]
        study = storage.create(key, events[: 1 + 2 * n])
        assert storage.find_key(key) == study, f"{kind}: find_key({key!r}) gives {storage.find_key(key)}, not {study}"
        with storage.turn(study) as turn:
            turn.assign([1, 2], "first")
            turn.hand_over(2, 50.0, None)
            turn.assign([2], "second")
            turn.assign([], "third")
            turn.keep_summary(2, "form", "old")
            turn.keep_summary(3, "form", "text")
        assert storage.workers(study) in ({}, {1: "first", 2: "second"}), f"{kind}: {storage.workers(study)=}"
        assert storage.summaries("form").get(study) in (None, (3, "text")), f"{kind}: {storage.summaries('form')=}"
        assert study not in storage.summaries("another form"), f"{kind}: summaries() gives those of another format"
    assert storage.find_key("00000000") is None, f"{kind}: find_key() of no study gives {storage.find_key('00000000')}"
    found = [(row.label.name, row.events, row.created, row.active) for row in storage.overview()]
    wanted = [(keys[0], 1, 1000.5, 1000.5), (keys[1], 3, 1001.5, 1003.5)]
    assert found == wanted, f"{kind}: overview() gives {found}, not {wanted}"


def check_threads(storage: Storage) -> None:
    """Threads that write to one study wait for each other."""
    study = storage.create("s", _events(1))
    errors: list[BaseException] = []

    def work() -> None:
        try:
            _write(storage, study)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work, daemon=True) for _ in range(WRITERS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(LONGEST)
        assert not thread.is_alive(), f"{_kind(storage)}: a thread that wants a turn never gets one"
    assert not errors, f"{_kind(storage)}: of {WRITERS} threads one failed: {errors[0]!r}"
    _check_written(storage, study, "threads")


def check_missing(url: str) -> None:
    """A place without studies is not opened, unless it is to be created."""
    try:
        Storage(url)
    except UnknownName:
        return
    told = "opens a place that has no studies; without create it must raise UnknownName"
    raise AssertionError(f"Storage({url!r}) {told}")


def check_reopened(url: str) -> None:
    """A second storage on the same URL sees what the first has written, and the other way round."""
    first = Storage(url, create=True)
    kind = _kind(first)
    events = _events(3)
    study = first.create("reopened", events[:1])
    second = Storage(url)
    assert second.names() == ["reopened"], f"{kind}: a second storage does not find the study of the first"
    with first.turn(study) as turn:
        turn.append(1, [(1, events[1])])
        turn.lease(1, 1.0, "r")
        turn.keep_snapshot(2, "form", b"body")
    assert list(second.read(study, 0)) == events[:2], f"{kind}: a second storage does not see the events of the first"
    assert second.snapshot(study, "form") == b"body", f"{kind}: a second storage does not see a snapshot of the first"
    with second.turn(study) as turn:
        assert turn.requested("r") == [1], f"{kind}: a second storage does not see the leases of the first"
        turn.append(2, [(1, events[2])])
    assert list(first.read(study, 0)) == events, f"{kind}: the first storage does not see what the second appends"
    first.close()
    second.close()
    third = Storage(url, create=True)
    assert list(third.read(study, 0)) == events, f"{kind}: to open a storage again, with create, changes its studies"
    third.close()


def check_processes(url: str) -> None:
    """Processes that write to one study wait for each other; where processes can be forked."""
    if "fork" not in multiprocessing.get_all_start_methods():
        return
    storage = Storage(url, create=True)
    kind = _kind(storage)
    study = storage.create("processes", _events(1))
    storage.close()

    def work() -> None:
        own = Storage(url)
        _write(own, study)
        own.close()

    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=work, daemon=True) for _ in range(WRITERS)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(LONGEST)
        process.kill()
        process.join()
        assert process.exitcode == 0, f"{kind}: a process that writes to a study failed, or never got its turn"
    _check_written(Storage(url), study, "processes")


# --- writing


def _write(storage: Storage, study: int) -> None:
    """Append events that say how many came before: if two writers had a turn at once, numbers would be missing."""
    for _ in range(TURNS):
        with storage.turn(study) as turn:
            before = list(turn.read(0))
            turn.append(len(before), [(None, _event(len(before), before[-1].hash))])


def _check_written(storage: Storage, study: int, writers: str) -> None:
    wanted = _events(1 + WRITERS * TURNS)
    found = list(storage.read(study, 0))
    told = f"{_kind(storage)}: {WRITERS} {writers} had {TURNS} turns each, {len(found) - 1} of their events were kept"
    assert found == wanted, f"{told}: two must not have their turn at once, and a turn must see all before it"


def _change(storage: Storage, study: int, change: Callable[[Turn], None]) -> None:
    with storage.turn(study) as turn:
        change(turn)


def _check_unknown(storage: Storage, name: str) -> None:
    try:
        storage.find(name)
    except UnknownName:
        return
    raise AssertionError(f"{_kind(storage)}: find() of a name that no study has must raise UnknownName")


def _open(make: Make) -> Storage:
    place = make()
    return Storage(place, create=True) if isinstance(place, str) else place


def _kind(storage: Storage) -> str:
    return type(storage).__name__


def _events(n: int) -> list[Event]:
    events: list[Event] = []
    for k in range(n):
        events.append(_event(k, events[-1].hash if events else NOTHING))
    return events


def _event(n: int, before: str) -> Event:
    body: dict[str, Any] = {"n": n, "at": 1000.5 + n, "text": TEXTS[n % len(TEXTS)]}
    return Event(canonical(body), seal(before, canonical(body)))
