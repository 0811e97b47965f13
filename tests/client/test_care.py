"""A study on a server that is renamed, paused, noted, tagged and deleted, by this client and by others."""

import itertools
import threading

import pytest

import mfbai
from mfbai import load_study
from mfbai.errors import InvalidInput, LabelChanged, StudyGone, StudyPaused
from mfbai.study.storage import NameTaken
from mfbai.study.workers import Crew
from support.interrupts import wait_until
from support.servers import PROBLEM

numbers = itertools.count()


@pytest.fixture
def study(client):
    return client.create_study(PROBLEM, 0.05, name=f"cared for {next(numbers)}")


@pytest.fixture
def other(client, study):
    """The same study, as another client has it."""
    return client.load_study(study.name)


def test_a_renamed_study_is_followed_by_all_who_have_it(study, other, client):
    trial = other.ask()
    new = f"{study.name}, renamed / \N{BIRD}"
    study.rename(new)
    other.tell(trial, 0.5)
    assert (study.name, other.name, study.status().name) == (new, new, new)
    assert client.load_study(new).settings.key == study.settings.key
    assert len(list(other.journal())) == len(other.journal()) == 3


def test_a_study_of_the_old_name_is_not_taken_for_it(study, other, client):
    old = study.name
    study.rename(f"{old}, renamed")
    another = client.create_study(PROBLEM, 0.05, name=old)
    assert other.ask().id.endswith(study.settings.key)
    assert another.trials() == []


def test_a_name_that_is_taken_is_refused(study, client):
    taken = client.create_study(PROBLEM, 0.05, name=f"taken {next(numbers)}")
    with pytest.raises(NameTaken):
        study.rename(taken.name)
    with pytest.raises(InvalidInput, match="name"):
        study.rename("")


def test_a_pause_is_heard_of(study, other):
    study.pause()
    assert (other.paused, other.status().paused) == (True, True)
    with pytest.raises(StudyPaused, match="is paused"):
        other.ask()
    other.resume()
    assert other.ask().arm == "plain"


def test_notes_and_tags_are_those_of_the_server(study, other, server):
    study.set_note("*why*")
    study.set_tags(["a", "b"])
    assert (other.note, other.tags) == ("*why*", ("a", "b"))
    assert load_study(study.name, storage=server.storage).tags == ("a", "b")
    with pytest.raises(LabelChanged):
        other.set_note("mine", before="")
    with pytest.raises(LabelChanged):
        other.set_tags(["c"], before=[])
    other.set_tags(["a", "b", "c"], before=study.tags)
    assert study.tags == ("a", "b", "c")
    with pytest.raises(InvalidInput, match="tag"):
        other.set_tags(["a,b"])
    with pytest.raises(InvalidInput, match="note"):
        other.set_note(5)


def test_a_deleted_study_is_gone_for_all_who_have_it(study, other, client):
    trial = other.ask()
    study.delete()
    study.delete()  # as after an answer that was lost
    for call in (other.ask, other.status, lambda: other.tell(trial, 0.5), lambda: other.journal()[0], other.to_csv):
        with pytest.raises(StudyGone, match="was deleted"):
            call()
    assert study.name not in client.list_studies()


def test_the_table_of_trials_is_that_of_the_server(study, server, tmp_path):
    study.tell(study.ask(worker="anna"), 0.5)
    study.ask()
    here = load_study(study.name, storage=server.storage)
    assert study.to_csv(tmp_path / "t.csv") == here.to_csv()
    assert study.to_frame().equals(here.to_frame())
    assert study.to_frame()["worker"][0] == "anna"
    assert study.to_frame()["worker"][1].rpartition(":")[2].isdecimal()
    with pytest.raises(InvalidInput, match="worker"):
        study.ask(worker="x" * 101)


def test_a_crew_of_eight_hears_of_pauses_names_and_the_end(study, other, capsys):
    """Its evaluations never decide, as all arms have the same value."""
    heard, told = [], threading.Event()

    def evaluate(trial):
        told.set()
        return 0.5 + (trial.seed % 1000) / 1e6

    def again():
        told.clear()
        assert told.wait(300)

    crew = Crew(study, evaluate, workers=8)
    crew.say = heard.append
    ended = []

    def work():
        with pytest.raises(StudyGone) as gone:
            crew.work()
        ended.append(str(gone.value))

    name, thread = study.name, threading.Thread(target=work)
    thread.start()
    again()
    other.pause()
    wait_until(lambda: any("paused" in text for text in heard))
    wait_until(lambda: other.status().pending == 0)
    other.resume()
    again()
    other.rename(f"{name}!")
    wait_until(lambda: any("called" in text for text in heard))
    again()
    other.delete()
    thread.join(300)
    assert heard == [
        f"study {name!r} is paused: waiting until somebody resumes it",
        f"study {name!r} was resumed",
        f"study {name!r} is called '{name}!' now; this goes on",
    ]
    assert ended[0].startswith(f"study '{name}!' was deleted")


def test_a_server_that_does_not_know_keys_is_still_understood(client, study):
    """As one of an earlier version."""
    assert mfbai.Client(client.url).load_study(study.name).status().told == 0
