"""What a crew of workers needs of a remote study, and studies of many arms."""

import numpy as np
import pytest

from mfbai import Gaussian, InvalidInput, Problem, StorageError, StudyOver, TrialClosed, load_study, verify
from mfbai.client import RemoteStudy, remote
from mfbai.study.workers import Crew
from support.controlled import controlled, values_of
from support.fakes import fake
from support.servers import PROBLEM

MEANS = {"plain": 0.3, "wide": 0.9, "deep": 0.4}


def evaluate(trial):
    return float(np.random.default_rng(trial.seed).normal(MEANS[trial.arm], 0.2))


def test_a_crew_of_workers_finishes_a_remote_study(server, client):
    study = client.create_study(PROBLEM, 0.05, name="by a crew")
    study.warm_up()
    assert study.storage == server.address
    assert study.state == "running"
    evaluated = set()

    def noted(trial):
        evaluated.add(trial.id)
        return evaluate(trial)

    Crew(study, noted, workers=3).work()
    assert study.state == "decided"
    assert study.result.arm == "wide"
    assert study.status().told == len(evaluated)
    assert evaluated.isdisjoint(trial for trial, _ in study.trials())  # what waited for a worker was given back
    assert study.result == load_study("by a crew", storage=server.storage).result
    assert verify(study.export())


def test_the_state_is_what_the_last_answer_said(client):
    study = client.create_study(PROBLEM, 0.05, name="said", max_cost=0.25)
    other = client.load_study("said")
    first, second = study.ask_many(2)
    study.tell(first, 0.5)
    assert study.state == other.state == "running"
    assert study.result is None
    study.tell(second, 0.5)
    assert (study.state, other.state) == ("undecided", "running")  # nothing was asked since
    with pytest.raises(StudyOver) as over:
        other.ask()
    assert over.value.state == other.state == "undecided"
    assert study.result == other.result
    assert study.result is study.result  # it never changes, so it is asked for once
    late = client.load_study("said")
    assert late.status().state == late.state == "undecided"


def test_a_server_that_does_not_say_the_state_is_asked_for_it(client, study):
    settings, status = study.settings.to_dict(), study.status().to_dict()
    over = (409, {"type": "urn:mfbai:StudyOver", "detail": "it is over", "status": 409})
    with fake((200, settings), over, (200, {**status, "state": "alarm"})) as server:
        old = type(client)(server.address).load_study("s")
        with pytest.raises(StudyOver, match="it is over"):
            old.ask()
        assert old.state == "alarm"


def test_many_results_are_told_in_one_call(client, study):
    extra, *trials = study.ask_many(40)
    results = [(trial, evaluate(trial)) for trial in trials]
    study.tell_many(results)
    study.tell_many(iter(results))
    study.tell_many([])
    assert study.status().told == 39
    with pytest.raises(TrialClosed, match="already"):
        study.tell_many([(extra.id, 0.5), (trials[0], 99.0)])
    with pytest.raises(InvalidInput, match="value is nan"):
        study.tell_many([(extra, 0.5), (trials[0], float("nan"))])
    assert study.status().told == 39


def test_the_same_journal_comes_of_many_results_as_of_single_ones(client):
    journals = []
    for name, together in (("single", False), ("together", True)):
        study = client.create_study(PROBLEM, 0.05, name=name)
        for _ in range(3):
            results = [(trial, MEANS[trial.arm]) for trial in study.ask_many(10)]
            if together:
                study.tell_many(results)
            else:
                for trial, value in results:
                    study.tell(trial, value)
        left_out = ("at", "n", "seed", "key", "name")
        events = [event.body for event in study.journal()]
        journals.append([{name: body[name] for name in body if name not in left_out} for body in events[1:]])
    assert journals[0] == journals[1]


def test_trials_with_parts_are_told_together_and_sent_in_several_calls(client, monkeypatch):
    study = client.create_study(controlled(), 1e-9)
    monkeypatch.setattr(remote, "RESULTS_AT_ONCE", 7)
    monkeypatch.setattr(remote, "VALUES_AT_ONCE", 20)
    sent = []
    post = RemoteStudy._post
    monkeypatch.setattr(
        RemoteStudy,
        "_post",
        lambda self, what, body, **more: (sent.append((what, body)), post(self, what, body, **more))[1],
    )
    trials = study.ask_many(30)
    study.tell_many([(trial, values_of(trial) if trial.parts else 0.5) for trial in trials])
    batches = [body["results"] for what, body in sent if what == "tell-many"]
    assert [result["trial"] for batch in batches for result in batch] == [trial.id for trial in trials]
    assert len(batches) > 1
    assert all(len(batch) <= 7 for batch in batches)
    assert study.status().told == len(trials) == 30


def test_an_unknown_answer_to_a_question_for_the_verdict_is_told(study):
    with fake((200, study.settings.to_dict()), (200, {"result": 3})) as server:
        strange = type(study._client)(server.address, patience=0).load_study("s")
        with pytest.raises(StorageError, match="did not answer as mfbai does"):
            _ = strange.result


def test_a_study_of_a_hundred_thousand_arms_is_created_loaded_and_worked_on(client):
    costs = np.random.default_rng(0).uniform(
        1.0, 2.0, (100_000, 3)
    )  # of each arm and fidelity: a body of many megabytes
    arms = [f"a rather long name of an arm, {k}" for k in range(100_000)]
    problem = Problem(arms, costs, [0.2, 0.1, 0.0], Gaussian(0.04))
    study = client.create_study(problem, 0.05, name="huge", strategy="frugal")
    assert study.problem == client.load_study("huge").problem == problem
    trials = study.ask_many(100)
    study.tell_many([(trial, 0.5) for trial in trials])
    status = study.status()
    assert (status.told, len(status.evidence), status.counts.sum()) == (100, 100_000, 100)
    assert study.result is None
    assert len(study.history()) >= 1
