"""A study's name, note, tags, pauses and end: beside the journal, for everyone who has the study open."""

import numpy as np
import pytest

from mfbai import create_study, identify, list_studies, load_study, verify
from mfbai.errors import (
    InvalidInput,
    LabelChanged,
    NothingToAsk,
    StorageError,
    StudyGone,
    StudyOver,
    StudyPaused,
    UnknownName,
)
from mfbai.study.limits import LONGEST_NAME, LONGEST_NOTE, LONGEST_TAG, MOST_TAGS
from mfbai.study.storage import NameTaken
from support.studies import PROBLEM, again, finish, value_of

NOTE = "# Why\n\nAsked by *everyone*: see `notes.md` <script>alert(1)</script> \N{BRIDGE AT NIGHT}"


def test_a_new_study_has_no_note_and_no_tags_and_is_not_paused(study):
    assert (study.note, study.tags, study.paused) == ("", (), False)


# --- names


def test_a_renamed_study_is_found_by_its_new_name_alone(study, storage_url):
    study.rename("wings / spring \N{BIRD}")
    assert list_studies(storage=storage_url) == ["wings / spring \N{BIRD}"]
    assert load_study("wings / spring \N{BIRD}", storage=storage_url).settings.key == study.settings.key
    with pytest.raises(UnknownName, match="'s'"):
        load_study("s", storage=storage_url)


def test_a_study_that_is_open_elsewhere_has_the_new_name_after_its_next_call(study):
    other = again(study)
    study.rename("t")
    trial = other.ask()
    assert other.name == "t"
    other.tell(trial, 0.5)
    assert (study.status().name, other.status().name) == ("t", "t")
    assert "'t'" in repr(other)


def test_a_renamed_study_keeps_its_trials_and_its_certificate(study):
    trial = study.ask()
    before = study.export()
    study.rename("t")
    study.tell(trial, 0.5)
    assert study.export()["journal"][:-1] == before["journal"]
    assert verify(study.export())


@pytest.mark.parametrize("name", ["", "x" * (LONGEST_NAME + 1), "a\nb", " ", 5, None, ".", "..", " a", "a "])
def test_a_name_that_no_study_can_have_is_refused(study, name):
    with pytest.raises(InvalidInput, match="name"):
        study.rename(name)
    assert study.name == "s"


def test_a_name_that_another_study_has_is_refused(study, storage_url):
    create_study(PROBLEM, 0.05, name="taken", storage=storage_url)
    with pytest.raises(NameTaken, match="'taken' exists already"):
        study.rename("taken")
    assert (study.name, again(study).name) == ("s", "s")


def test_the_old_name_is_free_for_another_study(study, storage_url):
    study.rename("old")
    other = create_study(PROBLEM, 0.05, name="s", storage=storage_url)
    assert other.settings.key != study.settings.key
    assert list_studies(storage=storage_url) == ["old", "s"]


def test_a_study_can_be_given_the_name_it_has(study):
    study.rename("s")
    assert study.name == "s"


# --- pauses


def test_a_paused_study_hands_out_nothing_until_it_is_resumed(study):
    other = again(study)
    study.pause()
    for one in (study, other):
        with pytest.raises(StudyPaused, match="study 's' is paused: it hands out nothing until somebody resumes it"):
            one.ask()
    other.resume()
    assert study.ask().id.startswith("1-")


def test_paused_studies_are_a_reason_to_ask_again_for_workers_that_know_no_pauses(study):
    study.pause()
    with pytest.raises(NothingToAsk):
        study.ask()


def test_a_paused_study_takes_results_of_what_is_under_way(study):
    told, failed, released = study.ask_many(3)
    study.pause()
    study.tell(told, 0.5)
    study.fail(failed, "broken")
    study.renew(released)
    study.release(released)
    assert (study.status().told, study.status().failed, study.status().pending) == (1, 1, 1)


def test_trials_of_vanished_workers_wait_for_the_end_of_a_pause(study):
    gone = study.ask(lease=1e-6)
    study.pause()
    with pytest.raises(StudyPaused):
        study.ask()
    study.resume()
    assert study.ask().id == gone.id


def test_the_status_says_that_a_study_is_paused(study):
    study.pause()
    status = again(study).status()
    assert (status.state, status.paused, status.to_dict()["paused"]) == ("running", True, True)
    study.resume()
    assert not study.status().paused


