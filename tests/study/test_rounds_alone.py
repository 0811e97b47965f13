"""Studies of noise of unknown size with independent seeds: arms meet in rounds, and every trial has its own seed."""

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from mfbai import Bernoulli, InvalidInput, Poisson, Problem, create_study, identify, load_study, verify
from mfbai.model.families import Symmetric
from mfbai.strategies.interface import ROOM
from mfbai.study import ledger
from support.certificates import forged, numbers, rejected_at
from support.rounds import ALONE, MEANS, SHARED, act, actions, asks, check_counts, evaluate, finish, rounds_of, value_of

NEVER = 1e-200  # a risk so small that there is no verdict


@pytest.fixture(params=ALONE)
def study(request):
    return create_study(ALONE[request.param], 0.05, storage="sqlite://")


def test_race_with_contrasts_is_taken_and_every_trial_has_a_seed_of_its_own(study):
    assert (study.settings.strategy, study.settings.stopping) == ("race", "contrasts")
    finish(study)
    for body in asks(study):
        assert body["seed"] == study.settings.seed(body["trial"])
    assert len({body["seed"] for body in asks(study)}) == len(asks(study))


def test_a_round_begins_with_all_values_of_the_arm_that_the_others_are_compared_with():
    """One of many arms is compared with all others, and has several values in a round."""
    problem = Problem(9, costs=[1.0], biases=[0.0], family=Symmetric(0.0, 1.0))
    study, most, luck = create_study(problem, NEVER, storage="sqlite://"), 0, random.Random(0)
    for _ in range(200):
        trial = study.ask()
        study.tell(trial, 0.5 + 0.1 * (trial.arm_index == 3) + luck.gauss(0.0, 0.2))
    check_counts(study)
    assert verify(study.export())
    for bodies in rounds_of(study)[:-1]:
        leads = sum(body["part"] < 0 for body in bodies)
        assert {body["part"] for body in bodies[:leads]} == {-(leads - 1) * ROOM - len(bodies)}
        assert {body["arm"] for body in bodies[:leads]} == {bodies[0]["arm"]}
        most = max(most, leads)
    assert most > 1


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
@given(actions=actions, snapshots=st.sampled_from([1, 4, 10_000]), family=st.sampled_from(sorted(ALONE)))
def test_results_count_in_the_order_of_asking_whatever_happens(actions, snapshots, family):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ledger, "SNAPSHOT_EVERY", snapshots)
        study = create_study(ALONE[family], NEVER, storage="sqlite://")
        act(study, actions)
        check_counts(study)
        assert verify(study.export())


def test_many_under_way_that_come_back_in_reverse(study):
    for trial in reversed(study.ask_many(40)):
        study.tell(trial, value_of(trial))
    assert verify(study.export())
    if study.result is None:
        check_counts(study)


@pytest.mark.parametrize("seeds", ["independent", "common"])
@pytest.mark.parametrize("family", ALONE)
def test_the_verdict_is_confirmed_and_differences_hold(family, seeds):
    study = create_study(ALONE[family], 0.05, storage="sqlite://", seeds=seeds)
    assert finish(study).arm == "wide"
    assert verify(study.export()).verdict == study.result
    leader = study.problem.arms.index("wide")
    for arm, (low, high) in zip(study.problem.arms, study.status().differences, strict=True):
        assert low <= MEANS["wide"] - MEANS[arm] <= high
        assert np.isfinite([low, high]).all()
    assert study.status().differences[leader].tolist() == [0.0, 0.0]


@pytest.mark.parametrize("entry", ["seed", "seed_number", "part", "arm"])
def test_a_certificate_with_another_place_in_a_round_is_rejected(study, entry):
    finish(study)
    made = study.export()
    n = numbers(made, "ask")[4]
    assert rejected_at(forged(made, n, **{entry: made["journal"][n][entry] + 1}), n, f"the {entry} handed out is")


def test_values_from_elsewhere_are_refused_with_the_reason(study):
    with pytest.raises(InvalidInput, match="cannot be added: race compares the arms of this study in rounds"):
        study.add("wide", 1, [0.5])


def test_a_value_outside_the_bounds_of_its_fidelity_is_refused():
    study = create_study(ALONE["bounded"].replace(costs=[1.0, 0.1]), 0.05, storage="sqlite://")
    trial = study.ask()
    assert trial.fidelity_index == 1
    for value in (-1.5, 2.5, 3.5):
        with pytest.raises(InvalidInput, match="a bounded evaluation cannot return that"):
            study.tell(trial, value)
    study.tell(trial, 2.0)


def test_identify_resumes(tmp_path):
    url = f"sqlite:///{tmp_path / 's.db'}"
    first = identify(evaluate, ALONE["symmetric"], 0.05, name="s", storage=url, workers=2)
    assert first.arm == "wide"
    assert identify(evaluate, ALONE["symmetric"], 0.05, name="s", storage=url) == first
    assert load_study("s", storage=url).result == first


def test_race_says_which_families_it_serves():
    flat = SHARED.replace(seeds="independent", costs=[1.0], biases=[0.0], fidelities=1)
    with pytest.raises(InvalidInput, match="take frugal with the e-process, or the family bounded, from 0 to 1"):
        create_study(flat.replace(family=Bernoulli()), 0.05, storage="sqlite://", strategy="race")
    with pytest.raises(InvalidInput, match=r"this one is poisson: take frugal with the e-process$"):
        create_study(flat.replace(family=Poisson()), 0.05, storage="sqlite://", strategy="race")
