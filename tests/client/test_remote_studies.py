"""`mfbai.Client` has the methods of `Study`, and its errors are those of the library."""

import re
import threading
from fractions import Fraction

import numpy as np
import pytest

from mfbai import (
    Client,
    InvalidInput,
    NothingToAsk,
    Study,
    StudyOver,
    TrialClosed,
    UnknownName,
    create_study,
    load_study,
    verify,
)
from mfbai.client import RemoteStudy
from mfbai.study.storage import NameTaken
from mfbai.web.choices import make_choices
from support.controlled import ask_for, controlled, values_of
from support.controlled import finish as complete
from support.servers import PROBLEM, TEXT

MEANS = [0.3, 0.9, 0.4]


def finish(study, seed=0):
    """To the verdict, which is the same for the same values, however they are told."""
    rng = np.random.default_rng(seed)
    while study.result is None:
        for trial in study.ask_many(10):
            study.tell(trial, float(rng.normal(MEANS[trial.arm_index], 0.2)))
    return study.result


def test_the_docstring_of_clients_names_what_remote_studies_lack():
    public = {name for name in dir(Study) if not name.startswith("_")}
    named = re.search(r"methods of `Study`, except (.+?)\. ", Client.__doc__, re.DOTALL)[1]
    assert set(re.findall(r"`(\w+)`", named)) == public - set(dir(RemoteStudy)) - {"settings"}  # which all of them have


def test_a_remote_study_is_a_study(server, client, tmp_path):
    remote = client.create_study(PROBLEM, 0.05, name="the same", max_cost=1000.0)
    local = create_study(PROBLEM, 0.05, name="the same", max_cost=1000.0, storage="sqlite://")
    assert finish(remote) == finish(local)
    for study in (remote, local):
        assert study.problem == PROBLEM
        assert study.settings.max_cost == 1000.0
    there = load_study("the same", storage=server.storage)
    mine, its = remote.status(), there.status()
    assert mine.to_dict() == its.to_dict()
    np.testing.assert_array_equal(mine.intervals, its.intervals)
    np.testing.assert_array_equal(mine.evidence, its.evidence)
    np.testing.assert_array_equal(mine.differences, its.differences)
    assert remote.history() == there.history()
    assert list(remote.journal()) == list(there.journal())
    assert list(remote.journal(7)) == list(there.journal(7))
    assert remote.trials() == there.trials()
    found = remote.export(tmp_path / "certificate.json")
    assert verify(found).verdict == verify(tmp_path / "certificate.json").verdict == remote.result
    with pytest.raises(StudyOver, match="is over: The best is 'wide'"):
        remote.ask()
    assert "the same" in client.list_studies()
    assert client.load_study("the same").settings.key == remote.settings.key


def test_deterministic_fidelities_are_the_same_remotely(client):
    problem = PROBLEM.replace(deterministic=0, costs=[0.001, 1.0])
    remote = client.create_study(problem, 0.05)
    assert remote.problem == problem
    first = remote.ask()
    assert first.fidelity_index == 0
    remote.add(first.arm, first.fidelity, 0.3)
    with pytest.raises(InvalidInput, match="deterministic"):
        remote.tell(first, 0.4)
    remote.tell(first, 0.3)
    rng = np.random.default_rng(0)
    while remote.result is None:
        trial = remote.ask()
        remote.tell(trial, MEANS[trial.arm_index] + 0.2 * float(rng.normal()) * trial.fidelity_index)
    assert remote.result.arm == "wide"
    assert remote.status().counts[:, 0].tolist() == [1, 1, 1]
    assert verify(remote.export())


def test_studies_are_created_from_files_of_this_machine_and_with_all_settings(client, tmp_path):
    (tmp_path / "spec.toml").write_text(TEXT)
    study = client.create_study(tmp_path / "spec.toml", 0.1, direction="minimise", tolerance=0.01, strategy="uniform")
    settings = study.settings
    assert (settings.problem.direction, settings.tolerance, settings.strategy) == ("minimise", 0.01, "uniform")
    options = {"mu1": 1.0, "mu2": 0.9}
    assert client.create_study(PROBLEM, 0.1, strategy="lucb-explore-a", options=options).settings.options == options


