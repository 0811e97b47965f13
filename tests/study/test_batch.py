"""Many results in one turn: all of them are kept, or none."""

import pytest

from mfbai import InvalidInput, TrialClosed, create_study, load_study, verify
from support.studies import PROBLEM, kinds


@pytest.fixture
def study(tmp_path):
    return create_study(PROBLEM, 0.05, name="s", storage=f"sqlite:///{tmp_path / 's.db'}")


def results_of(trials):
    return [(trial, 0.1 * trial.arm_index) for trial in trials]


def test_results_are_kept_as_if_told_one_after_the_other(study):
    trials = study.ask_many(12)
    study.tell_many(results_of(trials[::-1]))
    assert kinds(study)[-12:] == ["tell"] * 12
    assert study.trials() == []
    assert load_study("s", storage=study.storage).status().told == 12
    assert verify(study.export())


def test_telling_the_same_again_does_nothing(study):
    results = results_of(study.ask_many(5))
    study.tell_many(results[:3])
    study.tell_many(results + results)
    study.tell_many([])
    assert kinds(study).count("tell") == 5


def test_one_that_is_wrong_leaves_all_untold(study):
    first, second, third = study.ask_many(3)
    study.tell(first, 0.5)
    study.fail(second)
    before = kinds(study)
    for wrong, error in (
        ((first, 0.75), TrialClosed),
        ((second, 0.5), TrialClosed),
        ((third, float("nan")), InvalidInput),
        ((third, 0.25), InvalidInput),
        ((f"99-{study.settings.key}", 0.5), InvalidInput),
        (("nonsense", 0.5), InvalidInput),
    ):
        with pytest.raises(error):
            study.tell_many([(third, 0.5), wrong])
        assert kinds(study) == before
        assert [name for name, _ in study.trials()] == [third.id]
    study.tell_many([(third, 0.5)])
    assert verify(study.export())


def test_all_reasons_are_told_with_their_places(study):
    first, second = study.ask_many(2)
    study.tell(first, 0.5)
    with pytest.raises(InvalidInput) as caught:
        study.tell_many([(first, 0.75), (second, "x"), (second, float("inf"))])
    fields = [fault.field for fault in caught.value.faults]
    assert fields == ["pairs[1]: value", "pairs[2]: value"], "what cannot be read comes before what cannot be told"


def test_a_block_of_calls_may_hold_another(study):
    first, second, third = study.ask_many(3)
    with study.together():
        study.tell(first, 0.5)
        study.tell_many([(second, 0.5)])
        with pytest.raises(TrialClosed):
            study.tell_many([(third, 0.5), (first, 0.75)])
        with study.together():
            study.tell(third, 0.5)
    assert kinds(study).count("tell") == 3
    assert verify(study.export())


@pytest.mark.parametrize("pairs", [None, 3])
def test_what_are_no_pairs_is_refused(study, pairs):
    with pytest.raises(InvalidInput, match=f"pairs are {pairs}: give pairs of a trial and its value"):
        study.tell_many(pairs)
