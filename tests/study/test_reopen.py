"""A study that is reopened with other bias bounds goes on with all values of the old one."""

import numpy as np
import pytest

from mfbai import Gaussian, InvalidInput, Problem, Symmetric, create_study, verify
from mfbai.study.storage import NameTaken
from support.certificates import rejected_at, resealed
from support.studies import PROBLEM, again, finish, value_of

BIASED = Problem(["a", "b"], costs=[0.1, 0.3, 1.0], biases=[0.1, 0.05, 0.0], family=Gaussian(0.01))

MEANS = [[1.11, 0.86, 0.86], [0.9, 0.9, 0.9]]  # the first arm is off by 0.25 where 0.1 is stated, and seems the best


def value(trial, rng):
    return float(rng.normal(MEANS[trial.arm_index][trial.fidelity_index], 0.1))


def run(problem=BIASED):
    """To an alarm."""
    study = create_study(problem, 0.05, storage="sqlite://", name="first", audit=0.3)
    rng = np.random.default_rng(2)
    while study.result is None:
        for trial in study.ask_many(2):
            study.tell(trial, value(trial, rng))
    assert study.result.state == "alarm"
    return study


def test_a_reopened_study_has_all_values_and_goes_on():
    first = run()
    second = first.reopen("second", {"fidelity 1": 0.6, "fidelity 2": (-0.1, 0.05)})
    assert second.problem.bias_high[0].tolist() == [0.6, 0.05, 0.0]
    assert second.problem.bias_low[0].tolist() == [-0.6, -0.1, 0.0]
    assert (second.settings.strategy, second.settings.stopping) == ("frugal", "e-process")
    assert (second.settings.audit, second.settings.on_alarm) == (0.3, "stop")
    status = second.status()
    assert (status.imported, status.cost, status.told) == (first.status().told, 0.0, 0)
    np.testing.assert_allclose(status.means, first.status().means)
    origin = second.journal()[0].body["reopens"]
    assert origin == {"study": "first", "head": list(first.journal())[-1].hash, "values": status.imported}
    rng = np.random.default_rng(3)
    while second.result is None:
        trial = second.ask()
        second.tell(trial, value(trial, rng))
    assert (second.result.state, second.result.arm) == ("decided", "b")
    assert verify(second.export()).verdict == second.result
    assert again_in(second).result == second.result


def again_in(study):
    return type(study)(study._storage, study._study)


@pytest.mark.parametrize("narrow", [(-0.3, 0.1), 0.02])
def test_bounds_that_are_still_too_narrow_stop_it_at_once(narrow):
    """Also where the values, with these bounds, would decide for the wrong arm."""
    second = run().reopen("second", {"fidelity 1": narrow})
    assert second.result.state == "alarm"
    assert verify(second.export())
    third = second.reopen("third", {"fidelity 1": 0.7})
    assert third.result is None or third.result.state == "decided"
    assert third.status().imported == second.status().imported


@pytest.mark.parametrize("strategy", ["frugal", "mf-grad"])
def test_strategies_that_count_all_values_stay(strategy):
    first = create_study(BIASED, 0.05, storage="sqlite://", name="first", strategy=strategy)
    first.add("a", 0, [0.5, 0.6])
    second = first.reopen("second", {"fidelity 1": 0.7})
    assert (second.settings.strategy, second.status().imported) == (strategy, 2)


def test_a_study_in_rounds_goes_on_with_frugal():
    first = run(BIASED.replace(family=Symmetric(-2, 4)))
    assert first.settings.in_rounds
    second = first.reopen("second", {"fidelity 1": 0.7})
    assert (second.settings.strategy, second.settings.stopping) == ("frugal", "e-process")
    assert second.status().imported == first.status().told


def test_values_behind_one_that_is_still_under_way_do_not_count():
    first = create_study(PROBLEM, 0.05, storage="sqlite://", name="first", max_cost=30)
    rng = np.random.default_rng(0)
    one, two, three = first.ask_many(3)
    first.tell(one, value_of(one, rng))
    first.tell(three, value_of(three, rng))
    second = first.reopen("second", {"fidelity 1": 0.2})
    assert second.status().imported == 1
    assert second.settings.max_cost == pytest.approx(29.8)
    first.tell(two, value_of(two, rng))
    assert first.reopen("third", {"fidelity 1": 0.2}, max_cost=5).status().imported == 3


def test_what_cannot_be_reopened_is_refused():
    first = create_study(PROBLEM, 0.05, storage="sqlite://", name="first")
    for bias, told in [
        ({}, "give the bounds that change"),
        (0.2, "give the bounds that change"),
        ({"fidelity 3": 0.2}, "did you mean 'fidelity 1'"),
        ({"fidelity 2": 0.2}, "the true one"),
        ({"fidelity 1": -0.2}, "give a number of 0 or more"),
        ({"fidelity 1": (0.3, 0.1)}, "the lower one first"),
        ({"fidelity 1": (0.3,)}, "give a number"),
        ({"fidelity 1": "much"}, "give a number"),
        ({"fidelity 1": float("nan")}, "give a number"),
        ({"fidelity 1": 0.1}, "is as before"),
    ]:
        with pytest.raises(InvalidInput, match=told):
            first.reopen("second", bias)
    with pytest.raises(NameTaken):
        first.reopen("first", {"fidelity 1": 0.2})
    with pytest.raises(InvalidInput, match="name is ''"):
        first.reopen("", {"fidelity 1": 0.2})
    shared = create_study(PROBLEM, 0.05, storage="sqlite://", name="shared", seeds="common")
    with pytest.raises(InvalidInput, match="cannot be reopened: its arms share seeds"):
        shared.reopen("second", {"fidelity 1": 0.2})


def test_a_forged_origin_is_found():
    made = run().reopen("second", {"fidelity 1": 0.7}).export()
    first, *others = made["journal"]
    for origin in ({"study": "first"}, {**first["reopens"], "head": "none"}, {**first["reopens"], "values": 1.5}, 3):
        assert rejected_at(resealed(made, [{**first, "reopens": origin}, *others]), 0, "reopens")


def test_a_reopened_study_is_kept(storage_url):
    first = create_study(PROBLEM, 0.05, storage=storage_url, name="first", strategy="frugal")
    verdict = finish(first)
    second = first.reopen("second", {"fidelity 1": 0.15})
    assert finish(second).arm == verdict.arm
    assert again(second).result == second.result
