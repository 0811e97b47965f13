"""The contract of storages: ours fulfil it, so does the skeleton, and a wrong one is told what is wrong with it."""

import copy
import itertools
import threading
from contextlib import contextmanager

import pytest

from mfbai import InvalidInput, create_study, list_studies, verify
from mfbai.study.storage import STORAGES, Label, Storage
from mfbai.testing import check_storage
from support.programs import load
from support.studies import PROBLEM, again, finish


def load_skeleton():
    module = load("docs/developer/skeletons/storage.py")
    del STORAGES["folder"]  # for the tests of this file only
    return module


skeleton = load_skeleton()


@pytest.fixture(autouse=True)
def _registered(monkeypatch):
    monkeypatch.setitem(STORAGES, "folder", skeleton.Folder)


@pytest.fixture
def folders(tmp_path):
    """A new path each time it is called."""
    numbers = itertools.count()
    return lambda: tmp_path / f"{next(numbers)}"


def test_sqlite_files_fulfil_the_contract(folders):
    check_storage(lambda: f"sqlite:///{folders()}.db")


def test_sqlite_in_memory_fulfils_the_contract():
    check_storage(lambda: Storage("sqlite://", create=True))


def test_postgresql_fulfils_the_contract(postgres):
    check_storage(postgres.new_schema)


def test_the_skeleton_fulfils_the_contract(folders):
    check_storage(lambda: f"folder://{folders()}")


def test_a_study_runs_on_a_registered_storage_to_its_verdict(tmp_path):
    url = f"folder://{tmp_path}/studies"
    study = create_study(PROBLEM, 0.05, name="s", storage=url)
    verdict = finish(study)
    assert verdict.arm == "wide"
    assert (study.storage, list_studies(storage=url)) == (url, ["s"])
    assert again(study).result == verdict
    assert verify(study.export())


def test_a_url_that_no_storage_is_registered_for_is_rejected_with_those_that_are():
    with pytest.raises(InvalidInput, match=r"only SQLite, PostgreSQL and Folder are supported; give a URL such as"):
        Storage("mysql://host/database")


# --- wrong ones


class Sorted(skeleton.Folder):
    def names(self):
        return sorted(super().names())


class Crowded(skeleton.Folder):
    """Takes any name."""

    def create(self, name, first):
        with self._alone():
            study = self._count() + 1
            events = [[None, *event] for event in first]
            self._save(study, {"label": Label(name), "events": events, "leases": {}, "snapshot": None})
        return study


class Careless(skeleton.Folder):
    """Keeps what a turn wrote before its error."""

    @contextmanager
    def turn(self, study):
        with self._alone():
            book = self._load(study)
            try:
                yield skeleton.FolderTurn(self, book)
            finally:
                self._save(study, book)


class Impatient(skeleton.Folder):
    """Each thread adds to what it has itself written, and never waits for others."""

    def __init__(self, url, **options):
        super().__init__(url, **options)
        self._read = threading.local()

    @contextmanager
    def turn(self, study):
        books = self._read.__dict__.setdefault("books", {})
        book = copy.deepcopy(books.setdefault(study, self._load(study)))
        yield skeleton.FolderTurn(self, book)
        books[study] = book
        with self._alone():
            self._save(study, book)


class Rounding(skeleton.Folder):
    """Stores what an event says, not its text."""

    def read(self, study, first):
        for event in super().read(study, first):
            yield event._replace(text=event.text.replace("e-324", "E-324"))


class Early(skeleton.Folder):
    """Finds more trials expired than it was asked for."""

    @contextmanager
    def turn(self, study):
        with super().turn(study) as turn:
            expired = turn.expired
            turn.expired = lambda now, most: expired(now, 1000)
            yield turn


class Hoarding(skeleton.Folder):
    """Gives out a snapshot of any format."""

    def snapshot(self, study, form):
        kept = self._load(study)["snapshot"]
        return super().snapshot(study, kept[1] if kept else form)


class Recycling(skeleton.Folder):
    """Gives the number of a deleted study to the next one."""

    def create(self, name, first):
        free = [study for study in range(1, self._count() + 1) if self.label(study) is None]
        study = super().create(name, first)
        if not free:
            return study
        (self._path / f"{study}.json").replace(self._path / f"{free[0]}.json")
        return free[0]


class Sticky(skeleton.Folder):
    """Keeps the first name of a study."""

    @contextmanager
    def turn(self, study):
        with super().turn(study) as turn:
            relabel, name = turn.relabel, turn.label() and turn.label().name
            turn.relabel = lambda label: relabel(label._replace(name=name))
            yield turn


class Lone(skeleton.Folder):
    """Each object has its own folder."""

    numbers = itertools.count()

    def __init__(self, url, **options):
        super().__init__(f"{url}/{next(self.numbers)}" if options else url, **options)


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        (Sorted, "names() lists"),
        (Crowded, "create() accepts a name that another study has; it must raise NameTaken"),
        (Careless, "turn() ended in a ValueError, and kept an event"),
        (Impatient, "two must not have their turn at once, and a turn must see all before it"),
        (Rounding, "Storage.read() does not give the events as they were appended"),
        (Early, "asked for two at most, expired() gives [2, 5, 9], not [2, 5]"),
        (Hoarding, "snapshot() gives the one before, of another format"),
        (Recycling, "create() gives the number of a deleted study again"),
        (Sticky, "after relabel("),
        (Lone, "a second storage does not find the study of the first"),
    ],
)
def test_a_wrong_storage_is_told_what_is_wrong(folders, monkeypatch, wrong, told):
    monkeypatch.setitem(STORAGES, "folder", wrong)
    with pytest.raises(AssertionError) as caught:
        check_storage(lambda: f"folder://{folders()}")
    assert f"{wrong.__name__}: " in str(caught.value)
    assert told in str(caught.value)
