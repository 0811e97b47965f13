"""Many clients at once, and a server that is killed: nothing is lost, nothing doubled. At full size: bench/serve.py."""

import numpy as np

import mfbai
from support.loads import NEVER, TIED, Survivors, press, told_in
from support.servers import Server, Stream

KILLS = 3


def test_many_clients(tmp_path):
    """None is refused, none lost, all are answered soon, and whoever watches sees it happen."""
    with Server(f"sqlite:///{tmp_path / 'studies.db'}") as server:
        study = mfbai.Client(server.address).create_study(TIED, NEVER, name="load")
        with Stream(server, "/load") as stream:
            first = stream.next()[1]
            load = press(server.port, "load", clients=50, rate=100, seconds=5)
            later = stream.next()[1]
        assert load.errors == []
        assert told_in(study) == load.acknowledged
        assert len(load.acknowledged) > 300
        assert later["status"]["told"] > first["status"]["told"]
        assert np.median(load.tells) < 0.25  # of the 99 % there is no promise on a machine that is busy with tests


def test_killed_server(tmp_path):
    """Clients that try again end with all of their results there, once; no trial was handed out in vain."""
    storage = f"sqlite:///{tmp_path / 'studies.db'}"
    survivors = Survivors(storage, clients=6)
    try:
        for _ in range(KILLS):
            survivors.kill_and_restart()
    finally:
        survivors.end()
    assert survivors.errors == []
    study = mfbai.load_study("kills", storage=storage)
    assert told_in(study) == survivors.acknowledged
    assert len(survivors.received) == len(set(survivors.received)) == len(survivors.acknowledged)
    assert study.trials() == []
    assert mfbai.verify(study.export())
