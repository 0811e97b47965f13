"""A storage in a folder, with a JSON file for each study. Copy it, and change where things are kept."""

import base64
import fcntl
import json
import os
import time
from contextlib import contextmanager
from pathlib import Path

from mfbai.study.journal import Event
from mfbai.study.storage import STORAGES, Label, Storage, Turn, name_taken, unknown_storage


class Folder(Storage):
    """folder:///PATH. Every turn writes the whole file of its study: simple, and only for short studies."""

    def __init__(self, url, *, create=False):
        self._url = url
        self._path = Path(url.partition("://")[2])
        if create:
            self._path.mkdir(parents=True, exist_ok=True)
        elif not self._path.is_dir():
            raise unknown_storage(url)

    @property
    def url(self):
        return self._url  # a password would have to be hidden here

    def names(self):
        return list(self._numbers())

    def create(self, name, first):
        with self._alone():
            if name in self.names():
                raise name_taken(name)
            study = self._count() + 1
            events = [[None, *event] for event in first]
            self._save(study, {"label": Label(name), "events": events, "leases": {}, "snapshot": None})
        return study

    def find(self, name):
        numbers = self._numbers()
        if name not in numbers:
            raise self.unknown_study(name)
        return numbers[name]

    def read(self, study, first):
        return FolderTurn(self, self._load(study)).read(first)

    def length(self, study):
        return len(self._load(study)["events"])

    def label(self, study):
        return FolderTurn(self, self._load(study)).label()

    def snapshot(self, study, form):
        kept = self._load(study)["snapshot"]
        return base64.b64decode(kept[2]) if kept and kept[1] == form else None

    @contextmanager
    def turn(self, study):
        with self._alone():
            book = self._load(study)
            yield FolderTurn(self, book)
            self._save(study, book)  # not reached if the block raises

    def _numbers(self):
        labels = {study: self.label(study) for study in range(1, self._count() + 1)}
        return {label.name: study for study, label in labels.items() if label is not None}

    def _count(self):
        return len(list(self._path.glob("*.json")))

    def _load(self, study):
        return json.loads((self._path / f"{study}.json").read_text())

    def _save(self, study, book):
        part = self._path / f"{study}.part"
        with open(part, "w") as file:
            json.dump(book, file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path / f"{study}.json")  # readers see the old file or the new one, as a whole

    @contextmanager
    def _alone(self):
        with open(self._path / "lock", "w") as lock:  # excludes threads too: each has its own open file
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield


class FolderTurn(Turn):
    """Changes the content of a file, which is saved when the turn ends."""

    def __init__(self, storage, book):
        self._events, self._leases, self._book, self._storage = book["events"], book["leases"], book, storage

    def now(self):
        return time.time()

    def read(self, first):
        return iter([Event(text, seal) for _, text, seal in self._events[first:]])

    def events_of(self, trial):
        return [Event(text, seal) for number, text, seal in self._events if number == trial]

    def append(self, first, rows):
        self._events += [[trial, *event] for trial, event in rows]

    def expired(self, now, most):
        return sorted(int(trial) for trial, (until, _) in self._leases.items() if until <= now)[:most]

    def requested(self, name):
        return sorted(int(trial) for trial, (_, request) in self._leases.items() if request == name)

    def lease(self, trial, until, request):
        self._leases[str(trial)] = [until, request]

    hand_over = lease

    def renew(self, trial, until):
        if str(trial) in self._leases:
            self._leases[str(trial)][0] = until

    def end_lease(self, trial):
        self._leases.pop(str(trial), None)

    def label(self):
        kept = self._book["label"]  # of a deleted study nothing is kept but its number
        return None if kept is None else Label(*kept)._replace(tags=tuple(kept[3]))

    def relabel(self, label):
        if label.name != self.label().name and label.name in self._storage.names():
            raise name_taken(label.name)
        self._book["label"] = label

    def delete(self):
        self._book.update(label=None, snapshot=None)
        self._events.clear()
        self._leases.clear()

    def snapshot_at(self):
        return self._book["snapshot"][0] if self._book["snapshot"] else 0

    def keep_snapshot(self, n, form, body):
        self._book["snapshot"] = [n, form, base64.b64encode(body).decode()]


STORAGES["folder"] = Folder
