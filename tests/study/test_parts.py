"""Trials at controlled fidelities: their parts and seeds, what may be told of them, and what the certificate checks."""

import math

import numpy as np
import pytest

from mfbai import Bounded, InvalidInput, Symmetric, TrialClosed, create_study, verify
from mfbai.study.status import trial_from_dict
from support.certificates import forged, numbers, rejected_at, resealed
from support.controlled import OTHERS, VARIANCES, ask_for, by_hand, controlled, finish, values_of
from support.folds import replayed, same_fold
from support.seeds import fix_keys
from support.studies import again, unchanged

PARTS = 2 + OTHERS


def made(storage="sqlite://", name="s", **settings):
    about = {key: settings.pop(key) for key in ("family", "seeds", "others", "bias") if key in settings}
    return create_study(controlled(**about), 0.05, name=name, storage=storage, **settings)


@pytest.fixture
def study(tmp_path, monkeypatch):
    fix_keys(monkeypatch)
    return made(f"sqlite:///{tmp_path / 'studies.db'}")


@pytest.fixture(scope="module")
def certificate():
    return finish(made(bias=0.2, strategy="uniform"), most=12).export()


# --- parts and seeds


def test_a_trial_has_the_evaluations_that_its_value_is_made_of(study):
    trial = ask_for(study, "paired")
    assert [part.fidelity for part in trial.parts] == ["fine", *["coarse"] * (1 + OTHERS)]
    assert [part.fidelity_index for part in trial.parts] == [2, *[0] * (1 + OTHERS)]
    assert {(part.id, part.arm, part.arm_index) for part in trial.parts} == {(trial.id, trial.arm, trial.arm_index)}
    assert sum(part.cost for part in trial.parts) == pytest.approx(trial.cost)
    first, beside, *alone = [part.seed for part in trial.parts]
    assert first == beside == trial.seed
    assert len({trial.seed, *alone}) == 1 + OTHERS
    assert trial_from_dict(trial.to_dict()).parts == trial.parts
    assert study.parts(trial.id) == trial.parts


def test_other_trials_have_no_parts_and_are_written_as_before():
    study = made(bias=0.2)
    trial = ask_for(study, "coarse")
    assert trial.parts == study.parts(trial.id) == ()
    assert "parts" not in trial.to_dict()


def test_a_trial_that_is_handed_out_again_has_the_same_parts(study):
    trial = ask_for(study, "paired")
    study.release(trial)
    assert again(study).ask().parts == trial.parts


def test_no_two_trials_share_a_seed(study):
    seeds, controlled_trials = [], 0
    while controlled_trials < 20 and study.result is None:
        for trial in study.ask_many(4):
            seeds += [trial.seed, *(part.seed for part in trial.parts[2:])]
            controlled_trials += bool(trial.parts)
            study.tell(trial, values_of(trial))
    assert len(set(seeds)) == len(seeds) > 20


def test_with_common_seeds_arms_share_all_seeds_of_a_round():
    study = made(seeds="common")
    of_seed, others = {}, set()
    while len(of_seed) < 6 and study.result is None:
        for trial in study.ask_many(12):
            if trial.parts:
                alone = tuple(part.seed for part in trial.parts[2:])
                assert of_seed.setdefault(trial.seed, alone) == alone
                others |= {*alone}
            study.tell(trial, values_of(trial))
    assert len(others) == OTHERS * len(of_seed) > 0
    assert not others & set(of_seed)


def test_a_batch_has_a_limit_in_evaluations():
    trials = made(others=3000).ask_many(1000)
    assert 1 <= len(trials) <= 3


# --- telling


def test_the_journal_has_the_parts_and_their_value(study):
    trial = ask_for(study, "paired")
    study.tell(trial, values_of(trial))
    *_, told = (event.body for event in study.journal() if event.body["kind"] == "tell")
    assert told["parts"] == values_of(trial)
    assert told["value"] == pytest.approx(by_hand(trial), rel=1e-12)
    status = study.status()
    assert status.means[trial.arm_index, 1] == told["value"]
    assert status.spent[trial.arm_index, 1] == pytest.approx(1.0 + (1 + OTHERS) * 0.01)


