"""Many arms: the first evaluations in one batch, values told in one turn, and what a look at the study costs."""

from math import inf

import numpy as np
import pytest

from mfbai import Bernoulli, Bounded, Gaussian, Problem, bias_alarms, create_study, load_study, verify
from mfbai.analysis import guarantee
from mfbai.analysis.guarantee import find_risk
from mfbai.errors import InvalidInput, TrialClosed
from mfbai.kernels.stats import make_stats
from mfbai.study import fold as folds
from support.studies import PROBLEM

MANY = 10_000


def values_of(trials, tops, rng, deviation=0.1):
    return [(trial, float(tops[trial.arm_index] + deviation * rng.standard_normal())) for trial in trials]


def plain(n_arms, **about):
    return Problem(n_arms, [0.1, 1.0, 10.0], [0.2, 0.1, 0.0], Gaussian(0.01), **about)


# --- tell_many


def test_values_told_together_leave_the_journal_of_values_told_one_by_one():
    studies = [create_study(PROBLEM, 0.05, name="designs", storage="sqlite://") for _ in range(2)]
    for study in studies:
        rng = np.random.default_rng(3)
        while study.result is None:
            trials = study.ask_many(7)
            pairs = values_of(trials, [0.2, 0.5, 1.5, 0.1, 0.3], rng)
            if study is studies[0]:
                study.tell_many(pairs)
            else:
                for trial, value in pairs:
                    study.tell(trial, value)
    together, alone = ([(e.body["kind"], e.body.get("value")) for e in study.journal()] for study in studies)
    assert together == alone
    assert studies[0].status().late == studies[1].status().late > 0
    assert verify(studies[0].export())


def test_telling_many_again_does_nothing():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    pairs = [(trial, 0.5) for trial in study.ask_many(3)]
    study.tell_many(pairs[:2])
    study.tell_many([*pairs, pairs[2], (pairs[0][0].id, 0.5)])
    assert study.status().told == 3
    study.tell_many([])
    assert study.length() == 7


def test_if_one_of_many_is_wrong_none_is_kept():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    first, second, third = study.ask_many(3)
    study.tell(first, 0.5)
    with pytest.raises(TrialClosed, match=r"was told 0\.5 already, now 0\.7"):
        study.tell_many([(second, 0.5), (first, 0.7)])
    for pairs, told in [
        ([(second, 0.5), (third, inf), (third, "much")], r"2 faults in the values:\n  pairs\[1\]: value is inf"),
        ([(second, 0.5), (second, 0.6)], r"pairs\[1\]: trial '2-.*' has two values here, 0.5 and 0.6: give one"),
        ([(second, 0.5), third], r"pairs\[1\]: pair is .*: give a trial and its value"),
        ([(second, [0.5, 0.6])], "has no parts; give a number"),
        ([(second, 0.5), (f"99-{study.settings.key}", 0.5)], "was never handed out"),
        ([(f"{n}-{study.settings.key}", "x") for n in range(1, 31)], "pairs have 20 more faults"),
    ]:
        with pytest.raises(InvalidInput, match=told):
            study.tell_many(pairs)
    assert study.status().told == 1
    study.tell_many([(second, 0.5), (third, 0.6)])
    assert study.status().told == 3


def test_many_can_be_told_within_a_block_of_calls():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    trials = study.ask_many(4)
    with study.together():
        study.tell_many([(trial, 0.5) for trial in trials[:2]])
        with pytest.raises(InvalidInput):
            study.tell_many([(trials[2], 0.5), (trials[3], inf)])
        study.fail(trials[3])
    assert (study.status().told, study.status().failed) == (2, 1)


def test_the_leases_of_what_was_told_together_are_over():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    trials = study.ask_many(4, request="mine")
    study.tell_many([(trial, 0.5) for trial in trials[:3]])
    assert [trial.id for trial in study.ask_many(4, request="mine")] == [trials[3].id]


# --- the first batch


def test_as_many_can_be_asked_for_at_once_as_there_are_arms():
    study = create_study(plain(1500), 0.05, storage="sqlite://")
    trials = study.ask_many(1500)
    assert sorted(trial.arm_index for trial in trials) == list(range(1500))
    with pytest.raises(InvalidInput, match="n is 1501: ask for 1500 at once, at most"):
        study.ask_many(1501)
    with pytest.raises(InvalidInput, match="n is 1001: ask for 1000 at once, at most"):
        create_study(PROBLEM, 0.05, storage="sqlite://").ask_many(1001)


