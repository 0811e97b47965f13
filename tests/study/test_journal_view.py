"""The journal as a list: it is read where it is looked at."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from mfbai import create_study
from mfbai.study import journal
from mfbai.study.journal import Event, Journal
from support.studies import PROBLEM, finish

EVENTS = [Event(f'{{"n":{n}}}', f"{n:064x}") for n in range(37)]


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch):
    monkeypatch.setattr(journal, "PAGE", 5)


def view(first=0):
    return Journal(lambda n: iter(EVENTS[n:]), lambda: len(EVENTS), first)


@given(some.integers(0, 50), some.slices(50))
def test_it_slices_as_a_list_does(first, part):
    assert view(first)[part] == EVENTS[first:][part]


@given(some.integers(0, 40), some.lists(some.integers(-45, 45)))
def test_it_is_indexed_as_a_list_is(first, places):
    shown = view(first)
    for place in places:
        if -len(EVENTS[first:]) <= place < len(EVENTS[first:]):
            assert shown[place] == EVENTS[first:][place]
        else:
            with pytest.raises(IndexError, match=f"event {place} of a journal that has"):
                shown[place]


def test_it_knows_its_length_and_contents():
    shown = view(30)
    assert (len(shown), list(shown), list(reversed(shown))) == (7, EVENTS[30:], EVENTS[30:][::-1])
    assert EVENTS[33] in shown
    assert EVENTS[3] not in shown
    assert shown.index(EVENTS[33]) == 3
    assert repr(shown) == "<Journal of 7 events>"


def test_it_grows_with_the_study(storage_url):
    study = create_study(PROBLEM, 0.05, storage=storage_url)
    events = study.journal()
    assert [event.body["kind"] for event in events] == ["create"]
    finish(study)
    assert len(events) == study.length() > 5
    assert events[-1].body["kind"] == "verdict"
    assert [event.body["n"] for event in events[2:5]] == [2, 3, 4]


@pytest.mark.parametrize("place", ["0", 1.0, None])
def test_it_takes_integers_alone(place):
    with pytest.raises(TypeError):
        view()[place]