@pytest.mark.parametrize(
    ("told", "why"),
    [
        (0.5, "value is 0.5: a trial at 'paired' takes 6 values; give, in this order: at 'fine', at 'coarse' with"),
        ([0.5] * (PARTS - 1), "values are 5: a trial at 'paired' takes 6 values"),
        ([0.5] * (PARTS + 1), "values are 7: a trial at 'paired' takes 6 values"),
        ([], "values are 0"),
        ([*[0.5] * (PARTS - 1), math.nan], r"values\[5\] is nan: give a finite number"),
        ([0.5, math.inf, *[0.5] * (PARTS - 2)], r"values\[1\] is inf: give a finite number"),
        ([0.5, None, *[0.5] * (PARTS - 2)], r"values\[1\] is None: give a number"),
        ([0.5, "0.5", True, *[0.5] * (PARTS - 3)], r"(?s)2 faults.*values\[1\] is '0.5'.*values\[2\] is True"),
        ([9e99, -9e99, *[0.5] * (PARTS - 2)], "values make 1.6.*: give numbers that make one below 1e.100"),
        ("0.5", "value is '0.5': give a number"),
        ([[0.5] * PARTS], r"values\[0\] is \[0.5"),
    ],
)
def test_what_is_not_the_values_of_all_parts_is_refused_whole(study, told, why):
    trial = ask_for(study, "paired")
    unchanged(study, lambda: study.tell(trial, told), InvalidInput, why)
    study.tell(trial, values_of(trial))


def test_several_values_of_a_trial_without_parts_are_refused(tmp_path):
    study = made(f"sqlite:///{tmp_path / 'studies.db'}", bias=0.2)
    trial = ask_for(study, "coarse")
    for told in ([0.5], [0.5] * PARTS, np.array([0.5])):
        unchanged(study, lambda told=told: study.tell(trial, told), InvalidInput, "has no parts; give a number")


def test_a_value_that_is_impossible_at_the_fidelity_of_its_part_is_refused():
    """The ranges of two fidelities differ, and that of what is made of them is wider than both."""
    study = made(family=Bounded([-1.0, 0.0], [2.0, 1.0]), strategy="uniform")
    trial = ask_for(study, "paired")
    possible = [0.5, 1.5, *[-0.5] * OTHERS]
    for k, wrong in ((0, 1.5), (1, 2.5), (PARTS - 1, -1.5)):
        told = [*possible[:k], wrong, *possible[k + 1 :]]
        with pytest.raises(InvalidInput, match=rf"values\[{k}\] is {wrong}: a bounded evaluation cannot return that"):
            study.tell(trial, told)
    study.tell(trial, possible)
    assert verify(study.export())


def test_values_at_the_ends_of_their_ranges_count():
    """Their sum may be beyond the range of such sums, by rounding."""
    study = made(family=Bounded(0.1, 0.7), strategy="uniform")
    for ends in ((0.1, 0.7), (0.7, 0.1)):
        trial = ask_for(study, "paired")
        study.tell(trial, [ends[1], ends[0], *[ends[1]] * OTHERS])
    assert verify(study.export())


def test_telling_the_same_parts_again_does_nothing_and_others_are_refused(study):
    trial = ask_for(study, "paired")
    values = values_of(trial)
    study.tell(trial.id, np.array(values))
    events = study.length()
    for same in (values, tuple(values), iter(values)):
        study.tell(trial, same)
    assert study.length() == events
    for other in ([*values[:-1], 0.5], values[::-1], values[:-1], 0.5):
        unchanged(study, lambda other=other: study.tell(trial, other), TrialClosed, "was told .* already")
    unchanged(study, lambda: study.fail(trial), TrialClosed, "it cannot fail any more")


def test_a_trial_with_parts_can_fail(study):
    trial = ask_for(study, "paired")
    study.fail(trial, "one of them has no value")
    unchanged(study, lambda: study.tell(trial, values_of(trial)), TrialClosed, "was reported as failed")
    assert study.parts(trial.id) == ()


def test_values_from_elsewhere_count_only_where_they_need_no_parts(study):
    unchanged(study, lambda: study.add(0, "paired", 0.5), InvalidInput, "only values with their parts can be counted")
    unchanged(study, lambda: study.add(0, "coarse", [0.5, 0.6]), InvalidInput, "'coarse' count only as parts")
    unchanged(study, lambda: study.add(0, "fine", [0.5, 0.6]), InvalidInput, "'fine' count only as parts")