@pytest.mark.parametrize("strategy", ["frugal", "race"])
def test_ten_thousand_arms(tmp_path, strategy):
    """The first batch in one call each way, then single evaluations; another process finds the same."""
    url = f"sqlite:///{tmp_path}/many.db"
    study = create_study(plain(MANY), 0.05, name="many", storage=url, strategy=strategy)
    rng = np.random.default_rng(1)
    tops = rng.uniform(0, 1, MANY)
    tops[7] = 2.0
    study.tell_many(values_of(study.ask_many(MANY), tops, rng))
    for _ in range(20):
        trial = study.ask()
        study.tell(trial, float(tops[trial.arm_index] + 0.1 * rng.standard_normal()))
    status = study.status()
    assert (status.told, status.leader_index) == (MANY + 20, 7)
    assert status.differences.shape == (MANY, 2)
    again = load_study("many", storage=url).status()
    np.testing.assert_array_equal(again.evidence, status.evidence)
    np.testing.assert_array_equal(again.intervals, status.intervals)


@pytest.mark.parametrize("strategy", ["frugal", "race"])
def test_the_state_of_a_study_grows_in_proportion_to_the_arms(strategy):
    """No table of all pairs of arms: ten times the arms, ten times the snapshot."""

    def size(n_arms):
        return len(create_study(plain(n_arms), 0.05, storage="sqlite://", strategy=strategy)._fold.dump())

    assert size(20_000) < 11 * size(2_000)


# --- looking at it


def test_a_status_is_computed_once_for_each_event_and_nobody_can_change_it():
    study = create_study(PROBLEM, 0.05, storage="sqlite://")
    trial = study.ask()
    status = study.status()
    assert study.status() is status
    study.tell(trial, 0.5)
    assert study.status().told == 1
    with pytest.raises(ValueError, match="read-only"):
        study.status().means[0, 0] = 1.0


def test_arms_of_which_the_same_is_known_have_the_evidence_of_each_by_itself(monkeypatch):
    problem = Problem(150, [0.1, 1.0], [0.1, 0.0], Bernoulli())
    model, stats = problem.model(), make_stats((150, 2))
    rng = np.random.default_rng(2)
    stats.count[:] = rng.integers(0, 3, (150, 2))
    stats.count[:, 0] += 1
    stats.mean[:] = np.where(stats.count > 0, rng.integers(0, 2, (150, 2)), 0.0)
    together = find_risk(model, stats)
    monkeypatch.setattr(guarantee, "FEW", 1000)
    alone = find_risk(model, stats)
    assert (together.leader, together.level) == (alone.leader, alone.level)
    np.testing.assert_array_equal(together.log_evidence, alone.log_evidence)


def test_where_noise_is_learnt_an_arm_that_contradicts_its_bounds_is_found_among_others():
    problem = Problem(30, [0.1, 1.0], [0.05, 0.0], Bounded(0, 1))
    tops = [0.9 if arm == 11 else 0.5 for arm in range(30)]
    values = [(arm, m, (0.5, tops[arm])[m] + 0.01 * (n % 2)) for n in range(80) for arm in range(30) for m in range(2)]
    [alarm] = bias_alarms(problem, values=values)
    assert (alarm.arm, alarm.fidelity, alarm.certain) == (11, 0, True)


def test_of_many_arms_in_rounds_the_closest_rivals_differences_are_computed(monkeypatch):
    problem = Problem(12, [0.1, 1.0], [0.1, 0.0], Bounded(0, 1))
    study = create_study(problem, 0.05, storage="sqlite://")
    rng = np.random.default_rng(4)
    tops = np.linspace(0.1, 0.4, 12)
    for _ in range(40):
        trials = study.ask_many(12)
        study.tell_many([(t, float(np.clip(tops[t.arm_index] + 0.05 * rng.standard_normal(), 0, 1))) for t in trials])
    whole = study.status()
    monkeypatch.setattr(folds, "MANY", 10)
    monkeypatch.setattr(folds, "CLOSEST", 4)
    few = study._fold.differences(whole.leader_index, whole.intervals)
    order = whole.evidence.argsort(kind="stable")
    np.testing.assert_array_equal(few[order[:4]], whole.differences[order[:4]])
    model = study._fold.model
    far = [arm for arm in order[4:] if arm != whole.leader_index]
    np.testing.assert_array_equal(few[far, 0], (model.top_low[whole.leader_index] - model.top_high)[far])
    assert (few[whole.leader_index] == 0).all()