def test_errors_are_those_of_the_library(client, study):
    first, second = study.ask_many(2)
    study.tell(first, 0.5)
    study.tell(first.id, 0.5)
    study.fail(second, "the disk was full")
    with pytest.raises(TrialClosed, match=r"was told 0\.5 already"):
        study.tell(first, 0.6)
    with pytest.raises(TrialClosed, match="was reported as failed"):
        study.tell(second, 0.6)
    with pytest.raises(InvalidInput, match="never handed out"):
        study.renew(f"99-{study.settings.key}")
    with pytest.raises(InvalidInput, match="did you mean 'wide'") as caught:
        study.add("wild", 0, [0.5])
    assert caught.value.faults[0].field == "arm"
    with pytest.raises(InvalidInput, match="value is nan"):
        study.tell(first, float("nan"))
    with pytest.raises(InvalidInput, match="n is 0"):
        study.ask_many(0)
    with pytest.raises(InvalidInput, match="reason is 3: give text"):
        study.fail(first, 3)
    with pytest.raises(NameTaken, match="exists already"):
        client.create_study(PROBLEM, 0.05, name=study.name)
    with pytest.raises(UnknownName, match="unknown study 'nobody'"):
        client.load_study("nobody")
    with pytest.raises(InvalidInput, match="name is"):
        client.load_study("\0")
    with pytest.raises(InvalidInput, match="strategy is 'nothing'"):
        client.create_study(PROBLEM, 0.05, strategy="nothing")
    poor = client.create_study(PROBLEM, 0.05, max_cost=0.15)
    poor.ask()
    with pytest.raises(NothingToAsk, match="1 evaluation is under way"):
        poor.ask()


def test_choices_are_those_of_the_server(client):
    """What is offered can be created."""
    choices = client.choices()
    assert choices == make_choices()
    created = client.create_study(PROBLEM, 0.05, **choices["defaults"])
    assert (created.settings.strategy, created.settings.stopping) == ("race", "contrasts")


def test_numbers_and_reasons_may_be_of_any_kind_as_in_a_study(study):
    first, second, third = study.ask_many(np.int64(3), lease=Fraction(100))
    study.tell(first, np.float32(0.5))
    study.add(np.int64(0), 0, np.array([0.5, 0.25]))
    study.add("wide", "full", 1)
    study.renew(second, lease=np.float64(5))
    study.release(second)
    study.fail(second, "x" * 5000)
    study.fail(third, "a file of odd name: \udcff")
    reasons = [event.body["reason"] for event in study.journal() if event.body["kind"] == "fail"]
    assert reasons == ["x" * 2000, "a file of odd name: \\udcff"]
    assert study.status().imported == 3
    with pytest.raises(InvalidInput, match="cannot be sent"):
        study.ask_many(object())


@pytest.mark.parametrize("name", ["a/b", "...", "%2F", "été 😀", "'\"<script>", "a?b#c&d=e"])
def test_odd_names_are_names(client, name):
    study = client.create_study(PROBLEM, 0.05, name=name)
    study.tell(study.ask(), 0.5)
    assert client.load_study(name).status().told == 1
    assert verify(study.export())


def test_several_threads_may_share_a_client(study):
    told = []

    def work():
        for _ in range(5):
            trial = study.ask()
            study.tell(trial, 0.5)
            told.append(trial.id)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(told)) == study.status().told == 30


@pytest.mark.parametrize("seeds", ["independent", "common"])
def test_trials_with_parts_are_the_same_remotely(server, client, seeds):
    problem = controlled(seeds=seeds)
    remote = client.create_study(problem, 0.05, name=f"parts {seeds}")
    assert remote.problem == problem
    there = load_study(f"parts {seeds}", storage=server.storage)
    trial = ask_for(remote, "paired")
    assert trial.parts == there.parts(trial.id)
    for wrong, why in ((0.5, "takes 6 values"), ([0.5] * 5, "takes 6 values"), ([float("nan")] * 6, "6 faults")):
        with pytest.raises(InvalidInput, match=why):
            remote.tell(trial, wrong)
    values = values_of(trial)
    remote.tell(trial, np.array(values))
    remote.tell(trial, values)
    there.tell(trial.id, values)
    with pytest.raises(TrialClosed, match="already"):
        remote.tell(trial, values[::-1])
    complete(remote)
    assert remote.result.arm == "wide"
    assert verify(remote.export()).verdict == there.result


def test_a_remote_study_with_common_seeds_is_a_study(server, client):
    """The same trials with the same seeds as here, the same differences, and the same refusals."""
    remote = client.create_study(PROBLEM, 0.05, name="shared", seeds="common")
    assert remote.problem.seeds == "common"
    there = load_study("shared", storage=server.storage)
    trials = remote.ask_many(12)
    assert [(trial.id, trial.seed) for trial in trials] == [(name, seed) for name, _, seed in there.under_way()]
    assert len({trial.seed for trial in trials}) < 12
    for trial in trials:
        remote.tell(trial, MEANS[trial.arm_index] + trial.seed % 100 / 1000)
    mine, its = remote.status(), there.status()
    np.testing.assert_array_equal(mine.differences, its.differences)
    np.testing.assert_array_equal(mine.intervals, its.intervals)
    assert np.isnan(mine.intervals).all()
    with pytest.raises(InvalidInput, match="cannot be added: the arms of this study share seeds"):
        remote.add("wide", 0, [0.5])
    with pytest.raises(InvalidInput, match="seeds"):
        client.create_study(PROBLEM, 0.05, seeds="shared")
