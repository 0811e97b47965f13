"""Values from elsewhere, and the verdict."""

import numpy as np
import pytest

import mfbai
from mfbai import (
    Gaussian,
    InvalidInput,
    NothingToAsk,
    Problem,
    StudyOver,
    TrialClosed,
    create_study,
    verify,
)
from support.studies import PROBLEM, again, finish, finish_with_some_under_way, kinds, unchanged

# --- values from elsewhere


def test_values_from_elsewhere_count_and_cost_nothing(study):
    study.add("wide", "fidelity 2", [0.5, 0.7])
    study.add(np.int64(1), 1, (x for x in (0.9,)))
    study.add(0, "fidelity 1", 0.25)
    study.add(0, 0, np.array([0.35, 0.15]))
    study.add(0, 0, [])
    status = again(study).status()
    assert (status.imported, status.told, status.cost) == (6, 0, 0.0)
    assert status.counts.tolist() == [[3, 0], [0, 3], [0, 0]]
    np.testing.assert_allclose(status.means, [[0.25, np.nan], [np.nan, 0.7], [np.nan, np.nan]])
    assert status.leader is None  # in a race all arms have a value first
    study.add("deep", 0, 0.4)
    assert again(study).status().leader == "wide"


@pytest.mark.parametrize("arm", ["broad", 3, -1, 1.0, True, None])
def test_values_of_an_arm_or_a_fidelity_that_is_not_there_are_refused(study, arm):
    unchanged(study, lambda: study.add(arm, 0, [0.5]), InvalidInput, "arm is .*known: plain, wide, deep")
    unchanged(study, lambda: study.add(0, arm, [0.5]), InvalidInput, "fidelity is .*known: fidelity 1, fidelity 2")


def test_values_from_elsewhere_can_decide(storage_url):
    study = create_study(PROBLEM, 0.05, storage=storage_url, strategy="frugal")
    for arm, mean in zip(PROBLEM.arms, (0.0, 5.0, 0.0), strict=True):
        if study.result is None:
            study.add(arm, 1, [mean] * 30)
    assert (study.result.state, study.result.arm, study.result.cost) == ("decided", "wide", 0.0)
    with pytest.raises(StudyOver, match="no values can be added"):
        study.add("plain", 1, [9.0] * 1000)
    assert study.result.arm == "wide"


# --- the verdict


def test_a_study_finds_the_best_arm(study):
    verdict = finish(study)
    status = study.status()
    assert (verdict.state, verdict.arm, verdict.arm_index) == ("decided", "wide", 1)
    assert verdict.risk == verdict.delta == 0.05
    assert verdict.cost == status.cost > 0
    assert verdict.told == status.told
    assert (status.state, status.leader, status.risk) == ("decided", "wide", 0.05)
    assert status.result == verdict
    assert "The best is 'wide'" in str(verdict)
    assert kinds(study).count("verdict") == 1
    assert kinds(study)[-1] == "verdict"


def test_the_verdict_never_changes(study):
    trials = finish_with_some_under_way(study)
    verdict = study.result
    counts = study.status().counts
    for trial in trials:
        study.tell(trial, 99.0 if trial.arm != "wide" else -99.0)
    for opened in (study, again(study)):
        status = opened.status()
        assert opened.result == status.result == verdict
        assert (status.late, status.pending) == (len(trials), 0)
        assert (status.state, status.leader) == ("decided", verdict.arm)
        assert status.told == verdict.told + len(trials)
        np.testing.assert_array_equal(status.counts, counts)
        assert status.risk == verdict.risk
        for call in (opened.ask, lambda opened=opened: opened.ask_many(3)):
            with pytest.raises(StudyOver, match="is over: The best is 'wide'"):
                call()
    with pytest.raises(TrialClosed, match="was told"):
        study.tell(trials[0], 0.5)
    assert kinds(study).count("verdict") == 1
    assert verify(study.export())


def test_a_late_failure_changes_nothing(study):
    trial, *_ = finish_with_some_under_way(study)
    verdict = study.result
    study.fail(trial)
    assert again(study).result == verdict
    assert (again(study).status().failed, again(study).status().late) == (1, 0)


def test_a_budget_that_is_spent_leaves_the_study_undecided(storage_url):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url, max_cost=2.0)
    verdict = finish(study)
    status = again(study).status()
    assert verdict.state == status.state == "undecided"
    assert verdict.cost == status.cost <= 2.0 * (1 + 1e-9)
    assert verdict.arm == status.leader
    found = mfbai.risk(PROBLEM, status.counts, np.nan_to_num(status.means))
    assert verdict.arm_index == found.leader
    assert 1e-9 < verdict.risk == status.risk <= found.level * (1 + 1e-9)
    with pytest.raises(StudyOver, match="Undecided within the budget"):
        study.ask()
    assert again(study).result == verdict


def test_a_budget_is_never_exceeded_by_what_is_under_way(storage_url):
    study = create_study(PROBLEM, 1e-9, name="s", storage=storage_url, max_cost=1.0)
    trials = study.ask_many(1000)
    assert sum(trial.cost for trial in trials) <= 1.0 + 1e-9
    unchanged(study, study.ask, NothingToAsk, f"{len(trials)} evaluations are under way")
    study.fail(trials[0])  # which costs nothing, so that there is money for another
    study.tell(study.ask(), 0.5)
    for trial in trials[1:]:
        assert study.result is None
        study.tell(trial, 0.5)
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.state == "undecided"
    assert study.result.cost <= 1.0 + 1e-9


def test_a_budget_of_exactly_so_many_evaluations_allows_them_all():
    """Ten times 0.1 is less than 1 in sums of floating-point numbers, three times 0.1 more than 0.3."""
    for times in (3, 10):
        study = create_study(PROBLEM, 1e-9, storage="sqlite://", max_cost=0.1 * times if times > 3 else 0.3)
        trials = study.ask_many(100)
        assert [trial.cost for trial in trials] == [0.1] * times


def test_the_first_answer_that_is_proven_before_the_budget_ends_is_taken(storage_url):
    without = finish(create_study(PROBLEM, 0.05, name="without", storage=storage_url))
    exact = finish(create_study(PROBLEM, 0.05, name="s", storage=storage_url, max_cost=without.cost))
    assert exact == without
    short = finish(create_study(PROBLEM, 0.05, name="t", storage=storage_url, max_cost=without.cost * 0.9))
    assert short.state == "undecided"
    assert short.risk > 0.05


def test_another_rule_states_what_is_proven_not_what_it_hopes(storage_url):
    study = create_study(PROBLEM, 0.05, name="s", storage=storage_url, stopping="stylised")
    verdict = finish(study)
    status = study.status()
    assert verdict.state == "decided"
    found = mfbai.risk(PROBLEM, status.counts, np.nan_to_num(status.means))
    assert found.leader == verdict.arm_index
    assert verdict.risk == pytest.approx(found.level, rel=0.2)


def test_the_tolerance_is_that_of_the_study(storage_url):
    """Two arms that are the same are told apart by nothing, unless the difference does not matter."""
    problem = Problem(2, [0.1, 1.0], [0.1, 0.0], Gaussian(0.04))
    study = create_study(problem, 0.05, name="s", storage=storage_url, tolerance=0.5, max_cost=100.0)
    assert again(study).settings.tolerance == 0.5
    while study.result is None:
        study.tell(study.ask(), 0.5)
    assert study.result.state == "decided"