# --- to the verdict


@pytest.mark.parametrize("seeds", ["independent", "common"])
@pytest.mark.parametrize("family", [VARIANCES, Symmetric(0, 1), Bounded(0, 1)], ids=lambda family: family.name)
def test_the_verdict_is_right_and_its_certificate_is_confirmed(monkeypatch, family, seeds):
    fix_keys(monkeypatch)
    study = finish(made(family=family, seeds=seeds))
    assert study.result.arm == "wide"
    verification = verify(study.export())
    assert verification, verification.reason
    assert verification.verdict == study.result


def test_a_study_with_parts_can_be_reopened(study):
    """The journal of the earlier study has the parts; the new one begins with the values that were made of them."""
    bounded = study.problem.replace(biases=(-np.array([0.2, 0.0, 0.0]), np.array([0.2, 0.0, 0.0])))
    earlier = create_study(bounded, 0.05, name="earlier", storage=study.storage, strategy="uniform")
    finish(earlier, most=12)
    later = earlier.reopen("later", {"coarse": 0.3})
    assert later.status().counts[:, 1].sum() > 0
    certificate = later.export()
    assert verify(certificate)
    n = next(n for n in numbers(certificate, "add") if certificate["journal"][n]["fidelity"] == 1)
    more = [*certificate["journal"], {**certificate["journal"][n]}]
    assert rejected_at(resealed(certificate, more), len(more) - 1, "only values with their parts can be counted")


def test_a_snapshot_has_what_a_replay_gives(study, monkeypatch):
    monkeypatch.setattr("mfbai.study.ledger.SNAPSHOT_EVERY", 5)
    open_trial = ask_for(study, "paired")
    finish(study, most=8)
    opened = again(study)
    opened.status()
    assert same_fold(opened._fold, replayed(study))
    assert opened.parts(open_trial.id) == open_trial.parts


# --- certificates


def told_with_parts(certificate):
    journal = certificate["journal"]
    return next(n for n in numbers(certificate, "tell") if "parts" in journal[n])


def test_a_part_or_a_value_that_was_changed_is_found(certificate):
    n = told_with_parts(certificate)
    event = certificate["journal"][n]
    assert verify(resealed(certificate))
    for k in range(PARTS):
        parts = [*event["parts"]]
        parts[k] += 1e-9
        assert rejected_at(forged(certificate, n, parts=parts), n, "but that of its parts is")
    value = float(np.nextafter(event["value"], 1.0))
    assert rejected_at(forged(certificate, n, value=value), n, "but that of its parts is")


def test_parts_that_no_study_would_have_written_are_found(certificate):
    n = told_with_parts(certificate)
    parts = certificate["journal"][n]["parts"]
    for wrong, reason in (
        (parts[:-1], "its parts are impossible"),
        ([*parts, 0.5], "its parts are impossible"),
        ([1, *parts[1:]], "not as they would be written"),
        ([None, *parts[1:]], "not as they would be written"),
        ([1e200, *parts[1:]], "its parts are impossible"),
        (dict(enumerate(parts)), "not as they would be written"),
        (None, "not as they would be written"),
    ):
        assert rejected_at(forged(certificate, n, parts=wrong), n, reason)
    bare = [dict(event) for event in certificate["journal"]]
    del bare[n]["parts"]
    assert rejected_at(resealed(certificate, bare), n, "not as they would be written")


def test_parts_of_a_trial_that_has_none_are_found(certificate):
    n = next(n for n in numbers(certificate, "tell") if "parts" not in certificate["journal"][n])
    assert rejected_at(forged(certificate, n, parts=[0.5] * PARTS), n, "its entry 'parts' should not be there")


@pytest.mark.parametrize("fidelity", [1, 2])
def test_values_added_where_only_parts_count_are_found(certificate, fidelity):
    added = {"kind": "add", "arm": 0, "fidelity": fidelity, "values": [0.5], "at": 0.0}
    journal = [certificate["journal"][0], added, *certificate["journal"][1:]]
    assert rejected_at(resealed(certificate, journal), 1, "these values cannot be added")
