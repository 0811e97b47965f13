"""A study whose journal was damaged, beside others: they go on, and it can be looked after and deleted."""

import pytest
import sqlalchemy as sa

from mfbai import StudyUnreadable, create_study, list_studies, load_study, verify
from mfbai.study.catalogue import STATES, list_lines, matching, ordered, summarised
from mfbai.study.storage import Storage
from mfbai.study.storage import tables as t
from support.studies import PROBLEM


@pytest.fixture(params=["garbage", "[]", '{"kind":"tell","n":4,"trial":99,"value":1.0}', '{"kind":"what","n":4}'])
def damaged(request, storage_url):
    """The name of a study whose fifth event is not one."""
    for name in ("good", "bad"):
        study = create_study(PROBLEM, 0.05, name=name, storage=storage_url, strategy="frugal")
        for _ in range(4):
            study.tell(study.ask(), 0.5)
    storage = Storage(storage_url)
    with storage._writing() as connection:
        where = sa.and_(t.events.c.study == storage.find("bad"), t.events.c.n == 4)
        connection.execute(sa.update(t.events).where(where).values(body=request.param))
    return "bad"


def test_every_call_that_needs_the_journal_says_where_it_is_damaged(damaged, storage_url):
    study = load_study(damaged, storage=storage_url)
    for call in (study.status, study.ask, study.pause, study.history, study.status):
        with pytest.raises(StudyUnreadable, match="study 'bad' cannot be read: event 4 of its journal was damaged"):
            call()


def test_tables_and_reports_of_it_say_that_it_is_damaged(damaged, storage_url):
    study = load_study(damaged, storage=storage_url)
    for call in (study.to_csv, study.to_frame, study.rows, study.report):
        with pytest.raises(StudyUnreadable, match=r"study 'bad' cannot be read: (event 4 of )?its journal was damaged"):
            call()


def test_no_certificate_of_it_is_confirmed(damaged, storage_url):
    study = load_study(damaged, storage=storage_url)
    try:
        certificate = study.export()
    except StudyUnreadable:
        return
    assert not verify(certificate)


def test_the_others_are_listed_and_it_is_with_them(damaged, storage_url):
    storage = Storage(storage_url)
    lines = [summarised(storage, line) for line in list_lines(storage)]
    assert [(line.to_dict()["name"], line.state) for line in lines] == [("good", "running"), ("bad", "unreadable")]
    assert [line.to_dict()["name"] for line in matching(lines, STATES[-1])] == ["bad"]
    assert [line.to_dict()["name"] for line in ordered(lines, "risk")] == ["good", "bad"]


def test_it_can_be_looked_after_and_deleted(damaged, storage_url):
    study = load_study(damaged, storage=storage_url)
    study.rename("worse")
    study.set_note("The disk was full on Monday.")
    study.set_tags(["disk"])
    study.resume()
    assert (study.name, study.tags, study.note) == ("worse", ("disk",), "The disk was full on Monday.")
    study.delete()
    assert list_studies(storage=storage_url) == ["good"]


def test_it_can_be_deleted_without_its_settings(damaged, storage_url):
    storage = Storage(storage_url)
    with storage._writing() as connection:
        where = sa.and_(t.events.c.study == storage.find("bad"), t.events.c.n == 0)
        connection.execute(sa.update(t.events).where(where).values(body="[]"))
    study = load_study(damaged, storage=storage_url)
    with pytest.raises(StudyUnreadable, match="event 0 of its journal"):
        study.ask()
    assert [summarised(storage, line).state for line in list_lines(storage)] == ["running", "unreadable"]
    study.delete()
    assert list_studies(storage=storage_url) == ["good"]