def test_a_paused_study_still_reaches_its_verdict(study):
    """What is under way may decide it."""
    rng = np.random.default_rng(0)
    while True:
        trials = study.ask_many(9)
        study.pause()
        for trial in trials:
            study.tell(trial, value_of(trial, rng))
        if study.result is not None:
            break
        study.resume()
    assert (study.status().state, study.status().paused) == ("decided", False)


def test_a_study_that_is_over_cannot_be_paused(study):
    finish(study)
    with pytest.raises(StudyOver, match="cannot be paused"):
        study.pause()
    assert not study.paused


# --- notes and tags


def test_a_note_is_kept_as_it_was_written(study):
    study.set_note(NOTE)
    assert again(study).note == NOTE
    study.set_note("")
    assert again(study).note == ""


def test_an_editor_does_not_overwrite_what_somebody_else_has_written(study):
    study.set_note("first")
    read = study.note
    again(study).set_note("second")
    with pytest.raises(LabelChanged, match="changed by somebody else"):
        study.set_note("third", before=read)
    assert study.note == "second"
    study.set_note("third", before="second")
    assert study.note == "third"


@pytest.mark.parametrize(
    "sign", ["\u3000", "\u200b", "\u200c", "\u200d", "\u200f", "\u2009", "\xad", "\xa0", "\n", "\t"]
)
def test_a_note_in_any_language_is_kept(study, sign):
    study.set_note(f"a{sign}b")
    assert study.note == f"a{sign}b"


def test_a_refused_note_says_what_is_wrong_with_it(study):
    with pytest.raises(InvalidInput, match=r"note has the sign '\\x1b' in line 2, which is no text: remove it"):
        study.set_note("a\nb\x1b[31m")
    with pytest.raises(InvalidInput, match="note has 20,001 characters: give 20,000 at most"):
        study.set_note("x" * 20_001)


@pytest.mark.parametrize(
    "note", ["\u202e", "\u2066", None, 5, b"x", "x" * (LONGEST_NOTE + 1), "\x00", "\ud800", "\x1b[31m"]
)
def test_a_note_that_cannot_be_kept_is_refused(study, note):
    with pytest.raises(InvalidInput, match="note"):
        study.set_note(note)
    assert study.note == ""


def test_tags_are_kept_each_once_in_their_order(study):
    study.set_tags(["wing", " spring ", "wing", "\N{BIRD}"])
    assert again(study).tags == ("wing", "spring", "\N{BIRD}")
    study.set_tags([])
    assert study.tags == ()


def test_tags_that_somebody_else_has_written_are_not_overwritten(study):
    study.set_tags(["first"])
    read = study.tags
    again(study).set_tags(["first", "second"])
    with pytest.raises(LabelChanged, match="has other tags by now: that was changed by somebody else"):
        study.set_tags(["third"], before=read)
    assert study.tags == ("first", "second")
    study.set_tags(["third"], before=["first", "second"])
    assert study.tags == ("third",)


@pytest.mark.parametrize(
    "tags",
    ["wing", None, [""], ["a,b"], ["x" * (LONGEST_TAG + 1)], [5], ["a\nb"], list(map(str, range(MOST_TAGS + 1)))],
)
def test_tags_that_cannot_be_kept_are_refused(study, tags):
    with pytest.raises(InvalidInput, match="tag"):
        study.set_tags(tags)
    assert study.tags == ()


def test_every_change_gives_the_study_another_mark(study):
    marks = [study.mark()]
    for change in (
        lambda: study.set_note("a"),
        lambda: study.set_tags(["a"]),
        study.pause,
        study.resume,
        lambda: study.rename("t"),
        study.ask,
    ):
        change()
        marks.append(again(study).mark())
    assert len(set(marks)) == len(marks)


def test_care_leaves_the_journal_as_it_is(study):
    trial = study.ask()
    study.tell(trial, 0.5)
    before = list(study.journal())
    study.rename("t")
    study.set_note(NOTE)
    study.set_tags(["a"])
    study.pause()
    assert list(again(study).journal()) == before


# --- the end


def test_of_a_deleted_study_nothing_is_left(study, storage_url):
    study.ask()
    study.set_note(NOTE)
    study.delete()
    assert list_studies(storage=storage_url) == []
    with pytest.raises(UnknownName, match="'s'"):
        load_study("s", storage=storage_url)


