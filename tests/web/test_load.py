"""Many clients at once, and a server that is killed: nothing is lost, nothing doubled. At full size: bench/serve.py."""

import mfbai
from support.loads import NEVER, TIED, Survivors, press, told_in
from support.servers import Server, Stream

KILLS = 3


def test_many_clients(tmp_path):
    """No call fails, no value is lost, and a stream shows the last of them."""
    with Server(f"sqlite:///{tmp_path / 'studies.db'}") as server:
        study = mfbai.Client(server.address).create_study(TIED, NEVER, name="load")
        with Stream(server, "/load") as stream:
            assert stream.next()[1]["status"]["told"] == 0
            load = press(server.port, "load", clients=50, rate=100, rounds=8)
            assert load.errors == []
            while stream.next()[1]["status"]["told"] < 400:
                pass
        assert told_in(study) == load.acknowledged
        assert len(load.acknowledged) == 400


def test_killed_server(tmp_path):
    """Clients that try again end with all of their results stored, once; no trial was handed out in vain."""
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
