"""Studies on a server as notebooks show them, and `identify` there with a timeout."""

import threading

import pytest

from mfbai import Client, TimedOut, identify
from support.notebooks import Shown
from support.servers import PROBLEM, Server


@pytest.fixture
def own_server(tmp_path):
    with Server(f"sqlite:///{tmp_path / 's.db'}") as made:
        yield made


def test_a_study_is_shown_and_drawn_and_is_text_when_the_server_is_away(own_server):
    study = Client(own_server.address).create_study(PROBLEM, 0.05, name="far")
    assert Shown(study._repr_html_()).text.startswith(f"RemoteStudy 'far' in {own_server.address}")
    assert len(study.plot().axes) == 4
    own_server.kill()
    assert study._repr_html_() is None
    assert repr(study) == f"<RemoteStudy 'far' at {own_server.address}>"


def test_when_the_time_is_over_the_study_is_kept_there_and_its_trial_given_back(server, client):
    go = threading.Event()

    def hold(arm, fidelity, seed):
        go.wait()
        return 0.5

    seen = []
    with pytest.raises(TimedOut, match="Repeat the call to resume study 'held'") as caught:
        identify(hold, PROBLEM, 0.05, name="held", storage=server.address, timeout=3, callback=seen.append)
    study = client.load_study("held")
    assert caught.value.status.told == study.status().told == 0
    assert seen == []
    assert study.ask().id == study.trials()[0][0]
    go.set()  # the thread of the evaluation can end