CALLS = {
    "ask": lambda study, trial: study.ask(),
    "tell": lambda study, trial: study.tell(trial, 0.5),
    "tell_many": lambda study, trial: study.tell_many([(trial, 0.5)]),
    "fail": lambda study, trial: study.fail(trial),
    "renew": lambda study, trial: study.renew(trial),
    "release": lambda study, trial: study.release(trial),
    "add": lambda study, trial: study.add("plain", 0, 0.5),
    "result": lambda study, trial: study.result,
    "status": lambda study, trial: study.status(),
    "history": lambda study, trial: study.history(),
    "trials": lambda study, trial: study.trials(),
    "journal": lambda study, trial: list(study.journal()),
    "first event": lambda study, trial: study.journal()[0],
    "length": lambda study, trial: len(study.journal()),
    "to_csv": lambda study, trial: study.to_csv(),
    "export": lambda study, trial: study.export(),
    "note": lambda study, trial: study.note,
    "set_tags": lambda study, trial: study.set_tags(["a"]),
    "rename": lambda study, trial: study.rename("t"),
    "pause": lambda study, trial: study.pause(),
    "resume": lambda study, trial: study.resume(),
    "delete": lambda study, trial: study.delete(),
}


@pytest.mark.parametrize("call", CALLS)
def test_those_who_have_a_deleted_study_open_hear_of_it(study, call):
    other = again(study)
    trial = other.ask()
    study.delete()
    with pytest.raises(StudyGone, match="study 's' was deleted: nothing of it is left"):
        CALLS[call](other, trial)


def test_what_a_study_was_created_with_is_known_after_its_deletion(study):
    other = again(study)
    study.delete()
    assert other.settings.key == study.settings.key


def test_a_study_of_the_same_name_as_a_deleted_one_is_another(study, storage_url):
    trial = study.ask()
    study.delete()
    other = create_study(PROBLEM, 0.05, name="s", storage=storage_url)
    with pytest.raises(StudyGone):
        study.ask()
    with pytest.raises(InvalidInput, match="belongs to another study"):
        other.tell(trial, 0.5)
    assert other.ask().id != trial.id


def test_a_study_deleted_within_a_block_takes_nothing_more(study):
    with study.together():
        trial = study.ask()
        study.delete()
        with pytest.raises(StudyGone):
            study.tell(trial, 0.5)
    with pytest.raises(StudyGone):
        study.status()


def fail_together(study, *changes):
    """Make changes in a block that ends with an error."""

    def block():
        with study.together():
            for change in changes:
                change()
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        block()


def test_a_deletion_is_undone_if_its_block_fails(study):
    trial = study.ask()
    fail_together(study, study.delete)
    study.tell(trial, 0.5)
    assert again(study).status().told == 1


def test_changes_within_a_block_that_fails_are_undone(study):
    fail_together(study, study.pause, lambda: study.rename("t"))
    assert (study.ask().id[:2], study.name) == ("1-", "s")


def test_a_refused_name_leaves_a_block_as_it_is(study, storage_url):
    create_study(PROBLEM, 0.05, name="taken", storage=storage_url)
    with study.together():
        trial = study.ask()
        with pytest.raises(NameTaken):
            study.rename("taken")
        study.tell(trial, 0.5)
    assert (study.status().told, study.name) == (1, "s")


def test_a_certificate_names_the_study_as_it_was_created(study):
    study.rename("t")
    made = study.export()
    assert made["study"] == "s"
    assert verify(made)


def test_a_storage_that_is_away_says_so(study, storage_url, tmp_path):
    """A deleted study is another matter than a database that cannot be reached."""
    if storage_url.startswith("sqlite"):
        for file in tmp_path.glob("studies.db*"):
            file.write_bytes(b"not a database, by now")
        with pytest.raises(StorageError):
            load_study("s", storage=storage_url)


def test_a_study_that_was_renamed_is_resumed_by_its_new_name(storage_url):
    def evaluate(arm, fidelity, seed):
        return {"plain": 0.3, "wide": 0.9, "deep": 0.4}[arm] + (seed % 100) / 1000

    verdict = identify(evaluate, PROBLEM, 0.05, name="before", storage=storage_url)
    load_study("before", storage=storage_url).rename("after")
    assert identify(evaluate, PROBLEM, 0.05, name="after", storage=storage_url) == verdict
    assert list_studies(storage=storage_url) == ["after"]
