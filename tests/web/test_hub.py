"""How many studies a server keeps open."""

import asyncio

from mfbai import create_study
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
