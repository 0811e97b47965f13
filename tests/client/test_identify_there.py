"""`identify` and `mfbai study run` on a study of a server."""

import json
import random
import sys

import pytest

from mfbai import Gaussian, InvalidInput, Problem, identify, verify

PROBLEM = Problem(["plain", "wide"], costs=[0.1, 1.0], biases=[0.1, 0.0], family=Gaussian(0.01))


def evaluate(arm, fidelity, seed):
    return random.Random(seed).gauss(0.8 if arm == "wide" else 0.5, 0.1)


@pytest.mark.parametrize("executor", [None, "processes"])
def test_a_study_on_a_server_is_made_evaluated_and_resumed(server, client, executor):
    name = f"there {executor}"
    found = identify(evaluate, PROBLEM, 0.05, name=name, storage=server.address, workers=2, executor=executor)
    assert found.arm == "wide"
    study = client.load_study(name)
    assert study.result == found
    assert verify(study.export())
    assert identify(None.__class__, PROBLEM, 0.05, name=name, storage=server.address) == found, "nothing is evaluated"


def test_another_problem_under_the_same_name_is_refused(server):
    identify(evaluate, PROBLEM, 0.05, name="taken", storage=server.address)
    with pytest.raises(InvalidInput, match="study 'taken' exists with another delta"):
        identify(evaluate, PROBLEM, 0.01, name="taken", storage=server.address)


def test_a_name_is_made_up_for_a_study_without_one(server, client):
    before = set(client.list_studies())
    assert identify(evaluate, PROBLEM, 0.05, storage=server.address).arm == "wide"
    assert len(set(client.list_studies()) - before) == 1


@pytest.mark.parametrize("how", ["--command", "--python"])
def test_study_run_works_on_a_server(succeed, server, client, tmp_path, monkeypatch, how):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "far_away.py").write_text(
        "import random, sys\n\n\ndef evaluate(arm, fidelity, seed):\n"
        "    return random.Random(seed).gauss(0.8 if arm == 'wide' else 0.5, 0.1)\n\n\n"
        "if __name__ == '__main__':\n    print(evaluate(sys.argv[1], '', int(sys.argv[2])))\n"
    )
    name = f"run {how}"
    client.create_study(PROBLEM, 0.05, name=name)
    what = f"{sys.executable} far_away.py {{arm}} {{seed}}" if how == "--command" else "far_away:evaluate"
    status = json.loads(succeed("study", "run", name, how, what, "--server", server.address, "--workers", 2, "--json"))
    assert status["result"]["arm"] == "wide"


def test_an_unknown_study_is_named(refuse, server):
    assert "unknown study" in refuse("study", "run", "nobody", "--command", "true", "--server", server.address)


def test_a_server_and_a_storage_are_one_too_many(refuse):
    err = refuse("study", "run", "s", "--command", "true", "--server", "http://x", "--storage", "sqlite:///other.db")
    assert "--server and --storage: give one of them" in err
