"""How many studies a server keeps open, and why one cannot be opened."""

import asyncio

import pytest

from mfbai import create_study
from mfbai.errors import UnknownName, unknown_name
from mfbai.study.storage import Storage
from mfbai.web import hub as hubs
from support.servers import PROBLEM


def open_names(storage, names):
    """The studies that are open after these were opened, one after the other."""

    async def opened():
        hub = hubs.Hub(storage)
        try:
            for name in names:
                assert (await hub.desk(name)).study.name == name
            return list(hub._desks)
        finally:
            hub.end()

    return asyncio.run(opened())


def test_studies_that_were_not_used_for_long_are_closed_if_all_are_too_large(tmp_path, monkeypatch):
    storage = Storage(f"sqlite:///{tmp_path / 'studies.db'}", create=True)
    for name in "abc":
        create_study(PROBLEM, 0.05, name=name, storage=storage)
    cells = PROBLEM.n_arms * PROBLEM.n_fidelities
    assert open_names(storage, "abc") == ["a", "b", "c"]
    monkeypatch.setattr(hubs, "MOST_CELLS", 2 * cells)
    assert open_names(storage, "abc") == ["b", "c"]
    assert open_names(storage, "abac") == ["a", "c"]
    monkeypatch.setattr(hubs, "MOST_CELLS", 1)
    assert open_names(storage, "abc") == ["c"]  # that which was asked for stays


def test_callers_with_a_key_learn_why_a_study_cannot_be_opened(tmp_path, monkeypatch):
    """Such as one of a strategy that is registered elsewhere: it was neither renamed nor deleted."""
    storage = Storage(f"sqlite:///{tmp_path / 'studies.db'}", create=True)
    key = create_study(PROBLEM, 0.05, name="a", storage=storage).settings.key

    def load(*_, **__):
        raise unknown_name("strategy", "mine", ["race"])

    monkeypatch.setattr(hubs, "load_study", load)

    async def look():
        hub = hubs.Hub(storage)
        try:
            await hub.desk("a", key)
        finally:
            hub.end()

    with pytest.raises(UnknownName, match="unknown strategy 'mine'"):
        asyncio.run(look())
