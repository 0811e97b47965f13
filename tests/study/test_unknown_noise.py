"""Studies where the noise is learnt: the verdict, the certificate, a second process, and what is refused."""

import numpy as np
import pytest

from mfbai import Bounded, InvalidInput, Problem, Symmetric, create_study, load_study, verify
from mfbai.study.forecast import Forecast

FAMILIES = {"symmetric": Symmetric(0.0, 1.0), "bounded": Bounded(0.0, [2.0, 1.0])}
TOPS = [0.3, 0.8, 0.35]


def problem_of(name):
    return Problem(["a", "b", "c"], [0.1, 1.0], [0.1, 0.0], FAMILIES[name], fidelities=["coarse", "fine"])


def run(name, storage, **settings):
    study = create_study(problem_of(name), 0.05, strategy="frugal", name="s", storage=storage, **settings)
    rng = np.random.default_rng(4)
    while study.result is None:
        for trial in study.ask_many(3):
            study.tell(trial, float(np.clip(rng.normal(TOPS[trial.arm_index], 0.05), 0.0, 1.0)))
    return study


@pytest.mark.parametrize("name", FAMILIES)
def test_a_study_ends_and_its_certificate_is_confirmed(name, tmp_path):
    storage = f"sqlite:///{tmp_path}/studies.db"
    study = run(name, storage)
    assert study.result.arm == "b"
    assert study.result.risk <= 0.05
    assert verify(study.export()).verdict == study.result
    again = load_study("s", storage=storage)
    assert again.result == study.result
    mine, its = study.status(), again.status()
    np.testing.assert_array_equal(mine.intervals, its.intervals)
    np.testing.assert_array_equal(mine.evidence, its.evidence)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_study_on_its_way_has_intervals_and_a_forecast(name):
    study = create_study(problem_of(name), 1e-6, strategy="frugal", storage="sqlite://")
    rng = np.random.default_rng(4)
    for arm in range(3):
        study.add(arm, "fine", np.clip(rng.normal(TOPS[arm], 0.05, 15), 0.0, 1.0))
    status = study.status()
    assert status.risk < 1.0
    assert (status.intervals[:, 0] <= TOPS).all()
    assert (status.intervals[:, 1] >= TOPS).all()
    assert Forecast(study).remaining(status) > 0.0


def test_values_are_held_against_the_range_of_their_fidelity():
    study = create_study(problem_of("bounded"), 0.05, strategy="frugal", storage="sqlite://")
    study.add("a", "coarse", 1.5)
    with pytest.raises(InvalidInput, match="a bounded evaluation cannot return that"):
        study.add("a", "fine", 1.5)
    trial = study.ask()
    with pytest.raises(InvalidInput, match="a bounded evaluation cannot return that"):
        study.tell(trial, 2.5)
